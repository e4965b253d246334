"""Carrying out what ``fabricctl bmc boot`` and ``media insert`` plan for the next boot of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fabricctl.cli.bmc.common import Desk, open_desk
from fabricctl.cli.state_options import Format

if TYPE_CHECKING:
    from fabricctl.nodes.model import Event, EventKind
    from provision.redfish.bmc import Bmc
    from provision.report.change_report import Planned
    from provision.workflows.boot_run import BootLook, BootPlan, BootRun
    from provision.workflows.journal import Journal


def set_boot(
    what: str,
    wanted: BootPlan,
    hosts: str,
    site: str,
    state: str,
    *,
    yes: bool,
    force: bool,
    reason: str,
    format: Format,
) -> None:
    """Carry a plan out on the nodes of a host set."""
    from fabricctl.cli.bmc.boot_words import boot_row, check_ports, plan_boot
    from fabricctl.cli.bmc.change import run_change
    from fabricctl.cli.bmc.reading import ask_all
    from fabricctl.cli.changing import Manner
    from provision.workflows.boot_run import boot_node, look_before

    desk = open_desk(hosts, site, state, changes=True)

    async def read(bmc: Bmc) -> BootLook:
        return await look_before(bmc, wanted)

    seen = ask_all(desk, read, "reading boot")
    check_ports(seen.values, wanted.nic)
    taken = _taken(desk, seen.values, wanted)
    manner = Manner(what, _disturbs(wanted), yes, force, reason, format)

    def plan(host: str, now: BootLook) -> Planned:
        return plan_boot(host, now, wanted, taken.get(host, ""))

    async def work(bmc: Bmc, journal: Journal) -> BootRun:
        return await boot_node(bmc, wanted, journal)

    run_change(desk, manner, seen, plan, work, boot_row)


def _disturbs(wanted: BootPlan) -> str:
    if wanted.reset:
        return "restart it"
    return "change its next boot"


def _taken(desk: Desk, seen: Mapping[str, BootLook], wanted: BootPlan) -> dict[str, str]:
    """Host -> that the boot of an earlier run has just taken the override, where it has."""
    from datetime import UTC, datetime

    from provision.workflows.boot_again import taken_words

    if wanted.again or not wanted.reset or wanted.persistent:
        return {}
    last, now = last_events(desk), datetime.now(UTC)
    words = {
        host: taken_words(last.get(host, {}), look.state, wanted.source, now) for host, look in seen.items()
    }
    return {host: text for host, text in words.items() if text}


def last_events(desk: Desk) -> Mapping[str, Mapping[EventKind, Event]]:
    """Host -> kind -> the event recorded last; of a store that is not there yet, none."""
    from fabricctl.workflows.nodes import Nodes

    events: Sequence[Event] = Nodes(desk.location, desk.site).events(subjects=desk.hosts)
    found: dict[str, dict[EventKind, Event]] = {}
    for event in events:
        found.setdefault(event.subject, {})[event.kind] = event
    return found
