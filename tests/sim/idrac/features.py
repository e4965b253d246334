"""Which features a simulated BMC has. A feature is a module with ``install(tree, profile)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.sim.idrac import (
    accounts,
    bios,
    boot,
    boot_sources,
    fillers,
    firmware,
    job_resources,
    lifecycle,
    logs,
    manager_services,
    media,
    minor,
    power,
    readiness,
    reboots,
    registries,
    root,
    scp,
    sensors,
    sessions,
    supplies,
    system,
    thermal,
)
from tests.sim.idrac.bodies import chassis, compute, manager, network, pcie, storage
from tests.sim.idrac.hardware import Hardware
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Tree

Install = Callable[[Tree, Profile], None]
InstallParts = Callable[[Tree, Profile, Hardware], None]

FEATURES: list[Install] = [
    *(root.install, sessions.install, readiness.install, power.install, boot.install),
    *(
        job_resources.install,
        lifecycle.install,
        bios.install,
        boot_sources.install,
        logs.install,
        firmware.install,
        media.install,
    ),
    *(accounts.install, thermal.install, sensors.install, supplies.install, reboots.install),
    *(registries.install, minor.install, manager_services.install, scp.install),
]
"""What does not depend on the server's parts."""
PARTS: list[InstallParts] = [
    *(system.install, manager.install, chassis.install, network.install, compute.install),
    *(storage.install, pcie.install, fillers.install),
]
"""What does."""


def grown(profile: Profile, hardware: Hardware, more: Sequence[Install] = ()) -> Tree:
    """The tree of BMCs of one profile."""
    tree = Tree()
    for install in [*FEATURES, *more]:
        install(tree, profile)
    for install_parts in PARTS:
        install_parts(tree, profile, hardware)
    return tree
