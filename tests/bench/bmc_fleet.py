"""A fleet of simulated BMCs in a process of its own, some of them sick; for measurements.

    python -m tests.bench.bmc_fleet 511 --refusing 15 --wrong-password 5 --hanging 5

Prints one line of JSON when it serves: port, hosts with their addresses, fingerprints, sickness, MACs and GUIDs. Then
it answers each line on standard input with a line: what the fleet has seen so far.
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import random
import sys
import time
from typing import Any

from tests.sim.idrac import Fault, Profile, Simulator, measured_latency
from tests.sim.idrac.users import MARKER

OTHER_PASSWORD = f"{MARKER}-another"  # that nobody is told


def main() -> int:
    parser = argparse.ArgumentParser(description="a fleet of simulated BMCs, some of them sick")
    parser.add_argument("count", type=int)
    parser.add_argument("--refusing", type=int, default=0)
    parser.add_argument("--wrong-password", type=int, default=0)
    parser.add_argument("--hanging", type=int, default=0)
    parser.add_argument("--cutting", type=int, default=0, help="every answer ends half-way")
    parser.add_argument(
        "--mean", type=float, default=0.19, metavar="SECONDS", help="of one answer; 0: at once"
    )
    parser.add_argument("--tail", type=float, default=0.01, help="share of answers that take two seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", default="127.41.0.1")
    options = parser.parse_args()
    names = [f"gpu{number:03d}" for number in range(1, options.count + 1)]
    sick = _sick(names, options, random.Random(options.seed))
    healthy_or_answering = [name for name in names if sick.get(name) != "refusing"]
    latency = measured_latency(options.mean, options.tail) if options.mean else None
    simulator = Simulator(
        len(healthy_or_answering),
        Profile.IDRAC9_7,
        options.first,
        latency=latency,
        seed=options.seed,
        hosts=healthy_or_answering,
    )
    with simulator:
        for bmc in simulator:
            if sick.get(bmc.host) == "wrong password":
                bmc.users["root"] = OTHER_PASSWORD
            if sick.get(bmc.host) == "hanging":
                bmc.fault(Fault(hang=True))
            if sick.get(bmc.host) == "cutting":
                bmc.fault(Fault(cut_body=True))
        addresses = dict(zip(simulator.hosts, simulator.addresses, strict=True))
        after = int(ipaddress.ip_address(simulator.addresses[-1]))
        for number, name in enumerate(name for name in names if name not in addresses):
            addresses[name] = str(ipaddress.ip_address(after + 1 + number))  # nobody listens there
        told = {
            "port": simulator.port,
            "addresses": {name: addresses[name] for name in names},
            "fingerprints": {bmc.host: bmc.fingerprint for bmc in simulator},
            "sick": sick,
            "macs": {
                bmc.host: sorted(
                    mac.lower()
                    for key, mac in bmc.identity.items()
                    if key.startswith("mac:") or key == "bmc_mac"
                )
                for bmc in simulator
            },
            "guids": {
                bmc.host: sorted(
                    "0x" + guid.replace(":", "").lower()
                    for key, guid in bmc.identity.items()
                    if key.startswith("guid:")
                )
                for bmc in simulator
            },
        }
        _say(told)
        for _ in sys.stdin:
            # simulated seconds are real ones here, from another start
            start = time.monotonic() - simulator.clock.now()
            _say(
                {
                    "cpu_s": time.process_time(),
                    "requests": {bmc.host: len(bmc.requests) for bmc in simulator},
                    "last": {
                        bmc.host: start + max(r.at for r in bmc.requests) for bmc in simulator if bmc.requests
                    },
                    "sessions": sum(len(bmc.sessions) for bmc in simulator),
                    "log": [[r.method, r.path, r.query, r.status] for r in simulator[0].requests],
                }
            )
            for bmc in simulator:
                bmc.requests.clear()
    return 0


def _sick(names: list[str], options: argparse.Namespace, dice: random.Random) -> dict[str, str]:
    """Host -> what is wrong with it; never the first, whose requests are the plan."""
    left = names[1:]
    dice.shuffle(left)
    found: dict[str, str] = {}
    for kind in ("refusing", "wrong password", "hanging", "cutting"):
        for _ in range(getattr(options, kind.replace(" ", "_"))):
            found[left.pop()] = kind
    return found


def _say(told: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
