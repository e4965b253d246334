"""Panels that a site file gives or changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from site_texts import SMALL

from fabricctl.cabling.verdict import VerdictWord
from fabricctl.cabling.verify import verify
from fabricctl.errors import SiteError
from fabricctl.model_tables import BUILTIN
from fabricctl.site import use
from fabricctl.site.load import load_site
from fabricctl.site.panels import cages_of, panels_by_device, site_panels
from fabricctl.site.schema import Site
from fabricctl.workflows.site_context import SiteContext
from tests.cabling import fabrics as make


def site(*changes: tuple[str, str]) -> Site:
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return load_site(text, "site.yaml")


MINI = "mini: {ports: 4}"
HOST = "host: {hcas: [mlx5_0, mlx5_1], gpus: 2, height_u: 2}"


def test_a_model_like_a_built_in_one_has_its_panel_with_the_sites_labels() -> None:
    changed = site((MINI, "mini: {like: QM9700, labels: {Left-1: 1}, shown: {2: right}}"))
    panel = panels_by_device(changed, site_panels(changed))["leaf1"]
    assert (panel.name, len(panel.ports), panel.side_words) == ("mini", 64, "rear, usual")
    assert [port.label for port in panel.ports[:3]] == ["Left-1", "right", "2/1"]
    assert use.models_by_switch(changed)["leaf1"].split_ready[27] == 53


def test_the_sites_word_on_side_and_rows_wins_and_is_confirmed() -> None:
    entry = "{like: QM9700, panel: {side: front, rows: {top: [1-31/2], bottom: [2-32/2]}}}"
    changed = site((MINI, f"mini: {entry}"))
    panel = site_panels(changed)["mini"]
    assert (panel.side_words, panel.status["rows"], panel.sources["side"]) == (
        "front",
        "confirmed",
        "site.yaml",
    )
    assert panel.status["lanes"] == "confirmed"
    thirty_two = next(port for port in panel.ports if port.number == 64)
    assert (thirty_two.row, thirty_two.column) == ("bottom", 16)


def test_a_built_in_model_can_be_changed_under_its_own_name() -> None:
    changed = load_site(
        SMALL.replace(MINI, "QM9700: {like: QM9700, panel: {side: front}}").replace(
            "model: mini", "model: QM9700"
        ),
        "site.yaml",
    )
    assert {panel.side for panel in panels_by_device(changed, site_panels(changed)).values()} == {"front"}


def test_a_switch_panel_written_out_is_also_its_labels() -> None:
    ports = "{A1/1: 1, A1/2: 2, A2/1: 3, A2/2: 4}"
    changed = site((MINI, f"mini: {{panel: {{ports: {ports}, labels: {{A2/2: last}}}}}}"))
    model = use.switch_models(changed)["mini"]
    assert (model.ports, model.cages, model.port_of("A1/2".lower())) == (4, 2, None)
    assert model.shown == {1: "A1/1", 2: "A1/2", 3: "A2/1", 4: "last"}
    assert model.port_of("last") == 4


def test_a_host_model_takes_a_built_in_panel_by_its_name() -> None:
    hcas = "[mlx5_0, mlx5_11]"
    changed = site((HOST, f"host: {{hcas: {hcas}, height_u: 2, panel: dgx-h100}}"))
    port = panels_by_device(changed, site_panels(changed))["h1"].behind("mlx5_11")
    assert port is not None
    assert (port.label, port.gpu) == ("OSFP1P1", 7)


def test_a_host_panel_may_be_written_out_or_changed_per_port() -> None:
    changed = site(
        (
            HOST,
            "host: {hcas: [mlx5_0, mlx5_1], panel: {ports: {31: mlx5_0, 32: mlx5_1}, labels: {31: Slot 31}}}",
        )
    )
    panel = site_panels(changed)["host"]
    assert [(port.cage, port.hca, port.label) for port in panel.ports] == [
        ("31", "mlx5_0", "Slot 31"),
        ("32", "mlx5_1", "32/1"),
    ]
    swapped = site(
        (
            HOST,
            "host: {hcas: [mlx5_0, mlx5_11], panel: {like: dgx-h100, ports: {OSFP1P1: mlx5_6, OSFP1/2: mlx5_11}}}",
        )
    )
    ports = [(port.label, port.hca, port.gpu) for port in site_panels(swapped)["host"].ports[:3]]
    assert ports == [("OSFP1P1", "mlx5_6", None), ("OSFP1P2", "mlx5_11", None), ("OSFP2P1", "mlx5_10", 6)]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (HOST, "host: {hcas: [mlx5_0], panel: dgx-h10}", "unknown panel 'dgx-h10'; did you mean"),
        (
            HOST,
            "host: {hcas: [mlx5_12], panel: dgx-h100}",
            "HCA 'mlx5_12' of hcas is behind no port of the panel",
        ),
        (HOST, "host: {hcas: [mlx5_0], panel: {side: top}}", "expected 'front' or 'rear', found 'top'"),
        (MINI, "mini: {like: QM9700, panel: {rows: {top: [33]}}}", "the panel has no cage '33'"),
        (MINI, "mini: {like: QM9700, panel: {labels: {40/1: x}}}", "the panel has no port '40/1'"),
        (MINI, "mini: {panel: {ports: {A1: x}}}", "expected an InfiniBand port number, found 'x'"),
        (
            MINI,
            "mini: {panel: {side: rear}}",
            "expected ports (a number) or like (a built-in model), found neither",
        ),
        (MINI, "mini: {like: QM9700, panel: {sides: rear}}", "unknown key 'sides'; did you mean 'side'?"),
    ],
)
def test_what_is_wrong_is_said_with_its_key_and_line(old: str, new: str, words: str) -> None:
    with pytest.raises(SiteError) as caught:
        load_site(SMALL.replace(old, new, 1), "site.yaml")
    assert words in str(caught.value)
    assert str(caught.value).startswith("site.yaml:")


def test_rows_are_written_as_names_ranges_and_steps() -> None:
    assert cages_of(["1-7/2", "A", "12-10"]) == ["1", "3", "5", "7", "A", "12", "11", "10"]


def test_findings_name_the_hosts_cage() -> None:
    changed = site((HOST, "host: {hcas: [mlx5_0, mlx5_11], panel: dgx-h100}"))
    from datetime import date

    options = SiteContext(changed).options("one", {}, date(2026, 1, 1))
    cables: list[make.Cable] = [("h1 mlx5_11", 1, "leaf1", 1), ("h2 mlx5_11", 1, "leaf1", 2)]
    verdict = verify(make.plan(cables), make.seen(cables[:1], alone=["h2 mlx5_11"]), options)
    assert verdict.word is not VerdictWord.OK
    shown = {cable.a.full for finding in verdict.findings for cable in finding.cables}
    assert "h2 mlx5_11 (panel OSFP1P1, R2 U1)" in shown
    assert verdict.comparison is not None
    panel = verdict.comparison.ends.panel("h2 mlx5_11")
    assert panel is not None
    assert panel.kind == "host"
    port = verdict.comparison.ends.panel_port(next(iter(verdict.comparison.intended)))
    assert port is not None
    assert port.cage == "OSFP1"


def test_the_example_site_changes_nothing_of_the_built_in_models() -> None:
    example = Path(__file__).resolve().parents[2] / "inventory" / "site.yaml"
    whole = load_site(example.read_text("utf-8"), str(example))
    assert use.switch_models(whole)["QM9700"] is BUILTIN["QM9700"]
