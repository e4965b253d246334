"""A site's ``install`` and ``maas`` against the rest of it: hosts that could not be enrolled or installed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fabricctl.hostset import fold
from fabricctl.site.findings import SiteFinding, SiteRule
from fabricctl.site.schema import Site
from fabricctl.site.use import all_hosts, bmc_addresses, model_names, names_of

FILE = "file:"
_KEY = re.compile(r"(?:^|\s)(?:ssh-|ecdsa-|sk-)[\w@.-]+ [A-Za-z0-9+/]{40,}={0,2}(?:\s|$)")
"""A line of authorized_keys (sshd(8)): options, type, base64, comment."""


def install_findings(site: Site) -> Iterator[SiteFinding]:
    """Enrolled hosts whose names MAAS cannot have, without a BMC address, or without a rule for their boot disk; keys
    that are none."""
    yield from _keys(site)
    if site.maas is None:
        return
    hosts = enrolled_hosts(site)
    yield from _with_domain(site, hosts)
    yield from _without_bmc(site, hosts)
    yield from _without_disk(site, hosts)


def enrolled_hosts(site: Site) -> list[str]:
    """Hosts that ``maas.hosts`` names, in written order; every host where it names none."""
    entries = site.maas.hosts if site.maas is not None else {}
    return list(dict.fromkeys(name for host_set in entries for name in names_of(host_set))) or all_hosts(site)


def key_fault(line: str) -> str:
    """What is wrong with a line of public keys, in words that follow "found"; empty when nothing is.

    :param line: without its end. A private key is never repeated.
    """
    if "PRIVATE KEY" in line:
        return "a private key"
    return "" if _KEY.search(line.strip()) else f"{line.strip()[:40]!r}"


def name_fault(hosts: Sequence[str]) -> str:
    """Why MAAS cannot have machines of these names, empty when it can: it keeps a name and its domain apart."""
    short = [host.partition(".")[0] for host in hosts if "." in host]
    if not short:
        return ""
    return f"MAAS knows machines by names without a domain: write {fold(short)} under nodes, the domain in maas.hosts"


def key_files(site: Site) -> dict[str, int]:
    """File of public keys as written -> line of the site file that names it first."""
    found: dict[str, int] = {}
    for name, user in site.install.users.items():
        for at, key in enumerate(user.ssh_keys):
            if key.startswith(FILE):
                line = site.line_of("install", "users", name, "ssh_keys", at)
                found.setdefault(key.removeprefix(FILE), line)
    return found


def _keys(site: Site) -> Iterator[SiteFinding]:
    for name, user in site.install.users.items():
        for at, key in enumerate(user.ssh_keys):
            fault = "" if key.startswith(FILE) else key_fault(key)
            if fault:
                text = f"ssh_keys: expected a public key or file:PATH, found {fault}"
                line = site.line_of("install", "users", name, "ssh_keys", at)
                yield SiteFinding(SiteRule.INSTALL, name, text, line)


def _with_domain(site: Site, hosts: list[str]) -> Iterator[SiteFinding]:
    for line, names in _by_line(site, [host for host in hosts if name_fault([host])]).items():
        yield SiteFinding(SiteRule.INSTALL, fold(names), name_fault(names), line)


def _without_bmc(site: Site, hosts: list[str]) -> Iterator[SiteFinding]:
    addresses = bmc_addresses(site)
    if not addresses:
        text = "MAAS cannot reach a BMC: management.bmc_addresses names none"
        yield SiteFinding(SiteRule.INSTALL, "maas", text, site.line_of("maas"))
        return
    for line, names in _by_line(site, [host for host in hosts if host not in addresses]).items():
        text = "to be enrolled in MAAS, but no BMC address is written"
        yield SiteFinding(SiteRule.INSTALL, fold(names), text, line)


def _without_disk(site: Site, hosts: list[str]) -> Iterator[SiteFinding]:
    models = model_names(site)
    missing: dict[str, list[str]] = {}
    for host in hosts:
        model = models.get(host, "")
        entry = site.node_models.get(model)
        if entry is not None and entry.boot_disk is None and host not in site.install.boot_disks:
            missing.setdefault(model, []).append(host)
    for model, names in missing.items():
        text = f"nothing says which disk gets the system: write node_models.{model}.boot_disk or install.boot_disks"
        yield SiteFinding(SiteRule.INSTALL, fold(names), text, site.line_of("node_models", model))


def _by_line(site: Site, hosts: list[str]) -> Mapping[int, list[str]]:
    """Hosts by the line that says they are enrolled."""
    entries = site.maas.hosts if site.maas is not None else {}
    of = {name: host_set for host_set in entries for name in names_of(host_set)}
    found: dict[int, list[str]] = {}
    for host in hosts:
        keys = ("maas", "hosts", of[host]) if host in of else ("maas",)
        found.setdefault(site.line_of(*keys), []).append(host)
    return found
