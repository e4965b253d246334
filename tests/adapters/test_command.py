"""The guard around every command, in each shell there is."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from fabricctl.adapters.command import Deadline, guarded
from fabricctl.errors import DeadlineError

SHELLS = [["sh"], ["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"], ["ksh"], ["mksh"], ["zsh"]]
LOGIN_SHELLS = ["sh", "bash", "tcsh", "csh", "fish", "zsh"]


@pytest.fixture(params=[words for words in SHELLS if shutil.which(words[0])], ids=" ".join)
def shell(request: pytest.FixtureRequest) -> list[str]:
    words: list[str] = request.param
    return words


def in_shell(shell: list[str], *argv: str) -> list[str]:
    return [*shell, *guarded(argv, Deadline(30))[1:]]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_exit_code_and_both_streams_pass(shell: list[str]) -> None:
    with subprocess.Popen(
        in_shell(shell, "sh", "-c", "echo out; echo err >&2; exit 7"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert (process.stdout.read(), process.stderr.read(), process.wait(5)) == (b"out\n", b"err\n", 7)


def test_a_missing_command_is_127_and_prints_nothing(shell: list[str]) -> None:
    with subprocess.Popen(
        in_shell(shell, "no-such-tool"), stdin=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait(5)) == (b"", 127)


def test_a_closed_standard_input_ends_the_command_and_its_children(shell: list[str], tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with subprocess.Popen(
        in_shell(shell, "sh", "-c", f"sleep 300 & echo $$ $! >{pids}; wait"),
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        end = time.monotonic() + 5
        while not (pids.exists() and pids.read_text().endswith("\n")):
            assert time.monotonic() < end
            time.sleep(0.02)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(5)
    remote = [int(word) for word in pids.read_text().split()]
    while any(map(alive, remote)):
        assert time.monotonic() < end + 5
        time.sleep(0.02)


def test_the_guard_needs_no_quoting_that_login_shells_disagree_on() -> None:
    script = guarded(["x"], Deadline(1))[2]
    assert not set(script) & set("'\n\\")
    assert "!" not in script.replace("! ", "")


@pytest.mark.parametrize("name", [name for name in LOGIN_SHELLS if shutil.which(name)])
def test_a_command_passes_through_a_login_shell_unchanged(name: str) -> None:
    line = shlex.join(guarded(["printf", "%s|", "a b", "$HOME", "*", "it's"], Deadline(30)))
    with subprocess.Popen(
        [name, "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"a b|$HOME|*|it's|"


def test_a_part_of_a_deadline_ends_no_later_than_the_whole() -> None:
    now = [0.0]
    whole = Deadline(10, clock=lambda: now[0])
    now[0] = 8.0
    assert whole.part(5).left() == pytest.approx(2)
    assert whole.part(1).left() == pytest.approx(1)
    now[0] = 11.0
    with pytest.raises(DeadlineError, match=r"^gpu001: no full answer within 10 s, while waiting$"):
        whole.check("gpu001", "waiting")
