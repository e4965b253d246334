"""A harvest on the screen: alike machines in one line, then what is wrong, what changed, and what could not be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_INTERRUPTED, EXIT_OK
from fabricctl.hostset import fold, natural_key
from fabricctl.nodes.facts import FactChange
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.report.tables import text_table
from fabricctl.words import many
from provision.bmc.inventory import Depth, Inventory, Role, Technology
from provision.bmc.node_facts import Unread, unread
from provision.bmc.outcome import BmcFinding, Outcome
from provision.bmc.reading import How
from provision.report.common import said_lines


@dataclass(frozen=True)
class Told:
    """What a report of a harvest is made of.

    :param made: when, as text; :param wanted: hosts that were to be read; :param skipped: those read completely before.
    :param stored: hosts whose record was told; :param withheld: read, but another machine's.
    :param unconfirmed: hosts with GUIDs that are derived and that nothing has confirmed yet.
    """

    made: str
    depth: Depth
    outcomes: Sequence[Outcome[Inventory]]
    findings: Sequence[BmcFinding]
    changes: Sequence[FactChange]
    wanted: int
    skipped: Sequence[str] = ()
    stored: Sequence[str] = ()
    withheld: Sequence[str] = ()
    unconfirmed: Sequence[str] = ()
    interrupted: bool = False

    @cached_property
    def inventories(self) -> Mapping[str, Inventory]:
        """Host -> what was read."""
        return {o.target.host: o.value for o in self.outcomes if o.value is not None}

    @cached_property
    def unread(self) -> Mapping[str, Sequence[Unread]]:
        """Host -> what could not be told, of hosts that were read in part."""
        found = {host: unread(inventory) for host, inventory in self.inventories.items()}
        return {host: missing for host, missing in found.items() if missing}

    @property
    def exit_code(self) -> int:
        """130 interrupted, 3 something could not be told, 1 findings, else 0."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        if self.unread or any(outcome.error is not None for outcome in self.outcomes):
            return EXIT_COULD_NOT_TELL
        return EXIT_FINDINGS if self.findings else EXIT_OK


def lines(told: Told) -> list[Line]:
    """The screen, but for what every report ends with."""
    made: list[Line] = [_headline(told)]
    for block in (_table(told), _changes(told.changes)):
        made += [(), *block] if block else []
    return made


def doubts(told: Told) -> list[tuple[str, str]]:
    """What BMCs that were read did not tell: host and what."""
    return [
        (host, f"{one.what} of {one.part}: {one.why}" if one.part else f"{one.what}: {one.why}")
        for host, missing in told.unread.items()
        for one in missing
    ]


def _headline(told: Told) -> Line:
    parts, wanted = len(told.unread), told.wanted
    read = len(told.inventories) - parts
    style = GOOD if told.exit_code == EXIT_OK else BOLD
    again = f"; {len(told.skipped):,} were read completely before" if told.skipped else ""
    depth = "" if told.depth is Depth.DEFAULT else f" ({told.depth.name.lower()})"
    cut = ", interrupted" if told.interrupted else ""
    part = f", {parts:,} in part" if parts else ""
    return ((f"{read:,} of {many(wanted, 'BMC')} read{depth}{part}{cut}{again}", style),)


COLUMNS = ("hosts", "model", "cards", "Ethernet", "InfiniBand", "MACs", "GUIDs", "missing")


def _table(told: Told) -> list[Line]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for host, inventory in told.inventories.items():
        groups.setdefault(_row(inventory), []).append(host)
    if not groups:
        return []
    ordered = sorted(groups.items(), key=lambda item: natural_key(min(item[1], key=natural_key)))
    columns = list(COLUMNS)
    rows = [[fold(hosts), *row] for row, hosts in ordered]
    if told.depth is Depth.FULL:
        columns[-1:-1] = ["GPUs", "drives", "PSUs", "DIMMs"]
    styles = [DOUBT if row[-1] else PLAIN for row, _ in ordered]
    header, *body = text_table(columns, rows)
    return [((header, DIM),), *(((text, style),) for text, style in zip(body, styles, strict=True))]


def _row(inventory: Inventory) -> tuple[str, ...]:
    functions = [function for function in inventory.functions if function.role is Role.HOST]
    ethernet = sum(function.technology.value == Technology.ETHERNET for function in functions)
    infiniband = sum(function.infiniband for function in functions)
    macs = sum(function.mac is not None for function in functions)
    macs += sum(nic.mac is not None for nic in inventory.bmc_nics if nic.role is Role.BMC)
    cells = [str(len(inventory.adapters)), str(ethernet), str(infiniband), str(macs), _guids(inventory)]
    if inventory.depth is Depth.FULL:
        parts = (inventory.gpus, inventory.drives, inventory.psus, inventory.dimms)
        cells += [str(len(some)) for some in parts]
    missing = unread(inventory)
    return (inventory.system.model.value or "", *cells, f"{len(missing)}" if missing else "")


def _guids(inventory: Inventory) -> str:
    guids = [f.node_guid if f.node_guid.known else f.port_guid for f in inventory.functions if f.infiniband]
    derived = sum(guid.how is How.DERIVED for guid in guids)
    known = sum(guid.known for guid in guids)
    return f"{known} ({derived} derived)" if derived else str(known)


def _changes(changes: Sequence[FactChange]) -> list[Line]:
    """What is otherwise than at the last harvest, alike changes folded."""
    if not changes:
        return []
    said = [(change.node, change_words(change)) for change in changes]
    return [((f"{len(changes):,} changed since the last harvest", BOLD),), *said_lines(said, parts=True)]


def change_words(change: FactChange) -> str:
    """``NIC.Slot.5-1 link: down -> up``."""
    family, _, name = change.field.partition(".")
    if not name:
        return f"{change.part}: {family} is {'new' if change.before is None else 'gone'}"
    where = change.part or family
    before = "nothing" if change.before is None else str(change.before)
    after = "nothing" if change.after is None else str(change.after)
    return f"{where} {name.replace('_', ' ')}: {before} -> {after}"


def after(told: Told) -> Iterator[Line]:
    """What to do next."""
    if told.withheld:
        yield ((f"not stored, another machine answered: {fold(told.withheld)}", BAD),)
    again = [o.target.host for o in told.outcomes if o.error is not None]
    again += [host for host in told.unread if host not in again]
    if told.interrupted:
        rest = told.wanted - len(told.outcomes)
        text = f"interrupted: {len(told.stored):,} stored, {rest:,} not asked; --resume reads the rest"
        yield ((text, DOUBT),)
    elif again:
        yield ((f"--resume reads only these again: {fold(again)}", DIM),)
    if told.unconfirmed:
        text = f"GUIDs of {fold(told.unconfirmed)} are derived and prove nothing until they are confirmed:"
        yield ((text, DIM),)
        yield (("fabricctl node confirm-guids --discovered FILE --site FILE", DIM),)
