"""Finned and flat-topped OSFP plugs: which cages take which, and that no plug goes where it does not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabricctl.cabling.verify import verify
from fabricctl.fabric import Port
from fabricctl.panel_tables import builtin_panels
from fabricctl.panels import Panel
from fabricctl.rates import Rate
from fabricctl.repair.knowledge import RepairKnowledge
from fabricctl.repair.model import MoveKind, OrderKind
from fabricctl.repair.solve import plan_repair
from fabricctl.site.load import load_site
from fabricctl.site.panels import panels_by_device, site_panels
from tests.cabling.fabrics import guid, plan, seen, two_tier
from tests.repair.plug_hall import Hall
from tests.repair.test_by_hand import gpu, sw

AIR = builtin_panels()["QM9700"]
LIQUID = replace(AIR, cage_type="twin-port OSFP (flat)")
UNKNOWN = replace(AIR, cage_type="twin-port OSFP")


@pytest.mark.parametrize(
    ("words", "top"),
    [
        ("twin-port OSFP (finned)", "finned"),
        ("twin-port OSFP (flat top)", "flat"),
        ("OSFP RHS", "flat"),
        ("OSFP IHS", "finned"),
        ("twin-port OSFP", ""),
        ("OSFP, finned or flat", ""),
        ("QSFP56", ""),
    ],
)
def test_the_cage_type_tells_which_plugs_fit(words: str, top: str) -> None:
    assert replace(AIR, cage_type=words).top == top


def test_the_packaged_panels_say_what_the_documents_say() -> None:
    tops = {name: builtin_panels()[name].top for name in ("QM9700", "QM9790", "DGX-H100", "QM8700", "Q3400")}
    assert tops == {"QM9700": "finned", "QM9790": "finned", "DGX-H100": "flat", "QM8700": "", "Q3400": ""}


def faces(**panels: Panel) -> RepairKnowledge:
    return RepairKnowledge(panel_of=lambda key: panels.get(key.split(" ")[0]))


def exchanged() -> Hall:
    """Two twin cables between switches: the plugs at leaf1 and at leaf2 are exchanged."""
    hall = Hall()
    one = hall.want("twin_dac", sw("leaf1", 1, 2), sw("spine1", 1, 2))
    two = hall.want("twin_dac", sw("leaf2", 1, 2), sw("spine2", 1, 2))
    hall.swap((one, 0), (two, 0))
    return hall


def test_plugs_change_places_among_switches_of_one_cooling() -> None:
    comparison = exchanged().compare()
    for panel in (AIR, LIQUID, UNKNOWN):
        known = faces(leaf1=panel, leaf2=panel, spine1=panel, spine2=panel)
        assert plan_repair(comparison, known).plugs_moved == 2


def test_no_plug_goes_from_an_air_cooled_switch_to_a_liquid_cooled_one() -> None:
    known = faces(leaf1=AIR, leaf2=LIQUID, spine1=AIR, spine2=AIR)
    found = plan_repair(exchanged().compare(), known)
    # the plugs at the spines may change places; those at the leaves do not fit each other
    places = {
        socket.node for move in found.moves for socket in (move.source, move.target) if socket is not None
    }
    assert (found.plugs_moved, found.pulled, found.added, places) == (2, 0, 0, {"spine1", "spine2"})
    known = faces(leaf1=AIR, leaf2=LIQUID, spine1=AIR, spine2=LIQUID)
    found = plan_repair(exchanged().compare(), known)
    assert (found.plugs_moved, found.pulled, found.added) == (0, 2, 2)


def test_a_cooling_nobody_tells_is_as_switch_and_host_side() -> None:
    known = faces(leaf1=AIR, leaf2=UNKNOWN, spine1=UNKNOWN, spine2=UNKNOWN)
    assert plan_repair(exchanged().compare(), known).plugs_moved == 2


def test_a_flat_plug_may_go_from_a_liquid_cooled_switch_to_a_host_and_a_finned_one_may_not() -> None:
    hall = Hall()
    hall.want("twin_dac", sw("leaf", 1, 2), (*gpu(1, 4), *gpu(1, 3)))
    hall.cables.clear()
    hall.lay("twin_dac", sw("leaf", 1, 2), sw("leaf", 63, 64))
    host = builtin_panels()["DGX-H100"]
    found = plan_repair(hall.compare(), faces(leaf=LIQUID, gpu1=host))
    assert [move.kind for move in found.moves] == [MoveKind.MOVE]
    found = plan_repair(hall.compare(), faces(leaf=AIR, gpu1=host))
    assert (found.plugs_moved, found.pulled, found.added) == (0, 1, 1)


def test_fibre_goes_anywhere_since_its_transceivers_stay() -> None:
    hall = Hall()
    one = hall.want("fibre_straight", sw("leaf1", 1), sw("spine1", 1))
    two = hall.want("fibre_straight", sw("leaf2", 1), sw("spine2", 1))
    hall.swap((one, 0), (two, 0))
    known = faces(leaf1=AIR, leaf2=LIQUID, spine1=AIR, spine2=LIQUID)
    assert plan_repair(hall.compare(), known).plugs_moved == 2


SITE = """\
name: hall
switch_models:
  QM9700-LC: {like: QM9700, ports: 64, panel: {cage_type: twin-port OSFP (flat)}}
switches:
  leaf1: {model: QM9700, tier: leaf}
  leaf2: {model: QM9700-LC, tier: leaf}
"""


def test_a_site_file_says_which_switches_are_liquid_cooled() -> None:
    site = load_site(SITE, "site.yaml")
    panels = panels_by_device(site, site_panels(site))
    assert {name: panel.top for name, panel in panels.items()} == {"leaf1": "finned", "leaf2": "flat"}
    assert panels["leaf2"].status["cage_type"] == "confirmed"


def test_a_transceiver_to_exchange_is_named_with_its_top() -> None:
    slow = seen(two_tier())
    link = slow.fabric.links[Port(guid("leaf1"), 21)]
    slow.fabric.links.update(dict.fromkeys((link.a, link.b), link._replace(rate=Rate(1, "HDR"))))
    comparison = verify(plan(two_tier()), slow).comparison
    assert comparison is not None
    [part] = plan_repair(comparison, faces(leaf1=AIR, spine1=LIQUID)).parts
    assert part.kind is OrderKind.TRANSCEIVER
    assert "replace a transceiver (finned top in leaf1 and flat top in spine1), then the fibre" in part.words
