"""Runs are recorded, and what became of their findings is told: as an operator meets it."""

from __future__ import annotations

import json
import os
import pwd
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from fabricctl.cli.main import main
from fabricctl.discovery.ibnetdiscover_writer import write
from tests.cabling.fabrics import Cable, seen, two_tier, without
from tests.store.stores import dump, place

ROWS = two_tier(hosts=8, leaves=4)
UP, OTHER = ("leaf1", 21, "spine1", 1), ("leaf3", 22, "spine1", 6)


class Desk:
    """An operator with a plan, a store and a discovery file."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        self.plan, self.seen, self.state = (str(folder / n) for n in ("plan.csv", "seen.txt", "hall.sqlite"))
        rows = ["a_device,a_port,z_device,z_port"]
        for a, a_port, b, b_port in ROWS:
            host, _, hca = a.partition(" ")
            rows.append(f"{host},{hca or a_port},{b},{b_port}")
        Path(self.plan).write_text("\n".join(rows) + "\n")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        out, err = self._capsys.readouterr()
        return code, out, err

    def look(self, cables: list[Cable], *more: str, turn: str = "") -> tuple[int, str, str]:
        """verify-cabling on what is cabled so. :param turn: makes the same cabling another capture."""
        Path(self.seen).write_text(f"# {turn}\n" + write(seen(cables).fabric))
        return self.again(*more)

    def again(self, *more: str) -> tuple[int, str, str]:
        words = ("--plan", self.plan, "--discovered", self.seen, "--state", self.state)
        return self.run("verify-cabling", *words, *more)

    def findings(self, *words: str) -> tuple[int, dict[str, str]]:
        """Exit code, and subject -> status."""
        code, out, _ = self.run("findings", "--state", self.state, "--format", "json", *words)
        report = json.loads(out)
        assert report["exit_code"] == code
        return code, {f["subject"]: f["status"] for series in report["series"] for f in series["findings"]}


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


A, B = "leaf1/21 - spine1/1", "leaf3/22 - spine1/6"


def test_new_open_gone_returned_over_a_week(desk: Desk) -> None:
    assert desk.look(without(ROWS, UP))[1].endswith("recorded as run 1: 1 new\n")
    assert desk.look(without(ROWS, UP, OTHER))[1].endswith("recorded as run 2: 1 new, 1 still open\n")
    assert desk.findings() == (1, {A: "open", B: "new"})
    assert desk.look(ROWS)[1].endswith("recorded as run 3: 2 gone\n")
    assert desk.findings() == (0, {A: "gone", B: "gone"})
    assert desk.look(without(ROWS, UP), turn="4")[1].endswith("recorded as run 4: 1 returned\n")
    assert desk.findings() == (1, {A: "returned"})
    assert desk.findings("--since", "run 2") == (1, {A: "returned", B: "gone"})
    assert desk.findings("--since", "2", "--status", "gone") == (1, {B: "gone"})
    assert desk.findings("--since", "2", "--device", "leaf3") == (0, {B: "gone"})
    assert desk.findings("--since", "2", "--kind", "swapped") == (0, {})
    assert desk.findings("--since", "2020-01-01") == (1, {A: "returned", B: "gone"})
    for since in ("2999-01-01", "5"):
        code, out, err = desk.run("findings", "--state", desk.state, "--since", since)
        assert (code, out) == (2, "")
        assert "there is no run since" in err
        assert "the latest is run 4" in err


def test_the_same_input_again_changes_nothing_in_the_database(desk: Desk) -> None:
    desk.look(without(ROWS, UP))
    desk.look(without(ROWS, OTHER))
    before = dump(place(desk.state))
    code, out, _ = desk.again()
    assert code == 1
    assert out.endswith("the same as run 2: nothing new to record\n")
    assert dump(place(desk.state)) == before


def test_what_could_not_be_looked_at_stays_open(desk: Desk) -> None:
    desk.look(without(ROWS, UP))
    assert desk.look(ROWS, "--only", "leaf4")[1].endswith("recorded as run 2: 1 not looked at\n")
    assert desk.findings() == (1, {A: "not_looked_at"})
    code, out, _ = desk.run("findings", "--state", desk.state)
    assert code == 1
    assert "1 open: 1 not looked at" in out
    assert "--only leaf4" in out


def test_a_last_run_that_could_not_tell_is_exit_code_3(desk: Desk) -> None:
    desk.look(without(ROWS, UP))
    blocks = Path(desk.seen).read_text().split("\n\n")
    unread = [b for b in blocks if not re.search(r'^Switch.*# "(leaf1|spine1)"', b, re.MULTILINE)]
    assert len(blocks) - len(unread) == 2
    Path(desk.seen).write_text("\n\n".join(unread))
    assert desk.again()[0] == 3
    code, statuses = desk.findings()
    assert code == 3
    assert statuses[A] == "not_looked_at"
    assert "could not tell: " in desk.run("findings", "--state", desk.state)[1]


def test_the_json_keeps_to_its_schema(desk: Desk) -> None:
    for turn, cables in enumerate((without(ROWS, UP), ROWS, without(ROWS, UP, OTHER))):
        desk.look(cables, turn=str(turn))
    _, report, _ = desk.run("findings", "--state", desk.state, "--format", "json")
    _, schema, _ = desk.run("schema", "findings")
    jsonschema.Draft202012Validator(json.loads(schema)).validate(json.loads(report))
    series = json.loads(report)["series"][0]
    assert series["series"] == f"plan {desk.plan}"
    assert series["counts"] == {"returned": 1, "new": 1, "open": 0, "not_looked_at": 0, "gone": 0}
    assert {o["device"] for o in series["offenders"]} == {"leaf1", "spine1"}


def test_repeat_offenders_come_first(desk: Desk) -> None:
    for turn, cables in enumerate((without(ROWS, OTHER), without(ROWS, UP, OTHER), without(ROWS, OTHER)) * 2):
        desk.look(cables, turn=str(turn))
    desk.look(without(ROWS, UP, OTHER), turn="last")
    _, out, _ = desk.run("findings", "--state", desk.state)
    lines = out.splitlines()
    assert lines[0] == f"plan {desk.plan}  2 open: 1 returned, 1 still open"
    repeat = [line for line in lines if line.startswith("  repeat")]
    assert repeat == [
        "  repeat  leaf1: came back 2 times, 1 fault, 1 open",
        "  repeat  spine1: came back 2 times, 2 faults, 2 open",
    ] or repeat == [
        "  repeat  spine1: came back 2 times, 2 faults, 2 open",
        "  repeat  leaf1: came back 2 times, 1 fault, 1 open",
    ]
    first = next(line for line in lines if "F-" in line)
    assert A in first
    assert "came back 2 times" in first


def test_one_finding_is_shown_with_its_history(desk: Desk) -> None:
    for turn, cables in enumerate((without(ROWS, UP), ROWS, without(ROWS, UP))):
        desk.look(cables, turn=str(turn))
    _, table, _ = desk.run("findings", "--state", desk.state, "--format", "csv")
    header, row = (line.split(",") for line in table.splitlines())
    id = row[header.index("id")]
    code, out, _ = desk.run("findings", "show", id[:8].upper(), "--state", desk.state)
    assert code == 1
    words = [line.split()[0] for line in out.splitlines()[1:]]
    assert words == ["series", "kind", "where", "expected", "found", "fix", "appeared", "gone", "came", "now"]
    assert "run 1," in out
    assert "run 3," in out
    _, again, _ = desk.run("findings", "--state", desk.state, "show", id)
    assert again == out


def test_runs_are_listed_in_every_format(desk: Desk) -> None:
    desk.look(without(ROWS, UP))
    desk.look(ROWS)
    for form in ("text", "json", "csv", "markdown"):
        code, out, _ = desk.run("findings", "runs", "--state", desk.state, "--format", form)
        assert code == 0
        assert "/plan.csv" in out
        assert "seen.txt" in out
    assert [r["findings"] for r in json.loads(desk.run(*JSON_RUNS, desk.state)[1])["runs"]] == [1, 0]


JSON_RUNS = ("findings", "runs", "--format", "json", "--state")


def test_markdown_and_csv_are_whole_and_harmless(desk: Desk) -> None:
    desk.look(without(ROWS, UP))
    _, table, _ = desk.run("findings", "--state", desk.state, "--format", "markdown")
    lines = table.splitlines()
    assert lines[0] == f"## plan {desk.plan}"
    assert lines[4].count("|") == lines[5].count("|") == lines[6].count("|") == 7


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--since", "yesterday"], "expected last, a run's number or a date"),
        (["show", "F-0123"], "no finding begins with F-0123"),
        (["show", "leaf1"], "is no finding's id"),
        (["--fabric", "compute"], "no run of fabric 'compute'"),
        (["--status", "broken"], "expected one of returned, new, open, not_looked_at, gone"),
        (["--kind", "lost"], "expected one of split_fabric, "),
        (["--device", "gpu[1"], "brackets do not pair"),
    ],
)
def test_wrong_usage_is_one_line(desk: Desk, words: list[str], said: str) -> None:
    desk.look(without(ROWS, UP))
    at = words if words[0] == "show" else ["--state", desk.state, *words]
    more = ["--state", desk.state] if words[0] == "show" else []
    code, out, err = desk.run("findings", *at, *more)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_no_store_and_an_empty_store_are_said(desk: Desk) -> None:
    code, _, err = desk.run("findings", "--state", desk.state)
    assert code == 2
    assert "there is none yet" in err
    assert not os.path.exists(desk.state)
    desk.run("node", "set", "gpu1", "--to", "planned", "--reason", "x", "--yes", "--state", desk.state)
    code, _, err = desk.run("findings", "--state", desk.state)
    assert code == 2
    assert "no run is recorded" in err
    assert "give --site or --state" in desk.run("findings")[2]


# -- when a run is recorded, and when it cannot be -----------------------------------------------------------------


def test_without_site_or_state_nothing_is_kept_and_no_database_code_is_loaded(desk: Desk) -> None:
    Path(desk.seen).write_text(write(seen(ROWS).fabric))
    code = (
        "import sys; from fabricctl.cli.main import main;"
        f"code = main(['verify-cabling', '--plan', {desk.plan!r}, '--discovered', {desk.seen!r}]);"
        "print(code, sorted(m for m in sys.modules if m in ('sqlalchemy', 'sqlite3', 'psycopg')))"
    )
    environment = {**os.environ, "XDG_STATE_HOME": str(desk.folder / "xdg")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr
    assert not (desk.folder / "xdg").exists()


def test_no_record_keeps_nothing(desk: Desk) -> None:
    _, out, _ = desk.look(ROWS, "--no-record")
    assert "recorded" not in out
    assert not os.path.exists(desk.state)


def _site(desk: Desk, more: str = "") -> str:
    path = desk.folder / "site.yaml"
    text = f"name: hall\nfabrics:\n  compute:\n    plan: {{file: plan.csv}}\n{more}"
    path.write_text(text)
    return str(path)


def test_a_site_file_records_in_the_sites_own_store(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(desk.folder / "xdg"))
    Path(desk.seen).write_text(write(seen(without(ROWS, UP)).fabric))
    site = _site(desk)
    desk.run("verify-cabling", "--site", site, "--discovered", desk.seen)
    assert (desk.folder / "xdg" / "fabricctl" / "hall.sqlite").exists()
    code, out, _ = desk.run("findings", "--site", site, "--fabric", "compute")
    assert code == 1
    assert out.startswith("fabric compute  1 open: 1 new\n")


def test_the_site_file_says_where_and_json_stays_json(desk: Desk) -> None:
    Path(desk.seen).write_text(write(seen(ROWS).fabric))
    site = _site(desk, "state: {url: kept/here.sqlite}\n")
    _, out, _ = desk.run("verify-cabling", "--site", site, "--discovered", desk.seen, "--format", "json")
    json.loads(out)
    assert (desk.folder / "kept" / "here.sqlite").exists()


def test_a_password_in_the_site_file_is_refused_with_its_line(desk: Desk) -> None:
    site = _site(desk, "state:\n  url: postgresql://anna:hunter2@db/fabric\n")
    code, _, err = desk.run("site", "check", site)
    assert code == 2
    assert f"{site}:6: " in err
    assert "without a password" in err
    assert "hunter2" not in err


def test_a_store_that_cannot_be_written_loses_no_verdict(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    (desk.folder / "file").write_text("")
    bad = str(desk.folder / "file" / "x.sqlite")
    for cables, named, default in ((ROWS, 3, 0), (without(ROWS, UP), 1, 1)):
        Path(desk.seen).write_text(write(seen(cables).fabric))
        words = ("verify-cabling", "--discovered", desk.seen)
        code, out, err = desk.run(*words, "--plan", desk.plan, "--state", bad)
        assert code == named
        assert "AS PLANNED" in out
        assert "the run was not recorded: state store" in err
        assert err.count("\n") == 1
        monkeypatch.setenv(
            "XDG_STATE_HOME", bad
        )  # nobody asked for this store: a warning, no other exit code
        code, _, err = desk.run(*words, "--site", _site(desk))
        assert code == default
        assert "the run was not recorded" in err


@pytest.mark.parametrize("bad", ["x" * 300, "loop", "pipe", "\udcff"])
def test_whatever_is_wrong_with_the_store_the_verdict_is_printed(desk: Desk, bad: str) -> None:
    (desk.folder / "loop").symlink_to("loop")
    os.mkfifo(desk.folder / "pipe")
    desk.state = str(desk.folder / bad)
    code, out, err = desk.look(without(ROWS, UP))
    assert (code, err.count("\n")) == (1, 1)
    assert "NOT AS PLANNED  1 of 48" in out
    assert err.startswith("fabricctl: the run was not recorded: ")
    code, out, err = desk.run("findings", "--state", desk.state)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "internal error" not in err


def test_no_home_for_the_default_store_is_a_warning(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nameless)  # a container's user id
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_STATE_HOME")
    Path(desk.seen).write_text(write(seen(ROWS).fabric))
    code, out, err = desk.run("verify-cabling", "--site", _site(desk), "--discovered", desk.seen)
    assert (code, "AS PLANNED" in out, err.count("\n")) == (0, True, 1)
    assert "the run was not recorded: state store: there is no home folder" in err
    code, _, err = desk.run("findings", "--site", _site(desk))
    assert (code, err.count("\n")) == (2, 1)


def test_no_secret_reaches_the_store(desk: Desk, monkeypatch: pytest.MonkeyPatch, postgres: object) -> None:
    from tests.sim.postgres import Postgres

    assert isinstance(postgres, Postgres)
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    monkeypatch.setenv("FABRIC_DB", postgres.new_database().replace("fabric@", "fabric:hunter2@"))
    desk.state = "env:FABRIC_DB"
    desk.look(without(ROWS, UP), "--identity", "/secret/hunter2")
    desk.run("node", "set", "gpu1", "--to", "planned", "--reason", "new", "--yes", "--state", desk.state)
    rows = dump(place(os.environ["FABRIC_DB"].replace(":hunter2", "")))
    assert rows["runs"]
    assert rows["events"]
    assert "hunter2" not in repr(rows)


def test_watching_records_a_pass_only_when_something_changed(desk: Desk) -> None:
    Path(desk.seen).write_text("# 0\n" + write(seen(without(ROWS, UP)).fabric))
    words = ["--plan", desk.plan, "--discovered", desk.seen, "--state", desk.state, "--watch", "1"]
    watcher = subprocess.Popen(
        [sys.executable, "-m", "fabricctl", "verify-cabling", *words], stdout=subprocess.PIPE, text=True
    )
    assert watcher.stdout is not None
    try:
        lines = [watcher.stdout.readline()]
        for turn, cables in enumerate((without(ROWS, UP), ROWS), 1):
            while not any(
                word in lines[-1] for word in ("every finding", "no change", "AS PLANNED  all", "missing")
            ):
                lines.append(watcher.stdout.readline())
            lines.append("")
            Path(desk.seen).write_text(f"# {turn}\n" + write(seen(cables).fabric))
            while "AS PLANNED  all" not in lines[-1] and "no change" not in lines[-1]:
                lines.append(watcher.stdout.readline())
        while "no change" not in lines[-1]:
            lines.append(watcher.stdout.readline())
    finally:
        watcher.terminate()
        watcher.wait()
        watcher.stdout.close()
    runs = json.loads(desk.run(*JSON_RUNS, desk.state)[1])["runs"]
    assert [run["findings"] for run in runs] == [1, 0]


def test_help_loads_neither_database_nor_verdict_code() -> None:
    code = (
        "import sys; import fabricctl.cli.main;"
        "print([m for m in sys.modules if m.startswith(('sqlalchemy', 'pydantic', 'fabricctl.cabling'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
