"""The same fault has the same id in every run; two faults never share one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.cabling.finding_id import finding_id, where_of
from fabricctl.cabling.model import Cable, End, Finding, FindingKind
from fabricctl.cabling.slot_inventory import SlotEntry
from fabricctl.cabling.verdict import Options
from fabricctl.cabling.verify import verify
from fabricctl.discovery.model import Observation, Problem, ProblemKind, SubnetManager
from fabricctl.fabric import Fabric, Link, Port
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.rates import Rate
from tests.cabling.fabrics import Cable as Row
from tests.cabling.fabrics import fabric, guid, plan, seen, two_tier, without

ROWS = two_tier(hosts=8, leaves=4, spines=2, width=2)
Faulty = tuple[Plan | None, Observation, Options]


def _rows(*changes: tuple[Row, Row | None]) -> list[Row]:
    gone = [old for old, _ in changes]
    return without(ROWS, *gone) + [new for _, new in changes if new is not None]


def _slow(*which: Row) -> Observation:
    found = seen(ROWS)
    for row in which:
        a, b = Port(guid(row[0]), row[1]), Port(guid(row[2]), row[3])
        link = found.fabric.links[a]._replace(rate=Rate(1, "HDR"))
        found.fabric.links[a] = found.fabric.links[b] = link
    return found


def _with(found: Observation, *problems: Problem, managers: Iterable[str] = ()) -> Observation:
    found.problems += problems
    found.subnet_managers += [SubnetManager(guid(name), "master") for name in managers]
    return found


def _reserved() -> Faulty:
    wanted = plan(without(ROWS, ("gpu8 mlx5_0", 1, "leaf1", 8), ("gpu7 mlx5_0", 1, "leaf1", 7)))
    wanted.reserved.update({Port("leaf1", 8): "ufm1", Port("leaf1", 7): "ufm1"})
    return wanted, seen(ROWS), Options()


def _twice_named() -> Faulty:
    found = seen([*ROWS, ("x1", 1, "x2", 1), ("y1", 1, "y2", 1)])
    for old, new in (("x1", "leaf1"), ("y1", "leaf2")):
        node = found.fabric.nodes[guid(old)]
        found.fabric.nodes[guid(old)] = replace(node, name=new, description=new)
    return plan(ROWS), found, Options()


def _replaced() -> Faulty:
    wanted = Plan(fabric(ROWS, by_guid=True), PlanFormat.SNAPSHOT, keyed_by_guid=True)
    found = seen(ROWS).fabric
    for name in ("leaf1", "leaf2"):
        found = _rekeyed(found, guid(name), guid(name + " new"))
    return wanted, Observation(found, seen(ROWS).sources), Options()


def _rekeyed(old: Fabric, key: str, new: str) -> Fabric:
    def at(port: Port) -> Port:
        return Port(new, port.number) if port.node == key else port

    made = Fabric()
    for node in old.nodes.values():
        made.nodes[new if node.key == key else node.key] = (
            replace(node, key=new, guid=new) if node.key == key else node
        )
    for link in old.each_link():
        made.connect(link._replace(a=at(link.a), b=at(link.b)))
    return made


SPLIT = [
    row for row in ROWS if (row[0] in ("leaf1", "leaf2")) == (row[2] == "spine1") or row[2][:4] == "leaf"
]
SLOTS = [
    SlotEntry(f"gpu{n}", model="XE9680", slot="31" if n > 2 else "39", hca="mlx5_0") for n in range(1, 9)
]
CASES: dict[FindingKind, Callable[[], Faulty]] = {
    FindingKind.SPLIT_FABRIC: lambda: (plan(ROWS), seen(SPLIT), Options()),
    FindingKind.BAD_LINK_SHARE: lambda: (plan(ROWS), seen(SPLIT), Options()),
    FindingKind.DUPLICATE_GUID: lambda: (
        plan(ROWS),
        _with(
            seen(ROWS),
            *(Problem(ProblemKind.DUPLICATE_GUID, f"{n} twice", n, (guid(f"leaf{n}"),)) for n in (1, 2, 2)),
        ),
        Options(),
    ),
    FindingKind.DUPLICATE_NAME: _twice_named,
    FindingKind.INACTIVE: lambda: (
        plan(ROWS),
        _with(seen(ROWS), *(Problem(ProblemKind.INACTIVE, f"{n} ports Init", n) for n in (3, 4))),
        Options(),
    ),
    FindingKind.SUBNET_MANAGER: lambda: (
        plan(ROWS),
        _with(seen(ROWS), managers=("gpu1 mlx5_0", "gpu2 mlx5_0")),
        Options(manager_hosts="ufm1"),
    ),
    FindingKind.ABSENT_DEVICE: lambda: (
        plan(ROWS),
        seen([row for row in ROWS if "spine2" not in row and "gpu3" not in row[0]]),
        Options(),
    ),
    FindingKind.SWAPPED: lambda: (
        plan(ROWS),
        seen(
            _rows(
                (("leaf1", 21, "spine1", 1), ("leaf1", 21, "spine1", 3)),
                (("leaf2", 21, "spine1", 3), ("leaf2", 21, "spine1", 1)),
                (("leaf3", 21, "spine1", 5), ("leaf3", 21, "spine1", 7)),
                (("leaf4", 21, "spine1", 7), ("leaf4", 21, "spine1", 5)),
            )
        ),
        Options(),
    ),
    FindingKind.MISWIRED: lambda: (
        plan(ROWS),
        seen(
            _rows(
                (("leaf1", 21, "spine1", 1), ("leaf1", 21, "spine2", 30)),
                (("gpu1 mlx5_0", 1, "leaf1", 1), ("gpu1 mlx5_0", 1, "leaf2", 30)),
            )
        ),
        Options(),
    ),
    FindingKind.MISSING: lambda: (
        plan(ROWS),
        seen(
            _rows(
                (("leaf1", 21, "spine1", 1), None),
                (("leaf2", 21, "spine1", 3), None),
                (("gpu1 mlx5_0", 1, "leaf1", 1), None),
            ),
            alone=["gpu1 mlx5_0"],
        ),
        Options(),
    ),
    FindingKind.RESERVED_PORT: _reserved,
    FindingKind.SELF_LOOP: lambda: (
        plan(ROWS),
        seen([*ROWS, ("leaf1", 50, "leaf1", 51), ("leaf1", 52, "leaf1", 53)]),
        Options(),
    ),
    FindingKind.UNEXPECTED: lambda: (
        plan(ROWS),
        seen([*ROWS, ("leaf1", 50, "leaf2", 51), ("leaf1", 52, "leaf2", 53)]),
        Options(),
    ),
    FindingKind.DEGRADED: lambda: (plan(ROWS), _slow(ROWS[0], ROWS[9], ROWS[-1]), Options()),
    FindingKind.RAIL: lambda: (
        plan(two_tier(hosts=8, leaves=2)),
        seen(
            [
                *without(
                    two_tier(hosts=8, leaves=2),
                    ("gpu1 mlx5_0", 1, "leaf1", 1),
                    ("gpu1 mlx5_1", 1, "leaf2", 1),
                ),
                ("gpu1 mlx5_0", 1, "leaf2", 1),
                ("gpu1 mlx5_1", 1, "leaf1", 1),
            ]
        ),
        Options(check_rails=True),
    ),
    FindingKind.BUNDLE_GAP: lambda: (
        None,
        seen(without(two_tier(width=4, leaves=4), ("leaf1", 22, "spine1", 2), ("leaf2", 26, "spine2", 6))),
        Options(),
    ),
    FindingKind.REPLACED_PART: _replaced,
    FindingKind.CARD_SLOT: lambda: (plan(ROWS), seen(ROWS), Options(hca_slots=tuple(SLOTS))),
    FindingKind.OUTSIDE_PLAN: lambda: (
        plan(ROWS),
        seen([*ROWS, ("stranger", 50, "leaf2", 51), ("stranger", 52, "leaf2", 53)]),
        Options(strict=True),
    ),
    FindingKind.UNKNOWN_DEVICE: lambda: (
        plan(ROWS),
        seen([*ROWS, ("stranger", 50, "leaf2", 51), ("other", 52, "leaf2", 53)]),
        Options(strict=True),
    ),
}


BESIDE_VERIFY = {FindingKind.IDENTITY, FindingKind.CABLE_TYPE}
"""Found by identity inference and by the fewest moves; their own tests show them."""


def test_every_kind_has_its_case() -> None:
    assert set(CASES) == set(FindingKind) - BESIDE_VERIFY


def ids(faulty: Faulty) -> list[str]:
    return [finding_id(finding) for finding in verify(*faulty).findings]


def shuffled(old: Fabric, dice: random.Random) -> Fabric:
    """The same fabric in another order, every cable perhaps written from its other end, with line numbers."""
    made = Fabric(states=old.states)
    nodes, links = list(old.nodes.items()), list(old.each_link())
    dice.shuffle(nodes)
    dice.shuffle(links)
    made.nodes.update(nodes)
    for number, link in enumerate(links, 1):
        a, b = (link.b, link.a) if dice.random() < 0.5 else (link.a, link.b)
        made.connect(Link(a, b, link.rate, number, link.seen_by, link.ends_seen, link.detail))
    return made


def mixed(faulty: Faulty, dice: random.Random) -> Faulty:
    wanted, found, options = faulty
    if wanted is not None:
        wanted.fabric = shuffled(wanted.fabric, dice)
    found.fabric = shuffled(found.fabric, dice)
    for several in (found.problems, found.subnet_managers):
        dice.shuffle(several)  # type: ignore[arg-type]
    return wanted, found, options


def faulty(kind: FindingKind) -> Faulty:
    """The case of a kind; rails are asked for without a plan, which would explain what is out of line."""
    wanted, found, options = CASES[kind]()
    return (None if kind is FindingKind.RAIL else wanted), found, options


@pytest.mark.parametrize("kind", list(CASES))
def test_ids_of_a_run_differ_and_do_not_depend_on_order_or_direction(kind: FindingKind) -> None:
    verdict = verify(*faulty(kind))
    assert kind in {finding.kind for finding in verdict.findings}, "the case does not show its kind"
    first = [finding_id(finding) for finding in verdict.findings]
    assert len(first) == len(set(first))
    for seed in range(8):
        again = ids(mixed(faulty(kind), random.Random(seed)))
        assert sorted(again) == sorted(first), f"seed {seed}"


def test_a_repaired_neighbour_does_not_change_the_id_of_what_is_left() -> None:
    two = seen(_rows((ROWS[0], None), (ROWS[9], None)), alone=[ROWS[0][0], ROWS[9][0]])
    one = seen(_rows((ROWS[9], None)), alone=[ROWS[9][0]])
    assert set(ids((plan(ROWS), one, Options()))) < set(ids((plan(ROWS), two, Options())))


def test_the_kinds_of_one_place_have_ids_of_their_own() -> None:
    cable = Cable(End("leaf1", 21), End("spine1", 1), End("spine1", 2))
    made = [
        Finding(kind, "x", "x", devices=("leaf1",), cables=(cable,), where=("x",)) for kind in FindingKind
    ]
    assert len({finding_id(finding) for finding in made}) == len(made)


def test_the_number_of_islands_and_the_share_of_bad_cables_are_not_in_an_id() -> None:
    for kind, texts in {
        FindingKind.SPLIT_FABRIC: ("2 islands", "8 islands"),
        FindingKind.BAD_LINK_SHARE: ("11.0% bad", "12.5% bad"),
        FindingKind.INACTIVE: ("inactive ports", "inactive ports"),
    }.items():
        assert len({finding_id(Finding(kind, text, text)) for text in texts}) == 1


def test_an_absent_host_has_one_id_however_many_of_its_cables_could_be_seen() -> None:
    rows = [row for row in ROWS if not row[0].startswith("gpu3 ")]
    fewer = [row for row in rows if "leaf4" not in row]
    whole, part = (
        {finding_id(f) for f in verify(plan(ROWS), seen(r), Options()).findings if f.subject == "gpu3"}
        for r in (rows, fewer)
    )
    assert whole == part
    assert len(whole) == 1


def test_two_strangers_of_one_name_are_two_faults() -> None:
    found = seen([*ROWS, ("s1", 1, "leaf1", 60), ("s2", 1, "leaf1", 61)])
    for name in ("s1", "s2"):
        node = found.fabric.nodes[guid(name)]
        found.fabric.nodes[guid(name)] = replace(node, name="same", description="same")
    verdict = verify(plan(ROWS), found, Options(strict=True))
    made = [finding_id(f) for f in verdict.findings if f.kind is FindingKind.UNKNOWN_DEVICE]
    assert len(set(made)) == 2


SPOTS = st.tuples(st.sampled_from(["leaf1", "leaf2", "leaf11", "spine1"]), st.integers(1, 12))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(SPOTS, SPOTS), min_size=2, max_size=2),
    st.booleans(),
    st.booleans(),
    st.integers(0, 99),
)
def test_different_links_have_different_ids_and_the_same_link_one(
    links: list[tuple[tuple[str, int], tuple[str, int]]], flip: bool, other_rate: bool, line: int
) -> None:
    def made(link: tuple[tuple[str, int], tuple[str, int]], *, told: bool) -> Finding:
        a, b = link[::-1] if told and flip else link
        ends = (End(*a, place="B07 U31" if told else ""), End(*b, guid="0x1" if told else ""))
        return Finding(
            FindingKind.DEGRADED,
            str(line) if told else "x",
            "text",
            found="1xHDR" if other_rate else "2xHDR",
            cables=(Cable(*ends, ends[1], line=line if told else 0),),
        )

    first, second = (finding_id(made(link, told=False)) for link in links)
    assert first == finding_id(made(links[0], told=True))
    same = sorted(links[0]) == sorted(links[1])
    assert (first == second) is same


def test_a_place_is_told_in_words() -> None:
    swapped = next(f for f in verify(*CASES[FindingKind.SWAPPED]()).findings if f.kind is FindingKind.SWAPPED)
    assert str(where_of(swapped)) in (
        "leaf1/21 - spine1/1 and leaf2/21 - spine1/3",
        "leaf3/21 - spine1/5 and leaf4/21 - spine1/7",
    )
