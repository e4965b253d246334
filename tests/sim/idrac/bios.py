"""BIOS settings: what is set, what is pending, and how one becomes the other at the next boot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tests.sim.idrac.bios_attributes import (
    ONE_TIME,
    PROFILE_SETS,
    Attribute,
    Value,
    all_attributes,
    dependencies,
    registry_entry,
)
from tests.sim.idrac.boot import Override
from tests.sim.idrac.boot_sources import NAMES, BootSources, device_of, order_by_names
from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.firmware import BIOS_VERSIONS, Firmware
from tests.sim.idrac.hardware import XE9680
from tests.sim.idrac.job_resources import accepted, refuse_when_running
from tests.sim.idrac.jobs import Job, JobQueue
from tests.sim.idrac.messages import Text, errors, known, message, refused, success
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Moment, Tree
from tests.sim.idrac.where import BIOS, BIOS_SETTINGS, DELL_JOBS, ROOT

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

REGISTRY = f"{BIOS}/BiosRegistry"
REGISTRY_ID = "BiosAttributeRegistry.v1_0_3"
CLEAR_PENDING = f"{BIOS_SETTINGS}/Actions/Oem/DellManager.ClearPending"
RESET_BIOS = f"{BIOS}/Actions/Bios.ResetBios"
BOOT_ENTRIES = tuple(NAMES.values())
INTERFACES = tuple(port.function for adapter in XE9680.adapters for port in adapter.ports)

known(
    "SYS409",
    Text(
        "Unable to complete the operation because the attribute {0} is not one of the resource.",
        "Enter an attribute of the attribute registry and retry the operation.",
        "Warning",
    ),
)
known(
    "RAC1035", Text("There are no pending attributes to clear.", "No response action is required.", "Warning")
)


class Bios:
    """The BIOS settings of one host.

    :ivar current: attribute -> value; :ivar pending: what waits; :ivar boot_order: FQDDs or boot entries, set by
        ``SetBootOrderFqdd…`` at the last boot, empty when none was. :ivar history: what each boot changed.
    """

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        self.attributes = _attributes(bmc.profile)
        self.current: dict[str, Value] = {name: one.default for name, one in self.attributes.items()}
        self.current["SystemServiceTag"] = bmc.service_tag
        self.pending: dict[str, Value] = {}
        self.boot_order: list[str] = []
        self.next_device = ""
        self.history: list[dict[str, Value]] = []

    @property
    def mode(self) -> str:
        """``Uefi`` or ``Bios``."""
        return str(self.current["BootMode"])

    def problems(self, wanted: Mapping[str, Any]) -> list[Body]:
        """What is wrong with attributes somebody wants to set; a message each.

        An attribute that depends on another may be set together with it (dellemc-openmanage#495).
        """
        seen = {**self.current, **self.pending, **wanted}
        found: list[Body] = []
        for name, value in wanted.items():
            attribute = self.attributes.get(name)
            if attribute is None:
                found.append(self._problem("SYS409", name, name))
            elif not attribute.writable(seen):
                found.append(self._problem("SYS410", name, name))
            elif not attribute.takes(value):
                found.append(self._problem("SYS426", name, str(value), name))
        return found

    def _problem(self, key: str, name: str, *args: str) -> Body:
        said = message(self._bmc.profile, key, *args)
        related = [f"#/Attributes/{name}"]
        return {**said, "RelatedProperties": related, "RelatedProperties@odata.count": len(related)}

    def commit(self) -> Job:
        """Make the job that applies what is pending at the next boot; whoever deletes it discards what is pending."""
        return self._bmc.part(JobQueue).schedule(
            "BIOSConfiguration",
            "Configure: BIOS.Setup.1-1",
            target=BIOS_SETTINGS,
            work=self.apply,
            dropped=self._discard,
        )

    def _discard(self) -> None:
        self.pending.clear()
        self._bmc.part(BootSources).pending.clear()

    def apply(self) -> bool:
        """The boot applies what is pending: ``Bios`` shows it from now on, while the job still runs (libredfish#25)."""
        changed = {name: value for name, value in self.pending.items() if self.current.get(name) != value}
        self.pending.clear()
        profile = PROFILE_SETS.get(str(changed.get("SysProfile", "")), {})
        changed = {**{n: v for n, v in profile.items() if n in self.attributes}, **changed}
        self._order(changed)
        self._one_time(changed)
        self._bmc.part(BootSources).apply()
        self.current.update(changed)
        for name, attribute in self.attributes.items():
            if attribute.write_only:
                self.current[name] = None
        self.history.append(changed)
        return True

    def _one_time(self, changed: dict[str, Value]) -> None:
        """``OneTimeBootMode`` names a device for the boot after the job's, and is off again then."""
        if changed.pop("OneTimeBootMode", "") == ONE_TIME:
            self.next_device = str(
                changed.get("OneTimeUefiBootSeqDev", self.current["OneTimeUefiBootSeqDev"])
            )

    def booted(self) -> None:
        """POST is over: what the job asked for is how the next boot goes."""
        if self.next_device:
            device = device_of(self.next_device)
            self._bmc.boot.override = Override(device, "Once", self._bmc.boot.override.mode)
            self.next_device = ""

    def _order(self, changed: dict[str, Value]) -> None:
        given = [changed.pop(f"SetBootOrderFqdd{number}", "") for number in range(1, 17)]
        order = [str(entry) for entry in given if entry]
        if order:
            rest = [entry for entry in str(self.current["SetBootOrderEn"]).split(",") if entry not in order]
            changed["SetBootOrderEn"] = ",".join([*order, *rest])
            self.boot_order = order
            order_by_names(self._bmc, order)


_CACHE: dict[Profile, dict[str, Attribute]] = {}


def _attributes(profile: Profile) -> dict[str, Attribute]:
    """Shared by all BMCs of a profile: they are never changed."""
    if profile not in _CACHE:
        _CACHE[profile] = all_attributes(
            generation=profile.value.generation,
            interfaces=INTERFACES,
            boot_entries=BOOT_ENTRIES,
            bios_version=BIOS_VERSIONS[profile],
            model=XE9680.model,
        )
    return _CACHE[profile]


def _patch(call: Call) -> Answer:
    bmc, bios = call.bmc, call.bmc.part(Bios)
    wanted, apply_time = call.body.get("Attributes"), _apply_time(call)
    if not isinstance(wanted, dict) or not wanted:
        raise refused(bmc.profile, "PropertyMissing", "Attributes")
    queue = bmc.part(JobQueue)
    held = queue.committed("BIOSConfiguration")
    if held is not None:
        if bmc.profile is Profile.IDRAC10 and not held.foreign and _is_same(bios, wanted):
            return success(bmc.profile)  # no second job for what is pending already (libredfish#97)
        first = next(iter(wanted))
        raise refused(bmc.profile, "SYS011", first)
    refuse_when_running(bmc)
    problems = bios.problems(wanted)
    if problems:
        return errors(bmc.profile, 400, *problems)
    bios.pending.update(wanted)
    return accepted(bmc, bios.commit()) if apply_time == "OnReset" else success(bmc.profile)


def _is_same(bios: Bios, wanted: Mapping[str, Any]) -> bool:
    return all(name in bios.pending and bios.pending[name] == value for name, value in wanted.items())


def _apply_time(call: Call) -> str:
    when = call.body.get("@Redfish.SettingsApplyTime")
    if when is None:
        return ""
    name = when.get("ApplyTime") if isinstance(when, dict) else None
    if name not in ("OnReset", "AtMaintenanceWindowStart", "InMaintenanceWindowOnReset"):
        raise refused(call.bmc.profile, "SYS426", str(name), "ApplyTime")
    return str(name)


def _clear_pending(call: Call) -> Answer:
    bios = call.bmc.part(Bios)
    if call.bmc.part(JobQueue).committed("BIOSConfiguration"):
        raise refused(call.bmc.profile, "SYS011")
    if not bios.pending:
        raise refused(call.bmc.profile, "RAC1035")
    bios.pending.clear()
    return success(call.bmc.profile)


def _reset_bios(call: Call) -> Answer:
    bios = call.bmc.part(Bios)
    writable = {
        name: one.default for name, one in bios.attributes.items() if not one.fixed and not one.write_only
    }
    bios.pending.update({name: value for name, value in writable.items() if bios.current[name] != value})
    return success(call.bmc.profile)


def config_job(bmc: SimBmc, attributes: Body, apply: Callable[[], None]) -> str:
    """A configuration job of these attributes, as a changed boot mode makes one; its id.

    :param apply: carried out when the job is. :raises RefusedError: another one is open.
    """
    if bmc.part(JobQueue).committed("BIOSConfiguration"):
        raise refused(bmc.profile, "SYS011", next(iter(attributes), ""))
    bios = bmc.part(Bios)
    bios.pending.update({name: value for name, value in attributes.items() if name in bios.attributes})

    def work() -> bool:
        apply()
        return bios.apply()

    job = bios.commit()
    job.work = work
    return job.id


def _bios_body(bmc: SimBmc) -> Body:
    bios = bmc.part(Bios)
    firmware = f"{ROOT}/UpdateService/FirmwareInventory"
    version = bmc.part(Firmware).components["BIOS.Setup.1-1"].version
    installed = f"{firmware}/Installed-159-{version}__BIOS.Setup.1-1"
    return {
        "@odata.context": f"{ROOT}/$metadata#Bios.Bios",
        "@odata.id": BIOS,
        "@odata.type": "#Bios.v1_2_0.Bios",
        "Id": "Bios",
        "Name": "BIOS Configuration Current Settings",
        "Description": "BIOS Configuration Current Settings",
        "AttributeRegistry": REGISTRY_ID,
        "Attributes": dict(sorted({**bios.current, "SystemBiosVersion": version}.items())),
        "Actions": {"#Bios.ResetBios": {"target": RESET_BIOS}},
        "@Redfish.Settings": {
            "@odata.context": f"{ROOT}/$metadata#Settings.Settings",
            "@odata.type": "#Settings.v1_3_3.Settings",
            "SettingsObject": {"@odata.id": BIOS_SETTINGS},
            "SupportedApplyTimes": ["OnReset", "AtMaintenanceWindowStart", "InMaintenanceWindowOnReset"],
        },
        "Links": {
            "ActiveSoftwareImage": {"@odata.id": installed},
            "SoftwareImages": [{"@odata.id": installed}],
            "SoftwareImages@odata.count": 1,
        },
    }


def _settings_body(bmc: SimBmc) -> Body:
    return {
        "@odata.context": f"{ROOT}/$metadata#Bios.Bios",
        "@odata.id": BIOS_SETTINGS,
        "@odata.type": "#Bios.v1_2_0.Bios",
        "Id": "Settings",
        "Name": "BIOS Configuration Pending Settings",
        "Description": "BIOS Configuration Pending Settings. These settings will be applied on next system reboot.",
        "AttributeRegistry": REGISTRY_ID,
        "Attributes": dict(bmc.part(Bios).pending),
        "Actions": {"Oem": {"DellManager.v1_0_0#DellManager.ClearPending": {"target": CLEAR_PENDING}}},
        "Oem": {
            "Dell": {
                "@odata.context": f"{ROOT}/$metadata#DellManager.DellManager",
                "@odata.type": "#DellManager.v1_2_0.DellManager",
                "Jobs": {"@odata.id": DELL_JOBS},
            }
        },
    }


def _registry_body(bmc: SimBmc) -> Body:
    bios = bmc.part(Bios)
    listed = list(bios.attributes.values())
    return {
        "@odata.context": f"{ROOT}/$metadata#AttributeRegistry.AttributeRegistry",
        "@odata.id": REGISTRY,
        "@odata.type": "#AttributeRegistry.v1_3_6.AttributeRegistry",
        "Description": "This registry defines a representation of BIOS Attribute instances",
        "Id": REGISTRY_ID,
        "Language": "en",
        "Name": "BIOS Attribute Registry",
        "OwningEntity": "Dell",
        "RegistryEntries": {
            "Attributes": [registry_entry(one, 100 + at, bios.current) for at, one in enumerate(listed)],
            "Dependencies": [entry for one in listed for entry in dependencies(one)],
            "Menus": [
                {
                    "DisplayName": menu[2:],
                    "DisplayOrder": 100 + at,
                    "MenuName": menu[2:],
                    "MenuPath": "./",
                    "ReadOnly": False,
                }
                for at, menu in enumerate(dict.fromkeys(one.menu for one in listed))
            ],
        },
        "RegistryVersion": "1.0.0",
        "SupportedSystems": [
            {
                "FirmwareVersion": bios.current["SystemBiosVersion"],
                "ProductName": bios.current["SystemModelName"],
                "SystemId": bmc.service_tag,
            }
        ],
    }


def install(tree: Tree, _profile: Profile) -> None:
    """BIOS, its settings, its registry."""
    tree.live(BIOS, _bios_body)
    tree.live(BIOS_SETTINGS, _settings_body)
    tree.live(REGISTRY, _registry_body)
    tree.on("PATCH", BIOS_SETTINGS, _patch)
    tree.on("POST", CLEAR_PENDING, _clear_pending)
    tree.on("POST", RESET_BIOS, _reset_bios)
    tree.config_job = config_job
    tree.at(Moment.POST_DONE, lambda bmc: bmc.part(Bios).booted())
