"""Run them by hand until Ctrl-C: ``python -m tests.sim.ironic --folder FOLDER``."""

from __future__ import annotations

import argparse
import signal
from pathlib import Path

from tests.sim.idrac import PASSWORD_VARIABLE
from tests.sim.ironic import ironic_services
from tests.sim.ironic.site import write_site


def main() -> int:
    """Write a site file and print how to use it."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim.ironic", description=__doc__)
    parser.add_argument("--count", type=int, default=8, help="servers")
    parser.add_argument(
        "--folder", type=Path, required=True, help="existing folder for site.yaml and its store"
    )
    asked = parser.parse_args()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.default_int_handler)
    try:
        with ironic_services(asked.count) as services:
            site = write_site(services, asked.folder, services.systems)
            print(
                f"Ironic at {services.url}, {asked.count} emulated BMCs from {services.systems[0].address} on"
            )
            print(f"  export {PASSWORD_VARIABLE}={services.bmc_password}")
            print(f"  fabricctl ironic enrol all --site {site}")
            print("Ctrl-C ends them.", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
