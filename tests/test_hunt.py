"""The search for passwords finds one wherever it is put, and allows it where it belongs."""

from __future__ import annotations

import base64
import gzip
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tests.hunt import Hunt, new_folder, patterns, remove_folder

WORD = "Planted0f3c9a"
PASSWORD = f"{WORD}-of-gpu001"


def found(tmp_path: Path) -> list[str]:
    hunt = Hunt(WORD)
    hunt.search(tmp_path)
    return [Path(where).name for where in hunt.found]


@pytest.mark.parametrize("lead", ["", "a:", "root:", "administrator:"])
def test_base64_of_a_password_is_found_however_it_is_aligned(lead: str) -> None:
    coded = base64.b64encode(f"{lead}{PASSWORD}".encode())
    assert any(pattern in coded for pattern in patterns([WORD]))
    plain = base64.b64encode(f"{lead}another password".encode())
    assert not any(pattern in plain for pattern in patterns([WORD]))


def test_files_logs_and_archives_are_searched(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "run.log").write_text(f"login with {PASSWORD}\n")
    (tmp_path / "report.html.gz").write_bytes(gzip.compress(PASSWORD.encode()))
    (tmp_path / "header.json").write_bytes(base64.b64encode(f"root:{PASSWORD}".encode()))
    (tmp_path / "fine.json").write_text("{}")
    assert sorted(found(tmp_path)) == ["header.json", "report.html.gz", "run.log"]


def test_a_row_of_a_database_that_is_not_checkpointed_is_found(tmp_path: Path) -> None:
    store = sqlite3.connect(tmp_path / "state.sqlite")
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("CREATE TABLE events (reason TEXT)")
    store.execute("INSERT INTO events VALUES (?)", (PASSWORD,))
    store.commit()
    assert found(tmp_path) == ["state.sqlite-wal"]
    store.close()
    assert found(tmp_path) == ["state.sqlite"]


def test_the_secret_store_may_hold_passwords_while_nobody_else_may_read_it(tmp_path: Path) -> None:
    store = tmp_path / "hall.secrets"
    store.write_text(PASSWORD)
    store.chmod(0o600)
    (tmp_path / "factory.csv").write_text(f"F54P1G3,root,{PASSWORD}\n")
    assert found(tmp_path) == []
    store.chmod(0o640)
    assert found(tmp_path) == ["hall.secrets (a secret file that others may read)"]


def test_outputs_of_commands_are_heard(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()
    app.command()(lambda: typer.echo(PASSWORD, err=True))
    with Hunt(WORD).listening() as hunt:
        subprocess.run([sys.executable, "-c", "import os; print(os.environ['P'])"], capture_output=True, check=True,
                       env={"P": PASSWORD})  # fmt: skip
        show = [sys.executable, "-c", "import sys; sys.stderr.write(sys.stdin.read())"]
        with subprocess.Popen(show, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as shown:
            shown.communicate(PASSWORD)
        CliRunner().invoke(app)
        sys.stdout.write(PASSWORD)
        capsys.readouterr()
    assert len(hunt.found) == 4, hunt.found


def test_command_lines_are_seen_of_our_processes_and_of_theirs(tmp_path: Path) -> None:
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(1)', '{WORD}'])"
    with Hunt(WORD).listening() as hunt:
        subprocess.run(["true", PASSWORD], check=True)
        hunt.search(tmp_path)
        assert hunt.found == ["command line of true"]
        (tmp_path / "child.py").write_text(child.replace(WORD, WORD[:4] + "'+'" + WORD[4:]))
        running = subprocess.Popen([sys.executable, str(tmp_path / "child.py")])
        deadline = time.monotonic() + 5
        while len(hunt.found) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
            hunt.search(tmp_path)
        running.wait()
    assert hunt.found[1:] == [f"command line of {sys.executable}"]


def test_environments_of_processes_are_seen_but_for_what_the_operator_set(tmp_path: Path) -> None:
    child = (
        "import os, subprocess\n"
        "subprocess.run(['sleep', '2'], env={'PGPASSWORD': os.environ['FABRICCTL_SIM_PASSWORD']})"
    )
    with Hunt(WORD).listening() as hunt:
        subprocess.run(["true"], env={"BMC_PASSWORD": PASSWORD, "HOME": "/"}, check=True)
        hunt.search(tmp_path)
        assert hunt.found == ["environment of true: BMC_PASSWORD"]
        running = subprocess.Popen(
            [sys.executable, "-c", child], env={"FABRICCTL_SIM_PASSWORD": PASSWORD, "PATH": "/bin"}
        )
        deadline = time.monotonic() + 5
        while len(hunt.found) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
            hunt.search(tmp_path)
        running.wait()
    assert hunt.found[1:] == ["environment of sleep: PGPASSWORD"]


def test_a_simulators_folder_is_searched_before_it_goes_and_at_the_end(tmp_path: Path) -> None:
    with Hunt(WORD).listening() as hunt:
        gone, kept = new_folder("gone-"), new_folder("kept-")
        for folder in (gone, kept):
            (folder / "daemon.log").write_text(PASSWORD)
        (gone / "pg_wal").mkdir()
        (gone / "pg_wal" / "1").write_text(PASSWORD + "2")
        remove_folder(gone)
        assert not gone.exists()
        hunt.search(tmp_path)
        assert hunt.found == [str(gone / "daemon.log")]
        (kept / "daemon.log").write_text(PASSWORD + " again")
        hunt.search(tmp_path)
        remove_folder(kept)
    assert hunt.found[1:] == [str(kept / "daemon.log")]


def test_words_that_came_up_during_the_session_are_looked_for_too(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("rotated to Xk9-new-one")
    hunt = Hunt(WORD, more=lambda: ["Xk9-new-one"])
    hunt.search(tmp_path)
    assert [Path(where).name for where in hunt.found] == ["run.log"]
