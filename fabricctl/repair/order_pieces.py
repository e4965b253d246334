"""Pieces of a work order: one device or rack of it, shares for several people, and its indexes.

A group of steps is never torn: half of a ring of moves leaves a plug hanging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from fabricctl.hostset import natural_key
from fabricctl.repair.order_model import Spot, Step, WorkOrder


def split(order: WorkOrder, people: int) -> list[WorkOrder]:
    """Shares of about equal minutes, each a run of neighbouring groups, so that each has few racks.

    The longest share is as short as runs of whole groups allow. Steps keep their numbers. There are no more shares
    than groups; separate orders and what to look at first stay with the first share.
    """
    groups = list(_groups(order.steps))
    people = max(1, min(people, len(groups)))
    times = [sum(step.minutes for step in group) for group in groups]
    shares = _runs(times, people)
    pieces = []
    for part, (start, end) in enumerate(shares, 1):
        steps = tuple(step for group in groups[start:end] for step in group)
        piece = replace(order, steps=steps, part=part, of_parts=people)
        pieces.append(piece if part == 1 else replace(piece, parts=(), look_first=()))
    return pieces


def _groups(steps: Iterable[Step]) -> Iterator[list[Step]]:
    group: list[Step] = []
    for step in steps:
        if group and group[-1].group != step.group:
            yield group
            group = []
        group.append(step)
    if group:
        yield group


def _runs(times: list[float], people: int) -> list[tuple[int, int]]:
    """Runs (start, end) of neighbours, one per person, whose longest sum is least (found by halving the limit)."""
    low, high = max(times, default=0.0), sum(times)
    for _ in range(40):
        middle = (low + high) / 2
        if len(_filled(times, middle)) <= people:
            high = middle
        else:
            low = middle
    runs = _filled(times, high)
    while len(runs) < min(people, len(times)):  # a limit this generous left somebody without work
        at = max(
            (i for i, run in enumerate(runs) if run[1] - run[0] > 1),
            key=lambda i: sum(times[slice(*runs[i])]),
        )
        start, end = runs[at]
        half, total = start + 1, sum(times[start:end])
        while half < end - 1 and 2 * sum(times[start : half + 1]) <= total:
            half += 1
        runs[at : at + 1] = [(start, half), (half, end)]
    return runs + [(len(times), len(times))] * (people - len(runs))


def _filled(times: list[float], limit: float) -> list[tuple[int, int]]:
    """Runs filled up to a limit, one after the other."""
    runs: list[tuple[int, int]] = []
    start, total = 0, 0.0
    for at, minutes in enumerate(times):
        if at > start and total + minutes > limit + 1e-9:
            runs.append((start, at))
            start, total = at, 0.0
        total += minutes
    if times:
        runs.append((start, len(times)))
    return runs


def only_device(order: WorkOrder, device: str) -> WorkOrder:
    """The groups that touch a device (switch, or host), whole."""
    return _limited(
        order, f"device {device}", lambda spot: device in (spot.device, f"{spot.device} {spot.hca}")
    )


def only_rack(order: WorkOrder, rack: str) -> WorkOrder:
    """The groups that touch a rack, whole."""
    return _limited(order, f"rack {rack}", lambda spot: spot.rack == rack)


def _limited(order: WorkOrder, words: str, wanted: Callable[[Spot], bool]) -> WorkOrder:
    touched = {step.group for step in order.steps if any(map(wanted, spots_of(step)))}
    steps = tuple(step for step in order.steps if step.group in touched)
    return replace(
        order,
        steps=steps,
        parts=tuple(part for part in order.parts if any(map(wanted, part.spots))),
        look_first=tuple(look for look in order.look_first if not look.spots or any(map(wanted, look.spots))),
        limited_to=words,
        left_out=len(order.steps) - len(steps),
    )


def devices_of(order: WorkOrder) -> list[str]:
    """Devices that steps, separate orders and doubts name, in natural order."""
    return sorted({spot.device for spot in _all_spots(order)}, key=natural_key)


def racks_of(order: WorkOrder) -> list[str]:
    """Racks that steps, separate orders and doubts name, in natural order."""
    return sorted({spot.rack for spot in _all_spots(order) if spot.rack}, key=natural_key)


def _all_spots(order: WorkOrder) -> Iterator[Spot]:
    for step in order.steps:
        yield from spots_of(step)
    for part in order.parts:
        yield from part.spots
    for look in order.look_first:
        yield from look.spots


def spots_of(step: Step) -> tuple[Spot, ...]:
    """Where hands are laid on in a step."""
    return (*step.sources, *step.targets)


class PlaceRow(NamedTuple):
    """One device of the index by place: places on it, each with the numbers of the steps there."""

    rack: str
    unit: str
    device: str
    steps: tuple[tuple[str, tuple[int, ...]], ...]


def by_place(order: WorkOrder) -> list[PlaceRow]:
    """Index: rack, unit and device in natural order; unknown racks last."""
    rows: dict[tuple[str, str, str], dict[str, tuple[tuple[int, ...], list[int]]]] = {}
    for step in order.steps:
        for spot in spots_of(step):
            short = spot.label.rpartition("-")[2]
            ports = tuple(port.port for port in spot.ports)
            places = rows.setdefault((spot.rack, spot.unit, spot.device), {})
            numbers = places.setdefault(short, (ports, []))[1]
            if step.number not in numbers[-1:]:
                numbers.append(step.number)
    keys = sorted(rows, key=lambda k: (not k[0], *map(natural_key, k)))
    return [PlaceRow(*key, tuple(_by_port(rows[key]))) for key in keys]


def _by_port(places: dict[str, tuple[tuple[int, ...], list[int]]]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Places of one device in the order of their ports; those of a host by name."""
    for short, (_, numbers) in sorted(places.items(), key=lambda item: (item[1][0], natural_key(item[0]))):
        yield short, tuple(numbers)


def by_label(order: WorkOrder) -> list[tuple[str, tuple[int, ...]]]:
    """Index: every text that may stand on a cable, from either end, and the plan's own name; steps that handle it."""
    rows: dict[str, dict[int, None]] = {}
    for step in order.steps:
        for text in dict.fromkeys((step.plan_label, step.label_here, step.label_far)):
            if text:
                rows.setdefault(text, {})[step.number] = None
    return [(text, tuple(rows[text])) for text in sorted(rows, key=natural_key)]


def find_steps(order: WorkOrder, *, step: str = "", label: str = "", place: str = "") -> list[Step]:
    """Steps by number or id, by what may stand on a label, or by place; several conditions must all hold.

    Texts are found anywhere, in any case: ``b07 u31`` finds ``B07-U31-C14P1`` and ``rack B07, U31``.
    """
    found = []
    for one in order.steps:
        if step and step not in (str(one.number), one.id):
            continue
        if label and not _holds(
            label, (one.plan_label, one.label_here, one.label_far, one.label_now, one.cable_words)
        ):
            continue
        if place and not _holds(place, (text for s in spots_of(one) for text in (s.words, s.label))):
            continue
        found.append(one)
    return found


def _holds(text: str, places: Iterable[str]) -> bool:
    """Whether all words of a text stand in one of the places, in any case."""
    wanted = text.lower().split()
    return any(all(_has(word, place.lower()) for word in wanted) for place in places)


def _has(word: str, text: str) -> bool:
    """Whether a word stands in a text, not as the beginning of a longer number: U3 is not U31."""
    at = text.find(word)
    while at >= 0:
        after = text[at + len(word) : at + len(word) + 1]
        before = text[at - 1 : at] if at else ""
        if not (word[-1].isdigit() and after.isdigit()) and not (word[0].isdigit() and before.isdigit()):
            return True
        at = text.find(word, at + 1)
    return False
