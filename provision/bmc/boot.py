"""Boot override and boot order: what a system says, and the smallest change that brings what is wanted.

Target and Enabled are written, nothing else: on an iDRAC every PATCH of BootSourceOverrideMode, even to the mode it
has, queues a BIOS job and boots the node twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from provision.bmc.json_bodies import inner, text


class BootSource(StrEnum):
    """``BootSourceOverrideTarget`` (DSP8010), those that are set from here."""

    NONE = "None"
    PXE = "Pxe"
    HDD = "Hdd"
    CD = "Cd"
    BIOS = "BiosSetup"
    HTTP = "UefiHttp"


class BootEnabled(StrEnum):
    """``BootSourceOverrideEnabled``."""

    DISABLED = "Disabled"
    ONCE = "Once"
    CONTINUOUS = "Continuous"


WORDS: Mapping[str, BootSource] = {
    "pxe": BootSource.PXE,
    "http": BootSource.HTTP,
    "disk": BootSource.HDD,
    "media": BootSource.CD,
    "bios": BootSource.BIOS,
    "none": BootSource.NONE,
}
"""As operators say it."""


@dataclass(frozen=True, slots=True)
class Override:
    """A boot override. :param target: and ``enabled`` as the wire writes them."""

    target: str = BootSource.NONE.value
    enabled: str = BootEnabled.DISABLED.value

    @property
    def off(self) -> bool:
        """Whether the next boot takes the usual order."""
        return self.enabled in ("", BootEnabled.DISABLED) or self.target in ("", BootSource.NONE)

    @property
    def words(self) -> str:
        """For people: ``Pxe, once``."""
        return "none" if self.off else f"{self.target}, {self.enabled.lower()}"

    def same(self, other: Override) -> bool:
        """Whether the next boots are the same."""
        return (self.off and other.off) or (self.target, self.enabled) == (other.target, other.enabled)


def wanted_override(source: BootSource, *, continuous: bool = False) -> Override:
    """What a source means as an override."""
    if source is BootSource.NONE:
        return Override()
    enabled = BootEnabled.CONTINUOUS if continuous else BootEnabled.ONCE
    return Override(source.value, enabled.value)


@dataclass(frozen=True, slots=True)
class BootView:
    """How a system boots, as read.

    :param override: that holds for the next boot, or waits in the settings resource for it.
    :param mode: ``UEFI``, ``Legacy``, empty when not told; :param targets: allowed, None when not told.
    :param enabling: allowed words for Enabled, None when not told; :param order: references, as of the next reset.
    :param order_waits: that order differs from the present one; :param order_path: where it is written.
    :param paths: where the override may be written, the likelier place first.
    :param options_path: of the boot options, empty when there are none.
    """

    override: Override
    paths: tuple[str, ...]
    mode: str = ""
    targets: frozenset[str] | None = None
    enabling: frozenset[str] | None = None
    order: tuple[str, ...] = ()
    order_waits: bool = False
    order_path: str = ""
    options_path: str = ""

    @property
    def knows_continuous(self) -> bool:
        """Whether an override may last; assumed where it is not told."""
        return self.enabling is None or BootEnabled.CONTINUOUS.value in self.enabling


def settings_path(system: Mapping[str, Any], *, idrac: bool) -> str:
    """Where settings for the next boot are, empty when the system does not say and is no iDRAC's.

    An iDRAC has ``…/Settings``; from iDRAC10 on, the override is written only there. A DGX H100 names ``…/SD``.
    """
    named = inner(system, "@Redfish.Settings", "SettingsObject").get("@odata.id")
    path = text(system.get("@odata.id"))
    return text(named) or (f"{path}/Settings" if idrac and path else "")


def read_boot(
    system: Mapping[str, Any], settings: Mapping[str, Any] | None, *, idrac: bool = False
) -> BootView:
    """The body of a system and, where it was found, that of its settings."""
    now, later = inner(system, "Boot"), inner(settings, "Boot")
    own, other = text(system.get("@odata.id")), settings_path(system, idrac=idrac)
    moved = "BootSourceOverrideTarget" in later
    ruled = _values(later, "BootSourceOverrideTarget") is not None
    paths = [path for path in ((other, own) if moved and ruled else (own, other)) if path]
    current, pending = _override(now), _override(later)
    return BootView(
        override=pending if moved and not pending.off else current,
        paths=tuple(paths),
        mode=text(now.get("BootSourceOverrideMode")) or text(later.get("BootSourceOverrideMode")),
        targets=_values(now, "BootSourceOverrideTarget") or _values(later, "BootSourceOverrideTarget"),
        enabling=_values(now, "BootSourceOverrideEnabled") or _values(later, "BootSourceOverrideEnabled"),
        order=_order(later) or _order(now),
        order_waits=bool(_order(later)) and _order(later) != _order(now),
        order_path=other or own,
        options_path=text(inner(now, "BootOptions").get("@odata.id")),
    )


@dataclass(frozen=True, slots=True)
class BootChange:
    """What to write. :param body: of the PATCH, None for nothing to write; :param refused: why it cannot be."""

    body: Mapping[str, Any] | None = None
    refused: str = ""


def decide_override(view: BootView, wanted: Override, mode: str = "") -> BootChange:
    """The smallest PATCH that brings an override.

    :param mode: ``UEFI`` or ``Legacy`` where the operator asks for one; it is written only if it differs.
    """
    if view.targets is not None and not wanted.off and wanted.target not in view.targets:
        allowed = ", ".join(sorted(view.targets))
        return BootChange(refused=f"its BMC cannot boot {wanted.target}: it accepts {allowed}")
    if view.enabling is not None and wanted.enabled not in view.enabling:
        return BootChange(refused=f"its BMC knows no boot override {wanted.enabled}")
    differs = bool(mode) and mode != view.mode
    if view.override.same(wanted) and not differs:
        return BootChange()
    boot = {"BootSourceOverrideTarget": wanted.target, "BootSourceOverrideEnabled": wanted.enabled}
    return BootChange({"Boot": {**boot, **({"BootSourceOverrideMode": mode} if differs else {})}})


class Consumed(StrEnum):
    """What became of a one-time override after a boot."""

    YES = "consumed"
    NO = "still set"
    CHANGED = "changed"


def consumed(before: Override, after: Override) -> Consumed:
    """Whether the boot took it: it is off now."""
    if after.off:
        return Consumed.YES
    return Consumed.NO if after.same(before) else Consumed.CHANGED


@dataclass(frozen=True, slots=True)
class BootOption:
    """One entry that a boot order may name."""

    reference: str
    name: str
    path: str
    alias: str = ""
    enabled: bool = True

    @property
    def source(self) -> BootSource | None:
        """What kind it is: by its name on an iDRAC, by its alias, else by its UEFI device path (UEFI 2.10, 10.3).

        None: another kind, or one that cannot be booted. An iDRAC9 6.x has no aliases, and hides its network devices
        behind ``VenHw``; a DGX H100 offers PXE over the USB network between BMC and host, too.
        """
        dell = re.match(r"(PXE|HTTP|Unavailable\b)(?: Device \d+)?:", self.name)
        if dell:
            return {"PXE": BootSource.PXE, "HTTP": BootSource.HTTP}.get(dell[1])
        network = "/MAC(" in self.path
        if network and "/USB(" in self.path:
            return None
        known = {source.value: source for source in BootSource}
        if self.alias in known and self.alias != BootSource.NONE:
            return known[self.alias]
        if network:
            return BootSource.HTTP if "/Uri(" in self.path else BootSource.PXE
        if "CDROM(" in self.path or "optical" in self.name.lower():
            return BootSource.CD
        return BootSource.HDD if re.search(r"(?:\A|/)(?:HD|NVMe|Sata|SAS|Scsi)\(", self.path) else None


def read_option(body: Mapping[str, Any]) -> BootOption | None:
    """One member of BootOptions, None when it has no reference."""
    reference = text(body.get("BootOptionReference"))
    name = text(body.get("DisplayName")) or text(body.get("Name"))
    path, alias = text(body.get("UefiDevicePath")), text(body.get("Alias"))
    enabled = body.get("BootOptionEnabled") is not False
    return BootOption(reference, name, path, alias, enabled) if reference else None


def decide_order(
    order: Sequence[str], options: Iterable[BootOption], source: BootSource
) -> tuple[str, ...] | str:
    """The order with every option of a source in front, both groups in their present order.

    :returns: the new order; the present one when it is so already; a sentence when no option is of that source.
    """
    of_source = {option.reference for option in options if option.source is source and option.enabled}
    first = [reference for reference in order if reference in of_source]
    if not first:
        return f"none of its {len(order)} boot options is of kind {source.value}"
    return (*first, *(reference for reference in order if reference not in of_source))


def _override(boot: Mapping[str, Any]) -> Override:
    return Override(text(boot.get("BootSourceOverrideTarget")), text(boot.get("BootSourceOverrideEnabled")))


def _order(boot: Mapping[str, Any]) -> tuple[str, ...]:
    order = boot.get("BootOrder")
    return tuple(str(entry) for entry in order) if isinstance(order, list) else ()


def _values(boot: Mapping[str, Any], name: str) -> frozenset[str] | None:
    values = boot.get(f"{name}@Redfish.AllowableValues")
    return frozenset(map(str, values)) if isinstance(values, list) else None
