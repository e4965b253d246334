"""The services beside MAAS's API, as ``maas doctor`` asks them from this machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fabricctl.mac import Mac
from provision.install.doctor import Role, Verdict, not_asked
from provision.install.doctor_dhcp import judge_dhcp
from provision.install.doctor_network import judge_dns, judge_metadata, judge_ntp, judge_proxy, judge_reverse
from provision.install.machine import Machine, Stage
from provision.workflows.clock import Clocks
from provision.workflows.doctor_book import Book
from provision.workflows.doctor_maas import Known

if TYPE_CHECKING:
    from fabricctl.site.provisioning import Maas
    from fabricctl.site.schema import Site
    from provision.probes.dhcp import Way

NAMES = 3
"""Deployed hosts whose names are looked up."""
PROXY_PORT = 8000
"""Of MAAS's own proxy."""


@dataclass(frozen=True)
class DoctorOptions:
    """How it is asked.

    :param roles: those asked for; :param interface: of this machine, in the hosts' network, for DHCP by broadcast.
    :param bmcs: at how many hosts a rack controller is asked for the BMC; :param whole: HOSTS are all of the site.
    :param probe_s: seconds one role may take; :param answer_s: seconds one answer of the network may take.
    :param window_s: seconds DHCP offers are collected; :param dice: from 0 to 1, for transaction ids.
    """

    roles: frozenset[Role] = frozenset(Role)
    interface: str = ""
    bmcs: int = 8
    whole: bool = False
    probe_s: float = 120.0
    answer_s: float = 3.0
    window_s: float = 4.0
    clocks: Clocks = field(default_factory=Clocks)
    dice: Callable[[], float] = random.random


@dataclass(frozen=True)
class Services:
    """Where the services of one site are, and what is asked of them."""

    site: Site
    book: Book
    hosts: Sequence[str]
    options: DoctorOptions

    async def dhcp(self, known: Known, racks: Collection[str]) -> list[Verdict]:
        """A DHCPDISCOVER of a known machine. :param racks: addresses of rack controllers, which serve DHCP."""
        from provision.probes.dhcp import ask_dhcp

        host, mac = self._machine_that_boots(known)
        if not mac:
            return [
                not_asked(
                    Role.DHCP, "no MAC of any host is known: fabricctl bmc harvest, or maas.hosts: boot_nic"
                )
            ]
        way, given = self._way(), self.maas.roles.dhcp
        seen = await ask_dhcp(mac, way, xid=int(self.options.dice() * 2**32), window_s=self.options.window_s)
        servers = {*racks, *([str(given)] if given is not None else [])}
        sure = bool(way.interface) or given is not None
        return judge_dhcp(seen, mac=mac, host=host, way=way.words, servers=servers, sure=sure)

    async def dns(self, known: Known) -> list[Verdict]:
        """Name and address of some hosts that are installed; where none is, whether the server answers at all."""
        from provision.probes.name_server import ask_name, ask_reverse

        roles = self.maas.roles
        server = str(roles.dns) if roles.dns is not None else self.address
        port, answer_s = roles.dns_port, self.options.answer_s
        verdicts = []
        for host, addresses in self._named(known):
            name = self.book.names[host]
            kind = "A" if any("." in address for address in addresses) else "AAAA"
            seen = await ask_name(server, name, kind, port=port, answer_s=answer_s)
            verdicts.append(judge_dns(seen, server=server, name=name, expected=addresses))
            back = await ask_reverse(server, addresses[0], port=port, answer_s=answer_s)
            verdicts.append(judge_reverse(back, server=server, address=addresses[0], name=name))
        if verdicts:
            return verdicts
        seen = await ask_name(server, roles.domain, "SOA", port=port, answer_s=answer_s)
        return [judge_dns(seen, server=server, name=f"the zone {roles.domain}", expected=())]

    async def ntp(self) -> list[Verdict]:
        """The time."""
        from provision.probes.ntp import ask_ntp

        server = self.maas.roles.ntp or self.address
        seen = await ask_ntp(server, port=self.maas.roles.ntp_port, answer_s=self.options.answer_s)
        return [judge_ntp(seen, server=server, max_skew_s=self.site.management.max_clock_skew_s)]

    async def proxy(self) -> list[Verdict]:
        """The archive's page, through the proxy that hosts will use."""
        from provision.probes.http import ask_proxy

        roles, series = self.maas.roles, self.site.install.series
        own = f"http://{f'[{self.address}]' if ':' in self.address else self.address}:{PROXY_PORT}"
        proxy = roles.proxy or self.site.install.apt_proxy or own
        page = roles.page or f"http://archive.ubuntu.com/ubuntu/dists/{series}/Release"
        seen = await ask_proxy(proxy, page, answer_s=3 * self.options.answer_s)
        return [judge_proxy(seen, series=series if page.endswith(f"/dists/{series}/Release") else "")]

    async def metadata(self) -> list[Verdict]:
        """The service that machines ask who they are."""
        from provision.probes.http import get

        url = self.maas.roles.metadata or f"{self.maas.url}/metadata/"
        ca = str(PurePath(self.site.path).parent / self.maas.ca) if self.maas.ca else ""
        seen = await get(url, ca_file=ca, answer_s=3 * self.options.answer_s)
        return [judge_metadata(seen, url=url)]

    @property
    def maas(self) -> Maas:
        """The site file's section."""
        assert self.site.maas is not None
        return self.site.maas

    @property
    def address(self) -> str:
        """Name or address of MAAS's own host."""
        return urlsplit(self.maas.url).hostname or ""

    def _way(self) -> Way:
        from provision.probes.dhcp import Way

        roles = self.maas.roles
        server = str(roles.dhcp) if roles.dhcp is not None else self.address
        return Way(self.options.interface, server, roles.dhcp_port)

    def _machine_that_boots(self, known: Known) -> tuple[str, Mac]:
        """A host and a MAC of it: by the site's boot NIC or harvest, else by MAAS."""
        for host in self.hosts:
            machine = known.one(host)
            macs = machine.macs if machine is not None else ()
            likeliest = next((mac for mac in self.book.boots[host] if not macs or mac in macs), None)
            if likeliest is not None or macs:
                return host, likeliest or macs[0]
        return "", Mac("")

    def _named(self, known: Known) -> list[tuple[str, tuple[str, ...]]]:
        """Hosts that are installed, with their addresses by MAAS: those whose names it must know."""
        found = []
        for host in self.hosts:
            machine = known.one(host)
            if machine is not None and machine.stage is Stage.DEPLOYED and (addresses := _addresses(machine)):
                found.append((host, addresses))
        return found[:NAMES]


def _addresses(machine: Machine) -> tuple[str, ...]:
    return tuple(dict.fromkeys(address for nic in machine.nics for address in nic.addresses))
