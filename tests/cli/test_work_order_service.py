"""A work order that sends people to hosts in service says so, where a node record is at hand."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fabricctl.adapters.store.location import find_location
from fabricctl.adapters.store.store import open_store
from fabricctl.nodes.model import NodeState
from fabricctl.nodes.transitions import plan_transitions
from tests.cabling.fabrics import Cable
from tests.cli.test_work_order_cli import RIGHT, discovery, plan, run

HOSTS: list[Cable] = [c for c in RIGHT if c[0].startswith("gpu")]
"""Cables of hosts; the first two of one leaf are exchanged."""
LEAF = HOSTS[0][2]
ONE, TWO = [c for c in HOSTS if c[2] == LEAF][:2]
CROSSED: list[Cable] = [
    *(c for c in RIGHT if c not in (ONE, TWO)),
    (ONE[0], ONE[1], TWO[2], TWO[3]),
    (TWO[0], TWO[1], ONE[2], ONE[3]),
]
A, B = ONE[0].split()[0], TWO[0].split()[0]


def store(folder: Path, **states: NodeState) -> str:
    """A store in which each host went through the states to its own."""
    path = str(folder / "hall.sqlite")
    way = [
        NodeState.PLANNED,
        NodeState.PROVISIONING,
        NodeState.READY,
        NodeState.IN_SERVICE,
        NodeState.DRAINING,
    ]
    with open_store(find_location(path)) as opened:
        for host, state in states.items():
            for to in way[: way.index(state) + 1]:
                now = {name: (r.state, r.version) for name, r in opened.nodes.all([host]).items()}
                changes = plan_transitions(now or {host: (NodeState.PLANNED, 0)}, to)
                opened.nodes.change_states(
                    changes, who="me", reason="test", now=datetime(2026, 1, 1, tzinfo=UTC)
                )
    return path


def files(folder: Path) -> list[str]:
    return ["--plan", plan(folder), "--discovered", discovery(folder, CROSSED)]


def test_hosts_in_service_are_named_in_the_head_and_at_their_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = store(tmp_path, **{A: NodeState.IN_SERVICE, B: NodeState.DRAINING})
    code, out, err = run(capsys, "make", *files(tmp_path), "--state", state)
    assert (code, err) == (1, "")
    text = " ".join(out.split())
    assert f"in service by the node record: {A}: drain it first (fabricctl node set {A} --to draining" in text
    assert f"draining by the node record: {B}: wait until no job is left there" in text
    assert f"lose their links while this is done; in service by the node record: {A}; draining by" in text
    target = tmp_path / "wo.json"
    run(capsys, "make", *files(tmp_path), "--state", state, "--output", str(target))
    steps = json.loads(target.read_text())["order"]["steps"]
    assert {host for step in steps for host in step["in_service"]} == {A}
    assert {host for step in steps for host in step["draining"]} == {B}


@pytest.mark.parametrize("ending", ["html", "md", "csv"])
def test_every_form_says_it(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = store(tmp_path, **{A: NodeState.IN_SERVICE, B: NodeState.IN_SERVICE})
    target = tmp_path / f"wo.{ending}"
    run(capsys, "make", *files(tmp_path), "--state", state, "--output", str(target))
    text = target.read_text().replace("\\[", "[").replace("\\]", "]").replace("\\_", "_")
    assert "in service by the node record" in text
    assert "drain them first" in text
    if ending == "csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert [row["kind"] for row in rows].count("in_service") == 1
        assert any("go on only when no job is left" in row["stop_if"] for row in rows)


def test_ready_hosts_and_those_without_a_record_are_not_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = store(tmp_path, **{A: NodeState.READY})
    plain = run(capsys, "make", *files(tmp_path))[1].splitlines()
    with_record = run(capsys, "make", *files(tmp_path), "--state", state)[1].splitlines()
    assert [line for line in plain if "made" not in line] == [
        line for line in with_record if "made" not in line
    ]


def test_the_store_of_the_site_is_asked_where_it_exists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site.yaml"
    site.write_text("name: hall\nstate: {url: hall.sqlite}\n")
    words = [*files(tmp_path), "--site", str(site)]
    assert "node record" not in run(capsys, "make", *words)[1]
    assert not (tmp_path / "hall.sqlite").exists()
    store(tmp_path, **{A: NodeState.IN_SERVICE})
    assert "in service by the node record" in " ".join(run(capsys, "make", *words)[1].split())


def test_a_damaged_store_costs_no_work_order_but_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site.yaml"
    site.write_text("name: hall\nstate: {url: hall.sqlite}\n")
    (tmp_path / "hall.sqlite").write_text("this is no database, but it is long enough to be looked at")
    code, out, _ = run(capsys, "make", *files(tmp_path), "--site", str(site))
    assert code == 1
    assert "the node record could not be read" in " ".join(out.split())


def test_a_named_store_that_is_not_there_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "make", *files(tmp_path), "--state", str(tmp_path / "typo.sqlite"))
    assert code not in (0, 1)
    assert "typo.sqlite" in err


@pytest.mark.parametrize("with_site", [False, True])
def test_without_a_store_no_database_library_is_imported(tmp_path: Path, with_site: bool) -> None:
    site = tmp_path / "site.yaml"
    site.write_text("name: hall\nstate: {url: hall.sqlite}\n")
    words = ["work-order", "make", *files(tmp_path), *(["--site", str(site)] if with_site else [])]
    code = (
        "import sys; from fabricctl.cli.main import main; "
        f"code = main({words!r}); sys.exit(9 if 'sqlalchemy' in sys.modules else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
