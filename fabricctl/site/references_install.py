"""Words of a site file's ``install`` and ``maas`` that must name hosts of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabricctl.site.problems import Problem, problem_at, unknown_names
from fabricctl.site.provisioning import MaasHost
from fabricctl.site.schema import Site
from fabricctl.site.use import names_of
from fabricctl.site.yaml_lines import KeyPath


def install_problems(site: Site, hosts: Sequence[str]) -> Iterator[Problem]:
    """Hosts that are not there, serial numbers told twice, hosts enrolled in two ways. :param hosts: of the site."""
    keys: KeyPath = ("install", "boot_disks")
    first: dict[str, str] = {}
    for host, serial in site.install.boot_disks.items():
        yield from unknown_names((*keys, host), "host", [host], hosts)
        other = first.setdefault(serial.strip().upper(), host)
        if other != host:
            yield problem_at(
                (*keys, host), f"expected another disk than that of {other}, found {serial} again"
            )
    if site.maas is not None:
        yield from _maas_hosts(site.maas.hosts, hosts)


def _maas_hosts(entries: Mapping[str, MaasHost], hosts: Sequence[str]) -> Iterator[Problem]:
    """An entry of one host comes before a set that holds it; two sets that hold the same host contradict."""
    of_set: dict[str, str] = {}
    for host_set, entry in entries.items():
        keys: KeyPath = ("maas", "hosts", host_set)
        names = names_of(host_set)
        yield from unknown_names(keys, "host", names, hosts)
        if len(names) == 1:
            continue
        if entry.boot_nic is not None and ":" in entry.boot_nic:
            yield problem_at(
                (*keys, "boot_nic"), f"expected a NIC's id for {len(names)} hosts, found one MAC"
            )
        twice = next((name for name in names if name in of_set), None)
        if twice is not None:
            yield problem_at(keys, f"expected each host in one set, found {twice} in {of_set[twice]} too")
        of_set.update((name, host_set) for name in names if name not in of_set)
