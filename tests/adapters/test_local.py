"""Commands on this machine: real processes, found again by their process id."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fabricctl.adapters.command import Deadline, last_words
from fabricctl.adapters.local import LocalSession
from fabricctl.errors import DeadlineError, ToolFailedError, ToolMissingError


def alive(pid: int) -> bool:
    """Running; a zombie waiting to be reaped is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid_file: Path, within_s: float = 3.0) -> bool:
    end = time.monotonic() + within_s
    pids = [int(word) for word in pid_file.read_text().split()]
    assert pids
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(alive, pids))


def wait_for(path: Path, within_s: float = 5.0) -> None:
    end = time.monotonic() + within_s
    while not (path.exists() and path.read_text().strip()):
        assert time.monotonic() < end, f"{path} never came"
        time.sleep(0.02)


def sh(script: str, deadline_s: float = 5.0) -> tuple[bytes, bytes, int]:
    done = LocalSession().run(["sh", "-c", script], Deadline(deadline_s))
    return done.stdout, done.stderr, done.returncode


def test_both_streams_and_the_exit_code_come_back() -> None:
    assert sh("echo out; echo err >&2; exit 3") == (b"out\n", b"err\n", 3)


def test_words_reach_the_command_unchanged() -> None:
    words = ["a b", "'\"", "$HOME", "*", "é", "", "-n", "x;y"]
    done = LocalSession().run(["printf", "%s\\n", *words], Deadline(5))
    assert done.stdout.decode().split("\n")[:-1] == words


def test_much_on_both_streams_does_not_stall() -> None:
    out, err, code = sh("head -c 3000000 /dev/zero & head -c 900000 /dev/zero >&2; wait")
    assert (len(out), len(err), code) == (3_000_000, 900_000, 0)


def test_standard_error_beyond_its_limit_is_dropped_and_said_so() -> None:
    _, err, code = sh("head -c 2000000 /dev/zero >&2")
    assert code == 0
    assert err.endswith(b"(951,424 more bytes of standard error dropped)\n")  # 2,000,000 - 1 MiB


def test_a_missing_command_is_named() -> None:
    with pytest.raises(
        ToolMissingError, match=r"^local: has no command ib-no-such-tool \(.*infiniband-diags"
    ):
        LocalSession().run(["ib-no-such-tool"], Deadline(5))


def test_too_much_output_stops_the_command() -> None:
    with pytest.raises(ToolFailedError, match="yes printed more than 1,000,000 bytes"):
        LocalSession().run(["yes"], Deadline(5), limit_bytes=1_000_000)


def test_a_slow_command_ends_at_the_deadline_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    began = time.monotonic()
    with pytest.raises(DeadlineError, match=r"within 0.5 s, while .*its last words: halfway"):
        sh(f"sleep 300 & echo $! >>{pids}; echo $$ >>{pids}; echo halfway >&2; sleep 300", 0.5)
    assert time.monotonic() - began < 2.5
    assert gone(pids)


def test_a_command_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(DeadlineError):
        sh(f"trap '' TERM; echo $$ >{pids}; while :; do sleep 1; done", 0.5)
    assert gone(pids)


def test_what_a_command_leaves_in_the_background_is_ended_with_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    assert sh(f"sleep 300 >/dev/null 2>&1 & echo $! >{pids}")[2] == 0
    assert gone(pids)


def test_cancelling_ends_the_command(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    cancelled = threading.Event()
    threading.Timer(0.4, cancelled.set).start()
    with pytest.raises(KeyboardInterrupt):
        LocalSession().run(["sh", "-c", f"echo $$ >{pids}; sleep 300"], Deadline(30, cancelled=cancelled))
    assert gone(pids)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_our_own_violent_end_leaves_no_orphan(tmp_path: Path, number: signal.Signals) -> None:
    pids = tmp_path / "pids"
    program = (
        "import sys\nfrom fabricctl.adapters.local import LocalSession\n"
        "from fabricctl.adapters.command import Deadline\n"
        "LocalSession().run(['sh', '-c', sys.argv[1]], Deadline(60))\n"
    )
    ours = subprocess.Popen(
        [sys.executable, "-c", program, f"echo $$ >{pids}; sleep 300"], stderr=subprocess.DEVNULL
    )
    wait_for(pids)
    os.kill(ours.pid, number)
    ours.wait(5)
    assert gone(pids)


def test_no_time_left_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(DeadlineError, match="while starting sh"):
        sh(f"touch {tmp_path}/made", 0)
    assert not (tmp_path / "made").exists()


def test_last_words_are_one_printable_line() -> None:
    assert last_words(b"a\n\n b \x1b[31m\nc\xff\n") == "a / b ?[31m / c\N{REPLACEMENT CHARACTER}"


def test_last_words_are_short() -> None:
    assert last_words(b"x" * 5000) == "..." + "x" * 297
