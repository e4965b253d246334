"""Simulated BMCs and a double of MAAS that tell of the same machines: ``python -m tests.sim.hall --count 8``.

What MAAS finds when it commissions a host is what its BMC tells of it: service tag, MACs, serial numbers of drives,
memory, GPUs. The one disk that only the operating system sees is the BOSS card's virtual one. MAAS's power commands
switch the BMCs' servers, and what MAAS knows of their power it asks of the BMCs.
"""

from __future__ import annotations

import argparse
import errno
import json
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.sim.hall_wires import BmcWires, hasten
from tests.sim.idrac import PASSWORD_VARIABLE, Simulator
from tests.sim.idrac.bmc import SimBmc
from tests.sim.idrac.control import Control
from tests.sim.maas.hardware import (
    BOSS_SIZE,
    DiskHardware,
    GpuHardware,
    Hardware,
    MachineHardware,
    NicHardware,
    xe9680,
)
from tests.sim.maas.process import ServedDouble, maas_double

KEY_VARIABLE = "MAAS_API_KEY"
ABSENT_ROLES = "dhcp,ntp,dns,proxy"
"""Of MAAS; only its API is played here."""
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBl0g7rdyX6kJd0cDH0g2l8sRHhCJ8KJ1aSgN0H0wT9z ops@site"
SITE = """\
state: {{url: hall.sqlite}}
gates: {{max_nodes_per_change: 511}}
install:
  series: jammy
  users:
    ops: {{ssh_keys: ["{key}"], sudo: true}}
maas:
  url: {url}
  hosts:
    '{hosts}': {{}}
  limits: {{poll_s: {poll}}}
"""


def machine_behind(bmc: SimBmc) -> MachineHardware:
    """What an operating system finds in the machine whose BMC this is."""
    known = bmc.identity
    nics = [
        NicHardware(f"eno{place}", mac.lower())
        for place, (key, mac) in enumerate(sorted(known.items()))
        if key.startswith("mac:NIC.")
    ]
    data = [drive for drive in bmc.hardware.drives if not drive.controller.startswith("BOSS")]
    disks = [DiskHardware(f"BOSS{bmc.service_tag}", "Dell BOSS-N1", BOSS_SIZE)]
    disks += [DiskHardware(known[f"serial:{drive.id}"], drive.model, drive.bytes) for drive in data]
    gpus = [GpuHardware(f"0000:{gpu.bus:02x}:00.0", numa_node=gpu.cpu - 1) for gpu in bmc.hardware.gpus]
    memory = bmc.hardware.dimm_mib * len(bmc.hardware.dimms)
    return MachineHardware(bmc.service_tag, tuple(disks), tuple(nics), tuple(gpus), memory)


def hardware_of(simulator: Simulator) -> Hardware:
    """What MAAS finds in a host: what stands behind its BMC; of a host without one, an XE9680 of its own."""

    def of(hostname: str, macs: Sequence[str]) -> MachineHardware:
        return machine_behind(simulator[hostname]) if hostname in simulator.hosts else xe9680(hostname, macs)

    return of


def site_text(simulator: Simulator, maas: ServedDouble, *, poll_s: float = 0.5) -> str:
    """A whole site file that names both."""
    whole = simulator.site_text(whole=True)
    models = whole.replace("gpus: 8}", "gpus: 8, disks: 9, boot_disk: {model: '*BOSS*'}}")
    first, last = simulator.hosts[0], simulator.hosts[-1]
    hosts = first if first == last else f"{first[:-3]}[{first[-3:]}-{last[-3:]}]"
    return models + SITE.format(key=PUBLIC_KEY, url=maas.url, hosts=hosts, poll=poll_s)


class PortInUseError(OSError):
    """Somebody listens there already, most likely another hall."""


def main() -> int:
    """Serve until Ctrl-C."""
    asked = _arguments()
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    try:
        faults, bmc_faults = _rules(asked.faults), _rules(asked.bmc_faults)
        with ExitStack() as stack:
            simulator = Simulator(asked.count, port=asked.bmc_port, control=0)
            _tell(simulator, bmc_faults)
            with _port(asked.bmc_port, "the BMCs"):
                stack.enter_context(simulator)
            with _port(asked.port, "MAAS"):
                maas = stack.enter_context(
                    linked(simulator, port=asked.port, speed=asked.speed, faults=faults, control=True)
                )
            asked.site_out.write_text(site_text(simulator, maas))
            _say(simulator, maas, asked)
            stopped.wait()
    except (OSError, ValueError) as problem:
        print(f"cannot serve: {problem}", file=sys.stderr)
        return 2
    return 0


@contextmanager
def linked(simulator: Simulator, *, speed: float, **options: Any) -> Iterator[ServedDouble]:
    """A double of MAAS that finds what stands behind these BMCs, and whose power commands they follow.

    :param speed: of the double, and of the servers' way on and off; the clocks of the BMCs stay right.
    """
    hasten(simulator, speed)
    found = hardware_of(simulator)
    with maas_double(speed=speed, hardware=found, wires=BmcWires(simulator), **options) as maas:
        yield maas


@contextmanager
def _port(port: int, whose: str) -> Iterator[None]:
    """:raises PortInUseError: with the options that help."""
    try:
        yield
    except OSError as problem:
        if problem.errno != errno.EADDRINUSE:
            raise
        raise PortInUseError(
            f"port {port} of {whose} is in use, most likely by another hall: give this one "
            "--port 0 --bmc-port 0 (any free ones) and a --site-out in a folder of its own"
        ) from problem


def _rules(path: Path | None) -> list[dict[str, Any]]:
    """:raises ValueError: it is no list of objects."""
    rules = json.loads(path.read_text("utf-8")) if path is not None else []
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise ValueError(f"expected a list of rules in {path}")
    return rules


def _tell(simulator: Simulator, rules: list[dict[str, Any]]) -> None:
    """:raises ValueError: no such field, or no such host."""
    for rule in rules:
        unknown = set(rule.get("hosts", [])) - set(simulator.hosts)
        if unknown:
            raise ValueError(f"no BMC of {', '.join(sorted(unknown))}")
        Control(simulator).answer("POST", "/fault", dict(rule))


def _say(simulator: Simulator, maas: ServedDouble, asked: argparse.Namespace) -> None:
    site = asked.site_out
    print(f"{asked.count} hosts, their BMCs from {simulator.addresses[0]} on, and MAAS at {maas.url}")
    print(f"  export {PASSWORD_VARIABLE}={simulator.password} {KEY_VARIABLE}={maas.api_key}")
    print(f"  fabricctl maas status --site {site}")
    print(f"  fabricctl maas doctor --site {site} --skip {ABSENT_ROLES}    # those roles are not played here")
    print(f"  control of MAAS: {maas.control}state, faults, advance")
    print(f"  control of the BMCs: http://127.0.0.1:{simulator.control_port}/")
    print("Ctrl-C ends them.", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.sim.hall",
        description="Simulated hosts with BMCs and MAAS, on loopback.",
        epilog="A second hall beside the first: --port 0 --bmc-port 0 --site-out OTHER/site.yaml.",
    )
    parser.add_argument("--count", type=int, default=8, help="hosts")
    parser.add_argument("--port", type=int, default=5240, help="of MAAS; 0: any free one")
    parser.add_argument("--bmc-port", type=int, default=8443, help="of all BMCs; 0: any free one")
    parser.add_argument(
        "--speed",
        type=float,
        default=60.0,
        help="simulated seconds of MAAS, and of servers on their way on and off, per real second",
    )
    parser.add_argument("--faults", type=Path, help="JSON file: a list of rules for MAAS and the hardware")
    parser.add_argument("--bmc-faults", type=Path, help='JSON file: a list of rules, {"hosts": [...], ...}')
    parser.add_argument("--site-out", type=Path, default=Path("site.yaml"), help="site file to write")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
