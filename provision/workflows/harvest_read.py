"""Reading one machine's inventory off its BMC: what is asked at which depth.

===========  =========================================================================================================
depth        requests (a machine with eleven network adapters)
===========  =========================================================================================================
quick        16: login; EthernetInterfaces of host and BMC, NetworkAdapters and one NetworkDeviceFunctions per adapter,
             each expanded; logout. Before them the service root, which needs no login. Where these tell no MAC of a
             function, the ports of its adapter too.
default      29: also the system, the ports of every adapter, on a Dell the iDRAC's attributes (shared port); and
             DellNetworkAttributes of functions that tell no capabilities.
full         also processors of every system, storage with its drives, power supplies, memory, firmware, and
             DellNetworkAttributes of every HCA, which may contradict its port (seen on an iDRAC9 6.00.30).
===========  =========================================================================================================

How many of them are under way at once is the driver's business. What cannot be read is a gap of the inventory; only a
BMC that tells nothing at all, or refuses the login, is an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from fabricctl.errors import BmcDeadlineError, BmcError, BmcLoginError, BmcNotFoundError, BmcTlsError
from provision.bmc.bodies import Bodies
from provision.bmc.build import build
from provision.bmc.inventory import Depth, Family, Gap, Inventory
from provision.bmc.joins import linked_ports, portless
from provision.bmc.json_bodies import EMPTY, Body, inner, is_fqdd, last, link, path_of
from provision.bmc.outcome import Outcome
from provision.bmc.target import Target
from provision.redfish.bmc import Bmc, Group
from provision.redfish.fleet import Interrupted, ask
from provision.redfish.limits import FleetOptions

_FATAL = (BmcLoginError, BmcTlsError)
"""Nothing else will be answered either, and a login that is tried again may lock the account."""


PATIENCE_S = 60.0
"""Longest wait for one group of a full harvest (firmware, storage, ...), repetitions and all: slow groups of real BMCs
take 20 s, and a BMC that keeps saying "not ready" there has told everything else."""


async def read_inventory(
    bmc: Bmc, depth: Depth = Depth.DEFAULT, *, patience_s: float = PATIENCE_S
) -> Inventory:
    """Read one machine.

    :param patience_s: longest wait for a group that only a full harvest asks for.
    :raises BmcError: nothing could be read, or the login was refused.
    """
    reader = Reader(bmc, depth, patience_s)
    await reader.everything()
    if not reader.answers and reader.first_error is not None:
        raise reader.first_error
    inventory, notes = build(reader.bodies)
    for note in notes:
        bmc.note(note.path, note.text)
    return inventory


def read_fleet(
    targets: Sequence[Target],
    depth: Depth,
    options: FleetOptions,
    done: Callable[[Outcome[Inventory], int], None] | None = None,
) -> list[Outcome[Inventory]]:
    """Read many machines. :param done: called for each BMC with the number finished so far.

    :raises Interrupted: with everything that was read by then.
    """
    read: dict[str, Outcome[Inventory]] = {}

    async def work(bmc: Bmc) -> Inventory:
        inventory = await read_inventory(bmc, depth)
        read[bmc.target.host] = Outcome(bmc.target, inventory, notes=bmc.notes)
        return inventory

    try:
        return ask(targets, work, options, done=done)
    except Interrupted as exc:  # what was read counts, also where only the logout was still under way
        known = {outcome.target.host for outcome in exc.outcomes}
        late = [outcome for host, outcome in read.items() if host not in known]
        raise Interrupted([*exc.outcomes, *late]) from exc


class Reader:
    """What is read of one machine, and what could not be.

    :param answers: resources that came; :param first_error: the first failure.
    """

    def __init__(self, bmc: Bmc, depth: Depth, patience_s: float = PATIENCE_S) -> None:
        self.bmc = bmc
        self.patience_s = patience_s
        self.bodies = Bodies(depth)
        self.answers = 0
        self.first_error: BmcError | None = None

    async def everything(self) -> None:
        """All of the depth."""
        bodies = self.bodies
        bodies.root = await self.bmc.root()
        layout = await self.bmc.layout()
        bodies.system_path = layout.system
        asked = [self._interfaces(layout.system, layout.manager), self._adapters(layout.chassis)]
        if bodies.depth >= Depth.DEFAULT:
            asked += [self._system(layout.system), self._manager(layout.manager)]
        if bodies.depth >= Depth.FULL:
            from provision.workflows.harvest_parts import parts

            asked.append(parts(self, layout))
        await together(*asked)

    async def _interfaces(self, system: str, manager: str) -> None:
        bodies = self.bodies
        bodies.interfaces, bodies.bmc_interfaces = await together(
            self.members(f"{system}/EthernetInterfaces", "Ethernet interfaces of the host", Family.NIC),
            self.members(f"{manager}/EthernetInterfaces", "Ethernet interfaces of the BMC", Family.BMC),
        )

    async def _system(self, path: str) -> None:
        self.bodies.system = await self.get(path, "system", Family.SYSTEM) or EMPTY

    async def _manager(self, path: str) -> None:
        """Attributes of an iDRAC: 41 kB for one of them, but a shared port stands nowhere else."""
        if not self.bodies.dell:
            return
        name = path.rpartition("/")[2]
        newer = await self.get(
            f"{path}/Oem/Dell/DellAttributes/{name}", "attributes of the iDRAC", Family.BMC, missing=True
        )
        self.bodies.manager = newer or EMPTY

    async def _adapters(self, chassis: tuple[str, ...]) -> None:
        listed = await together(
            *(self.members(f"{path}/NetworkAdapters", "network adapters", Family.ADAPTER) for path in chassis)
        )
        self.bodies.adapters = [adapter for adapters in listed for adapter in adapters]
        await together(*(self._adapter(adapter) for adapter in self.bodies.adapters))

    async def _adapter(self, adapter: Body) -> None:
        path = path_of(adapter)
        name = path.rpartition("/")[2]
        collection = link(adapter, "NetworkDeviceFunctions") or f"{path}/NetworkDeviceFunctions"
        functions = self.members(collection, f"functions of {name}", Family.NIC)
        if self.bodies.depth is Depth.QUICK:
            self.bodies.functions[path] = await functions
            if self.bodies.functions[path] and not all(map(_has_mac, self.bodies.functions[path])):
                self.bodies.ports[path] = await self._ports(adapter, name)
        else:
            both = await together(functions, self._ports(adapter, name))
            self.bodies.functions[path], self.bodies.ports[path] = both
        await self._linked_ports(adapter, path)
        wanted = self._attribute_paths(self.bodies.functions[path])
        answers = await together(*(self.linked(attributes, Family.NIC) for _, attributes in wanted))
        for (function, _), body in zip(wanted, answers, strict=True):
            self.bodies.attributes[function] = body or EMPTY

    async def _ports(self, adapter: Body, name: str) -> list[Body]:
        """Ports of a card; newer services call them Ports, older ones NetworkPorts, some have both and one is empty."""
        for kind in ("Ports", "NetworkPorts"):
            if collection := link(adapter, kind):
                return await self.members(collection, f"ports of {name}", Family.NIC)
        return []

    async def _linked_ports(self, adapter: Body, path: str) -> None:
        """Ports that the card or a function without a port names; where a name leads nowhere, that is noted."""
        ports = self.bodies.ports.get(path)
        if ports is None:
            return
        ports += await self._absent_ports(linked_ports(adapter), ports)
        ports += await self._absent_ports(portless(self.bodies.functions[path], ports), ports)

    async def _absent_ports(self, named: Sequence[str], ports: Sequence[Body]) -> list[Body]:
        """Ports that are named and not known, neither by path nor by FQDD."""
        known = {path_of(port) for port in ports}
        fqdds = {last(path) for path in known if is_fqdd(last(path))}
        asked = [path for path in named if path not in known and last(path) not in fqdds]
        found = await together(*(self.linked(path, Family.NIC) for path in asked))
        return [port for port in found if port]

    def _attribute_paths(self, functions: Sequence[Body]) -> list[tuple[str, str]]:
        """Functions whose DellNetworkAttributes are worth a request: path of the function, path of the attributes."""
        if self.bodies.depth is Depth.QUICK:
            return []
        found = []
        for function in functions:
            dell = inner(function, "Oem", "Dell")
            told = dell.get("DellNICCapabilities") or dell.get("DellInfiniBandCapabilities")
            doubted = self.bodies.depth is Depth.FULL and bool(dell.get("DellInfiniBand"))
            path = link(function, "Links", "Oem", "Dell", "DellNetworkAttributes")
            if path and (doubted or not told):
                found.append((path_of(function), path))
        return found

    async def members(self, path: str, what: str, family: Family, group: Group = Group.QUICK) -> list[Body]:
        """A collection; none when it is not there, a gap when it cannot be read."""
        try:
            found = await self.bmc.members(path, group)
        except BmcNotFoundError:
            self.bmc.note(path, "is not there")
            return []
        except _FATAL:
            raise
        except BmcError as exc:
            self.gap(what, path, exc, family)
            return []
        self.answers += 1
        return list(found)

    async def get(
        self, path: str, what: str, family: Family, group: Group = Group.QUICK, *, missing: bool = False
    ) -> Body | None:
        """A resource; None and a gap when it cannot be read. :param missing: it may well not be there."""
        try:
            reply = await self.bmc.get(path, group)
        except BmcNotFoundError as exc:
            if missing:
                self.bmc.note(path, "is not there")
            else:
                self.gap(what, path, exc, family)
            return None
        except _FATAL:
            raise
        except BmcError as exc:
            self.gap(what, path, exc, family)
            return None
        self.answers += 1
        return reply.resource

    async def linked(self, path: str, family: Family) -> Body | None:
        """A resource that another one names; when it is not there, the link dangles, which is noted."""
        return await self.get(path, path.rpartition("/")[2], family, missing=True)

    async def patiently(
        self, what: str, path: str, family: Family, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Do a group of a full harvest within its deadline; a gap when that passes."""
        try:
            async with asyncio.timeout(self.patience_s):
                await work()
        except TimeoutError:
            late = BmcDeadlineError(f"not read within {self.patience_s:g} s", bmc=str(self.bmc.target))
            self.gap(what, path, late, family)

    def gap(self, what: str, path: str, exc: BmcError, family: Family) -> None:
        """Record what could not be read."""
        self.first_error = self.first_error or exc
        self.bodies.gaps.append(Gap(what, path, exc.message, family))


def _has_mac(function: Body) -> bool:
    told = inner(function, "Ethernet")
    return bool(told.get("PermanentMACAddress") or told.get("MACAddress"))


async def together(*work: Coroutine[Any, Any, Any]) -> list[Any]:
    """Results in order; the first failure ends the others and is raised as itself."""
    if len(work) < 2:
        return [await one for one in work]
    try:
        async with asyncio.TaskGroup() as tasks:
            made = [tasks.create_task(one) for one in work]
    except BaseExceptionGroup as group:
        raise _first(group) from group
    return [task.result() for task in made]


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    one = group.exceptions[0]
    return _first(one) if isinstance(one, BaseExceptionGroup) else one
