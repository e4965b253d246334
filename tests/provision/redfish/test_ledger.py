"""Open sessions as they are written down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import provision
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target, Trust
from provision.redfish.keeper import KeptByReaper
from provision.redfish.ledger import Ledger, read_file, read_folder
from tests.sim.idrac.users import ROOT_PASSWORD

BMC = Target("gpu001", "192.0.2.1", trust=Trust(fingerprint="ab" * 32))
CREDENTIALS = Credentials("root", Secret(ROOT_PASSWORD))
URI = "/redfish/v1/SessionService/Sessions/7"
TOLD = {"address": "192.0.2.1", "port": 443, "user": "root", "at": 4e9}


def test_a_ledger_is_for_its_owner_only_and_holds_neither_token_nor_password(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "sessions"
    keeper = KeptByReaper(folder)
    number = keeper.asking(BMC, "/redfish/v1/SessionService/Sessions", CREDENTIALS)
    keeper.opened(number, URI, "token-of-the-test")
    (path,) = folder.iterdir()
    text = path.read_text()
    assert "of-the-test" not in text
    assert URI in text
    assert (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [held.alive for _, held in read_folder(folder)] == [True]
    keeper.closed(number)
    keeper.finish()
    assert list(folder.iterdir()) == []


def test_an_ended_reaper_is_replaced_and_knows_all_that_is_open(tmp_path: Path) -> None:
    keeper = KeptByReaper(tmp_path)
    first = keeper.asking(BMC, "/S", CREDENTIALS)
    assert keeper._process is not None
    keeper._process.kill()
    keeper._process.wait()
    keeper.opened(first, URI, "token")
    assert keeper._process is not None
    assert keeper._process.poll() is None
    keeper.closed(first)
    keeper.finish()


def test_a_reaper_that_cannot_start_costs_the_run_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    keeper = KeptByReaper(tmp_path)
    number = keeper.asking(BMC, "/S", CREDENTIALS)
    keeper.opened(number, URI, "token")
    keeper.closed(number)
    keeper.finish()


def test_a_folder_that_cannot_be_written_costs_the_run_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    keeper = KeptByReaper(tmp_path / "file" / "sessions")
    number = keeper.asking(BMC, "/S", CREDENTIALS)
    assert keeper.stale(BMC, "root") == []
    keeper.closed(number)
    keeper.finish()


def fill_the_disk(folder: Path) -> None:
    """From now on the lists of sessions in this folder are on a full disk."""
    full = os.open("/dev/full", os.O_WRONLY)
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if link.readlink().parent == folder and link.readlink().suffix == ".sessions":
                os.dup2(full, int(link.name), inheritable=False)
    os.close(full)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_costs_the_list_of_sessions_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = KeptByReaper(tmp_path)
    first = keeper.asking(BMC, "/S", CREDENTIALS)
    fill_the_disk(tmp_path)
    keeper.opened(first, URI, "token")
    second = keeper.asking(BMC, "/S", CREDENTIALS)
    for number in (first, second):
        keeper.closed(number)
    keeper.finish()
    assert [record.getMessage() for record in caplog.records] == [
        f"BMC sessions are not written down any more: {tmp_path / caplog.records[0].args[0].name}: "
        "No space left on device"
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", ['{"asking": 1, "at": "soon"}', '{"asking": 1, "port": []}'])
def test_a_damaged_line_costs_its_session_only(tmp_path: Path, line: str) -> None:
    path = tmp_path / "1-1.sessions"
    opened = [{"opened": number, "uri": f"/S/{number}"} for number in (1, 2)]
    path.write_text("\n".join([line, json.dumps({"asking": 2, **TOLD}), *map(json.dumps, opened)]))
    assert [held.uri for _, held in read_folder(tmp_path)] == ["/S/2"]


def test_what_the_reaper_imports_is_the_standard_library_and_this_package(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path.append(sys.argv[1]);"
        "import provision.redfish.ledger, provision.redfish.tls, provision.bmc.session_list"
    )
    # a folder with this package alone: beside an installed one lie the packages that it must do without
    (tmp_path / "provision").symlink_to(Path(provision.__file__).parent)
    subprocess.run([sys.executable, "-I", "-S", "-c", program, str(tmp_path)], check=True, timeout=60)


def test_only_what_dead_runs_left_at_the_same_bmc_under_the_same_user_is_stale(tmp_path: Path) -> None:
    dead, alive = Ledger(tmp_path), Ledger(tmp_path)
    for ledger, start in ((dead, 1), (alive, 50)):
        ledger.open()
        for number, changes in enumerate(
            [{}, {"user": "admin"}, {"address": "192.0.2.2"}, {"at": 1.0}], start
        ):
            ledger.write({"asking": number, **TOLD, **changes})
            ledger.write({"opened": number, "uri": f"/S/{number}"})
        ledger.write({"asking": start + 9, **TOLD})
    dead.leave()
    later = Ledger(tmp_path)
    assert later.stale(BMC, "root") == ["/S/1"]
    later.cleaned(BMC, "/S/1")
    assert later.stale(BMC, "root") == []
    assert dead.path.exists()  # it holds more
    alive.remove()


LINES = st.lists(
    st.one_of(
        st.builds(lambda n: json.dumps({"asking": n, **TOLD}), st.integers(1, 4)),
        st.builds(lambda n: json.dumps({"opened": n, "uri": f"/S/{n}"}), st.integers(1, 4)),
        st.builds(lambda n: json.dumps({"closed": n}), st.integers(1, 4)),
        st.sampled_from(
            ['{"asking": 1, "addr', "null", "[]", "{}", "\x00\x00", '{"opened": 9, "uri": null}']
        ),
    ),
    max_size=20,
)


@given(LINES)
def test_a_ledger_cut_anywhere_tells_what_was_opened_and_not_closed(lines: list[str]) -> None:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"ledger-{os.getpid()}"  # noqa: S108
    path.write_text("\n".join(lines))
    expected: dict[int, str | None] = {}
    for line in lines:
        if '"asking"' in line and line.endswith("}"):
            expected[json.loads(line)["asking"]] = None
        elif '"opened"' in line and json.loads(line)["opened"] in expected:
            expected[json.loads(line)["opened"]] = json.loads(line)["uri"]
        elif '"closed"' in line:
            expected.pop(json.loads(line)["closed"], None)
    found = [held.uri for held in read_file(path, alive=False)]
    path.unlink()
    assert sorted(found) == sorted(uri for uri in expected.values() if uri)
