"""What every command that changes nodes has in common, whoever carries it out: options, guard, consent, the record."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from fabricctl.cli.state_options import Format
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from fabricctl.adapters.store.location import Location
    from fabricctl.nodes.model import NodeState
    from fabricctl.site.schema import Site
    from provision.workflows.journal import Journal

ALL = "all"
"""As HOSTS: every host there is something to ask of."""
Hosts = Annotated[str, typer.Argument(metavar="HOSTS", hidden=True)]
"""Hidden: the list of arguments would say no more than "HOSTS <str>"; each command's text explains it."""
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
Force = Annotated[
    bool, typer.Option("--force-in-service", help="Also nodes in service, on which jobs may run.")
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with the change.")]


class Place(Protocol):
    """A site and its node records.

    :ivar states: host -> state of its node record; hosts without a record are not in it.
    """

    @property
    def site(self) -> Site:
        """As it was read."""
        ...

    @property
    def location(self) -> Location:
        """Of the state store."""
        ...

    @property
    def states(self) -> Mapping[str, NodeState]:
        """Of those that have a record."""
        ...


@dataclass(frozen=True)
class Manner:
    """How a change was asked for.

    :param what: the command in words (``power off``); :param disturbs: what it does to a node in service, in words that
        follow "would"; empty when it does nothing to it.
    """

    what: str
    disturbs: str = ""
    yes: bool = False
    force: bool = False
    reason: str = ""
    format: Format = Format.TEXT


def guard_change(place: Place, hosts: Sequence[str], action: str, *, force: bool) -> None:
    """Refuse what would disturb a node in service, or touch more nodes than the site allows at once.

    :param hosts: those that would really be changed; :param action: in words that follow "would".
    :raises InServiceError: :raises UsageError: as they say.
    """
    from fabricctl.nodes.transitions import guard

    guard({host: place.states[host] for host in hosts if host in place.states}, action, force=force)
    cap = place.site.gates.max_nodes_per_change
    if len(hosts) > cap:
        raise UsageError(
            f"this would change {len(hosts):,} nodes; at most {cap:,} may be changed at once",
            hint="do it in parts, or raise gates.max_nodes_per_change in the site file",
        )


def consent(number: int, *, yes: bool, ask: bool = True) -> None:
    """Go on only with ``--yes`` or a typed number: it is not typed by accident.

    :param ask: a person has seen the plan, and the question does no harm to what is written.
    :raises UsageError: neither; nothing was changed.
    """
    sys.stdout.flush()
    if yes:
        return
    if not ask or not sys.stdin.isatty():
        raise UsageError("nothing was changed: confirm with --yes")
    if typer.prompt(f"Type {number} to go on", default="", show_default=False).strip() != str(number):
        raise UsageError("nothing was changed")


@contextmanager
def journal_of(place: Place, manner: Manner) -> Iterator[Journal]:
    """Where changes are kept; open before anything is changed, so that none goes unrecorded.

    :raises StateError: it cannot be written. :raises UsageError: the reason is no single line.
    """
    from fabricctl.nodes.transitions import OCCUPIED
    from provision.workflows.journal import open_journal

    if not manner.reason.isprintable():
        raise UsageError("--reason: expected one line of text, without control characters")
    forced = [host for host, state in place.states.items() if state in OCCUPIED] if manner.force else []
    with open_journal(
        place.location, place.site.name, manner.reason.strip() or manner.what, forced
    ) as journal:
        yield journal
