"""From the rows of a table to the plan: links, used ports, and what the reader should be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain, repeat
from typing import NamedTuple

from fabricctl.cable_kinds import (
    ACCEPTED,
    COPPER_REACH_M,
    AssemblyType,
    assembly_of_part,
    is_open_splitter,
    read_assembly,
)
from fabricctl.cable_kinds import Ends as AssemblyEnds
from fabricctl.errors import PlanError
from fabricctl.fabric import Fabric, Link, LinkDetail, Port, PortClash
from fabricctl.plan.cells import shown
from fabricctl.plan.columns import Role
from fabricctl.plan.distinct import distinct
from fabricctl.plan.ends import Device, Ends
from fabricctl.plan.model import Plan, PlanFormat, PortNumbers
from fabricctl.plan.port_numbers import is_exported, read_as_cages, unclear_numbers
from fabricctl.plan.rows import Block, TableReader, Words
from fabricctl.plan.side import SideColumns
from fabricctl.rates import Rate

UNREAD_SHOWN = 4
"""Words for cable types that are said one by one before the rest are counted."""


class _Again(NamedTuple):
    """How many rows tell a cable that an earlier row told: from its other end, or in the same order."""

    other_end: int = 0
    same: int = 0


def table_plan(reader: TableReader, plan_format: PlanFormat, path: str) -> Plan:
    """Make the plan of everything a reader collected.

    :raises PlanError: when there is no cable, a port is used twice or a label means nothing.
    """
    ends, blocks = reader.ends, reader.blocks
    if not blocks:
        skips = "".join(f"; {count:,} rows {what} were skipped" for what, count in reader.skipped.items())
        raise PlanError(f"the table has a header but no cable{skips}", path=path)
    notes: list[str] = []
    unclear = None
    if reader.port_numbers is PortNumbers.CAGE:
        notes = read_as_cages(blocks)
    elif is_exported(blocks):
        reader.port_numbers = PortNumbers.INFINIBAND
    elif reader.port_numbers is None:
        unclear = unclear_numbers(blocks, ends)
    ends.settle(chain.from_iterable(zip(block.a.devices, block.z.devices, strict=True) for block in blocks))
    kinds = [_assemblies(block, block.words) if block.words is not None else [] for block in blocks]
    made = [_links(block, ends, of_block) for block, of_block in zip(blocks, kinds, strict=True)]
    for block, of_block in zip(blocks, kinds, strict=True):
        if block.words is not None:
            notes += _unread_kinds(block, block.words, of_block)
    fabric = Fabric(origin=path)
    for links in made:  # what Fabric.connect does for each, at once
        fabric.links.update((link.a, link) for link in links)
        fabric.links.update((link.b, link) for link in links)
    again = _Again()
    if len(fabric.links) != 2 * sum(map(len, made)):
        fabric.links = {}
        again = _connect_each(fabric, made, blocks, ends)
    fabric.nodes = ends.nodes()
    notes += _notes(reader, again)
    return Plan(fabric, plan_format, path, notes=notes, port_numbers=reader.port_numbers, unclear=unclear)


def _links(block: Block, ends: Ends, kinds: list[str]) -> list[Link]:
    port_a, port_z = _ports(block.a, block, ends), _ports(block.z, block, ends)
    rates = repeat(None) if block.rates is None else block.rates
    fields = zip(
        port_a, port_z, rates, block.lines, repeat(1), repeat(2), _details(block, kinds), strict=False
    )
    # a third of the time of Link(...), which goes through a Python function; there may be 300,000
    return list(map(tuple.__new__, repeat(Link), fields))


def _ports(side: SideColumns, block: Block, ends: Ends) -> list[Port]:
    """The ports of one side; their nodes learn place and GUID."""
    ports = ends.ports(side.devices, side.labels, block.lines, block.path)
    if side.raws is not None:
        pairs = list(zip((port.node for port in ports), side.raws, strict=True))
        for (key, raw), line in distinct(pairs, block.lines):
            ends.describe(key, side.said[raw], path=block.path, line=line)
    return ports


def _details(block: Block, kinds: list[str]) -> Iterable[LinkDetail | None]:
    """What each cable carries beside ports and rate; labels only where they say more than the number."""
    told_a, told_z = ([label.told for label in side.labels] for side in (block.a, block.z))
    if block.words is None and not any(told_a) and not any(told_z):
        return repeat(None)
    nothing, labels = LinkDetail(), list(zip(told_a, told_z, strict=True))
    words = block.words
    if words is None:
        none = ("", "")
        return [None if told == none else nothing._replace(labels=told) for told in labels]
    cables, parts = words.cable, words.part_number
    if any(words.assembly):  # words that name no kind are kept as the cable's label, a part number as such
        said = list(zip(words.assembly, kinds, cables, parts, strict=True))
        cables = [cable or ("" if kind else text) for text, kind, cable, _ in said]
        parts = [part or (text if assembly_of_part(text) else "") for text, _, _, part in said]
    fields = zip(
        repeat(None),
        *(words.link_class, cables, words.length_m, labels, kinds, parts),
        *(words.serial, words.connectors, words.modules),
        strict=False,
    )
    details = map(tuple.__new__, repeat(LinkDetail), fields)  # as in _links
    return [None if detail == nothing else detail for detail in details]


def _assemblies(block: Block, words: Words) -> list[str]:
    """Kind of each cable by its type column, else by its part number, else by a label that is one."""
    if not any(words.assembly) and not any(words.part_number) and not any(words.cable):
        return [""] * len(block.lines)
    known: dict[tuple[object, ...], str] = {}
    found = []
    rates = block.rates or repeat(None)
    labels = _kind_labels(words.cable)
    columns = (words.assembly, words.part_number, labels, block.a.devices, block.z.devices, rates)
    fibre = [_of_fibre(*said) for said in zip(words.length_m, words.connectors, strict=True)]
    for kind, part, cable, a, z, rate, long in zip(*columns, fibre, strict=False):
        cages = (_cage_ports(a), _cage_ports(z))
        host = Role.HOST in (a.role, z.role)
        asked = (kind, part, cable, cages, host, rate, long)
        if asked not in known:
            known[asked] = str(_kind(kind, part, cable, AssemblyEnds(cages, host), rate, fibre=long) or "")
        found.append(known[asked])
    return found


def _kind(
    kind: str, part: str, cable: str, ends: AssemblyEnds, rate: Rate | None, *, fibre: bool
) -> AssemblyType | None:
    named = read_assembly(kind, ends, rate) if kind else None
    named = named or assembly_of_part(part) or (read_assembly(cable, ends, rate) if cable else None)
    if named is None and fibre:
        open_ = next((text for text in (kind, cable) if is_open_splitter(text)), "")
        return read_assembly(f"{open_} fibre") if open_ else None
    return named


def _of_fibre(length_m: float | None, connectors: tuple[str, str]) -> bool:
    """Whether length or connector tells that a cable is no copper one."""
    return (length_m or 0) > COPPER_REACH_M or any("mpo" in text.lower() for text in connectors)


def _kind_labels(cables: list[str]) -> list[str]:
    """Texts of the cable column that may be kinds: part numbers, and words that stand on several cables.

    A label is of one cable: one that happens to hold such a word (``MPO-0012``) is no kind.
    """
    counts = Counter(cables)
    return [text if text and (counts[text] > 1 or assembly_of_part(text)) else "" for text in cables]


def _unread_kinds(block: Block, words: Words, kinds: list[str]) -> list[str]:
    """Words for a cable's kind that say none, one note for each."""
    unread: dict[str, list[int]] = {}
    labels = _kind_labels(words.cable)
    for said, label, kind, line in zip(words.assembly, labels, kinds, block.lines, strict=True):
        text = said or (label if is_open_splitter(label) else "")
        if text and not kind:
            unread.setdefault(text, []).append(line)
    notes = []
    for text, lines in unread.items():
        rows = f"{len(lines):,} row{'' if len(lines) == 1 else 's'}, the first in line {lines[0]}"
        what = (
            "does not say fibre or copper: write fibre 1:2 or DAC 1:2"
            if is_open_splitter(text)
            else f"names no kind of cable here: expected {ACCEPTED}"
        )
        notes.append(f"Cable type {shown(text)} ({rows}) {what}.")
    if len(notes) > UNREAD_SHOWN:
        notes[UNREAD_SHOWN:] = [f"{len(notes) - UNREAD_SHOWN:,} more cable types name no kind of cable here."]
    return notes


def _cage_ports(device: Device) -> int:
    """Ports in a cage of a switch; 0 for a host or an unknown model."""
    return device.model.ports_per_cage if device.model is not None else 0


def _connect_each(fabric: Fabric, made: list[list[Link]], blocks: list[Block], ends: Ends) -> _Again:
    """Connect one by one, since some port occurs twice; returns how many rows told a cable again.

    :raises PlanError: when a port carries two different cables.
    """
    other_end = same = 0
    path_of: dict[int, str] = {}
    for block, links in zip(blocks, made, strict=True):
        for link in links:
            path_of[id(link)] = block.path
            clash = fabric.connect(link) if link.a != link.b else PortClash(link.a, link, link)
            if clash is not None:
                first_path = path_of[id(clash.first)]
                where = f"line {clash.first.line}" if len(blocks) == 1 else f"{first_path}:{clash.first.line}"
                _check_same(clash, where, block.path, ends)
                if link.a == clash.first.a:
                    same += 1
                else:
                    other_end += 1
    return _Again(other_end, same)


def _check_same(clash: PortClash, where: str, path: str, ends: Ends) -> None:
    """Accept the same cable written again.

    :param where: where the first one stands.
    :raises PlanError: when it is another cable in a used port.
    """
    port, first, second = clash
    line = second.line
    if first is second:
        raise PlanError(f"both ends are {_text(port)}; a cable needs two ports", path=path, line=line)
    if {first.a, first.b} != {second.a, second.b}:
        places = ends.moved.get(port.node)
        raise PlanError(
            f"{_text(port)} is used twice: it carries the cable to {_text(first.other(port))} ({where}) and here "
            f"one to {_text(second.other(port))}",
            path=path,
            line=line,
            hint=""
            if places is None
            else f"{port.node} stands in {places[0]} and in {places[1]}; two devices need two names",
        )
    if first.rate != second.rate and first.rate is not None and second.rate is not None:
        raise PlanError(
            f"the cable between {_text(first.a)} and {_text(first.b)} is {second.rate} here and {first.rate} "
            f"before ({where})",
            path=path,
            line=line,
        )


def _text(port: Port) -> str:
    return f"port {port.number} of {port.node}"


def _notes(reader: TableReader, again: _Again) -> list[str]:
    """What the reader of the plan should know, one sentence each."""
    ends = reader.ends
    notes = [f"{count:,} rows {what} were skipped." for what, count in sorted(reader.skipped.items())]
    if again.other_end:
        what = "1 cable is" if again.other_end == 1 else f"{again.other_end:,} cables are"
        notes.append(f"{what} written twice, as from both ends; each counts once.")
    if again.same:
        what = "1 row repeats" if again.same == 1 else f"{again.same:,} rows repeat"
        notes.append(f"{what} the cable of an earlier row, in the same order; each cable counts once.")
    boards = ends.boards()
    if boards:
        notes.append(
            "Director labels are read as 'Blade 16_Port 2/20' = leaf board 16, ASIC 2, port 20, which is usual "
            f"but not confirmed by a document; {len(boards):,} ASICs, the first is {boards[0]}."
        )
    if ends.assumed_models:
        device, model = next(iter(ends.assumed_models.items()))
        notes.append(
            f"Front-panel labels of {len(ends.assumed_models):,} switches without a model are read as the "
            f"built-in models agree on, e.g. {device} as {model}."
        )
    split = ends.split_ready
    if split:
        what = "1 switch is" if len(split) == 1 else f"{len(split):,} switches are"
        notes.append(
            f"{what} written in the split-ready profile, which counts 1 to 2n; the first is {split[0].name}."
        )
    if ends.moved:
        key, (first, second) = next(iter(ends.moved.items()))
        notes.append(
            f"{len(ends.moved):,} devices stand in two places, e.g. {key} in {first} and in {second}; the first "
            "is kept."
        )
    return notes
