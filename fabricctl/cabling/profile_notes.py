"""What is said of profiles: which switches are in which, what was translated, where it could not be told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from fabricctl.cabling.numbering import Halves, Profile
from fabricctl.fabric import Node
from fabricctl.hostset import fold

if TYPE_CHECKING:
    from fabricctl.cabling.profiles import SwitchProfile

_WHAT_TO_DO = "name it in the site file (switches: model) or in the plan (columns a_type,z_type)"


def notes(
    switches: Sequence[SwitchProfile], halves: Mapping[str, Halves], lost: Mapping[str, int], taken: int
) -> tuple[str, ...]:
    """One sentence per group of switches.

    :param lost: discovered switch in the normal profile -> planned second halves it does not have.
    :param taken: planned switches that name no model and were taken as the only model seen.
    """
    split, normal = Profile.SPLIT_READY, Profile.NORMAL
    told: list[str] = []
    other = [s for s in switches if s.seen is split and s.planned is normal]
    if other:
        told.append(
            f"{_are(other)} in the split-ready profile, which counts every port anew ({_example(other, halves)}), and "
            f"the plan counts in the normal one: translated before comparing, no cable is wrong for it{_how(other)}"
        )
    same = [s for s in switches if s.seen is split and s.planned is split]
    if same:
        told.append(
            f"{_are(same)} in the split-ready profile, and the plan counts their ports so too{_how(same)}"
        )
    alone = [s for s in switches if s.seen is split and s.planned is None]
    if alone:
        told.append(
            f"{_are(alone)} in the split-ready profile, which counts every port anew ({_example(alone, halves)})"
            f"{_how(alone)}"
        )
    plain = [s for s in switches if s.seen is normal and s.planned is split]
    if plain:
        gone = sum(lost.get(s.key, 0) for s in plain)
        more = (
            f"; {gone:,} planned ports there are second halves of a split port, which only that profile has: set it "
            "(system profile ib split-ready) before judging them"
            if gone
            else ""
        )
        told.append(
            f"{_are(plain)} in the normal profile, but the plan counts their ports in the split-ready one "
            f"({_example(plain, halves)}): translated before comparing{_how(plain)}{more}"
        )
    if taken:
        what = "switch names" if taken == 1 else "switches name"
        model = next(iter(halves.values())).model
        told.append(f"{taken:,} planned {what} no model and count as {model}, the only kind seen here")
    return tuple(told)


def unknown_doubt(nodes: Sequence[Node], planned_ports: int) -> str:
    """Switches of no known model that look split; empty when there are none, or the plan looks so too."""
    strange = [node for node in nodes if 0 < planned_ports <= node.ports // 2]
    if not strange:
        return ""
    counts = ", ".join(str(count) for count in sorted({node.ports for node in strange}))
    one = len(strange) == 1
    return (
        f"{_names(node.name for node in strange)} ({len(strange):,}) {'has' if one else 'have'} {counts} ports and the "
        f"plan names none above {planned_ports}: perhaps the split-ready profile, which counts every port anew. "
        f"{'Its' if one else 'Their'} model is not told, so nothing was translated; {_WHAT_TO_DO}"
    )


def _are(switches: Sequence[SwitchProfile]) -> str:
    names = _names(s.name for s in switches)
    return f"1 switch ({names}) is" if len(switches) == 1 else f"{len(switches):,} switches ({names}) are"


def _names(names: Iterable[str]) -> str:
    text = fold(names)
    return text if len(text) <= 90 else text[:87].rpartition(",")[0] + ",..."


def _example(switches: Sequence[SwitchProfile], halves: Mapping[str, Halves]) -> str:
    kind = halves[switches[0].key]
    number = sorted(kind.first)[len(kind.first) // 2]
    return f"panel {kind.shown.get(number, number)} of a {kind.model}: port {number} is {kind.first[number]}"


def _how(switches: Sequence[SwitchProfile]) -> str:
    """How sure it is, where that is less than a port count of a named model."""
    parts = []
    unsure, chips = sum(not s.sure for s in switches), sum(s.by_chip for s in switches)
    if unsure:
        parts.append(f"{unsure:,} of them assumed, as the source tells no port count")
    if chips:
        parts.append(f"{chips:,} of them known by their chip, as they name no model")
    return f" ({'; '.join(parts)})" if parts else ""
