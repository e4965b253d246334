"""Simulated BMCs by hand: ``python -m tests.sim.idrac --count 8 --site-out site.yaml``."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from pathlib import Path

from tests.sim.idrac import PASSWORD_VARIABLE, Profile, Simulator, measured_latency
from tests.sim.idrac.control import overview
from tests.sim.idrac.faults import Latency, steady_latency


def main() -> int:
    """Serve until Ctrl-C."""
    asked = _arguments()
    simulator = Simulator(
        asked.count,
        Profile[asked.profile],
        asked.first,
        port=asked.port,
        tls=not asked.plain,
        latency=_latency(asked.latency),
        seed=asked.seed,
        speed=asked.speed,
        control=asked.control,
    )
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    try:
        simulator.start()
    except (OSError, ValueError) as problem:
        print(f"cannot serve at {asked.first} port {asked.port}: {problem}", file=sys.stderr)
        return 2
    if asked.site_out:
        asked.site_out.write_text(simulator.site_text(whole=True))
    _say(simulator, asked)
    try:
        stopped.wait()
    finally:
        simulator.stop()
    return 0


def _say(simulator: Simulator, asked: argparse.Namespace) -> None:
    if asked.json:
        print(json.dumps(overview(simulator)), flush=True)
        return
    print(f"{len(simulator)} BMCs ({asked.profile}), {simulator.addresses[0]} to {simulator.addresses[-1]}")
    print(
        f"  https://{simulator.addresses[0]}:{simulator.port}/redfish/v1  user root, password {simulator.password}"
    )
    if simulator.control_port:
        print(f"  control: http://127.0.0.1:{simulator.control_port}/")
    if asked.site_out:
        print(f"  site file: {asked.site_out}; export {PASSWORD_VARIABLE}={simulator.password}")
    print("Ctrl-C ends them.", flush=True)


def _latency(text: str) -> Latency | None:
    if text == "measured":
        return measured_latency()
    seconds, _, tail = text.partition(",")
    if float(seconds) == 0 and not tail:
        return None
    share, _, slow = tail.partition(":")
    return steady_latency(float(seconds), float(share or 0), float(slow or 0))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.sim.idrac", description="Simulated iDRACs on loopback."
    )
    parser.add_argument("--count", type=int, default=1, help="BMCs")
    parser.add_argument("--first", default="127.31.0.1", help="address of the first, the others count up")
    parser.add_argument("--port", type=int, default=8443, help="port of all; 0: any free one")
    parser.add_argument("--profile", choices=[one.name for one in Profile], default="IDRAC9_7")
    parser.add_argument("--speed", type=float, default=1.0, help="simulated seconds per real second")
    parser.add_argument("--seed", type=int, default=1, help="of all identities and dice")
    parser.add_argument("--plain", action="store_true", help="HTTP without TLS")
    parser.add_argument(
        "--latency",
        default="0",
        help="seconds an answer takes: 0.19, or 0.19,0.01:5 (1 %% take 5 s), or 'measured'",
    )
    parser.add_argument(
        "--control", type=int, default=None, help="port of the control channel; 0: any free one"
    )
    parser.add_argument("--site-out", type=Path, help="write a site file that names them")
    parser.add_argument("--json", action="store_true", help="say where everything is as one line of JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
