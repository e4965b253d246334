"""The double by hand: ``python -m tests.sim.maas --port 0 --speed 600``."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from tests.sim.maas.double import KEY, MaasDouble, Settings
from tests.sim.maas.server import CONTROL, Front


def main() -> int:
    """Serve until Ctrl-C or SIGTERM."""
    asked = _arguments()
    settings = Settings(
        speed=asked.speed,
        racks=asked.racks,
        seed=asked.seed,
        node_timeout=asked.node_timeout,
        clock_offset_s=asked.clock_offset,
        api_key=asked.api_key,
    )
    double = MaasDouble(settings)
    try:
        if asked.faults:
            double.faults.load(asked.faults)
        return asyncio.run(_serve(double, asked))
    except (OSError, ValueError) as problem:
        print(f"cannot serve: {problem}", file=sys.stderr)
        return 2


async def _serve(double: MaasDouble, asked: argparse.Namespace) -> int:
    front = Front(double, asked.port, control=True)
    stopped = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stopped.set)
    for number in range(1, asked.machines + 1):
        double.add_machine(f"gpu{number:03}", [f"52:54:00:00:{number >> 8:02x}:{number & 255:02x}"])
    await front.start()
    print(f"MAAS 3.7.3 double at {double.origin}/MAAS", flush=not asked.json)
    print(f"API key: {double.settings.api_key}")
    print(f"control: {double.origin}{CONTROL}state", flush=True)
    if asked.json:
        said = {"url": f"{double.origin}/MAAS", "api_key": double.settings.api_key, "port": front.port}
        print(json.dumps(said), flush=True)
    try:
        await stopped.wait()
    finally:
        await front.stop()
    for problem in double.bugs:
        print(f"mistake of the double: {problem!r}", file=sys.stderr)
    return 1 if double.bugs else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.sim.maas", description="A stand-in for the API of MAAS 3.7.3, on loopback."
    )
    parser.add_argument("--port", type=int, default=5240, help="0: any free one")
    parser.add_argument(
        "--speed", type=float, default=1.0, help="simulated seconds per real second; 0: by control only"
    )
    parser.add_argument(
        "--racks", type=int, choices=(0, 1), default=1, help="rack controllers; 0: no BMC is reached"
    )
    parser.add_argument("--faults", type=Path, help="JSON file: a list of rules")
    parser.add_argument("--machines", type=int, default=0, help="machines that are there already, new")
    parser.add_argument("--seed", type=int, default=1, help="of ids, durations and dice")
    parser.add_argument("--node-timeout", type=int, default=30, help="minutes")
    parser.add_argument("--clock-offset", type=float, default=0.0, help="seconds its clock is off")
    parser.add_argument("--api-key", default=KEY)
    parser.add_argument("--json", action="store_true", help="say where it is as a last line of JSON, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
