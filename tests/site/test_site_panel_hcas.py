"""A panel belongs to a host model when its compute ports are the model's HCAs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricctl.causes.hosts import cages_of
from fabricctl.errors import SiteError
from fabricctl.panel_tables import panel_of_model
from fabricctl.site.load import load_site

EXAMPLE = Path(__file__).parents[2] / "inventory" / "site.yaml"
DGX = [f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11)]  # DGX H100 user guide, tables 5 and 6: compute cards


def site(hcas: str, panel: str = "dgx-h100") -> str:
    return f"name: s\nnode_models:\n  hgx:\n    hcas: [{hcas}]\n    panel: {panel}\n"


def test_the_example_site_with_the_panel_of_other_hcas_is_refused_with_both_lists() -> None:
    text = EXAMPLE.read_text().replace("    gpus: 8\n", "    gpus: 8\n    panel: dgx-h100\n", 1)
    with pytest.raises(SiteError) as caught:
        load_site(text, "site.yaml")
    assert "mlx5_1, mlx5_2, mlx5_7 of hcas: storage ports" in str(caught.value)
    assert "compute ports mlx5_9, mlx5_10, mlx5_11" in str(caught.value)


@pytest.mark.parametrize(
    "hcas",
    [", ".join(DGX), "mlx5_0, mlx5_11", ", ".join([*DGX, "mlx5_7"])],
)
def test_a_model_with_the_panels_compute_ports_some_of_them_or_storage_beside_is_fine(hcas: str) -> None:
    load_site(site(hcas), "site.yaml")


def test_storage_ports_are_never_part_of_compute_cages() -> None:
    panel = panel_of_model("dgx-h100")
    assert panel is not None
    assert panel.storage == {"mlx5_7", "mlx5_8", "mlx5_1", "mlx5_2"}
    every = {hca: hca for hca in [*DGX, "mlx5_1", "mlx5_2"]}
    assert sorted(cages_of(panel, every)) == ["OSFP1", "OSFP2", "OSFP3", "OSFP4"]
    assert cages_of(panel, {"mlx5_1": "a", "mlx5_2": "b"}) == {}
