"""Live discovery through real OpenSSH servers: of a simulated fabric, and of everything that can go wrong.

The remote tool is the real ``ibnetdiscover`` on ibsim where a fabric is wanted, else a shell script under its
name. Nothing outside loopback and network namespaces of our own is contacted.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from fabricctl.adapters.ssh_config import SshOptions
from fabricctl.errors import (
    DeadlineError,
    HostKeyError,
    LoginRefusedError,
    ToolFailedError,
    ToolMissingError,
    UnreachableError,
    ViewerError,
)
from fabricctl.workflows.discover import Capture, Viewer, collect, parse_viewers, ssh_runner
from tests.sim.ibsim import Ibsim
from tests.sim.netgen import SHAPES, build, discovery_lines
from tests.sim.sshd import Namespace, Sshd, SshdError, make_key, namespace, sshd_program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sshd_program() is None, reason="sshd is not installed"),
]

NODES = 'Switch  2 "S-0000000000000001"  # "leaf" base port 0 lid 1 lmc 0\n[1]  "H-2"[1]\n'
Sim = Callable[..., AbstractContextManager[Ibsim]]
Tools = Callable[..., Path]


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """A folder of executables made from shell scripts."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def make(**scripts: str) -> Path:
        for name, script in {"sminfo": "exit 1", **scripts}.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        return folder

    return make


def options(
    server: Sshd, *, known_hosts: tuple[str, ...] = (), key_files: tuple[str, ...] = ()
) -> SshOptions:
    """What logs in to this server, nothing of the user's own; parts can be replaced."""
    config = server.folder / "no_config"
    config.touch()
    return SshOptions(
        known_hosts or (str(server.known_hosts),),
        key_files or (str(server.key),),
        str(config),
        use_agent=False,
    )


def viewer_of(server: Sshd) -> Viewer:
    (viewer,) = parse_viewers(f"ssh://{server.user}@{server.address}:{server.port}")
    return viewer


def ask(
    server: Sshd, *, deadline_s: float = 15, using: SshOptions | None = None, limit_bytes: int = 1 << 25
) -> Capture:
    (capture,) = collect(
        [viewer_of(server)],
        deadline_s=deadline_s,
        runner=ssh_runner(using or options(server)),
        limit_bytes=limit_bytes,
    )
    return capture


def failed(capture: Capture, kind: type[ViewerError], *words: str) -> None:
    """The capture is this failure, in one line with these words, and holds no fabric."""
    assert type(capture.error) is kind, capture.error
    assert capture.text == ""
    text = str(capture.error)
    assert "\n" not in text
    for word in words:
        assert word in text


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


def pids_in(path: Path, count: int = 1) -> list[int]:
    wait_until(lambda: path.exists() and len(path.read_text().split()) == count)
    return [int(word) for word in path.read_text().split()]


def gone(pids: list[int], within_s: float = 5.0) -> None:
    wait_until(lambda: not any(map(alive, pids)), within_s)


def without_date(text: str) -> list[str]:
    """A discovery without its first comment, which says when it was made."""
    return [line for line in text.splitlines() if not line.startswith("# Topology file: generated on")]


# -- what works ----------------------------------------------------------------------------------------------


def test_two_hosts_see_what_the_tool_prints_by_itself(ibsim: Sim, tmp_path: Path) -> None:
    with ibsim("".join(discovery_lines(build(SHAPES["small2"]))), opensm=True) as sim:
        sim.write_wrappers(tmp_path / "bin")
        with Sshd([tmp_path / "bin"]) as one, Sshd([tmp_path / "bin"], address="127.0.0.2") as two:
            both = tmp_path / "known"
            both.write_text(one.host_line() + two.host_line())
            two_keys = (str(one.key), str(two.key))
            captures = collect(
                [viewer_of(one), viewer_of(two)],
                deadline_s=30,
                runner=ssh_runner(options(one, known_hosts=(str(both),), key_files=two_keys)),
                save_dir=str(tmp_path / "kept"),
            )
        expected = sim.discover()
    assert [c.error for c in captures] == [None, None]
    assert [c.label for c in captures] == [f"127.0.0.1:{one.port}", f"127.0.0.2:{two.port}"]
    for capture in captures:
        assert without_date(capture.text) == without_date(expected)
        assert "SMINFO_MASTER" in capture.sminfo
        assert Path(capture.saved).read_text() == capture.text
    assert Path(captures[0].saved).name == f"127.0.0.1_{one.port}.ibnetdiscover.txt"


def test_a_slow_host_does_not_hold_up_the_others(tools: Tools, tmp_path: Path) -> None:
    folder = tools(ibnetdiscover=f"sleep 1; cat <<'END'\n{NODES}END")
    with Sshd([folder]) as server:
        began = time.monotonic()
        captures = collect(
            [Viewer("127.0.0.1", None, server.port, f"m{n}", 1) for n in range(4)],
            deadline_s=15,
            runner=ssh_runner(options(server)),
        )
        assert time.monotonic() - began < 3.5  # one after the other would be above 4
    assert [c.text for c in captures] == [NODES] * 4


def test_a_host_behind_another_is_reached_through_it(tools: Tools, tmp_path: Path) -> None:
    if shutil.which("ssh") is None:
        pytest.skip("ssh is not installed")
    with Sshd() as gate, Sshd([tools(ibnetdiscover=f"cat <<'END'\n{NODES}END")], address="127.0.0.2") as far:
        config = tmp_path / "config"
        config.write_text(
            f"Host far\n  HostName 127.0.0.2\n  Port {far.port}\n  ProxyCommand ssh -F none -i {gate.key} "
            f"-o UserKnownHostsFile={gate.known_hosts} -p {gate.port} -W %h:%p 127.0.0.1\n"
        )
        using = SshOptions((str(far.known_hosts),), (str(far.key),), str(config), use_agent=False)
        (capture,) = collect([Viewer("far")], deadline_s=15, runner=ssh_runner(using))
        assert capture.error is None
        assert "Starting session: forced-command" not in gate.log()
        assert "Accepted publickey" in gate.log()
    assert capture.text == NODES


def test_a_proxy_that_fails_is_quoted(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host far\n  ProxyCommand sh -c 'echo the gate is shut >&2; exit 1'\n")
    using = SshOptions(config_file=str(config), use_agent=False)
    (capture,) = collect([Viewer("far")], deadline_s=10, runner=ssh_runner(using))
    failed(capture, UnreachableError, "cannot be reached through", "the gate is shut")


def test_big_output_on_both_streams_arrives_whole(tools: Tools) -> None:
    fill = "head -c 900000 /dev/zero | tr '\\0' e >&2; head -c 9000000 /dev/zero | tr '\\0' x"
    script = f"cat <<'END'\n{NODES}END\n{fill}"
    with Sshd([tools(ibnetdiscover=script)]) as server:
        capture = ask(server)
    assert capture.error is None
    assert (len(capture.text), len(capture.stderr)) == (len(NODES) + 9_000_000, 900_000)


# -- who is refused ------------------------------------------------------------------------------------------


def test_an_unknown_host_key_is_refused(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "known").touch()
    with Sshd([tools(ibnetdiscover=f"touch {tmp_path}/ran")]) as server:
        capture = ask(server, using=options(server, known_hosts=(str(tmp_path / "known"),)))
        failed(capture, HostKeyError, "host key is unknown", f"[127.0.0.1]:{server.port}", "ssh-keyscan")
        assert "Accepted" not in server.log()
    assert (tmp_path / "known").read_text() == ""
    assert not (tmp_path / "ran").exists()


def test_a_changed_host_key_is_refused_before_login(tmp_path: Path) -> None:
    make_key(tmp_path / "former")
    with Sshd() as server:
        known = tmp_path / "known"
        known.write_text(server.host_line(tmp_path / "former.pub"))
        capture = ask(server, using=options(server, known_hosts=(str(known),)))
        failed(capture, HostKeyError, "differs from the recorded one", f"{known}:1", "find out why")
        assert "Accepted" not in server.log()


def test_a_key_that_is_not_authorized_is_refused(tmp_path: Path) -> None:
    make_key(tmp_path / "other")
    with Sshd() as server:
        capture = ask(server, using=options(server, key_files=(str(tmp_path / "other"),)))
        failed(capture, LoginRefusedError, f"refuses user {server.user}", f"{tmp_path}/other", "ssh -v")


def test_a_key_with_a_passphrase_is_named_as_such(tmp_path: Path) -> None:
    key = tmp_path / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", str(key)], check=True)
    with Sshd() as server:
        capture = ask(server, using=options(server, key_files=(str(key),)))
    failed(capture, LoginRefusedError, str(key))


def test_a_file_that_is_no_key_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "rubbish").write_bytes(b"\xff\0rubbish")
    with Sshd() as server:
        capture = ask(server, using=options(server, key_files=(str(tmp_path / "rubbish"),)))
    failed(capture, LoginRefusedError, "rubbish (is no private key)")


def test_an_account_that_may_not_run_commands_is_an_error() -> None:
    with Sshd(extra="ForceCommand internal-sftp\n") as server:
        capture = ask(server, deadline_s=5)
    assert isinstance(capture.error, ViewerError)
    assert capture.text == ""


# -- who does not answer -------------------------------------------------------------------------------------


@contextmanager
def listener(reply: bytes | None) -> Iterator[int]:
    """A TCP port that accepts and says ``reply``, or never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    held.append(server.accept()[0])
                except OSError:
                    return
                if reply is not None:
                    held[-1].sendall(reply)
                    held[-1].close()

        threading.Thread(target=serve, daemon=True).start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)


def ask_port(port: int, tmp_path: Path, deadline_s: float) -> tuple[Capture, float]:
    config = tmp_path / "config"
    config.touch()
    began = time.monotonic()
    (capture,) = collect(
        [Viewer("127.0.0.1", "nobody", port)],
        deadline_s=deadline_s,
        runner=ssh_runner(SshOptions(config_file=str(config), use_agent=False)),
    )
    return capture, time.monotonic() - began


def test_a_host_that_never_speaks_ends_at_the_deadline(tmp_path: Path) -> None:
    with listener(None) as port:
        capture, took = ask_port(port, tmp_path, 1.0)
    failed(capture, DeadlineError, f"127.0.0.1:{port}", "within 1 s", "shaking hands")
    assert took < 3


def test_a_host_that_speaks_another_protocol_is_named(tmp_path: Path) -> None:
    with listener(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        capture, _ = ask_port(port, tmp_path, 10.0)
    failed(capture, UnreachableError, f"port {port} does not shake hands as an ssh server")


def test_a_closed_port_is_named(tmp_path: Path) -> None:
    with listener(None) as port:
        pass
    capture, _ = ask_port(port, tmp_path, 10.0)
    failed(capture, UnreachableError, f"port {port} refuses connections", "does sshd run there")


def test_an_unknown_name_is_named(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.touch()
    using = SshOptions(config_file=str(config), use_agent=False)
    (capture,) = collect([Viewer("no-such-host.invalid")], deadline_s=20, runner=ssh_runner(using))
    assert isinstance(capture.error, UnreachableError | DeadlineError)  # a resolver may be slow to say no
    assert "no-such-host.invalid" in str(capture.error)


def test_an_agent_that_never_answers_ends_at_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX) as agent, Sshd() as server:
        agent.bind(str(tmp_path / "agent"))
        agent.listen()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
        empty = tmp_path / "config"
        empty.touch()
        using = SshOptions((str(server.known_hosts),), (), str(empty))
        capture = ask(server, deadline_s=1.5, using=using)
    failed(capture, DeadlineError, "within 1.5 s, while logging in")


# -- what the tool does --------------------------------------------------------------------------------------


def test_a_remote_tool_that_hangs_ends_with_the_deadline(tools: Tools, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"echo $$ >>{pids}; sleep 300 & echo $! >>{pids}; echo asking >&2; wait"
    with Sshd([tools(ibnetdiscover=script)]) as server:
        began = time.monotonic()
        capture = ask(server, deadline_s=1.5)
        assert time.monotonic() - began < 3.5
        failed(capture, DeadlineError, "within 1.5 s, while ibnetdiscover was running", "last words: asking")
        gone(pids_in(pids, 2))


def test_a_remote_tool_that_ignores_the_request_to_end_is_killed(tools: Tools, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with Sshd([tools(ibnetdiscover=f"trap '' TERM; echo $$ >{pids}; while :; do sleep 1; done")]) as server:
        failed(ask(server, deadline_s=1), DeadlineError)
        gone(pids_in(pids))


def test_a_failing_tool_shows_its_standard_error(tools: Tools) -> None:
    with Sshd([tools(ibnetdiscover="echo 'ibpanic: no port' >&2; exit 255")]) as server:
        capture = ask(server)
    failed(capture, ToolFailedError, "ended with exit code 255: ibpanic: no port")
    assert capture.stderr == "ibpanic: no port\n"


def test_a_tool_that_prints_without_end_is_stopped(tools: Tools, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with Sshd([tools(ibnetdiscover=f"echo $$ >{pids}; exec yes")]) as server:
        failed(ask(server, limit_bytes=1_000_000), ToolFailedError, "printed more than 1,000,000 bytes")
        gone(pids_in(pids))


def test_a_server_that_dies_meanwhile_is_an_error(tools: Tools, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with Sshd([tools(ibnetdiscover=f"echo $$ >{pids}; sleep 300")]) as server:

        def crash() -> None:
            pids_in(pids)
            server.kill_sessions()

        stopper = threading.Thread(target=crash)
        stopper.start()
        capture = ask(server, deadline_s=20)
        stopper.join()
        failed(capture, UnreachableError, "the connection broke while ibnetdiscover was running")
        gone(pids_in(pids))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_our_end_leaves_nothing_running_on_the_hosts(
    tools: Tools, tmp_path: Path, number: signal.Signals
) -> None:
    pids = tmp_path / "pids"
    program = (
        "import sys\nfrom fabricctl.adapters.ssh_config import SshOptions\n"
        "from fabricctl.workflows.discover import Viewer, collect, ssh_runner\n"
        "known, key, config, port = sys.argv[1:]\n"
        "viewers = [Viewer('127.0.0.1', None, int(port), hca, 1) for hca in ('a', 'b')]\n"
        "collect(viewers, deadline_s=60, runner=ssh_runner(SshOptions((known,), (key,), config)))\n"
    )
    with Sshd([tools(ibnetdiscover=f"echo $$ >>{pids}; sleep 300")]) as server:
        using = options(server)
        words = [using.known_hosts[0], using.key_files[0], using.config_file, str(server.port)]
        with subprocess.Popen([sys.executable, "-c", program, *words], stderr=subprocess.PIPE) as ours:
            remote = pids_in(pids, 2)
            ours.send_signal(number)
            _, stderr = ours.communicate(timeout=10)
        gone(remote)
    assert stderr == b"" if number == signal.SIGKILL else stderr.endswith(b"KeyboardInterrupt\n")


# -- a network of its own ------------------------------------------------------------------------------------


@pytest.fixture
def network() -> Iterator[Namespace]:
    if os.getuid() != 0 or shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
        pytest.skip("a network namespace needs root and the package iproute2")
    try:
        with namespace() as made:
            yield made
    except SshdError as exc:
        pytest.skip(f"this machine has no network namespaces: {exc}")


def test_a_host_without_the_tool_is_named(network: Namespace) -> None:
    hide = (
        "for t in /usr/sbin/ibnetdiscover /sbin/ibnetdiscover /usr/local/sbin/ibnetdiscover; do "
        '[ ! -e $t ] || mount --bind /dev/null $t; done; exec "$@"'
    )
    inside = (*network.inside, "unshare", "-m", "sh", "-c", hide, "sh")
    with Sshd(address=network.address, inside=inside) as server:
        capture = ask(server)
    failed(capture, ToolMissingError, "has no command ibnetdiscover", "infiniband-diags")


def test_a_cable_pulled_meanwhile_ends_both_sides(network: Namespace, tools: Tools, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    folder = tools(ibnetdiscover=f"echo $$ >{pids}; sleep 300")
    with Sshd([folder], address=network.address, inside=network.inside) as server:

        def pull() -> None:
            pids_in(pids)
            subprocess.run(["ip", "link", "set", network.ours, "down"], check=True)

        puller = threading.Thread(target=pull)
        puller.start()
        capture = ask(server, deadline_s=3)
        puller.join()
        failed(capture, DeadlineError, "within 3 s, while ibnetdiscover was running")
        if shutil.which("timeout"):
            gone(pids_in(pids), within_s=6)


def test_a_host_that_is_switched_off_ends_at_the_deadline(network: Namespace, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.touch()
    subprocess.run(["ip", "-n", network.name, "addr", "flush", "dev", network.theirs], check=True)
    using = SshOptions(config_file=str(config), use_agent=False)
    began = time.monotonic()
    (capture,) = collect([Viewer(network.address)], deadline_s=1.5, runner=ssh_runner(using))
    assert time.monotonic() - began < 3.5
    assert isinstance(capture.error, DeadlineError | UnreachableError)
