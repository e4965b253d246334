"""Cells and names of any length and any digits: a plan, or an error of ours, at once."""

from __future__ import annotations

import time

import pytest

from fabricctl.errors import PlanError
from fabricctl.models import NodeModel, SwitchModel
from fabricctl.plan.checks import check_plan
from fabricctl.plan.export import to_csv
from fabricctl.plan.lengths import RackSpot, estimated_lengths
from fabricctl.plan.summary import summarise
from fabricctl.plan.table import parse_csv
from fabricctl.plan.yaml_doc import parse_plan_document

HEADER = "switch,switch_port,host,hca,host_port,switch_rack,switch_u,host_rack,host_u,speed,length,protocol,switch_type"
ROW = ["leaf1", "1", "gpu1", "mlx5_0", "1", "R1", "40", "R2", "12", "HDR", "3", "InfiniBand", "QM8700"]
DIGITS = ["9" * 5000, "9" * 100_000, "\u0663", "1\u0663", "\u00b2"]
UNITS = (" x", "9,", "9.", "0", "/", "1/", "x ", "[", "(", "'", "_", "-", "\u0663", " 1x HDR")


class Site:
    """A site that knows one host."""

    def switch_model(self, device: str) -> SwitchModel | None:
        return None

    def node_model(self, host: str) -> NodeModel | None:
        return NodeModel("dgx", ("mlx5_0", "mlx5_3", "mlx5_4")) if host == "gpu1" else None

    def place(self, device: str) -> None:
        return None


def read(cell: str, column: int, site: Site | None) -> str:
    """Read a table with this cell and everything that is said of it; returns the error."""
    row = list(ROW)
    row[column] = f'"{cell}"' if "," in cell else cell
    spots = {"R1": RackSpot("a", 1, 48), "R2": RackSpot("a", 2, 48)}
    start = time.process_time()
    try:
        plan = parse_csv(f"{HEADER}\n{','.join(row)}\n", "f", site=site)
        check_plan(plan)
        summarise(plan)
        to_csv(plan)
        estimated_lengths(plan, spots)
        error = ""
    except PlanError as exc:
        error = str(exc)
    assert time.process_time() - start < 10
    assert "\n" not in error
    assert len(error) < 1000
    return error


@pytest.mark.parametrize("column", range(len(ROW)), ids=HEADER.split(","))
@pytest.mark.parametrize("site", [None, Site()], ids=["alone", "site"])
def test_any_digits_and_any_length_in_any_cell(column: int, site: Site | None) -> None:
    for digits in DIGITS:
        for form in (
            "{}",
            "{0}{1}",
            "HCA-{1}",
            "IB Port {1}",
            "mlx5_0/{1}",
            "U{1}",
            "{1}.0",
            "{1}x HDR",
            "{1}G",
        ):
            read(form.format(ROW[column], digits), column, site)
    for unit in UNITS:
        read(unit * (100_000 // len(unit)) + "x", column, site)


@pytest.mark.parametrize("digits", ["9" * 100, "9" * 9, "\u0663"])
def test_a_slot_of_digits_that_are_no_number_is_no_hca_of_a_known_host(digits: str) -> None:
    assert "mlx5_0, mlx5_3, mlx5_4" in read(digits, 3, Site())


def test_a_slot_name_as_long_as_none_is_an_error() -> None:
    for site in (None, Site()):
        assert read("9" * 5000, 3, site).endswith("has 5000 characters, more than 128")


@pytest.mark.parametrize("digits", ["9" * 5000, "\u0663"])
@pytest.mark.parametrize(
    "text",
    [
        "fat-tree: {{tiers: {}}}",
        "fat-tree: {{units: 2, leaf: 'l{{su:0{}}}', tiers: 2}}",
        "rules:\n- from: 'a{{i+{}}}'\n",
        "rules:\n- for: {{i: 1..{}}}\n  from: a\n",
        "fat-tree: {{skip: ['1-{}']}}",
    ],
)
def test_any_digits_in_a_plan_document_are_an_error_of_ours(text: str, digits: str) -> None:
    with pytest.raises(PlanError):
        parse_plan_document(text.format(digits), "f")
