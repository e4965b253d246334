"""What a DGX H100's published face makes of its rails, read off the vendor's table."""

from __future__ import annotations

import csv
from pathlib import Path

from fabricctl.causes.hosts import patterns
from fabricctl.causes.model import CauseKind
from fabricctl.panels import Panel, PanelPort

IN_RAIL_ORDER = [f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11)]
"""HCAs by GPU 0 to 7 (DGX H100 user guide, table 6)."""


def panel(path: Path) -> Panel:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    ports = [PanelPort(row["cage"], int(row["port"]), 1, hca=row["rdma"]) for row in rows]
    return Panel("DGX H100", tuple(ports))


def rails(order: dict[str, str]) -> set[tuple[int, int]]:
    place = {name: rail for rail, name in enumerate(IN_RAIL_ORDER, 1)}
    return {(place[a], place[b]) for a, b in order.items() if place[a] < place[b]}


def test_rails_that_trade_places_when_the_panel_is_cabled_wrongly(captures: Path) -> None:
    names = {name: name for name in IN_RAIL_ORDER}
    found = patterns(IN_RAIL_ORDER, names, panel(captures / "panels/dgx_h100_ports.csv"))
    by_word = {pattern.word: pattern for pattern in found}
    crossed = by_word["cage ports"]
    assert crossed.kind is CauseKind.HOST_CAGE_PORTS_EXCHANGED
    assert rails(crossed.order) == {(1, 4), (2, 3), (5, 8), (6, 7)}
    assert rails(by_word["cages reversed"].order) == {(1, 5), (2, 6), (3, 7), (4, 8)}
    assert rails(by_word["panel turned"].order) == {(1, 8), (2, 7), (3, 6), (4, 5)}
    assert "rails reversed" not in by_word  # the panel turned upside down is the same, and says what was done


def test_a_panel_of_other_hcas_tells_nothing(captures: Path) -> None:
    """A site that calls its HCAs mlx5_0 to mlx5_7: the table's mlx5_1 is a storage port, no cage is guessed."""
    own = [f"mlx5_{n}" for n in range(8)]
    found = patterns(own, {name: name for name in own}, panel(captures / "panels/dgx_h100_ports.csv"))
    assert {pattern.word for pattern in found} >= {"rails reversed"}
    assert "cage ports" not in {pattern.word for pattern in found}
