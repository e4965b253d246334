"""Run them by hand until Ctrl-C."""

from __future__ import annotations

import signal

from tests.sim.ironic import ironic_services


def main() -> int:
    """Print where they are."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.default_int_handler)
    with ironic_services() as services:
        print(f"Ironic {services.url} user {services.user} password {services.password}")
        for system in services.systems:
            print(f"{system.name} {system.mac} https://{system.address}:{system.port}{system.system_id}")
        print(f"BMC user {services.bmc_user} password {services.bmc_password}")
        print(f"images {services.images}", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
