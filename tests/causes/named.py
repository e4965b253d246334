"""What each fault of the simulator is to be called."""

from __future__ import annotations

from fabricctl.causes.model import CauseKind

SPLIT = "fibre_split_1x2"
NAMED = {
    "leaf-rotated": (CauseKind.SHIFTED, "uplinks of ibl-p05-r3 rotated by one port"),
    "unit-rotated": (CauseKind.SHIFTED, "uplinks of ibl-p03-r[1-8] rotated by one port"),
    "spine-rotated": (CauseKind.SHIFTED, "uplinks of ibs-p05-s3 rotated by one port"),
    "host-ports-rotated": (CauseKind.SHIFTED, "host cables of ibl-p03-r2 rotated by one port"),
    "uplinks-reversed": (CauseKind.REVERSED, "uplinks of ibl-p05-r3 in reverse order"),
    "trunk-reversed": (CauseKind.REVERSED, "uplinks on ports 33-40 of ibl-p05-r3 in reverse order"),
    "cages-exchanged": (CauseKind.CAGE_PORTS_EXCHANGED, "each cage exchanged: uplinks of ibl-p05-r3"),
    "unit-cages-exchanged": (
        CauseKind.CAGE_PORTS_EXCHANGED,
        "each cage exchanged: uplinks of ibl-p03-r[1-8]",
    ),
    "host-bundles": (CauseKind.BUNDLES_EXCHANGED, "host cables of ibl-p03-r2 and ibl-p03-r3 exchanged"),
    "uplink-bundles": (CauseKind.BUNDLES_EXCHANGED, "uplinks of ibl-p05-r2 and ibl-p05-r3 exchanged"),
    "spine-bundles": (
        CauseKind.BUNDLES_EXCHANGED,
        "cables of ibs-p05-s2 and ibs-p05-s3 towards ibl-p05-r2 exchanged",
    ),
    "leaf-misplaced": (CauseKind.WRONG_RACK, "ibl-p03-r2 and ibl-p10-r1 stand in each other's place"),
    "spine-misplaced": (CauseKind.WRONG_RACK, "ibs-p03-s1 and ibs-p05-s3 stand in each other's place"),
    "core-misplaced": (CauseKind.WRONG_RACK, "ibc-09 and ibc-18 stand in each other's place"),
    "hosts-exchanged": (CauseKind.WRONG_RACK, "gpu069 and gpu292 stand in each other's place"),
    "hosts-wrong-unit": (
        CauseKind.WRONG_UNIT,
        "hosts gpu[065-072] and gpu[289-296] are cabled to each other's unit",
    ),
    "leaves-wrong-unit": (CauseKind.WRONG_UNIT, "uplinks of ibl-p05-r[1-8] and ibl-p10-r[1-8]"),
    "host-reversed": (CauseKind.HOST_PANEL_REVERSED, "panel of gpu069 is cabled upside down"),
    "host-cage-ports": (
        CauseKind.HOST_CAGE_PORTS_EXCHANGED,
        "the two ports of each cage of gpu069 exchanged",
    ),
    "host-cages-reversed": (CauseKind.HOST_PANEL_REVERSED, "cages of gpu069 are cabled in reverse order"),
    "unit-host-cage-ports": (CauseKind.HOST_CAGE_PORTS_EXCHANGED, "each cage of gpu[065-096] exchanged"),
    "tails-crossed": (CauseKind.TAILS_CROSSED, "tails of 16 splitters at ibl-p03-r2 crossed"),
    "one-tail-crossed": (
        CauseKind.TAILS_CROSSED,
        "tails of the splitter at ibl-p03-r2, ports 3 to 4, crossed",
    ),
    "heads-exchanged": (
        CauseKind.HEADS_EXCHANGED,
        "splitter heads at ibl-p03-r2/1 and ibl-p03-r2/31 exchanged",
    ),
    "leaves-per-rail": (
        CauseKind.CABLED_PER_RAIL,
        "leaf uplinks are cabled per rail: the fabric falls into 8 islands",
    ),
    "cores-per-unit": (
        CauseKind.CABLED_PER_RAIL,
        "cores are cabled per unit: the fabric falls into 16 islands",
    ),
    "split-ready": (CauseKind.SPLIT_READY, "ibl-p05-r3 is in split-ready profile"),
}
"""Fault -> kind and part of its headline in the hall with the dice at 1 (names as the injector's truth has them)."""
FOUR_RAILS = ("host-cage-ports", "host-cages-reversed", "unit-host-cage-ports")
"""Faults of a host with eight HCAs: the medium shape has four."""
LAYERS = ("leaves-per-rail", "cores-per-unit")


def splitter(*kinds: str) -> str:
    return SPLIT if any("tail" in kind or "heads" in kind for kind in kinds) else ""
