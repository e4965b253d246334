"""The nearest peer, ibtopodiff of Debian's ibutils, fed with the same fabric.

It wants the intended fabric as a ``.topo`` file with one ``.ibnl`` per system type, and the discovered one as
OpenSM's subnet list; it knows no speed above 10 Gb/s a lane and only HCAs called ``HCA-N``, so both are told in
those words.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure import Usage, run
from tests.sim.netgen import Box, End, Net

_LANE = "-4x-10G->"
_SPEEDS = {"50": "10", "25": "5"}
"""Lane rate in the subnet list -> the rate ibdm can read; what was slower stays slower."""


class Peer:
    """ibtopodiff with its inputs in ``folder``.

    :param planned: the healthy fabric; :param subnet_list: text of OpenSM's ``opensm-subnet.lst``.
    """

    def __init__(self, folder: Path, planned: Net, subnet_list: str) -> None:
        self.folder = folder
        (folder / "intended.topo").write_text("".join(_topology(planned)), encoding="utf-8")
        for name, text in _systems(planned):
            (folder / f"{name}.ibnl").write_text(text, encoding="utf-8")
        (folder / "seen.lst").write_text(_readable(subnet_list), encoding="utf-8")
        self._shim = folder / "shim.so"
        source = Path(__file__).with_name("sprintf_shim.c")
        subprocess.run(
            ["gcc", "-O2", "-shared", "-fPIC", "-U_FORTIFY_SOURCE", "-o", self._shim, source],
            check=True,
            timeout=60,
        )

    def compare(self) -> Usage:
        """One run in edge mode, the one that works."""
        env = os.environ | {"LD_PRELOAD": str(self._shim), "IBDM_IBNL_PATH": str(self.folder)}
        return run(["ibtopodiff", "-e", "-t", "intended.topo", "-d", "seen.lst"], cwd=self.folder, env=env)


def _system(box: Box) -> str:
    """System type; a host is one system whose HCA k is node ``Uk`` with front port ``Pk``."""
    return f"QM{box.ports}" if box.is_switch else "HOST"


def _front(box: Box, end: End) -> tuple[str, str]:
    """System name and front port."""
    if box.is_switch:
        return box.name, f"P{end.port}"
    host, hca = box.name.split()
    return host, f"P{int(hca.removeprefix('mlx5_')) + 1}"


def _systems(net: Net) -> Iterator[tuple[str, str]]:
    rails = 1 + max(int(box.name[-1]) for box in net.boxes.values() if not box.is_switch)
    hcas = (f"\nNODE CA 1 MT4129 U{k}\n    1 {_LANE} P{k}\n" for k in range(1, rails + 1))
    yield "HOST", "TOPSYSTEM HOST\n" + "".join(hcas)
    for ports in {box.ports for box in net.boxes.values() if box.is_switch}:
        lines = "".join(f"    {n} {_LANE} P{n}\n" for n in range(1, ports + 1))
        yield f"QM{ports}", f"TOPSYSTEM QM{ports}\n\nNODE SW {ports} MT54002 U1\n{lines}"


def _topology(net: Net) -> Iterator[str]:
    """Every switch with its cables; a cable between switches may stand under both."""
    for node, box in net.boxes.items():
        if not box.is_switch:
            continue
        yield f"{_system(box)} {box.name}\n"
        for number in range(1, box.ports + 1):
            peer = net.cables.get(End(node, number))
            if peer is not None:
                far = net.boxes[peer.node]
                name, front = _front(far, peer)
                yield f"    P{number} {_LANE} {_system(far)} {name} {front}\n"
        yield "\n"


def _readable(subnet_list: str) -> str:
    text = re.sub(r"\{(\w+) mlx5_(\d+)\}", lambda m: f"{{{m[1]} HCA-{int(m[2]) + 1}}}", subnet_list)
    return re.sub(r"SPD=(\d+)", lambda m: f"SPD={_SPEEDS.get(m[1], '2.5')}", text)
