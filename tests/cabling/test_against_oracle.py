"""The classes of planned links against a slow, separate reading of the rules, on random fabrics."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.cabling.model import LinkClass
from fabricctl.cabling.verdict import Options
from fabricctl.cabling.verify import verify
from tests.cabling.fabrics import Cable, plan, seen

End = tuple[str, int]


@st.composite
def two_matchings(draw: st.DrawFn) -> tuple[list[Cable], list[Cable], set[str]]:
    """A planned and an actual set of cables over the same ports, and the devices that were discovered.

    Up to six switches of four ports and four HCAs of one. Half of the time one or two devices alone
    are seen and no other cable is wrong, so that branches behind absent devices are several devices deep.
    """
    switches = [f"sw{n}" for n in range(1, draw(st.integers(2, 6)) + 1)]
    hcas = [f"gpu{n} mlx5_0" for n in range(1, draw(st.integers(0, 4)) + 1)]
    ports = [(device, n) for device in switches for n in range(1, 5)] + [(hca, 1) for hca in hcas]
    devices = switches + hcas
    dark = draw(st.booleans())
    planned = _tree(draw, switches, hcas) if draw(st.booleans()) else _matching(draw, ports)
    actual = planned if dark or draw(st.booleans()) else _matching(draw, ports)
    if actual is planned and not dark:
        actual = _disturbed(draw, planned)
    some = set(draw(st.lists(st.sampled_from(devices), min_size=int(dark), max_size=2, unique=True)))
    unseen = set(devices) - some if dark else some
    actual = [c for c in actual if c[0] not in unseen and c[2] not in unseen]
    return planned, actual, set(devices) - unseen


def _tree(draw: st.DrawFn, switches: list[str], hcas: list[str]) -> list[Cable]:
    """Every device on one earlier switch, and up to three cables more: branches hang on one switch or two."""
    used = dict.fromkeys(switches, 0)
    cables: list[Cable] = []

    def plug(device: str) -> int:
        used[device] += 1
        return used[device]

    for n, device in enumerate([*switches, *hcas]):
        above = switches[draw(st.integers(0, min(n, len(switches)) - 1))] if n else device
        if above != device:
            cables.append((device, plug(device) if device in used else 1, above, plug(above)))
    for _ in range(draw(st.integers(0, 3))):
        a, b = draw(st.permutations(switches))[:2]
        cables.append((a, plug(a), b, plug(b)))
    return cables


def _matching(draw: st.DrawFn, ports: list[End]) -> list[Cable]:
    order = draw(st.permutations(ports))
    pairs = draw(st.integers(1, len(ports) // 2))
    return [(*a, *b) for a, b in zip(order[0 : 2 * pairs : 2], order[1 : 2 * pairs : 2], strict=True)]


def _disturbed(draw: st.DrawFn, planned: list[Cable]) -> list[Cable]:
    cables = list(planned)
    for _ in range(draw(st.integers(0, 3))):
        if len(cables) >= 2:
            i, j = draw(st.permutations(range(len(cables))))[:2]
            (a, ap, b, bp), (c, cp, d, dp) = cables[i], cables[j]
            cables[i], cables[j] = (a, ap, d, dp), (c, cp, b, bp)
    gone = draw(st.integers(0, min(2, len(cables))))
    return cables[gone:]


def absent_devices(planned: list[Cable], actual: list[Cable], read: set[str]) -> set[str]:
    """Unseen while every seen port that should face it is down, and there is one."""
    used = {(c[0], c[1]) for c in actual} | {(c[2], c[3]) for c in actual}
    facing: dict[str, list[End]] = {}
    for a, ap, b, bp in planned:
        if a in read and b not in read:
            facing.setdefault(b, []).append((a, ap))
        if b in read and a not in read:
            facing.setdefault(a, []).append((b, bp))
    return {device for device, ends in facing.items() if used.isdisjoint(ends)}


def folded_devices(planned: list[Cable], gone: set[str], read: set[str]) -> set[str]:
    """Unseen, in reach of something seen, but no more once one absent device is taken out of the plan.

    An absent device that HCAs alone should see takes nothing with it: an HCA is an end, so it is the HCAs that
    hang on the device and not the rest of the plan.
    """

    def in_reach(start: str, without: str = "") -> set[str]:
        reached, before = {start}, set[str]()
        while reached != before:
            before = set(reached)
            for a, _, b, _ in planned:
                if without not in (a, b) and (a in before or b in before):
                    reached |= {a, b}
        return reached

    connecting = {
        device
        for device in gone
        if any({a, b} == {device, far} for a, _, b, _ in planned for far in read if " " not in far)
    }
    return {
        device
        for device in {end for a, _, b, _ in planned for end in (a, b)} - read - gone
        if in_reach(device) & read and any(not in_reach(device, dead) & read for dead in connecting)
    }


def oracle(planned: list[Cable], actual: list[Cable], read: set[str]) -> list[str]:
    """Class of every planned cable by the published rules, one after the other, with nothing shared."""
    links = [((a, ap), (b, bp)) for a, ap, b, bp in planned]
    there: dict[End, End] = {}
    for a, ap, b, bp in actual:
        there[a, ap], there[b, bp] = (b, bp), (a, ap)

    gone = absent_devices(planned, actual, read)
    folded = folded_devices(planned, gone, read)

    def judge(a: End, b: End) -> str:
        if there.get(a) == b:
            return "ok"
        for c, d in links:
            if {c, d} != {a, b} and {there.get(a), there.get(b)} == {c, d}:
                return "swapped"
        if a in there or b in there:
            return "miswired"
        if not {a[0], b[0]}.isdisjoint(gone | folded | read):
            return "missing"
        return "not_judged"

    return [judge(a, b) for a, b in links]


@given(two_matchings())
@settings(max_examples=100, deadline=None)
def test_every_planned_link_gets_the_class_the_rules_give(
    case: tuple[list[Cable], list[Cable], set[str]],
) -> None:
    planned, actual, read = case
    verdict = verify(plan(planned), seen(actual, alone=sorted(read)), Options(gate=1.0))
    wanted = oracle(planned, actual, read)
    got = {cls.value: getattr(verdict.counts, cls.value) for cls in LinkClass}
    assert got == {cls.value: wanted.count(cls.value) for cls in LinkClass}
    assert sum(got.values()) == verdict.counts.intended == len(planned)
    assert verdict.counts.absent_devices == len(absent_devices(planned, actual, read))
    assert (verdict.exit_code == 0) == (not verdict.findings and got["not_judged"] == 0)


@given(two_matchings())
@settings(max_examples=60, deadline=None)
def test_every_seen_cable_is_counted_once(case: tuple[list[Cable], list[Cable], set[str]]) -> None:
    planned, actual, read = case
    counts = verify(plan(planned), seen(actual, alone=sorted(read))).counts
    ports = {(a, ap) for a, ap, _, _ in planned} | {(b, bp) for _, _, b, bp in planned}
    loose = [c for c in actual if (c[0], c[1]) not in ports and (c[2], c[3]) not in ports]
    assert counts.cables_seen == len(actual)
    assert counts.cables_seen == counts.cables_as_planned + counts.cables_differ + len(loose)


@given(two_matchings())
@settings(max_examples=60, deadline=None)
def test_a_fabric_compared_with_itself_is_ok(case: tuple[list[Cable], list[Cable], set[str]]) -> None:
    planned, _, _ = case
    verdict = verify(plan(planned), seen(planned))
    loops = [c for c in planned if c[0] == c[2]]
    assert verdict.counts.ok == len(planned)
    assert loops or verdict.exit_code == 0
