from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

from fabricctl.errors import PlanError
from fabricctl.fabric import NodeKind, Place, Port
from fabricctl.plan import rules
from fabricctl.plan.fat_tree import Attachment, FatTree, build
from fabricctl.plan.model import Plan
from fabricctl.plan.yaml_doc import parse_plan_document
from fabricctl.rates import Rate

SELENE = """
rules:
  values:
    g: [1..18, 22..28]        # groups of leaves that exist
    y: 1..8                   # rail
    i: 0..9                   # spine of a rail
    k: [0, 1]
    G: (g - 1) // 7 + 1
    pod: 1..4
    c: 0..6
    first: 10 * (y - 1) + i + 1
  links:
    - from: LG{g:02}-{y:02}
      from-port: 21 + i + 10 * k
      to: CSPINE{G}-{first:02}
      to-port: 2 * ((g - 1) % 7) + 1 + k
    - from: CSPINE{pod}-{first:02}
      from-port: 15 + c
      to: CCORE1-{14 * i + 1 + 2 * c:03}
      to-port: 8 * (pod - 1) + y
    - from: CSPINE{pod}-{first:02}
      from-port: 22 + c
      to: CCORE2-{14 * i + 2 + 2 * c:03}
      to-port: 8 * (pod - 1) + y
"""

CLUSTER = """
rules:
  rails: true
  non-blocking: true
  values:
    su: 1..16
    rail: 1..8
    place: 1..32
    host: 32 * (su - 1) + place
    s: 1..8
    k: 0..3
    pod: su
    c: 1..8
    core: 8 * (s - 1) + c
    number: 1..64
  devices:
    - {name: "ibl-p{su:02}-r{rail}", tier: leaf, ports: 64, rail: rail, unit: su, model: QM9700}
    - {name: "ibs-p{su:02}-s{s}", tier: spine, ports: 64, unit: su}
    - {name: "ibc-{number:02}", tier: core, ports: 64}
  links:
    - from: gpu{host:03}
      from-hca: mlx5_{rail - 1}
      to: ibl-p{su:02}-r{rail}
      to-port: place
      where: host <= 511
    - {from: ufm1, from-hca: mlx5_0, to: ibl-p16-r1, to-port: 32}
    - {from: ufm2, from-hca: mlx5_0, to: ibl-p16-r2, to-port: 32}
    - from: ibl-p{su:02}-r{rail}
      from-port: 33 + 4 * (s - 1) + k
      to: ibs-p{su:02}-s{s}
      to-port: 4 * (rail - 1) + k + 1
    - from: ibs-p{su:02}-s{s}
      from-port: 33 + 4 * (c - 1) + k
      to: ibc-{core:02}
      to-port: 4 * (su - 1) + k + 1
  reserved:
    - {device: "ibl-p16-r{rail}", port: 32, for: ufm, where: rail > 2}
"""


def _cables(plan: Plan) -> set[frozenset[tuple[str, int]]]:
    return {frozenset({tuple(link.a), tuple(link.b)}) for link in plan.fabric.each_link()}


def _rules(body: str) -> Plan:
    return parse_plan_document("rules:\n" + body, "plan.yaml")


def test_selene_switch_cabling_is_expressed_cable_by_cable(captures: Path) -> None:
    with (captures / "selene/selene_switch_cabling.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {
        frozenset({(row["a_device"], int(row["a_port"])), (row["z_device"], int(row["z_port"]))})
        for row in rows
    }
    assert len(expected) == 8480
    assert _cables(parse_plan_document(SELENE, "selene.yaml")) == expected


def test_rules_can_say_what_the_fat_tree_generator_says() -> None:
    ufm = (Attachment("ufm1", "mlx5_0", 16, 1), Attachment("ufm2", "mlx5_0", 16, 2))
    generated = build(FatTree(units=16, hosts=511, attach=ufm, reserve_for="ufm"))
    written = parse_plan_document(CLUSTER, "cluster.yaml")
    assert _cables(written) == _cables(generated)
    assert written.reserved == generated.reserved
    assert set(written.fabric.nodes) == set(generated.fabric.nodes)
    assert written.declares_rails
    assert written.non_blocking


def test_twelve_thousand_links_take_a_fraction_of_a_second() -> None:
    start = time.process_time()
    assert parse_plan_document(CLUSTER, "cluster.yaml").fabric.link_count == 12_282
    assert time.process_time() - start < 10  # 0.2 s on a quiet machine; pair by pair it would be minutes


def test_a_rule_loops_only_over_the_values_it_uses() -> None:
    plan = _rules(
        """
  values: {x: 1..100, n: 1..3}
  links:
    - {from: a, from-port: n, to: b, to-port: n + 10}
"""
    )
    assert _cables(plan) == {frozenset({("a", n), ("b", n + 10)}) for n in (1, 2, 3)}


def test_ranges_take_steps_lists_and_ends_that_depend_on_earlier_values() -> None:
    plan = _rules(
        """
  values:
    top: 3
    n: [1..top, 10..14..2]
    m: 1..n
  links:
    - {from: a, from-port: n, to: b, to-port: m, where: m == n}
    - {from: "c{n}", from-port: 1, to: d, to-port: n}
"""
    )
    numbers = [1, 2, 3, 10, 12, 14]
    expected = {frozenset({("a", n), ("b", n)}) for n in numbers} | {
        frozenset({(f"c{n}", 1), ("d", n)}) for n in numbers
    }
    assert _cables(plan) == expected


def test_a_rule_may_have_values_of_its_own() -> None:
    plan = _rules(
        """
  values: {n: 1..2}
  links:
    - {from: "a{n}", from-port: p, to: b, to-port: 2 * n + p, values: {p: "0..1", q: p + n}, where: p == 1 and q > 1}
"""
    )
    assert _cables(plan) == {frozenset({("a1", 1), ("b", 3)}), frozenset({("a2", 1), ("b", 5)})}


def test_links_carry_rate_class_cable_length_and_line() -> None:
    plan = _rules(
        """
  values: {n: 1..2}
  devices:
    - {name: leaf, tier: leaf, ports: 4, rack: "R{n + 6:02}", u: "U{41 - n}", where: n == 1}
    - {name: gpu1, hca: mlx5_0, rail: 1}
  links:
    - from: gpu1
      from-hca: mlx5_0
      to: leaf
      to-port: 3
      rate: 4xNDR
      class: compute
      cable: "C-{n}"
      length-m: 1.5
      where: n == 2
"""
    )
    (link,) = plan.fabric.each_link()
    assert link.detail is not None
    assert (link.rate, link.line, link.detail.link_class) == (Rate(4, "NDR"), 8, "compute")
    assert (link.detail.cable, link.detail.length_m) == ("C-2", 1.5)
    leaf, hca = plan.fabric.nodes["leaf"], plan.fabric.nodes["gpu1 mlx5_0"]
    assert leaf.place == Place("R07", "U40")
    assert (hca.kind, hca.host, hca.hca, hca.tier, hca.rail) == (NodeKind.HCA, "gpu1", "mlx5_0", 0, 1)


def test_a_rule_that_never_applies_is_noted() -> None:
    plan = _rules(
        """
  values: {n: 1..3}
  links:
    - {from: a, from-port: n, to: b, to-port: n}
    - {from: c, from-port: n, to: d, to-port: n, where: n > 3}
"""
    )
    assert plan.notes == ["rules: links[2] (line 6) applies to nothing: its condition never holds."]


ONE = "    - {from: a, from-port: 1, to: b, to-port: 1}\n"


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("  links:\n" + ONE + ONE, 4, "port a/1 is used twice: to b/1 (line 3) and to b/1 (line 4)"),
        ("  links:\n    - {from: a, from-port: 1, to: a, to-port: 1}\n", 3, "both ends are port a/1"),
        ("  links:\n    - {from: a, form-port: 1, to: b}\n", 3, "unknown key 'form-port' (did you mean from-port?)"),
        ("  links:\n    - {from: a, from-port: 1, to-port: 1}\n", 3, "key 'to' is missing"),
        ("  links:\n    - from: a\n      from-port: 1\n      to: b\n", 3, "key 'to-port' is missing"),
        ("  links:\n    - from: a\n      from-port: x\n      to: b\n      to-port: 1\n", 4, "unknown name 'x'"),
        ("  links:\n    - from: a\n      from-port: 1 - 1\n      to: b\n      to-port: 1\n", 4, "gives port 0 of a"),
        ("  links:\n    - {from: a, from-port: 255, to: b, to-port: 1}\n", 3, "expected 1 to 254"),
        ("  links:\n    - from: a\n      rate: 4xNRD\n      from-port: 1\n      to: b\n      to-port: 1\n", 4, "4xNDR"),
        ("  link:\n" + ONE, 2, "unknown key 'link' (did you mean links?)"),
        ("  values:\n    n: 1..n\n  links:\n" + ONE, 3, "unknown name 'n'"),
        ("  values:\n    min: 3\n  links:\n" + ONE, 3, "'min' cannot name a value"),
        ("  values:\n    n: 1..2..3..4\n  links:\n" + ONE, 3, "expected LOW..HIGH"),
        ("  values:\n    n: {}\n  links:\n" + ONE, 3, "expected a range such as 1..8"),
        ("  values:\n    n: 1..9\n  links:\n    - {from: a, from-port: n, to: b, to-port: 5 // (n - 1)}\n", 5, "zero"),
        ("  values:\n    n: 1..9..0\n  links:\n    - {from: a, from-port: n, to: b, to-port: n}\n", 3, "step must"),
        ("  values:\n    n: 1..9000000\n  links:\n    - {from: a, from-port: n, to: b, to-port: n}\n", 3, "1,000,000"),
        ("  devices:\n    - {name: leaf1}\n  links:\n    - {from: leaf2, from-port: 1, to: leaf1, to-port: 1}\n", 5,
         "'leaf2', which is not among the declared devices (did you mean leaf1?)"),
        ("  devices:\n    - {name: a, ports: 36}\n    - {name: b}\n  links:\n"
         "    - {from: a, from-port: 37, to: b, to-port: 1}\n", 6, "gives port 37 of a; expected 1 to 36"),
        ("  devices:\n    - {name: a}\n    - {name: a}\n  links:\n" + ONE, 4, "device 'a' is declared twice"),
        ("  devices:\n    - {name: a, tier: laef}\n  links:\n" + ONE, 3, "found 'laef' (did you mean leaf?)"),
        ("  links:\n" + ONE + "  reserved:\n    - {device: a, port: 1, for: ufm}\n", 5, "not free, it is cabled to b"),
        ("  links:\n" + ONE + "  reserved:\n    - {device: c, port: 1, for: ufm}\n", 5, "the plan has no port c/1"),
        ("  links: []\n", 2, "no cable at all"),
    ],
)  # fmt: skip
def test_a_wrong_rule_is_named_with_file_and_line(body: str, line: int, said: str) -> None:
    with pytest.raises(PlanError) as caught:
        _rules(body)
    assert str(caught.value).startswith(f"plan.yaml:{line}: ")
    assert said in str(caught.value)


def test_loops_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_ROUNDS", 20_000)
    with pytest.raises(PlanError, match="loops more than 20,000 times"):
        _rules(
            "  values: {a: 1..1000, b: 1..1000, c: 1..1000}\n"
            "  links:\n    - {from: x, from-port: a, to: y, to-port: b, where: c < 0 and a < 0}\n"
        )


def test_parallel_cables_are_cables() -> None:
    plan = _rules("  values: {n: 1..14}\n  links:\n    - {from: a, from-port: n, to: b, to-port: n}\n")
    assert plan.fabric.link_count == 14
    assert plan.fabric.peer(Port("a", 14)) == Port("b", 14)
