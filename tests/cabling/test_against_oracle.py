"""The classes of planned links against a slow, separate reading of the rules, on random fabrics."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.cabling.model import LinkClass
from fabricctl.cabling.verify import Options, verify
from tests.cabling.fabrics import Cable, plan, seen

End = tuple[str, int]


@st.composite
def two_matchings(draw: st.DrawFn) -> tuple[list[Cable], list[Cable], set[str]]:
    """A planned and an actual set of cables over the same ports, and the devices that were discovered."""
    devices = [f"sw{n}" for n in range(1, draw(st.integers(2, 5)) + 1)]
    ports = [(device, n) for device in devices for n in range(1, 5)]
    planned = _matching(draw, ports)
    actual = planned if draw(st.booleans()) else _matching(draw, ports)
    if actual is planned:
        actual = _disturbed(draw, planned)
    unseen = set(draw(st.lists(st.sampled_from(devices), max_size=2)))
    actual = [c for c in actual if c[0] not in unseen and c[2] not in unseen]
    return planned, actual, set(devices) - unseen


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


def oracle(planned: list[Cable], actual: list[Cable], read: set[str]) -> list[str]:
    """Class of every planned cable by the published rules, one after the other, with nothing shared."""
    links = [((a, ap), (b, bp)) for a, ap, b, bp in planned]
    there: dict[End, End] = {}
    for a, ap, b, bp in actual:
        there[a, ap], there[b, bp] = (b, bp), (a, ap)

    def absent(device: str) -> bool:
        if device in read:
            return False
        facing = [y if x[0] == device else x for x, y in links if (x[0] == device) != (y[0] == device)]
        facing = [end for end in facing if end[0] in read]
        return bool(facing) and all(end not in there for end in facing)

    def folded(device: str) -> bool:
        neighbours = {y[0] if x[0] == device else x[0] for x, y in links if device in (x[0], y[0])} - {device}
        return device not in read and len(neighbours) == 1 and absent(next(iter(neighbours)))

    def judge(a: End, b: End) -> str:
        if there.get(a) == b:
            return "ok"
        for c, d in links:
            if {c, d} != {a, b} and {there.get(a), there.get(b)} == {c, d}:
                return "swapped"
        if a in there or b in there:
            return "miswired"
        if absent(a[0]) or absent(b[0]) or folded(a[0]) or folded(b[0]) or a[0] in read or b[0] in read:
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
