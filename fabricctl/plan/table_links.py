"""From the rows of a table to the plan: links, used ports, and what the reader should be told."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, repeat
from typing import NamedTuple

from fabricctl.errors import PlanError
from fabricctl.fabric import Fabric, Link, LinkDetail, Port, PortClash
from fabricctl.plan.distinct import distinct
from fabricctl.plan.ends import Ends
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.plan.rows import Block, TableReader
from fabricctl.plan.side import SideColumns


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
    ends.settle(chain.from_iterable(zip(block.a.devices, block.z.devices, strict=True) for block in blocks))
    made = [_links(block, ends) for block in blocks]
    fabric = Fabric(origin=path)
    for links in made:  # what Fabric.connect does for each, at once
        fabric.links.update((link.a, link) for link in links)
        fabric.links.update((link.b, link) for link in links)
    again = _Again()
    if len(fabric.links) != 2 * sum(map(len, made)):
        fabric.links = {}
        again = _connect_each(fabric, made, blocks, ends)
    fabric.nodes = ends.nodes()
    return Plan(fabric, plan_format, path, notes=_notes(reader, again))


def _links(block: Block, ends: Ends) -> list[Link]:
    port_a, port_z = _ports(block.a, block, ends), _ports(block.z, block, ends)
    rates = repeat(None) if block.rates is None else block.rates
    fields = zip(port_a, port_z, rates, block.lines, repeat(1), repeat(2), _details(block), strict=False)
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


def _details(block: Block) -> Iterable[LinkDetail | None]:
    """What each cable carries beside ports and rate; labels only where they say more than the number."""
    told_a, told_z = ([label.told for label in side.labels] for side in (block.a, block.z))
    if block.words is None and not any(told_a) and not any(told_z):
        return repeat(None)
    words = block.words or (repeat(""), repeat(""), repeat(None))
    fields = zip(repeat(None), *words, zip(told_a, told_z, strict=True), strict=False)
    nothing = LinkDetail()
    rest = nothing[5:]  # fields that such a table does not tell
    details = map(tuple.__new__, repeat(LinkDetail), (told + rest for told in fields))  # as in _links
    return [None if detail == nothing else detail for detail in details]


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
    if ends.moved:
        key, (first, second) = next(iter(ends.moved.items()))
        notes.append(
            f"{len(ends.moved):,} devices stand in two places, e.g. {key} in {first} and in {second}; the first "
            "is kept."
        )
    return notes
