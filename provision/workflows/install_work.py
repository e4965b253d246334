"""What a verb adds to the way every node goes, and what all nodes of a run share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from fabricctl.errors import ProvisionerError, StateConflictError, StateError
from fabricctl.nodes.facts import Value
from fabricctl.nodes.model import NodeState
from provision.install.lifecycle import Wish
from provision.install.machine import Phase
from provision.install.provisioner import Provisioner
from provision.workflows.install_guard import Guard
from provision.workflows.install_model import FlowOptions
from provision.workflows.install_past import Past
from provision.workflows.journal import Begun

if TYPE_CHECKING:
    from provision.workflows.install_node import Node
    from provision.workflows.install_watch import Watch


class Work(Protocol):
    """What a verb adds."""

    @property
    def wish(self) -> Wish:
        """What is wanted."""
        ...

    def refused(self, node: Node, phase: Phase) -> str:
        """Why a phase must not be begun, by the machine as it was read last; empty when it may."""
        ...

    async def prepare(self, node: Node, phase: Phase) -> str:
        """Once it has its place and was read again; nothing is changed. :returns: why it must not be begun."""
        ...

    async def send(self, node: Node, phase: Phase) -> None:
        """Begin a phase."""
        ...

    async def check(self, node: Node) -> Checked:
        """When the machine is as wanted by its state: is it by what it is?"""
        ...


@dataclass(frozen=True, slots=True)
class Checked:
    """What was seen of a machine that reached its state.

    :param broken: why it must not be used, which puts it in quarantine; :param findings: what else is not as wanted.
    :param untold: what could not be told; :param notes: facts to keep.
    :param proved: what the event of the phase is told beside the state: what was looked at, and is right.
    """

    broken: str = ""
    findings: Sequence[str] = ()
    untold: Sequence[str] = ()
    notes: Mapping[str, Value] = field(default_factory=dict)
    proved: str = ""


@runtime_checkable
class TellsUser(Protocol):
    """A provisioner whose machines have owners, and that tells as whom it knows us."""

    async def user(self) -> str:
        """Whose key it is."""
        ...


async def user_of(provisioner: Provisioner) -> str:
    """As whom a provisioner knows us; empty where it cannot tell, and then nothing counts as ours."""
    if not isinstance(provisioner, TellsUser):
        return ""
    try:
        return await provisioner.user()
    except ProvisionerError:
        return ""


@dataclass
class Desk:
    """What all nodes of a run share.

    :param noted: and ``pasts``: what is kept of each host, as it was when the run began.
    :param user: as whom the provisioner knows us; :param states: of node records when the run began.
    :param guard: reads node records as they are now.
    """

    provisioner: Provisioner
    options: FlowOptions
    watch: Watch
    noted: Mapping[str, Mapping[str, Value]]
    pasts: Mapping[str, Past]
    user: str = ""
    unwritable: str = ""
    guard: Guard = field(init=False)
    states: Mapping[str, NodeState] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.guard = Guard(self.options.book)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Around what is kept. Once it cannot be, nothing more is begun for any host."""
        try:
            yield
        except StateConflictError:
            raise
        except StateError as error:
            self.unwritable = self.unwritable or str(error)
            raise


@dataclass(frozen=True)
class Entry:
    """An event of a run."""

    desk: Desk
    begun: Begun

    def tell(self, afters: Sequence[str]) -> None:
        """What is known now. :raises StateError: it cannot be kept."""
        with self.desk.writing():
            self.begun.tell(afters)
