"""Dell's own list of boot sources: the boot order with each source switched on or off."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from tests.sim.idrac.boot import OPTIONS
from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.job_resources import accepted
from tests.sim.idrac.jobs import JobQueue
from tests.sim.idrac.messages import refused, success
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import resource, settings_at
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import SYSTEM

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SOURCES = f"{SYSTEM}/Oem/Dell/DellBootSources"
SETTINGS = f"{SOURCES}/Settings"
NAMES = {
    option.id: name
    for option, name in zip(
        OPTIONS, ("NIC.PxeDevice.1-1", "Disk.Virtual.0:BOSS.SL.14-1", "Unknown.Unknown.3-1"), strict=True
    )
}
"""Boot option -> how Dell names it."""


class BootSources:
    """What is pending, and which sources are off."""

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        self.pending: list[Body] = []
        self.disabled: set[str] = set()

    def listed(self) -> list[Body]:
        """``UefiBootSeq`` as of now."""
        return [
            {
                "Enabled": option not in self.disabled,
                "Id": f"BIOS.Setup.1-1#UefiBootSeq#{NAMES[option]}#{_digest(option)}",
                "Index": at,
                "Name": NAMES[option],
            }
            for at, option in enumerate(self._bmc.boot.order)
        ]

    def apply(self) -> None:
        """The boot takes what is pending."""
        by_name = {name: option for option, name in NAMES.items()}
        wanted = sorted(self.pending, key=lambda entry: int(entry.get("Index", 0)))
        self.pending = []
        order = [by_name[entry["Name"]] for entry in wanted]
        rest = [option for option in self._bmc.boot.order if option not in order]
        self._bmc.boot.order = [*order, *rest]
        for entry in wanted:
            change = self.disabled.discard if entry.get("Enabled", True) else self.disabled.add
            change(by_name[entry["Name"]])


def order_by_names(bmc: SimBmc, names: list[str]) -> None:
    """Put boot options in the order of Dell's names; names that are none (FQDDs of cards) are passed over."""
    by_name = {name: option for option, name in NAMES.items()}
    first = [by_name[name] for name in names if name in by_name]
    bmc.boot.order = [*first, *(option for option in bmc.boot.order if option not in first)]


def device_of(name: str) -> str:
    """How an override calls the device that Dell calls so."""
    return next((option.device for option in OPTIONS if NAMES[option.id] == name), "Hdd")


def _digest(option: str) -> str:
    return hashlib.sha256(option.encode()).hexdigest()[:32]


def _problem(entries: Any) -> str:
    """What is wrong with a written list; empty when it is fine."""
    if not isinstance(entries, list) or not entries:
        return "UefiBootSeq"
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("Name") not in NAMES.values():
            return str(entry)
    return ""


def _patch(call: Call) -> Answer:
    bmc, sources = call.bmc, call.bmc.part(BootSources)
    attributes = call.body.get("Attributes")
    wanted = attributes.get("UefiBootSeq") if isinstance(attributes, dict) else None
    wrong = _problem(wanted)
    if wrong or not isinstance(wanted, list):
        raise refused(bmc.profile, "SYS426", wrong, "UefiBootSeq")
    if bmc.part(JobQueue).committed("BIOSConfiguration"):
        raise refused(bmc.profile, "SYS011", "UefiBootSeq")
    sources.pending = list(wanted)
    if "@Redfish.SettingsApplyTime" not in call.body:
        return success(bmc.profile)
    from tests.sim.idrac.bios import Bios

    return accepted(bmc, bmc.part(Bios).commit())


def install(tree: Tree, _profile: Profile) -> None:
    """Boot sources and their settings."""
    times = ("OnReset", "AtMaintenanceWindowStart", "InMaintenanceWindowOnReset")

    def current(bmc: SimBmc) -> Body:
        return {
            "@Redfish.Settings": settings_at(SETTINGS, *times),
            **resource(
                SOURCES,
                "DellBootSources",
                "v1_0_0",
                AttributeRegistry="DellBootSourcesRegistry.v1_1_0",
                Attributes={"UefiBootSeq": bmc.part(BootSources).listed()},
                Description="Boot Sources Current Settings",
                Id="DellBootSources",
                Name="Boot Sources Configuration Current Settings",
            ),
        }

    def pending(bmc: SimBmc) -> Body:
        waiting = bmc.part(BootSources).pending
        return resource(
            SETTINGS,
            "DellBootSources",
            "v1_0_0",
            AttributeRegistry="DellBootSourcesRegistry.v1_1_0",
            Attributes={"UefiBootSeq": waiting} if waiting else {},
            Description="Boot Sources Pending Settings. These settings will be applied on next system reboot.",
            Id="Settings",
            Name="Boot Sources Configuration Pending Settings",
        )

    tree.live(SOURCES, current)
    tree.live(SETTINGS, pending)
    tree.on("PATCH", SETTINGS, _patch)
