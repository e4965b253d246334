"""Plain port numbers of switches whose cages hold several ports: InfiniBand ports, or cages?

A sheet that says "port 14" of a QM9700 may mean InfiniBand port 14 (cage 7, port 2) or cage 14. A file says which: a
comment line ``# port-numbers: cage`` (or ``infiniband``), the key ``port_numbers`` beside the file in the site file, or
``--port-numbers``. Without a word they are InfiniBand ports, as long as something in the file shows it: a number above
the number of cages, a front-panel label, or the header that ``fabricctl plan export`` writes. Where nothing does, the
plan is marked, and whoever uses it must ask: the discovery may decide, else the operator does.

With ``cage``, a cage that stands twice for one switch is its ports 1 and 2 in the order of the file. One that stands
once is both ports when the row is a twin cable from cage to cage; else its port cannot be told, and that is an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fabricctl.cable_kinds import AssemblyType, assembly_of_part, read_assembly
from fabricctl.errors import PlanError
from fabricctl.plan.cells import shown
from fabricctl.plan.columns import Role
from fabricctl.plan.ends import Device, Ends
from fabricctl.plan.export import COLUMNS
from fabricctl.plan.labels import Label, Shape
from fabricctl.plan.model import Plan, PortNumbers, UnclearNumbers
from fabricctl.plan.rows import Block, Words
from fabricctl.plan.side import SideColumns

HINT = "say which with --port-numbers infiniband or cage, or with a line '# port-numbers: cage' in the file"

_DECLARED = re.compile(r'^[\s"\ufeff]*#\s*port[-_ ]?numbers?\s*[:=]\s*"?([^\s",;]*)', re.I | re.M)
_BARE = re.compile(r"(?:(?:port|p|cage) ?)?[0-9]{1,3}\Z", re.I)
_TWIN = (AssemblyType.TWIN_DAC, AssemblyType.TWIN_ACC)


def declared_numbers(text: str, path: str) -> PortNumbers | None:
    """What a comment line of a file says; None when there is no such line.

    :raises PlanError: it says something else than ``infiniband`` or ``cage``.
    """
    match = _DECLARED.search(text)
    if match is None:
        return None
    try:
        return PortNumbers(match[1].lower())
    except ValueError:
        line = text.count("\n", 0, match.start(1)) + 1
        raise PlanError(
            f"port-numbers {shown(match[1])} is not understood; expected infiniband or cage",
            path=path,
            line=line,
        ) from None


def unclear_error(unclear: UnclearNumbers, more: str = "") -> PlanError:
    """What to say when numbers may be cages. :param more: what else is known, a phrase."""
    cages = unclear.cages
    return PlanError(
        f"{unclear.switch} is a {unclear.model} with {cages} cages of several ports, and no plain port number of the "
        f"file is above {cages}: they may be cages or InfiniBand ports{f' ({more})' if more else ''}",
        path=unclear.path,
        line=unclear.line,
        hint=HINT,
    )


def require_clear(plan: Plan) -> Plan:
    """The plan, when it is known what its plain port numbers are.

    :raises PlanError: nothing shows it.
    """
    if plan.unclear is not None:
        raise unclear_error(plan.unclear)
    return plan


class _Use(NamedTuple):
    """A plain number of a switch. :param block: index of the block, :param row: and of the row in it."""

    device: Device
    number: int
    block: int
    row: int
    far: bool


def is_exported(blocks: Sequence[Block]) -> bool:
    """Whether a table has the header of ``fabricctl plan export``, whose numbers are InfiniBand ports."""
    return all(block.header[: len(COLUMNS)] == COLUMNS for block in blocks)


def unclear_numbers(blocks: Sequence[Block], ends: Ends) -> UnclearNumbers | None:
    """The first plain number that may be a cage, when nothing in the file shows what numbers are."""
    several = {id(device): device for device in ends.devices if _cages(device)}
    if not several:
        return None
    if any(device.panels or max(device.numbers, default=0) > _cages(device) for device in several.values()):
        return None
    first = next((use for use in _uses(blocks) if id(use.device) in several), None)
    if first is None:
        return None
    block, model = blocks[first.block], first.device.model
    assert model is not None
    return UnclearNumbers(first.device.name, model.name, model.cages, block.path, block.lines[first.row])


def read_as_cages(blocks: list[Block]) -> list[str]:
    """Turn plain numbers of switches with several ports per cage into cage and port; returns notes.

    :raises PlanError: a cage whose port cannot be told, or that stands more often than it has ports.
    """
    uses = [use for use in _uses(blocks) if use.device.role is not Role.HOST]
    counts = Counter((use.device.name, use.number) for use in uses)
    twice = {name for (name, _), count in counts.items() if count > 1}
    wanted = [
        use for use in uses if _cages(use.device) or (use.device.model is None and use.device.name in twice)
    ]
    if not wanted:
        return []
    once = _both_ports(wanted, counts, blocks)
    met: Counter[tuple[str, int]] = Counter()
    for use in wanted:
        block = blocks[use.block]
        side = block.z if use.far else block.a
        line, name = block.lines[use.row], f"cage {use.number} of {shown(use.device.name)}"
        most = use.device.model.ports_per_cage if use.device.model is not None else 2
        met[use.device.name, use.number] += 1
        port, count = met[use.device.name, use.number], counts[use.device.name, use.number]
        if count > most:
            raise PlanError(f"{name} stands {count} times; it has {most} ports", path=block.path, line=line)
        if count == 1 and (use.block, use.row) not in once:
            raise PlanError(
                f"{name} stands once, and which of its {most} ports is meant cannot be told",
                path=block.path,
                line=line,
                hint=f"write {use.number}/1 or {use.number}/2, or the port numbers of the switch",
            )
        _set(side, use.row, use.device, Label(Shape.PANEL, f"{use.number}/{port}", told=f"{use.number}"))
    for device in {id(use.device): use.device for use in wanted}.values():
        device.numbers = set()
    for index, block in enumerate(blocks):
        rows = {row for at, row in once if at == index}
        if rows:
            blocks[index] = _doubled(block, rows)
    return _notes(wanted, counts, once)


def _cages(device: Device) -> int:
    """Cages of a switch whose cages hold several ports; 0 of any other device."""
    model = device.model
    if device.role is Role.HOST or model is None or model.ports_per_cage < 2:
        return 0
    return model.cages


def _uses(blocks: Sequence[Block]) -> Iterator[_Use]:
    """Every plain number, in the order of the file."""
    for index, block in enumerate(blocks):
        sides = ((block.a, False), (block.z, True))
        for row in range(len(block.lines)):
            for side, far in sides:
                label = side.labels[row]
                if label.shape is Shape.NUMBER and (not label.told or _BARE.match(label.text)):
                    yield _Use(side.devices[row], label.number, index, row, far)


def _both_ports(
    wanted: list[_Use], counts: Counter[tuple[str, int]], blocks: Sequence[Block]
) -> set[tuple[int, int]]:
    """Rows that are a twin cable between two cages named once: two links each."""
    single = Counter((use.block, use.row) for use in wanted if counts[use.device.name, use.number] == 1)
    return {
        (at, row) for (at, row), count in single.items() if count == 2 and _is_twin(blocks[at].words, row)
    }


def _is_twin(words: Words | None, row: int) -> bool:
    if words is None:
        return False
    texts = (words.assembly[row], words.part_number[row], words.cable[row])
    return any(read_assembly(text) in _TWIN or assembly_of_part(text) in _TWIN for text in texts if text)


def _set(side: SideColumns, row: int, device: Device, label: Label) -> None:
    side.labels[row] = label
    device.panels.add(label.text)


def _doubled(block: Block, rows: set[int]) -> Block:
    """The block with these rows twice, the second for port 2 of both cages."""
    order = [row for row in range(len(block.lines)) for _ in range(2 if row in rows else 1)]
    a, z = (_picked(side, order, rows) for side in (block.a, block.z))
    words = block.words and Words._make([column[row] for row in order] for column in block.words)
    rates = None if block.rates is None else [block.rates[row] for row in order]
    return block._replace(lines=[block.lines[row] for row in order], a=a, z=z, rates=rates, words=words)


def _picked(side: SideColumns, order: list[int], rows: set[int]) -> SideColumns:
    labels: list[Label] = []
    for at, row in enumerate(order):
        label = side.labels[row]
        if row in rows and at and order[at - 1] == row:
            label = label._replace(text=label.text.removesuffix("/1") + "/2")
            side.devices[row].panels.add(label.text)
        labels.append(label)
    raws = None if side.raws is None else [side.raws[row] for row in order]
    return side._replace(devices=[side.devices[row] for row in order], labels=labels, raws=raws)


def _notes(wanted: list[_Use], counts: Counter[tuple[str, int]], once: set[tuple[int, int]]) -> list[str]:
    pairs = sum(count == 2 for count in counts.values())
    devices = len({use.device.name for use in wanted})
    notes = [f"Plain port numbers of {devices:,} switches are read as cages."]
    if pairs:
        notes.append(
            f"{pairs:,} cages stand twice: they are read as port 1 and port 2 in the order of the file."
        )
    if once:
        notes.append(f"{len(once):,} rows are twin cables between two cages: two links each.")
    return notes
