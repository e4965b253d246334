"""How far a cable reaches, by kind, speed, part numbers and the transceivers it ends in; what cannot link at all.

=====================  =========  ===================================================================
assembly               speed      metres
=====================  =========  ===================================================================
straight fibre         NDR        multimode 50 (OM3 30); single-mode 100 (MMS4X00-NS), 500 (-NM)
straight fibre         XDR        single-mode 500; multimode does not link
1:2 fibre              NDR        50, multimode and single-mode
1:2 fibre              XDR        multimode does not link; no source for the rest
twin copper            NDR        DAC 2, ACC 5
1:2 and 1:4 copper     NDR        passive 3, active (ACC) 5
copper, active optics  XDR        LACC only, its lengths in no source
=====================  =========  ===================================================================

Sources: those of ``fabricctl/repair/assemblies.py``. Speeds that no row names are judged by no more than the kind's
greatest length. Where part numbers leave a fibre's reach open, up to 50 m (at NDR the least of all rows) is certain
and the rest is said to depend on the transceiver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fabricctl.repair.assemblies import KINDS, Kind, is_transceiver, kind_of, seated
from fabricctl.repair.knowledge import SLACK_M, Devices
from fabricctl.repair.model import Assembly, AssemblyType, Socket

MULTIMODE = ("MFP7E10", "MFP7E20", "MMA4Z00")
"""Prefixes of fibres and transceivers that are multimode."""
SINGLE_MODE = ("MFP7E30", "MFP7E40", "MMS4X00")
MULTIMODE_M, OM3_M = 50.0, 30.0
SINGLE_MODE_M = {"MMS4X00-NS": 100.0, "MMS4X00-NM": 500.0}
XDR_FIBRE_M = 500.0
SPLIT_FIBRE_M = 50.0
PASSIVE = ("MCP",)
"""Prefix of copper cables without electronics; a passive splitter is made up to 3 m."""
PASSIVE_SPLIT_M = 3.0
NO_LIMIT = float("inf")

DEPENDS = "reach depends on the transceiver"
XDR_MULTIMODE = "XDR takes no multimode fibre"
XDR_COPPER = "XDR takes no DAC, no NDR ACC and no AOC: only LACC copper and single-mode fibre link there"
XDR_LACC = "XDR takes no copper but LACC, and how far that reaches no source tells"
XDR_SPLIT = "how far a 1:2 fibre reaches at XDR no source tells"
_OLD = ("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR")
_CLASSES = {**dict.fromkeys(_OLD, "HDR or slower"), "NDR": "NDR", "XDR": "XDR"}


class Limit(NamedTuple):
    """How far cables of one make reach at one speed.

    :param sure_m: what each spans that is long enough; :param most_m: none spans more, 0 when none links at all.
    :param why: what decides between the two, or why none links.
    """

    sure_m: float
    most_m: float
    why: str = ""

    @property
    def never(self) -> bool:
        """No cable of this make links."""
        return self.most_m <= 0


def limit_of(kind: Kind, speed: str, parts: Sequence[str] = (), modules: Sequence[str] = ()) -> Limit:
    """The row of the table above.

    :param speed: ``NDR``, empty when the plan does not tell; :param parts: what is known of the cable itself, part
        number or name; :param modules: part numbers of the transceivers it ends in. Unknown ones are empty or left out.
    """
    own, met = [_norm(part) for part in parts if part], [_norm(part) for part in modules if part]
    if not kind.in_cage:
        return _split_fibre(speed, [*own, *met]) if kind.is_splitter else _fibre(speed, own, met)
    if speed == "XDR":
        known = kind.type in (AssemblyType.TWIN_DAC, AssemblyType.SINGLE_DAC) or any(
            part.startswith(one.part_numbers) for part in own for one in KINDS.values()
        )
        return Limit(0, 0, XDR_COPPER) if known else Limit(0, NO_LIMIT, XDR_LACC)
    made = kind.reach_m.get(speed) or max(kind.reach_m.values(), default=NO_LIMIT)
    if kind.is_splitter and any(part.startswith(PASSIVE) for part in own):
        made = min(made, PASSIVE_SPLIT_M)
    return Limit(made, made)


def _norm(part: str) -> str:
    return part.strip().upper()


def _fibre(speed: str, own: list[str], met: list[str]) -> Limit:
    multimode = any(part.startswith(MULTIMODE) for part in (*own, *met))
    if speed == "XDR":
        return Limit(0, 0, XDR_MULTIMODE) if multimode else Limit(XDR_FIBRE_M, XDR_FIBRE_M)
    if multimode:
        made = OM3_M if any("OM3" in part for part in own) else MULTIMODE_M
        return Limit(made, made)
    told = [m for prefix, m in SINGLE_MODE_M.items() if any(part.startswith(prefix) for part in met)]
    if told:
        return Limit(min(told), min(told))
    least, most = MULTIMODE_M, max(SINGLE_MODE_M.values())
    if any(part.startswith(SINGLE_MODE) for part in (*own, *met)):
        least = min(SINGLE_MODE_M.values())
    return Limit(least, most if speed == "NDR" else NO_LIMIT, DEPENDS)


def _split_fibre(speed: str, parts: list[str]) -> Limit:
    if speed == "XDR":
        multimode = any(part.startswith(MULTIMODE) for part in parts)
        return Limit(0, 0, XDR_MULTIMODE) if multimode else Limit(0, NO_LIMIT, XDR_SPLIT)
    return Limit(SPLIT_FIBRE_M, SPLIT_FIBRE_M)


def class_note(was: str, becomes: str) -> str:
    """What to know of a plug that leaves a place of one speed for one of another; empty within one class.

    HDR optics send 50G-PAM4 on a lane and do not link with NDR ones at 100G-PAM4 (LinkX 100G-PAM4 product line).
    """
    old, new = _CLASSES.get(was), _CLASSES.get(becomes)
    if old is None or new is None or old == new:
        return ""
    return (
        f"the plug goes from a place planned for {was} to one planned for {becomes}: optics of the two do not link "
        "with each other; look at the part numbers of cable and transceivers first"
    )


class Way(NamedTuple):
    """Where one plug goes. :param plug: index into the cable's plugs; :param target: its planned place."""

    plug: int
    target: Socket


class Pair(NamedTuple):
    """A cable that serves a slot. :param ways: plugs that must move; :param stays: how many stay."""

    cable: Assembly
    slot: Assembly
    ways: tuple[Way, ...]
    stays: int


class Run(NamedTuple):
    """What a moved plug's cable spans and what it would have to.

    :param ok: None when nothing tells; :param note: why it cannot be told, or why no such cable links.
    :param links: False when no cable of its make links there, however long.
    """

    has_m: float | None
    needs_m: float | None
    ok: bool | None
    note: str = ""
    links: bool = True


class Reach:
    """Whether cables span their new runs."""

    def __init__(self, devices: Devices) -> None:
        self.devices = devices
        self._limits: dict[tuple[AssemblyType, str, tuple[str, ...], tuple[str, ...]], Limit] = {}

    def run(self, pair: Pair, way: Way) -> Run:
        """The run of one moved plug; of a head the worst of its tails.

        A cable of unknown length spans its present run and the slack, and none spans more than its kind is made.
        """
        kind, own = kind_of(pair.cable), seated(pair.cable)
        if not self.devices.tells_metres:
            limit = self.limit(pair)
            return Run(None, None, False, limit.why, links=False) if limit.never else _UNKNOWN
        moved = {id(pair.cable.plugs[w.plug]): w.target for w in pair.ways}
        plug = pair.cable.plugs[way.plug]
        worst = _UNKNOWN
        limit = self.limit(pair)
        for near, far in sorted({(a.plug, b.plug) for a, b in kind.joins}):
            a, b = own.get(near), own.get(far)
            if a is None or b is None or plug not in (a, b):
                continue
            now = self.devices.metres(a.socket.node, b.socket.node)
            new = self.devices.metres(moved.get(id(a), a.socket).node, moved.get(id(b), b.socket).node)
            if new is None:
                continue
            run = self._judged(pair.cable.length_m, now, new, limit)
            if worst.needs_m is None or new > worst.needs_m:
                worst = run
        if limit.never:
            return Run(worst.has_m, worst.needs_m, False, limit.why, links=False)
        return worst

    def _judged(self, length: float | None, now: float | None, new: float, limit: Limit) -> Run:
        has = length
        if has is None and now is not None:
            has = max(now, min(now + SLACK_M, limit.most_m))
        if new > limit.most_m or (has is not None and new > has):
            return Run(has, new, False)
        if new > limit.sure_m:
            return Run(has, new, None, limit.why)
        return Run(has, new, None if has is None else True)

    def limit(self, pair: Pair) -> Limit:
        """What cables like this one reach in that slot; one that tells no make is taken for the planned one."""
        cable, slot = pair.cable, pair.slot
        ports = [plug.socket.ports[0] for plug in slot.plugs]
        speed = self.devices.speed(slot.plugs[-1].socket.ports[0])
        kind = kind_of(cable)
        modules = () if kind.in_cage else tuple(self.devices.module(port) for port in ports)
        told = cable.part_number and not is_transceiver(cable.part_number)
        parts = (cable.part_number,) if told else (slot.part_number, slot.label)
        key = (cable.type, speed, parts, modules)
        found = self._limits.get(key)
        if found is None:
            found = self._limits[key] = limit_of(kind, speed, key[2], modules)
        return found


_UNKNOWN = Run(None, None, None)
