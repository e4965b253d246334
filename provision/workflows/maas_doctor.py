"""``maas doctor``: every role that MAAS plays is asked, all at once, each within its own time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabricctl.errors import FabricctlError
from provision.install.doctor import THROUGH_API, Role, RoleResult, Verdict, not_asked
from provision.install.doctor_agree import Told, View, judge_host, judge_strangers
from provision.install.doctor_maas import Refusal, judge_api, judge_bmc, judge_images, judge_racks
from provision.workflows.doctor_book import Book
from provision.workflows.doctor_maas import (
    Known,
    MaasEyes,
    look_at_api,
    look_at_machines,
    look_at_power,
    sample,
    told,
)
from provision.workflows.doctor_services import DoctorOptions, Services

if TYPE_CHECKING:
    from fabricctl.site.schema import Site

__all__ = ["AskBmcs", "Doctor", "DoctorOptions"]

AskBmcs = Callable[[Sequence[str]], Awaitable[Mapping[str, View | str]]]
"""Asks BMCs of hosts who they are: what they say, or why they did not."""
_NEED_MACHINES = frozenset({Role.RACKS, Role.DHCP, Role.DNS, Role.AGREEMENT})


@dataclass(frozen=True)
class Doctor:
    """One examination of a site's MAAS.

    :param hosts: those it is about; :param ask_bmcs: None: the BMCs are not asked.
    """

    site: Site
    maas: MaasEyes
    book: Book
    hosts: Sequence[str]
    options: DoctorOptions
    ask_bmcs: AskBmcs | None = None

    async def examine(self, done: Callable[[RoleResult], None] = lambda _: None) -> list[RoleResult]:
        """Ask every role; results in the order of :class:`Role`.

        :param done: called as each is finished.
        """
        roles = [role for role in Role if role in self.options.roles]
        looking = asyncio.ensure_future(
            look_at_machines(self.maas, self.hosts, self.book.views, strangers=self.options.whole)
        )
        tasks = [asyncio.ensure_future(self._role(role, looking, done)) for role in roles]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in [*tasks, looking]:
                task.cancel()
            await asyncio.gather(*tasks, looking, return_exceptions=True)

    async def _role(
        self, role: Role, looking: Awaitable[Known | Refusal], done: Callable[[RoleResult], None]
    ) -> RoleResult:
        begun = self.options.clocks.elapsed()
        try:
            async with asyncio.timeout(self.options.probe_s):
                known = await asyncio.shield(looking) if role in _NEED_MACHINES else Known()
                verdicts = await self._ask(role, known)
        except TimeoutError:
            verdicts = [not_asked(role, f"it was not finished within {self.options.probe_s:g} s")]
        except FabricctlError as error:
            verdicts = [not_asked(role, str(error))]
        result = RoleResult(role, tuple(verdicts), self.options.clocks.elapsed() - begun)
        done(result)
        return result

    async def _ask(self, role: Role, known: Known | Refusal) -> list[Verdict]:
        if isinstance(known, Refusal):
            if role in THROUGH_API:
                return [not_asked(role, f"MAAS did not tell of the machines: {known.words}")]
            known = Known()  # the service itself can be asked all the same
        services = Services(self.site, self.book, self.hosts, self.options)
        if role is Role.DHCP:
            return await services.dhcp(known, await self._rack_addresses())
        if role is Role.DNS:
            return await services.dns(known)
        if role is Role.RACKS:
            return await self._racks(known)
        if role is Role.AGREEMENT:
            return await self._agreement(known)
        ask: Mapping[Role, Callable[[], Awaitable[list[Verdict]]]] = {
            Role.API: self._api,
            Role.IMAGES: self._images,
            Role.METADATA: services.metadata,
            Role.NTP: services.ntp,
            Role.PROXY: services.proxy,
        }
        return await ask[role]()

    async def _api(self) -> list[Verdict]:
        assert self.site.maas is not None
        seen = await look_at_api(self.maas, self.options.clocks)
        login = await told(self.maas.user()) if not isinstance(seen, Refusal) else ""
        skew_s = self.site.management.max_clock_skew_s
        return judge_api(seen, login, url=self.site.maas.url, max_skew_s=skew_s)

    async def _images(self) -> list[Verdict]:
        install = self.site.install
        return judge_images(await told(self.maas.images()), series=install.series, kernel=install.kernel)

    async def _racks(self, known: Known) -> list[Verdict]:
        racks = await told(self.maas.racks())
        machines = {
            host: one for host in self.hosts if (one := known.one(host)) is not None and one.power_type
        }
        at_most = self.options.bmcs if isinstance(racks, Refusal) or racks else min(self.options.bmcs, 1)
        chosen = sample(list(machines), at_most)
        states = await look_at_power(self.maas, {host: machines[host] for host in chosen})
        return [*judge_racks(racks), *(judge_bmc(host, state) for host, state in states.items())]

    async def _rack_addresses(self) -> set[str]:
        racks = await told(self.maas.racks())
        return set() if isinstance(racks, Refusal) else {each for rack in racks for each in rack.addresses}

    async def _agreement(self, known: Known) -> list[Verdict]:
        answers = await self.ask_bmcs(self.hosts) if self.ask_bmcs is not None else {}
        owners = self.book.owners
        verdicts: list[Verdict] = []
        for host in self.hosts:
            answer = answers.get(host)
            all_of_it = Told(
                host,
                self.book.views[host],
                known.machines.get(host, ()),
                bmc=answer if isinstance(answer, View) else None,
                bmc_error=answer if isinstance(answer, str) else "",
            )
            verdicts += judge_host(all_of_it, owners)
        if known.strangers is not None:
            verdicts += judge_strangers(known.strangers, len(self.hosts))
        return verdicts
