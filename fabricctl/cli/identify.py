"""``fabricctl identify``: which discovered switch is which planned one."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.intent_options import (
    Assume,
    Deadline,
    Discovered,
    FabricName,
    HcaGuids,
    IdentityFile,
    KnownHosts,
    NodeNameMap,
    PlanFile,
    SiteFile,
    SwitchSerials,
    Viewers,
    checked,
    inputs_of,
    not_an_input,
)
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabricctl.identity.model import Identification
    from fabricctl.plan.model import Plan
    from fabricctl.workflows.verify_cabling import Request


class Format(StrEnum):
    """How the answer is written."""

    TABLE = "table"
    JSON = "json"
    NODE_NAME_MAP = "node-name-map"


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command("identify", no_args_is_help=True, short_help="Which discovered switch is which planned one.")(
        identify
    )


def identify(
    plan: PlanFile = "",
    discovered: Discovered = [],  # noqa: B006 - typer copies it
    viewer: Viewers = [],  # noqa: B006 - typer copies it
    site: SiteFile = "",
    fabric: FabricName = "",
    node_name_map: NodeNameMap = "",
    hca_guids: HcaGuids = "",
    switch_serials: SwitchSerials = "",
    assume: Assume = [],  # noqa: B006 - typer copies it
    format: Annotated[Format, typer.Option("--format", "-f", help="How to write the answer.")] = Format.TABLE,
    output: Annotated[str, typer.Option(metavar="FILE", help="Write it to FILE instead of the screen.")] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Fold nothing, and list every switch with its votes.")
    ] = False,
    write: Annotated[
        bool,
        typer.Option("--write", help="Add the certain identities to the site file; the diff is shown first."),
    ] = False,
    write_hcas: Annotated[
        bool, typer.Option("--write-hcas", help="With --write: the harvested HCA GUIDs too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
    deadline: Deadline = 120.0,
    known_hosts: KnownHosts = [],  # noqa: B006 - typer copies it
    identity: IdentityFile = [],  # noqa: B006 - typer copies it
) -> None:
    """Find out which switch sits in which planned position, from hosts known by name and the port numbers of cables.

    Says when it cannot be told, with the hypotheses, what each costs to repair, and what to look at to decide.
    Exit 0: every switch has a certain place and every planned one is found; 1: declared identities contradicted,
    switches without a place, or planned ones not found; 3: ambiguous, another fabric, or nothing known by name;
    2: wrong usage or input.
    """
    import gc

    from fabricctl.workflows.verify_cabling import Request

    gc.disable()  # as verify-cabling: half a million small values, no cycles
    request = Request(
        plan=plan,
        site=site,
        fabric=fabric,
        discovered=discovered,
        viewers=viewer,
        node_name_map=node_name_map,
        hca_guids=hca_guids,
        switch_serials=switch_serials,
        deadline_s=deadline,
        known_hosts=known_hosts,
        key_files=identity,
    )
    request = checked(request, assume, identify=True)
    _check_usage(request, output, write=write, write_hcas=write_hcas, yes=yes)
    raise typer.Exit(_run(request, format, output, everything, (write, write_hcas, yes)))


def _check_usage(request: Request, output: str, *, write: bool, write_hcas: bool, yes: bool) -> None:
    not_an_input([output], inputs_of(request))
    if (write_hcas or yes) and not write:
        raise UsageError(f"{'--write-hcas' if write_hcas else '--yes'} goes with --write")
    if write_hcas and not request.hca_guids:
        raise UsageError("--write-hcas writes what --hca-guids read: give that too")


def _run(
    request: Request, form: Format, output: str, everything: bool, writing: tuple[bool, bool, bool]
) -> int:
    from fabricctl.cli.progress import progress
    from fabricctl.identity.outcome import exit_code
    from fabricctl.workflows.identify import identities_to_write, run_identify
    from fabricctl.workflows.verify_cabling import load_intent, observe, use_serials

    with progress() as tell:
        intent = load_intent(request, tell)
        if writing[0] and intent.site is None:
            raise UsageError("--write adds identities to a site file: give --site")
        observation = observe(request, intent.viewers, tell, site=intent.site)
        intent, notes = use_serials(intent, observation)
        found = run_identify(intent, observation)
        found.notes += notes
    _show(found, form, output, everything)
    code = exit_code(found)
    if not writing[0]:
        return code
    assert intent.site is not None
    identities, left = identities_to_write(intent, observation, found, hcas=writing[1])
    if left:
        from fabricctl.cli.console import say
        from fabricctl.hostset import fold

        say(f"not written, the plan does not have them: {fold(left)}")
    if assumed := sum(key in found.assumed_keys for key in found.names):
        from fabricctl.cli.console import say

        many = "1 identity rests" if assumed == 1 else f"{assumed:,} identities rest"
        say(f"{many} on --assume and will not be written: declare what somebody has looked at")
    from fabricctl.workflows.identify import plans_of_site

    _write(intent.site.path, identities, plans_of_site(intent), yes=writing[2])
    return code


def _show(found: Identification, form: Format, output: str, everything: bool) -> None:
    from fabricctl.cli.console import plain, print_lines, print_text

    if form is Format.TABLE:
        import shutil

        from fabricctl.report.identity_screen import render

        width = 100 if output else min(shutil.get_terminal_size((100, 40)).columns, 120)
        lines = render(found, width=width, everything=everything)
        if not output:
            print_lines(lines)
            return
        text = plain(lines)
    elif form is Format.JSON:
        from datetime import UTC, datetime

        from fabricctl.report.identity_json import to_json

        text = to_json(found, made=datetime.now(UTC))
    else:
        from fabricctl.report import identity_map

        text = identity_map.render(found)
    if output:
        from fabricctl.adapters.files import write_atomic

        write_atomic(output, text)
    else:
        print_text(text)


def _write(path: str, identities: dict[str, str], plans: Mapping[str, Plan], *, yes: bool) -> None:
    """Show the diff, ask, write."""
    from fabricctl.cli.console import safe, say
    from fabricctl.workflows.identify import site_change

    change = site_change(path, identities, plans)
    if not change.diff:
        say(f"{change.path}: nothing to write, every certain identity is declared already")
        return
    sys.stderr.write(safe(change.diff))
    many = f"{change.added:,} identit{'y' if change.added == 1 else 'ies'}"
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(f"nothing written: confirm {many} for {change.path} with --yes")
        sys.stderr.write(f"write {many} to {change.path}? type yes: ")
        sys.stderr.flush()
        if sys.stdin.readline().strip() != "yes":
            say("nothing written")
            return
    change.write()
    say(f"{change.path}: {many} written")
