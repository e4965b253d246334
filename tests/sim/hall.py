"""Simulated BMCs and a double of MAAS that tell of the same machines: ``python -m tests.sim.hall --count 8``.

What MAAS finds when it commissions a host is what its BMC tells of it: service tag, MACs, serial numbers of drives,
memory, GPUs. The one disk that only the operating system sees is the BOSS card's virtual one.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from tests.sim.idrac import PASSWORD_VARIABLE, Simulator
from tests.sim.idrac.bmc import SimBmc
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


def main() -> int:
    """Serve until Ctrl-C."""
    asked = _arguments()
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    simulator = Simulator(asked.count, port=asked.bmc_port)
    try:
        with (
            simulator,
            maas_double(port=asked.port, speed=asked.speed, hardware=hardware_of(simulator)) as maas,
        ):
            asked.site_out.write_text(site_text(simulator, maas))
            print(f"{asked.count} hosts, their BMCs from {simulator.addresses[0]} on, and MAAS at {maas.url}")
            print(f"  export {PASSWORD_VARIABLE}={simulator.password} {KEY_VARIABLE}={maas.api_key}")
            print(f"  fabricctl maas status --site {asked.site_out}")
            print("Ctrl-C ends them.", flush=True)
            stopped.wait()
    except OSError as problem:
        print(f"cannot serve: {problem}", file=sys.stderr)
        return 2
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.sim.hall", description="Simulated hosts with BMCs and MAAS, on loopback."
    )
    parser.add_argument("--count", type=int, default=8, help="hosts")
    parser.add_argument("--port", type=int, default=5240, help="of MAAS; 0: any free one")
    parser.add_argument("--bmc-port", type=int, default=8443, help="of all BMCs; 0: any free one")
    parser.add_argument("--speed", type=float, default=60.0, help="simulated seconds of MAAS per real second")
    parser.add_argument("--site-out", type=Path, default=Path("site.yaml"), help="site file to write")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
