"""A harvest on the screen: alike machines in one line, then what is wrong, what changed, and what could not be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_INTERRUPTED, EXIT_OK
from fabricctl.hostset import fold, natural_key
from fabricctl.nodes.facts import FactChange
from fabricctl.report.screen import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.report.tables import text_table
from provision.bmc.inventory import Depth, Inventory, Role, Technology
from provision.bmc.node_facts import Unread, unread
from provision.bmc.outcome import BmcFinding, Outcome
from provision.bmc.reading import How
from provision.report.common import exposure_lines, failure_lines

LONGEST = 60
"""Characters of folded part names that are shown."""
SHOWN = 20
"""Changes, and kinds of oddities, that are shown before the rest is counted."""


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
    """The screen."""
    made: list[Line] = [_headline(told), *exposure_lines(outcome.target for outcome in told.outcomes)]
    for block in (
        _table(told),
        _findings(told.findings),
        _changes(told.changes),
        _could_not(told),
        _odd(told),
    ):
        if block:
            made += [(), *block]
    return [*made, *_after(told)]


def _headline(told: Told) -> Line:
    read, wanted = len(told.inventories), told.wanted
    style = GOOD if told.exit_code == EXIT_OK else BOLD
    again = f"; {len(told.skipped):,} were read completely before" if told.skipped else ""
    depth = "" if told.depth is Depth.DEFAULT else f" ({told.depth.name.lower()})"
    cut = ", interrupted" if told.interrupted else ""
    return ((f"{read:,} of {wanted:,} BMCs read{depth}{cut}{again}", style),)


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
    header, *body = text_table(columns, rows)
    styles = [DOUBT if row[-1] else PLAIN for row, _ in ordered]
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


def _findings(findings: Sequence[BmcFinding]) -> list[Line]:
    if not findings:
        return []
    word = "finding" if len(findings) == 1 else "findings"
    return [
        ((f"{len(findings):,} {word}", BAD),),
        *(((f"  {one.kind:<21}", BOLD), (one.text, PLAIN)) for one in findings),
    ]


def _changes(changes: Sequence[FactChange]) -> list[Line]:
    """What is otherwise than at the last harvest, alike changes folded."""
    groups: dict[str, list[str]] = {}
    for change in changes:
        groups.setdefault(change_words(change), []).append(change.node)
    if not groups:
        return []
    made: list[Line] = [((f"{len(changes):,} changed since the last harvest", BOLD),)]
    for text, hosts in list(groups.items())[:SHOWN]:
        made.append(((f"  {fold(hosts)}  ", BOLD), (text, PLAIN)))
    if len(groups) > SHOWN:
        made.append(((f"  and {len(groups) - SHOWN:,} more (--format json)", DIM),))
    return made


def change_words(change: FactChange) -> str:
    """``NIC.Slot.5-1 link: down -> up``."""
    family, _, name = change.field.partition(".")
    if not name:
        return f"{change.part}: {family} is {'new' if change.before is None else 'gone'}"
    where = change.part or family
    before = "nothing" if change.before is None else str(change.before)
    after = "nothing" if change.after is None else str(change.after)
    return f"{where} {name.replace('_', ' ')}: {before} -> {after}"


def _could_not(told: Told) -> list[Line]:
    """BMCs that told nothing, then what others did not tell, folded by reason."""
    made = failure_lines(told.outcomes)
    groups: dict[tuple[str, str], dict[str, list[str]]] = {}
    for host, missing in told.unread.items():
        by_reason: dict[tuple[str, str], list[str]] = {}
        for one in missing:
            by_reason.setdefault((one.what, one.why), []).append(one.part)
        for reason, named in by_reason.items():
            shown = _parts_words([part for part in named if part])
            groups.setdefault(reason, {}).setdefault(shown, []).append(host)
    if groups:
        count = len(told.unread)
        made.append(((f"read in part: {count:,} BMC{'' if count == 1 else 's'}", DOUBT),))
    for (what, why), places in groups.items():
        for parts, hosts in places.items():
            of = f" of {parts}" if parts else ""
            made.append(((f"  {fold(hosts)}", BOLD), (f"  {what}{of}: {why}", PLAIN)))
    return made


def _parts_words(parts: Sequence[str]) -> str:
    """``NIC.Slot.[5-6]-1``; of ids that do not fold, how many and one of them."""
    folded = fold(parts)
    return folded if len(folded) <= LONGEST else f"{len(parts)} parts such as {parts[0]}"


def _odd(told: Told) -> list[Line]:
    """What was odd and tolerated, alike oddities folded over parts and hosts."""
    groups: dict[tuple[str, str], list[str]] = {}
    for outcome in told.outcomes:
        parts: dict[str, list[str]] = {}
        for note in outcome.notes:
            parts.setdefault(note.text, []).append(note.path.partition("?")[0].rpartition("/")[2])
        for text, named in parts.items():
            groups.setdefault((_parts_words(named), text), []).append(outcome.target.host)
    made: list[Line] = [
        ((f"  {fold(hosts)}  {parts_of} {text}", DIM),)
        for (parts_of, text), hosts in list(groups.items())[:SHOWN]
    ]
    if len(groups) > SHOWN:
        made.append(((f"  and {len(groups) - SHOWN:,} more (--format json)", DIM),))
    return [(("odd, and tolerated", DIM),), *made] if made else []


def _after(told: Told) -> Iterator[Line]:
    """What to do next."""
    if told.withheld:
        yield ()
        yield ((f"not stored, another machine answered: {fold(told.withheld)}", BAD),)
    again = [o.target.host for o in told.outcomes if o.error is not None]
    again += [host for host in told.unread if host not in again]
    if told.interrupted:
        yield ()
        rest = told.wanted - len(told.outcomes)
        yield (
            (f"interrupted: {len(told.stored):,} stored, {rest:,} not asked; --resume reads the rest", DOUBT),
        )
    elif again:
        yield ()
        yield ((f"--resume reads only these again: {fold(again)}", DIM),)
    if told.unconfirmed:
        yield (
            (
                f"GUIDs of {fold(told.unconfirmed)} are derived and prove nothing until they are confirmed:",
                DIM,
            ),
        )
        yield (("fabricctl node confirm-guids --discovered FILE --site FILE", DIM),)


def warnings(told: Told) -> list[str]:
    """The same in lines beside a table that holds only what was read."""
    blocks = [*exposure_lines(o.target for o in told.outcomes), *_findings(told.findings), *_could_not(told)]
    return ["".join(text for text, _ in line) for line in [*blocks, *_after(told)] if line]
