from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import PlanError
from fabricctl.fabric import Port
from fabricctl.plan.model import PlanFormat
from fabricctl.plan.yaml_doc import parse_plan_document, plan_from_mapping
from fabricctl.rates import Rate

FULL = """\
fat-tree:
  tiers: 2
  units: 2
  nodes-per-unit: 4
  rails: 2
  rail-optimised: true
  hosts: node[01-07]
  hcas: [mlx5_0, mlx5_3]
  leaf: leaf-{su}-{rail}
  spine: spine-{index}
  attach:
    - {host: ufm1, hca: mlx5_0, unit: 2, rail: 1}
  reserve-for: ufm
  switch-ports: 8
  leaf-ports: {down: 1-4, up: "5,6,7-8"}
  switch-model: QM8700
  rate: 4xHDR
  class: compute
  non-blocking: true
"""


def test_a_fat_tree_document_is_read_whole() -> None:
    plan = parse_plan_document(FULL, "tree.yaml")
    fabric = plan.fabric
    assert (plan.format, plan.path, plan.non_blocking) == (PlanFormat.FAT_TREE, "tree.yaml", True)
    assert fabric.peer(Port("node07 mlx5_3", 1)) == Port("leaf-2-2", 3)
    assert fabric.peer(Port("ufm1 mlx5_0", 1)) == Port("leaf-2-1", 4)
    assert plan.reserved == {Port("leaf-2-2", 4): "ufm"}
    assert {node.name for node in fabric.switches() if node.tier == 2} == {"spine-1", "spine-2"}
    link = fabric.links[Port("node07 mlx5_3", 1)]
    assert link.rate == Rate(4, "HDR")
    assert link.detail is not None
    assert link.detail.link_class == "compute"


def test_a_plain_mapping_is_read_like_a_document() -> None:
    plan = plan_from_mapping({"fat-tree": {"units": 1, "tiers": 2}}, "site.yaml")
    assert plan.fabric.link_count == 512


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "p.yaml: expected a plan with the key fat-tree or rules, found nothing"),
        ("- a\n", "found a list"),
        ("fat-tre:\n  units: 1\n", "p.yaml:1: plan: expected the key fat-tree or rules, found 'fat-tre' (did you"),
        ("rules: {links: []}\nother: 1\n", "p.yaml:2: plan: unknown key 'other'"),
        ("fat-tree:\n  units: 1\n  raisl: 8\n", "p.yaml:3: fat-tree: unknown key 'raisl' (did you mean rails?)"),
        ("fat-tree:\n  tiers: 2\n", "p.yaml:1: fat-tree: key 'units' is missing"),
        ("fat-tree:\n  units: many\n", "p.yaml:2: fat-tree: units: expected a whole number from 1 to 1,"),
        ("fat-tree:\n  units: true\n", "p.yaml:2: fat-tree: units: expected a whole number"),
        ("fat-tree:\n  units: 1\n  spines-per: rial\n", "p.yaml:3: fat-tree: spines-per: expected pod or rail or"),
        ("fat-tree:\n  units: 1\n  hosts: gpu[3-1]\n", "p.yaml:3: fat-tree: hosts: host set 'gpu[3-1]'"),
        ("fat-tree:\n  units: 1\n  leaf-ports: {down: 1-x}\n", "p.yaml:3: fat-tree: leaf-ports: down: expected"),
        ("fat-tree:\n  units: 1\n  leaf: l{su\n", "p.yaml:3: braces of 'l{su' do not pair"),
        ("fat-tree:\n  units: 1\n  attach:\n    - {host: u}\n", "p.yaml:4: fat-tree: attach[1]: key 'hca' is missing"),
        ("fat-tree:\n  units: 1\n  hosts: 40\n", "hosts: 40 nodes, but the 1 units have 32 places"),
        ("fat-tree: 7\n", "p.yaml:1: fat-tree: expected a mapping of keys, found 7"),
        ("rules:\n  links: [\n", "p.yaml:3: not YAML"),
        ("rules:\n  rails: true\n  rails: true\n", "p.yaml:3: not YAML: found duplicate key"),
        ("rules: 2001-99-99\n", "p.yaml"),
        ("[" * 5000, "p.yaml:1: more than 64 brackets are open"),
        ("fat-tree:\n  units: 0x" + "f" * 5000, "p.yaml:2: fat-tree: units: expected a whole number"),
        ("rules:\n  values:\n    n: 0x" + "f" * 5000, "p.yaml:3: in 'a number beyond all bounds'"),
        ("0x" + "f" * 900 + ": 1", "found 'a number beyond all bounds'"),
        ("- " * 5000, "p.yaml: not a plan: nested too deep"),
        ("#" * 8_000_001, "p.yaml: a YAML plan of 8,000,001 characters"),
        ("rules: \x00\n", "p.yaml: not YAML"),
    ],
)  # fmt: skip
def test_a_wrong_document_is_named_with_file_and_line(text: str, said: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan_document(text, "p.yaml")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        ["rules:\n  ", "rules:\n  links:\n    - ", "rules:\n  values:\n    n: ", "fat-tree:\n  units: ", ""]
    ),
    st.text(alphabet=st.sampled_from(list("{}[]&*!|>:-?#%@'\"\\ \n\t019.aGé\x07<=n/")), max_size=30),
)
def test_any_text_is_a_plan_or_a_plan_error(head: str, tail: str) -> None:
    with contextlib.suppress(PlanError):
        parse_plan_document(head + tail, "p.yaml")
