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

from collections.abc import Callable, Sequence

from provision.bmc.build import build
from provision.bmc.inventory import Depth, Inventory
from provision.bmc.outcome import Outcome
from provision.bmc.target import Target
from provision.redfish.bmc import Bmc
from provision.redfish.fleet import Interrupted, ask
from provision.redfish.limits import FleetOptions
from provision.workflows.harvest_network import adapters, interfaces, manager, system
from provision.workflows.harvest_reader import PATIENCE_S, Reader
from provision.workflows.together import together


async def read_inventory(
    bmc: Bmc, depth: Depth = Depth.DEFAULT, *, patience_s: float = PATIENCE_S
) -> Inventory:
    """Read one machine.

    :param patience_s: longest wait for a group that only a full harvest asks for.
    :raises BmcError: nothing could be read, or the login was refused.
    """
    reader = Reader(bmc, depth, patience_s)
    await _everything(reader)
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


async def _everything(reader: Reader) -> None:
    """All of the depth."""
    bodies = reader.bodies
    bodies.root = await reader.bmc.root()
    layout = await reader.bmc.layout()
    bodies.system_path = layout.system
    asked = [interfaces(reader, layout.system, layout.manager), adapters(reader, layout.chassis)]
    if bodies.depth >= Depth.DEFAULT:
        asked += [system(reader, layout.system), manager(reader, layout.manager)]
    if bodies.depth >= Depth.FULL:
        from provision.workflows.harvest_parts import parts

        asked.append(parts(reader, layout))
    await together(*asked)
