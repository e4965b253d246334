"""Live discovery on this machine, with programs of the tools' names first in PATH."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fabricctl.errors import DeadlineError, InputError, ToolFailedError, ToolMissingError
from fabricctl.workflows.discover import Capture, Viewer, collect

NODES = 'Switch  2 "S-0000000000000001"  # "leaf" base port 0 lid 1 lmc 0\n[1]  "H-2"[1]\n'
LOCAL = Viewer(hca="mlx5_0", hca_port=1)  # named, so that real HCAs of this machine do not matter
Host = Callable[..., None]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """Make tools of this machine from shell scripts; ``sminfo`` fails unless it is given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def make(**scripts: str) -> None:
        for name, script in {"sminfo": "echo no manager >&2; exit 1", **scripts}.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)

    return make


def prints(text: str) -> str:
    return f"cat <<'END'\n{text}END"


def one(**options: str | float | int | None) -> Capture:
    (capture,) = collect([LOCAL], **{"deadline_s": 5.0, **options})  # type: ignore[arg-type]  # several types
    return capture


def test_a_discovery_is_kept_as_the_tool_printed_it(host: Host) -> None:
    host(ibnetdiscover=prints(NODES), sminfo="echo 'sminfo: sm lid 1 state 3 SMINFO_MASTER'")
    capture = one()
    assert (capture.label, capture.text, capture.error, capture.stderr) == ("local mlx5_0/1", NODES, None, "")
    assert capture.sminfo == "sminfo: sm lid 1 state 3 SMINFO_MASTER\n"
    assert capture.command == "ibnetdiscover -C mlx5_0 -P 1"


def test_without_subnet_manager_there_is_a_note_and_no_error(host: Host) -> None:
    host(ibnetdiscover=prints(NODES))
    capture = one()
    assert (capture.error, capture.sminfo) == (None, "")
    assert "the subnet manager could not be asked: no manager" in capture.notes


def test_a_tool_that_fails_after_printing_nodes_gives_both(host: Host) -> None:
    host(ibnetdiscover=prints(NODES) + "\necho 'ibwarn: mad_rpc_failed' >&2; exit 1")
    capture = one()
    assert capture.text == NODES
    assert isinstance(capture.error, ToolFailedError)
    assert "ended with exit code 1: ibwarn: mad_rpc_failed" in str(capture.error)


def test_a_tool_that_prints_no_node_is_an_error_even_with_exit_code_zero(host: Host) -> None:
    host(ibnetdiscover="echo '# Topology file: generated'")
    capture = one()
    assert capture.text == ""
    assert "printed no node, with nothing on its standard error" in str(capture.error)


def test_standard_error_is_kept_beside_a_good_answer(host: Host) -> None:
    host(ibnetdiscover=prints(NODES) + "\necho 'ibwarn: slow switch' >&2")
    capture = one()
    assert (capture.error, capture.stderr) == (None, "ibwarn: slow switch\n")


def test_a_device_that_may_not_be_opened_has_a_hint(host: Host) -> None:
    host(ibnetdiscover='echo "ibwarn: can\'t open UMAD port ((null):0)" >&2; exit 255')
    assert "may this user open /dev/infiniband/umad*" in str(one().error)


def test_a_slow_tool_is_an_error_naming_the_deadline(host: Host) -> None:
    host(ibnetdiscover="sleep 60")
    began = time.monotonic()
    capture = one(deadline_s=0.5)
    assert time.monotonic() - began < 30  # half the tool's own time
    assert isinstance(capture.error, DeadlineError)
    assert "within 0.5 s, while ibnetdiscover" in str(capture.error)


def test_a_binary_answer_is_an_error(host: Host) -> None:
    host(ibnetdiscover=prints(NODES) + "\nprintf '\\000'")
    capture = one()
    assert capture.text == ""
    assert "NUL byte" in str(capture.error)


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    if any((Path(folder) / "ibnetdiscover").exists() for folder in ("/usr/sbin", "/sbin", "/usr/local/sbin")):
        pytest.skip("ibnetdiscover is installed in a folder that is always searched")
    assert isinstance(one().error, ToolMissingError)


def test_bytes_that_are_not_utf8_survive_into_the_saved_file(host: Host, tmp_path: Path) -> None:
    text = NODES.replace("leaf", "caf\\351")
    host(ibnetdiscover=f"printf '{text}'")
    capture = one(save_dir=str(tmp_path / "kept" / "here"))
    assert "caf\udce9" in capture.text
    saved = Path(capture.saved)
    assert saved == tmp_path / "kept" / "here" / "local.mlx5_0-1.ibnetdiscover.txt"
    assert saved.read_bytes() == capture.text.encode("utf-8", "surrogateescape")


def test_saved_files_have_safe_names_no_two_alike(host: Host, tmp_path: Path) -> None:
    host(ibnetdiscover=prints(NODES) + "\necho warned >&2", sminfo="echo master")
    viewers = [Viewer(hca="mlx5_0", hca_port=1), Viewer(hca="mlx5_1", hca_port=1)]
    collect(viewers, deadline_s=5, save_dir=str(tmp_path / "kept"))
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [
        f"local.mlx5_{n}-1.{kind}"
        for n in (0, 1)
        for kind in ("ibnetdiscover.stderr", "ibnetdiscover.txt", "sminfo.txt")
    ]


def test_a_file_of_an_earlier_run_is_not_taken_for_this_one(host: Host, tmp_path: Path) -> None:
    host(ibnetdiscover=prints(NODES))
    one(save_dir=str(tmp_path / "kept"))
    host(ibnetdiscover="exit 1")
    capture = one(save_dir=str(tmp_path / "kept"))
    assert capture.saved == ""
    assert any("local.mlx5_0-1.ibnetdiscover.txt is of an earlier run" in note for note in capture.notes)


def test_a_folder_that_cannot_be_made_is_refused_before_anything_runs(host: Host, tmp_path: Path) -> None:
    host(ibnetdiscover=f"touch {tmp_path}/ran")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file: cannot be made"):
        one(save_dir=str(tmp_path / "file"))
    assert not (tmp_path / "ran").exists()


def test_captures_keep_the_order_of_viewers_and_each_is_told_once(host: Host) -> None:
    host(ibnetdiscover="case $2 in slow) sleep 0.4;; esac\n" + prints(NODES))
    told: list[tuple[str, int, int]] = []
    viewers = [Viewer(hca="slow", hca_port=1), Viewer(hca="quick", hca_port=1)]
    captures = collect(
        viewers, deadline_s=5, progress=lambda capture, done, of: told.append((capture.label, done, of))
    )
    assert [c.label for c in captures] == ["local slow/1", "local quick/1"]
    assert told == [("local quick/1", 1, 2), ("local slow/1", 2, 2)]


def test_no_more_run_at_once_than_allowed(host: Host, tmp_path: Path) -> None:
    host(
        ibnetdiscover=f"touch {tmp_path}/run.$$; ls {tmp_path}/run.* | wc -l >>{tmp_path}/seen; sleep 0.2; "
        f"rm {tmp_path}/run.$$\n" + prints(NODES)
    )
    collect([Viewer(hca=f"m{n}", hca_port=1) for n in range(6)], deadline_s=5, parallel=2)
    assert {int(line) for line in (tmp_path / "seen").read_text().split()} <= {1, 2}


def test_ctrl_c_ends_every_running_tool(host: Host, tmp_path: Path) -> None:
    host(ibnetdiscover=f"echo $$ >>{tmp_path}/pids; sleep 300")
    program = (
        "from fabricctl.workflows.discover import Viewer, collect\n"
        "collect([Viewer(hca='a', hca_port=1), Viewer(hca='b', hca_port=1)], deadline_s=60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE) as ours:
        pids = wait_for_lines(tmp_path / "pids", 2)
        ours.send_signal(2)
        _, stderr = ours.communicate(timeout=10)
    assert stderr.endswith(b"KeyboardInterrupt\n")
    wait_until(lambda: not any(map(alive, pids)))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(true: Callable[[], bool], within_s: float = 5.0) -> None:
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)


def wait_for_lines(path: Path, count: int) -> list[int]:
    wait_until(lambda: path.exists() and len(path.read_text().split()) == count)
    return [int(word) for word in path.read_text().split()]
