"""``--html``, ``--svg`` and ``--compare`` of verify-cabling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabricctl.cli.main import main
from fabricctl.discovery.ibnetdiscover_writer import write
from fabricctl.picture.former import DATA_OPEN
from tests.cabling.fabrics import seen, two_tier, without


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Options that name a plan of 16 cables and a discovery that lacks one."""
    cables = two_tier()
    plan, discovered = tmp_path / "plan.txt", tmp_path / "seen.txt"
    plan.write_text(write(seen(cables).fabric), encoding="utf-8")
    discovered.write_text(write(seen(without(cables, cables[-1])).fabric), encoding="utf-8")
    return ["verify-cabling", "--plan", str(plan), "--discovered", str(discovered)]


def data_of(page: Path) -> dict[str, object]:
    text = page.read_text(encoding="utf-8").partition(DATA_OPEN)[2].partition("</script>")[0]
    data: dict[str, object] = json.loads(text)
    return data


def test_page_and_picture_are_written_and_named(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, picture = tmp_path / "p.html", tmp_path / "p.svg"
    assert main([*files, "--html", str(page), "--svg", str(picture)]) == 1
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    assert f"report: {page}\nreport: {picture}" in capsys.readouterr().out


def test_report_html_is_the_same_page(files: list[str], tmp_path: Path) -> None:
    one, two = tmp_path / "one.html", tmp_path / "two.html"
    assert main([*files, "--html", str(one), "--report", str(two)]) == 1
    assert one.read_bytes() == two.read_bytes()


def test_compare_takes_json_and_pages(files: list[str], tmp_path: Path) -> None:
    first, page, second = tmp_path / "1.json", tmp_path / "1.html", tmp_path / "2.html"
    assert main([*files, "--report", str(first), "--report", str(page)]) == 1
    for earlier in (first, page):
        assert main([*files, "--html", str(second), "--compare", str(earlier)]) == 1
        change = data_of(second)["compare"]
        assert isinstance(change, dict)
        assert change["label"] == earlier.name
        assert set(change["status"]) == {0}
        assert change["gone"] == []


def test_compare_with_another_file_is_said_before_anything_is_written(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "p.html"
    assert main([*files, "--html", str(page), "--compare", files[2]]) == 2
    assert f"{files[2]}: expected the JSON or the HTML report of an earlier run" in capsys.readouterr().err
    assert not page.exists()


def test_compare_without_a_page_is_wrong_usage(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, "--compare", "x.json"]) == 2
    assert "--compare" in capsys.readouterr().err
