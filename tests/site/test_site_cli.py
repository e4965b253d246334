"""``fabricctl site``: what is printed where, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from site_texts import SMALL
from typer.testing import CliRunner, Result

from fabricctl.cli.site import app
from fabricctl.errors import InputError, PlanError, SiteError

EXAMPLE = Path(__file__).parents[2] / "inventory" / "site.yaml"

INLINE = """\
name: tiny
node_models:
  host: {hcas: [mlx5_0, mlx5_1]}
switch_models:
  mini: {ports: 4}
nodes:
  gpu[1-4]: {model: host}
switches:
  leaf-u[1-2]-r[1-2]: {model: mini, tier: leaf, named: "leaf-u{su}-r{rail}"}
  spine[1-4]: {model: mini, tier: spine}
fabrics:
  one:
    plan:
      fat-tree:
        tiers: 2
        units: 2
        nodes-per-unit: 2
        rails: 2
        switch-ports: 4
        host: gpu{host}
        leaf: leaf-u{su}-r{rail}
        spine: spine{index}
        spines: 2
"""


def run(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(app, list(words), input=given)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "site.yaml"
    path.write_text(INLINE.replace("spine[1-4]", "spine[1-2]"))
    return path


def test_check_of_the_example_site_is_clean_and_prints_the_ratio() -> None:
    result = run("check", str(EXAMPLE))
    assert result.exit_code == 0, result.output
    assert "513 hosts, 320 switches" in result.stdout
    assert "4,090 HCA-leaf, 4,096 leaf-spine and 4,096 spine-core links" in result.stdout
    assert "128 leaves 32 down, 32 up (1:1)" in result.stdout


def test_check_of_a_right_site_ends_with_ok(written: Path) -> None:
    result = run("check", str(written))
    assert (result.exit_code, result.stdout.splitlines()[-1][:3]) == (0, "ok:")


def test_check_with_findings_prints_file_and_line_and_exits_1(written: Path) -> None:
    written.write_text(INLINE)
    result = run("check", str(written))
    assert result.exit_code == 1
    assert (
        f"{written}:8: planned: spine[3-4]: stands in the site, but no fabric's plan uses it" in result.stdout
    )


def test_check_of_a_file_with_several_errors_prints_each_on_stderr_and_exits_2(written: Path) -> None:
    written.write_text(SMALL.replace("units: 10", "units: x").replace("rate: 4xEDR", "rate: fast"))
    result = run("check", str(written))
    lines = result.stderr.splitlines()
    assert result.exit_code == 2
    assert result.stdout == ""
    assert [line.startswith(f"fabricctl: {written}:") for line in lines] == [True, True]


def test_check_of_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    assert isinstance(run("check", str(tmp_path / "none.yaml")).exception, InputError)


def test_check_names_the_line_of_a_wrong_inline_plan(written: Path) -> None:
    written.write_text(INLINE.replace("rails: 2", "rail: 2"))
    error = run("check", str(written)).exception
    assert isinstance(error, PlanError)
    assert str(error).startswith(f"{written}:18: fat-tree: unknown key 'rail'")


def test_check_reads_a_plan_file_beside_the_site_file(tmp_path: Path) -> None:
    head, _, tree = INLINE.replace("spine[1-4]", "spine[1-2]").partition("    plan:\n")
    (tmp_path / "site.yaml").write_text(f"{head}    plan: {{file: plans/tree.yaml}}\n")
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "tree.yaml").write_text(dedent(tree))
    result = run("check", str(tmp_path / "site.yaml"))
    assert (result.exit_code, result.exception) == (0, None), result.output


def test_show_prints_the_host_sets_as_they_are_written() -> None:
    result = run("show", str(EXAMPLE))
    assert result.exit_code == 0
    for text in ("gpu[001-511]", "ibl-p[01-16]-r[1-8]", "hgx-h100", "4xNDR", "ufm[1-2]"):
        assert text in result.stdout


def test_show_of_a_wrong_file_is_a_site_error() -> None:
    error = run("show", "-", given="name: [\n").exception
    assert isinstance(error, SiteError)
    assert str(error).startswith("standard input:")


def test_schema_prints_a_json_schema_in_which_every_key_has_a_meaning() -> None:
    schema = json.loads(run("schema").stdout)
    sections = [schema, *schema["$defs"].values()]
    without = [
        key for each in sections for key, field in each["properties"].items() if "description" not in field
    ]
    assert without == []
    assert "fat-tree" in schema["$defs"]["PlanSource"]["properties"]
