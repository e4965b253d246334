"""The rule that says which disk gets the operating system. Neither kernel names nor orders nor ids count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from fabricctl.site.provisioning import BootDisk
from provision.install.disk_identity import BY_ID, DiskIdentity, stable_name

GB = 1_000_000_000


@dataclass(frozen=True, slots=True)
class DiskRule:
    """Every key that is not empty must fit. Patterns are shell patterns (``*``, ``?``, ``[...]``), in any case.

    :param by_id: pattern of the name under ``/dev/disk/by-id``, with or without that folder.
    :param size_gb: smallest and largest size in 10^9 bytes, both included.
    :param exact: the serial number of this one host's boot disk, or its whole path ``/dev/disk/by-id/...``. The other
        keys then count only where more than one disk has it.
    """

    model: str = ""
    serial: str = ""
    by_id: str = ""
    size_gb: tuple[float, float] | None = None
    exact: str = ""

    @property
    def words(self) -> str:
        """``model *BOSS* and 400 to 1000 GB``."""
        if self.exact:
            return f"{'path' if self.exact.startswith('/') else 'serial number'} {self.exact}"
        return self.pattern_words

    @property
    def pattern_words(self) -> str:
        """The same without the exact serial number."""
        said = [
            f"{name} {pattern}"
            for name, pattern in (("model", self.model), ("serial", self.serial), ("by-id", self.by_id))
            if pattern
        ]
        if self.size_gb is not None:
            low, high = self.size_gb
            said.append(f"{low:g} to {high:g} GB")
        return " and ".join(said)

    @property
    def patterns(self) -> bool:
        """Whether it has keys beside the exact serial number."""
        return bool(self.model or self.serial or self.by_id or self.size_gb)

    def names(self, disk: DiskIdentity) -> bool:
        """Whether the disk has the exact serial number or path."""
        if self.exact.startswith("/"):
            return bool(disk.by_id) and stable_name(self.exact) == disk.by_id
        return bool(disk.serial) and self.exact.strip().casefold() == disk.serial_key

    def fits(self, disk: DiskIdentity) -> bool:
        """Whether every key but the exact serial number fits."""
        if self.size_gb is not None:
            low, high = self.size_gb
            if not low * GB <= disk.size <= high * GB:
                return False
        return (
            _like(disk.model, self.model)
            and _like(disk.serial, self.serial)
            and _like(disk.by_id, self.by_id.removeprefix(BY_ID))
        )


def _like(text: str, pattern: str) -> bool:
    """No pattern fits all; any pattern, ``*`` too, wants that there is a text."""
    return not pattern or (bool(text) and fnmatchcase(text.casefold(), pattern.strip().casefold()))


def disk_rule(model: BootDisk | None, host: str, serials: Mapping[str, str]) -> DiskRule | None:
    """The rule of one host: its own entry of ``install.boot_disks``, and its model's ``boot_disk``; None without both.

    :param serials: ``install.boot_disks``: host -> serial number or path of its boot disk.
    """
    exact = serials.get(host, "").strip()
    if model is None:
        return DiskRule(exact=exact) if exact else None
    return DiskRule(model.model or "", model.serial or "", model.by_id or "", model.size_gb, exact)
