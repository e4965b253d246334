"""Our harvest as a library call, the store's writes included: what the command does without printing.

    python -m tests.bench.bmc_ours SITE STATE [--read-only] [--depth quick|default|full]

``--read-only`` leaves comparing and storing out. ``PROFILE=1`` prints where the CPU time goes.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import os
import pstats
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from fabricctl.cli.bmc.common import open_desk
from provision.bmc.inventory import Depth, Inventory
from provision.bmc.outcome import Outcome
from provision.bmc.target import Target
from provision.redfish.fleet import ask
from provision.workflows.access import fleet_options
from provision.workflows.harvest import Request, harvest
from provision.workflows.harvest_read import read_inventory


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("site")
    parser.add_argument("state")
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("--depth", choices=[depth.name.lower() for depth in Depth], default="quick")
    given = parser.parse_args()
    depth = Depth[given.depth.upper()]
    gc.set_threshold(100_000, 50, 100)  # as the command does
    marks = {"imports": time.process_time()}
    desk = open_desk("all", given.site, given.state)
    options = fleet_options(desk.site)
    marks["site and targets"] = time.process_time()

    def asked(targets: Sequence[Target]) -> Sequence[Outcome[Inventory]]:
        outcomes = ask(targets, lambda bmc: read_inventory(bmc, depth), options)
        marks["reading"] = time.process_time()
        return outcomes

    profile = cProfile.Profile(time.process_time) if os.environ.get("PROFILE") else None
    if profile is not None:
        profile.enable()
    if given.read_only:
        read = sum(outcome.error is None for outcome in asked(desk.targets))
    else:
        made = harvest(
            desk.targets,
            Request(depth),
            asked,
            site=desk.site,
            location=desk.location,
            who="bench",
            now=lambda: datetime.now(UTC),
        )
        read = len(made.stored)
        marks["comparing and storing"] = time.process_time()
    if profile is not None:
        profile.disable()
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(40)
    spans, before = {}, 0.0
    for name, at in marks.items():
        spans[name], before = round(at - before, 2), at
    json.dump({"read": read, "cpu_s": spans}, sys.stdout)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
