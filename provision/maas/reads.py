"""What MAAS is asked: machines by id, MAC and name, events, images, racks. Never for the list of all machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote_plus

from fabricctl.errors import ProvisionerGarbledError
from fabricctl.mac import Mac
from provision.install.machine import Machine
from provision.install.spec import Changes
from provision.maas.events import LARGEST_PAGE, Cursor, Event, events_of, parse_cursor
from provision.maas.parse import machine_of, machines_of, mapping, text
from provision.maas.values import (
    Image,
    Rack,
    ScriptResult,
    bmc_address,
    gpus_of,
    images_of,
    racks_of,
    results_of,
)
from provision.maas.wire import Ask, Sender

LONGEST_QUERY = 6000
"""Characters of one query. MAAS stands behind nginx, which refuses request lines of more than 8 KB: 511 ids fit into
one request, MACs and long host names take two or three."""
MACHINE_S = 0.3
"""Seconds MAAS took to tell of one commissioned machine on two slow cores; a bulk read may take so much longer each."""
PAGES = 4
"""Pages of events that are read at once; what is more is left for the next look."""


class MaasReads:
    """The reading half of :class:`provision.maas.provisioner.MaasProvisioner`."""

    name = "MAAS"

    def __init__(self, transport: Sender, *, answer_s: float = 90.0) -> None:
        self._transport = transport
        self._answer_s = answer_s
        self._names: dict[str, str] = {}

    @property
    def requests(self) -> int:
        """HTTP requests sent so far."""
        return self._transport.requests

    async def _get(self, path: str, op: str = "", **options: Any) -> Any:
        return (await self._transport.send(Ask("GET", path, op, **options))).body

    def _host(self, id: str) -> str:
        """How errors name a machine: by its host name once it was read."""
        return self._names.get(id, id)

    def _known(self, machines: list[Machine]) -> list[Machine]:
        self._names.update(
            {machine.id: machine.hostname for machine in machines if machine.id and machine.hostname}
        )
        return machines

    def _machine(self, raw: object) -> Machine:
        return self._known([machine_of(raw)])[0]

    async def find(self, macs: Sequence[Mac] = (), hostnames: Sequence[str] = ()) -> list[Machine]:
        """Machines with one of the MACs or one of the host names; a request for each 6,000 characters of them.

        Host names are asked for without a domain; a machine of that name in another domain is found as well.
        """
        short = [name.partition(".")[0] for name in hostnames]
        found: dict[str, Machine] = {}
        for key, values in (("mac_address", macs), ("hostname", short)):
            for machine in await self._filtered(key, values):
                found[machine.id or machine.hostname] = machine
        return list(found.values())

    async def read(self, ids: Sequence[str]) -> list[Machine]:
        """Machines by id in one bulk read; those that are not there any more are left out."""
        return await self._filtered("id", ids)

    async def _filtered(self, key: str, values: Sequence[str]) -> list[Machine]:
        """Machines by a filter. Without a value nothing is asked: MAAS would answer with all machines."""
        found: list[Machine] = []
        for part in batches(key, list(dict.fromkeys(filter(None, values)))):
            query = tuple((key, value) for value in part)
            deadline_s = self._answer_s + MACHINE_S * len(part)
            found += machines_of(await self._get("machines/", query=query, deadline_s=deadline_s))
        return self._known(found)

    async def bmc_addresses(self) -> Mapping[str, str]:
        """Machine id -> BMC address, of all machines that have one, in one request. Passwords are dropped at once."""
        raw = await self._get("machines/", "power_parameters", quiet=True)
        if not isinstance(raw, dict):
            raise ProvisionerGarbledError("expected power parameters by machine, found something else")
        found = {text(id): bmc_address(parameters) for id, parameters in raw.items()}
        return {id: address for id, address in found.items() if address}

    async def events(
        self, after: int | None = None, *, id: str = "", level: str = "DEBUG", limit: int = LARGEST_PAGE
    ) -> list[Event]:
        """Events, newest first. :param after: the oldest ones behind that number; None means the newest there are.

        :param id: of one machine; :param level: lowest; :param limit: at most 1000.
        """
        query = [("level", level), ("limit", str(limit))]
        if id:
            query.append(("id", id))
        if after is not None:
            query.append(("after", str(after)))
        return events_of(await self._get("events/", "query", query=tuple(query), host=self._host(id)))

    async def changes(self, cursor: str) -> Changes:
        """What changed since, by MAAS's events: one request, up to four where there are thousands.

        A machine counts as changed when an event tells of more than a script that ran; of those only the words are
        told. With an empty cursor nothing but where to begin.
        """
        known = parse_cursor(cursor)
        if known is None:
            newest = await self.events(limit=1)
            return Changes(cursor=str(Cursor(newest[0].id if newest else 0)))
        fresh: list[Event] = []
        after, complete = known.after, False
        for _ in range(PAGES):
            page = await self.events(after)
            fresh += [event for event in page if not known.knows(event.id)]
            if len(page) < LARGEST_PAGE:
                complete = True
                break
            after = page[0].id
        return Changes(
            ids=frozenset(event.node for event in fresh if event.node and not event.progress),
            cursor=str(known.moved([event.id for event in fresh])),
            said={
                event.node: event.words for event in sorted(fresh, key=lambda event: event.id) if event.node
            },
            complete=complete,
        )

    async def results(self, id: str) -> list[ScriptResult]:
        """How the scripts of a machine's newest phases ended."""
        return results_of(await self._get(f"nodes/{id}/results/", host=self._host(id)))

    async def gpus(self, id: str) -> int | None:
        """How many GPUs commissioning saw, which a machine's own object does not tell; None when nobody looked."""
        return gpus_of(await self._get(f"nodes/{id}/devices/", query=(("bus", "PCIE"),), host=self._host(id)))

    async def query_power(self, id: str) -> str:
        """Ask the BMC through a rack controller: ``on``, ``off``, ``error``, ``unknown``.

        :raises ProvisionerPowerError: no rack controller reaches it.
        """
        raw = await self._get(f"machines/{id}/", "query_power_state", host=self._host(id))
        return text(mapping(raw).get("state")) or "unknown"

    async def version(self) -> str:
        """MAAS's version: ``3.7.3``. It answers without a key, so this proves an address, not a key."""
        return text(mapping(await self._get("version/")).get("version"))

    async def api_hash(self) -> str:
        """Hash of the API's description, by a header: the same for all who offer the same operations."""
        return (await self._transport.send(Ask("GET", "version/"))).headers.get("x-maas-api-hash", "")

    async def user(self) -> str:
        """Whose API key it is. :raises ProvisionerLoginError: the key is refused."""
        return text(mapping(await self._get("users/", "whoami")).get("username"))

    async def server_date(self) -> datetime | None:
        """The time by the ``Date`` header of an answer, to the second; None where there is none."""
        answer = await self._transport.send(Ask("GET", "version/"))
        try:
            date = parsedate_to_datetime(answer.headers.get("date", ""))
        except ValueError:
            return None
        return date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)

    async def images(self) -> list[Image]:
        """Boot images the region has."""
        return images_of(await self._get("boot-resources/"))

    async def racks(self) -> list[Rack]:
        """Rack controllers and their services."""
        return racks_of(await self._get("rackcontrollers/"))

    async def close(self) -> None:
        """Close connections."""
        await self._transport.close()


def batches(key: str, values: Sequence[str], longest: int = LONGEST_QUERY) -> Iterator[list[str]]:
    """Values in groups whose queries (``key=value&…``) are not longer than a server takes; none for no values."""
    group: list[str] = []
    length = 0
    for value in values:
        size = len(key) + len(quote_plus(value, safe=":")) + 2
        if group and length + size > longest:
            yield group
            group, length = [], 0
        group.append(value)
        length += size
    if group:
        yield group
