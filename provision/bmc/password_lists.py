"""What is said about passwords without telling one: what a vendor's list brings, and who has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from provision.bmc.credential import Entry


@dataclass(frozen=True)
class Import:
    """What a list would bring.

    :param new: to be kept; :param replaced: to be kept in place of others; :param same: kept already.
    :param rotated: tags whose password was changed meanwhile: the list knows the old one.
    :param hosts: tag -> host, of those the site has; :param strangers: tags the site does not have.
    :param bare: hosts with a tag and without any password; :param tagless: hosts whose tag nobody knows.
    """

    new: tuple[Entry, ...]
    replaced: tuple[Entry, ...]
    same: tuple[str, ...]
    rotated: tuple[str, ...]
    hosts: Mapping[str, str]
    strangers: tuple[str, ...]
    bare: tuple[str, ...]
    tagless: tuple[str, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is to be written."""
        return self.new + self.replaced


@dataclass(frozen=True, slots=True)
class Holding:
    """What is kept for one BMC, or for a machine the site does not know.

    :param host: empty for such a machine; :param kept: where: ``host gpu001``, ``service tag …``, ``env:NAME``, empty
        when nowhere. :param trouble: why the password cannot be had.
    """

    host: str
    service_tag: str
    user: str = ""
    kept: str = ""
    state: str = ""
    since: datetime | None = None
    source: str = ""
    trouble: str = ""
