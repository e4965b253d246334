"""Boot override, boot order, and what changing them sets off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tests.sim.idrac.call import Answer, Body, Call, RefusedError
from tests.sim.idrac.messages import error, errors, message, success
from tests.sim.idrac.power import SYSTEM
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Moment, Tree

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

TARGETS = (
    *("None", "Pxe", "Floppy", "Cd", "Hdd", "BiosSetup", "Utilities", "UefiTarget", "SDCard", "UefiHttp"),
)
ENABLED = ("Disabled", "Once", "Continuous")
MODES = ("Legacy", "UEFI")
SETTINGS = f"{SYSTEM}/Settings"


@dataclass(frozen=True, slots=True)
class Override:
    """What the next boot is to be from."""

    target: str = "None"
    enabled: str = "Disabled"
    mode: str = "UEFI"
    uefi_target: str | None = None


@dataclass(frozen=True, slots=True)
class BootOption:
    """An entry of the firmware's boot list. :param device: the device it stands for, as an override names it."""

    id: str
    name: str
    path: str
    device: str = "Hdd"


OPTIONS = (
    BootOption(
        "Boot0000",
        "PXE Device 1: Embedded NIC 1 Port 1 Partition 1",
        "PciRoot(0x0)/Pci(0x1C,0x5)/Pci(0x0,0x0)",
        "Pxe",
    ),
    BootOption(
        "Boot0001",
        "BOSS-N1 in SL 14: EFI Fixed Disk Boot Device 1",
        "PciRoot(0x1)/Pci(0x1,0x0)/Pci(0x0,0x0)/Sata(0x0,0xFFFF,0x0)",
    ),
    BootOption(
        "Boot0002", "Unavailable: ubuntu", "HD(1,GPT,5A0C6D0F-2B3E-4C51-9F0A-0D4B0E7B9A10,0x800,0x219800)"
    ),
)


class Boot:
    """Boot settings of one server."""

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        self.override = Override()
        self.order = [option.id for option in OPTIONS]
        self.booted: list[str] = []
        """What each finished POST booted from: an override's target, or the device of the first boot option."""
        self.mode_makes_job = True
        """Any PATCH that names a mode queues a configuration job, changed or not (iDRAC9)."""
        self.settings_refuse_override = not bmc.profile.value.boot_in_settings
        self.targets: tuple[str, ...] = TARGETS

    def device(self) -> str:
        """What the boot under way, or the next, is from."""
        if self.override.enabled != "Disabled":
            return self.override.target
        first = next((option for option in OPTIONS if option.id == self.order[0]), OPTIONS[0])
        return first.device

    def consume(self) -> None:
        """POST is over: the device was chosen, a one-time override is spent."""
        self.booted.append(self.device())
        if self.override.enabled == "Once":
            self.override = replace(self.override, target="None", enabled="Disabled", uefi_target=None)

    def shown(self) -> Body:
        """The override as Boot shows it."""
        return {
            "BootSourceOverrideEnabled": self.override.enabled,
            "BootSourceOverrideMode": self.override.mode,
            "BootSourceOverrideTarget": self.override.target,
            "UefiTargetBootSourceOverride": self.override.uefi_target,
            "BootSourceOverrideTarget@Redfish.AllowableValues": list(self.targets),
        }


def body_of(bmc: SimBmc) -> Body:
    """``Boot`` of the system."""
    body: Body = {
        "BootOptions": {"@odata.id": f"{SYSTEM}/BootOptions"},
        "Certificates": {"@odata.id": f"{SYSTEM}/Boot/Certificates"},
        "BootOrder": list(bmc.boot.order),
        "BootOrder@odata.count": len(bmc.boot.order),
    }
    return body if bmc.profile.value.boot_in_settings else {**body, **bmc.boot.shown()}


def change(call: Call, wanted: Any, *, at_settings: bool) -> str:
    """Carry out ``Boot`` of a PATCH; the id of a job it made, if any.

    :raises RefusedError: something in it is not to be had; what came before it stays changed, as on a real one.
    """
    bmc = call.bmc
    if not isinstance(wanted, dict):
        raise RefusedError(error(bmc.profile, "PropertyValueNotInList", str(wanted), "Boot"))
    names = {
        *("BootSourceOverrideTarget", "BootSourceOverrideEnabled", "BootSourceOverrideMode"),
        *("UefiTargetBootSourceOverride", "BootOrder"),
    }
    for name in wanted:
        if name not in names:
            raise RefusedError(error(bmc.profile, "PropertyUnknown", f"Boot/{name}"))
    job = ""
    if "BootOrder" in wanted:
        job = _order(bmc, wanted["BootOrder"])
    override = {name: value for name, value in wanted.items() if name != "BootOrder"}
    if not override:
        return job
    if at_settings and bmc.boot.settings_refuse_override:
        raise RefusedError(error(bmc.profile, "SYS428", next(iter(override))))
    if not at_settings and bmc.profile.value.boot_in_settings:
        raise RefusedError(error(bmc.profile, "SYS428", next(iter(override))))
    return _override(bmc, override) or job


def _override(bmc: SimBmc, wanted: Body) -> str:
    boot = bmc.boot
    target = _one_of(bmc, wanted, "BootSourceOverrideTarget", boot.targets)
    enabled = _one_of(bmc, wanted, "BootSourceOverrideEnabled", ENABLED)
    mode = _one_of(bmc, wanted, "BootSourceOverrideMode", MODES)
    new = boot.override
    if "UefiTargetBootSourceOverride" in wanted:
        new = replace(new, uefi_target=wanted["UefiTargetBootSourceOverride"])
    if target is not None:
        # A target alone is a one-time boot: so Dell's own scripts set it.
        new = replace(new, target=target, enabled=enabled or ("Once" if target != "None" else "Disabled"))
    elif enabled is not None:
        new = replace(new, enabled=enabled)
    if new.enabled == "Disabled" or new.target == "None":
        new = replace(new, target="None", enabled="Disabled")
    boot.override = new
    needs_uefi = mode == "UEFI" or target in ("UefiTarget", "UefiHttp")
    if needs_uefi and new.mode == "Legacy":
        # An iDRAC9 in legacy mode sets target and enabled, and then refuses the whole.
        raise RefusedError(
            errors(
                bmc.profile,
                400,
                message(bmc.profile, "SYS444", "BootSourceOverrideMode"),
                message(bmc.profile, "SYS410", str(mode or target)),
            )
        )
    if mode is not None and (boot.mode_makes_job or mode != new.mode):
        return _mode_job(bmc, mode)
    return ""


def _mode_job(bmc: SimBmc, mode: str) -> str:
    """A configuration job: it runs in the next POST, and the server boots again after it."""

    def apply() -> None:
        bmc.boot.override = replace(bmc.boot.override, mode=mode)
        bmc.power.reboot_after_post()

    return bmc.configure({"BootMode": "Uefi" if mode == "UEFI" else "Bios"}, apply)


def _order(bmc: SimBmc, wanted: Any) -> str:
    known = set(bmc.boot.order)
    if not isinstance(wanted, list) or not wanted or not set(wanted) <= known:
        raise RefusedError(error(bmc.profile, "PropertyValueNotInList", str(wanted), "BootOrder"))
    if wanted == bmc.boot.order:
        return ""

    def apply() -> None:
        rest = [option for option in bmc.boot.order if option not in wanted]
        bmc.boot.order = [*wanted, *rest]

    return bmc.configure({"BootOrder": list(wanted)}, apply)


def _one_of(bmc: SimBmc, wanted: Body, name: str, allowed: tuple[str, ...]) -> str | None:
    value = wanted.get(name)
    if value is None and name not in wanted:
        return None
    if value not in allowed:
        raise RefusedError(
            errors(
                bmc.profile,
                400,
                message(bmc.profile, "SYS426", str(value), name),
                message(bmc.profile, "PropertyValueNotInList", str(value), name),
            )
        )
    return str(value)


def answer_of(call: Call, job: str) -> Answer:
    """200, or 202 with where the job is."""
    done = success(call.bmc.profile)
    if job:
        done.status = 202
        done.headers["Location"] = f"/redfish/v1/TaskService/Tasks/{job}"
    return done


def install(tree: Tree, profile: Profile) -> None:
    """Settings of the system, boot options, and the end of one-time overrides."""

    def settings(bmc: SimBmc) -> Body:
        boot: Body = {"BootOrder": list(bmc.boot.order), "BootOrder@odata.count": len(bmc.boot.order)}
        if bmc.profile.value.boot_in_settings:
            boot.update(bmc.boot.shown())
        return {
            "@odata.context": "/redfish/v1/$metadata#ComputerSystem.ComputerSystem",
            "@odata.id": SETTINGS,
            "@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem",
            "Boot": boot,
            "Description": "Computer System settings",
            "Id": "Settings",
            "Name": "System",
        }

    def patch(call: Call) -> Answer:
        for name in call.body:
            if name not in ("Boot", "@Redfish.SettingsApplyTime"):
                raise RefusedError(error(call.bmc.profile, "PropertyUnknown", name))
        return answer_of(call, change(call, call.body.get("Boot"), at_settings=True))

    tree.live(SETTINGS, settings)
    tree.on("PATCH", SETTINGS, patch)
    options = [f"{SYSTEM}/BootOptions/{option.id}" for option in OPTIONS]
    tree.collection(
        f"{SYSTEM}/BootOptions",
        "BootOptionCollection",
        options,
        name="Boot Options Collection",
        about="Collection of BootOptions",
    )
    for option, path in zip(OPTIONS, options, strict=True):
        tree.fixed(path, _option(option, path))
    tree.at(Moment.POST_DONE, lambda bmc: bmc.boot.consume())


def _option(option: BootOption, path: str) -> Body:
    return {
        "@odata.context": "/redfish/v1/$metadata#BootOption.BootOption",
        "@odata.id": path,
        "@odata.type": "#BootOption.v1_0_4.BootOption",
        "BootOptionEnabled": True,
        "BootOptionReference": option.id,
        "Description": "Current settings of the UEFI Boot option",
        "DisplayName": option.name,
        "Id": option.id,
        "Name": "Uefi Boot Option",
        "UefiDevicePath": option.path,
    }
