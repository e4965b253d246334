"""The simulator harness leaves nothing behind, and says why when something does not start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.sim.ibsim import Ibsim, SimError
from tests.sim.netgen import SHAPES, build, discovery_lines

Sim = Callable[..., AbstractContextManager[Ibsim]]
ROOT = Path(__file__).resolve().parents[2]


def net_text() -> str:
    return "".join(discovery_lines(build(SHAPES["small2"])))


def running_with(word: str) -> list[int]:
    """Processes whose environment holds ``word``: the daemons of one simulated fabric, by its socket name."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                environment = (folder / "environ").read_bytes()
            except OSError:  # it ended meanwhile, or is another user's
                continue
            if word.encode() in environment:
                found.append(int(folder.name))
    return found


def test_daemons_and_files_are_gone_after_the_run(ibsim: Sim) -> None:
    with ibsim(net_text(), opensm=True) as sim:
        name, folder = sim.socket_name, sim.folder
        assert len(running_with(name)) >= 2
    assert running_with(name) == []
    assert not folder.exists()


def test_daemons_end_when_their_owner_is_killed(ibsim: Sim, tmp_path: Path) -> None:
    net = tmp_path / "small.net"
    net.write_text(net_text(), encoding="utf-8")
    code = (
        "import sys, time; from pathlib import Path; from tests.sim.ibsim import Ibsim\n"
        "with Ibsim(Path(sys.argv[1]), opensm=True) as sim:\n"
        "    print(sim.socket_name, flush=True); time.sleep(60)\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(net)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert owner.stdout is not None
    name = owner.stdout.readline().strip()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert name
    deadline = time.monotonic() + 10
    while running_with(name) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running_with(name) == []


def test_a_net_file_that_is_absent_is_an_error_with_the_simulators_own_words(
    ibsim: Sim, tmp_path: Path
) -> None:
    with pytest.raises(SimError, match=r"ibsim ended with .*nowhere\.net"), Ibsim(tmp_path / "nowhere.net"):
        pass


def test_tools_sit_on_the_chosen_host(ibsim: Sim) -> None:
    net = build(SHAPES["small2"])
    last = [node for node, box in net.boxes.items() if not box.is_switch][-1]
    with ibsim("".join(discovery_lines(net)), sim_host=last) as sim:
        assert f"Initiated from node {last[2:]}" in sim.discover()


def test_wrappers_work_under_the_tools_own_names(ibsim: Sim, tmp_path: Path) -> None:
    with ibsim(net_text(), opensm=True) as sim:
        sim.write_wrappers(tmp_path, ["ibnetdiscover"])
        done = subprocess.run(
            [tmp_path / "ibnetdiscover"], capture_output=True, text=True, timeout=30, check=True
        )
    assert done.stdout.count("\nSwitch\t") == 6


def test_a_link_cut_on_the_console_is_no_longer_discovered(ibsim: Sim) -> None:
    net = build(SHAPES["small2"])
    a, _ = next((a, b) for a, b in net.each() if net.boxes[a.node].tier == 1)
    with ibsim("".join(discovery_lines(net))) as sim:
        before = sim.discover().count("\n[")
        sim.console(f'Unlink "{a.node}"[{a.port}]')
        deadline = time.monotonic() + 10
        while (after := sim.discover().count("\n[")) == before and time.monotonic() < deadline:
            time.sleep(0.05)
    assert after == before - 2
