"""A site's link class may say what its cables are; causes and moves take the same word for it."""

from __future__ import annotations

from datetime import date
from typing import get_args

import pytest

from fabricctl.cable_kinds import AssemblyType
from fabricctl.causes.model import CauseKind
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.repair.model import TypeSource
from fabricctl.repair.slots import planned_kinds
from fabricctl.site.load import load_site
from fabricctl.site.schema import CableKind
from fabricctl.workflows.deepen import repair_knowledge
from fabricctl.workflows.site_context import SiteContext
from fabricctl.workflows.verify_cabling import Intent, judge
from tests.repair.plug_hall import Hall
from tests.repair.technician import look

SITE = """
name: x
racks:
  R1: {{units: 48}}
switch_models:
  M: {{ports: 64}}
switches:
  leaf1: {{model: M, tier: leaf, places: {{leaf1: {{rack: R1, unit: 1}}}}}}
  spine[1-2]: {{model: M, tier: spine, places: {{spine1: {{rack: R1, unit: 9}}, spine2: {{rack: R1, unit: 10}}}}}}
fabrics:
  one:
    plan: {{file: one.csv}}
    link_classes:
      up: {{rate: 4xHDR, {which}cable: twin_dac}}
"""


def intent(hall: Hall, which: str) -> Intent:
    site = load_site(SITE.format(which=which), "site.yaml")
    options = SiteContext(site).options("one", {}, date(2026, 1, 1))
    plan = Plan(hall.fabric(hall.slots, planned=True), PlanFormat.CSV)
    return Intent(plan, options, site=site)


def twins(link_class: str = "") -> Hall:
    """Two twin cables exchanged at the spines; the plan does not say that they are twins."""
    hall = Hall(typed=False, link_class=link_class)
    one = hall.want("twin_dac", (("leaf1", 1), ("leaf1", 2)), (("spine1", 1), ("spine1", 2)))
    two = hall.want("twin_dac", (("leaf1", 3), ("leaf1", 4)), (("spine2", 1), ("spine2", 2)))
    hall.swap((one, 1), (two, 1))
    return hall


@pytest.mark.parametrize(
    ("which", "named"),
    [("devices: leaf1, ", ""), ("", "up")],
    ids=["by its devices", "by the plan's word"],
)
def test_a_class_tells_the_kind_of_its_cables(which: str, named: str) -> None:
    hall = twins(named)
    asked = intent(hall, which)
    verdict = judge(asked, look(hall))
    assert verdict.repair is not None
    assert verdict.comparison is not None
    # four links lie wrong; in the hand they are two plugs of twin cables
    assert (verdict.counts.bad, verdict.repair.plugs_moved, verdict.repair.assumed) == (4, 2, 0)
    assert {move.cable.type_from for move in verdict.repair.moves} <= {TypeSource.PLAN, TypeSource.CABLE_INFO}
    kinds = planned_kinds(verdict.comparison, repair_knowledge(verdict.comparison, asked.options))
    assert {kinds(link).value for link in verdict.comparison.binding.plan.fabric.each_link()} == {"twin_dac"}


def test_a_site_file_knows_every_kind_there_is() -> None:
    assert set(get_args(CableKind)) == {kind.value for kind in AssemblyType}


def test_without_a_declaration_they_are_taken_as_fibre() -> None:
    hall = twins("other")
    verdict = judge(intent(hall, ""), look(hall))
    assert verdict.repair is not None
    assert (verdict.repair.plugs_moved, verdict.repair.assumed > 0) == (4, True)


def test_causes_know_a_splitter_by_its_part_number_as_the_moves_do() -> None:
    hall = Hall(typed=False)
    cable = hall.want(
        "dac_split_1x2", (("leaf1", 1), ("leaf1", 2)), (("gpu1 mlx5_0", 1),), (("gpu2 mlx5_0", 1),)
    )
    hall.swap((cable, 1), (cable, 2))
    fabric = hall.fabric(hall.slots, planned=True)
    for link in list(fabric.each_link()):
        told = link._replace(detail=link.detail._replace(part_number="MCP7Y10-N002"))  # type: ignore[union-attr]
        fabric.links[link.a] = fabric.links[link.b] = told
    verdict = judge(Intent(Plan(fabric, PlanFormat.CSV), intent(hall, "").options), look(hall))
    assert verdict.explanation is not None
    assert verdict.repair is not None
    assert [cause.kind for cause in verdict.explanation.causes] == [CauseKind.TAILS_CROSSED]
    assert verdict.repair.plugs_moved == 2
