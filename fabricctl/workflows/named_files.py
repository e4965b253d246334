"""Files that a site file's ``install`` and ``maas`` name: are they there, and do they hold what they should."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fabricctl.adapters.files import decode, read_input
from fabricctl.errors import InputError
from fabricctl.site.check_install import key_fault, key_files
from fabricctl.site.findings import SiteFinding, SiteRule

if TYPE_CHECKING:
    from fabricctl.site.schema import Site

_LARGEST = 1 << 20


def file_findings(site: Site) -> Iterator[SiteFinding]:
    """Files that cannot be read, lines of key files that are no public key.

    A relative name is relative to the site file.
    """
    for name, line in key_files(site).items():
        for fault in _key_faults(_place(site, name), name):
            yield SiteFinding(SiteRule.INSTALL, f"file:{name}", fault, line)
    for section, entry in (("maas", site.maas), ("ironic", site.ironic)):
        if entry is not None and entry.ca is not None and not _place(site, entry.ca).is_file():
            text = "expected a PEM file of authorities, found no file"
            yield SiteFinding(SiteRule.INSTALL, entry.ca, text, site.line_of(section, "ca"))


def _place(site: Site, name: str) -> Path:
    return Path(site.path).parent / os.path.expanduser(name)


def _key_faults(path: Path, name: str) -> Iterator[str]:
    """What is wrong with one file of public keys."""
    try:
        lines = decode(read_input(str(path), limit_bytes=_LARGEST), name).splitlines()
    except InputError as error:
        yield f"cannot be read: {error.message}"
        return
    keys = [(at, text) for at, text in enumerate(lines, 1) if text.strip() and not text.startswith("#")]
    if not keys:
        yield "expected public keys, one on each line, found none"
    for at, text in keys:
        fault = key_fault(text)
        if fault:
            yield f"line {at}: expected a public key, found {fault}"
            return
