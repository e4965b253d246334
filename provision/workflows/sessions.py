"""Who is logged in at BMCs, and ending what earlier runs left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from provision.bmc.json_bodies import link
from provision.bmc.session_list import SessionList, Whose, judge
from provision.redfish.ledger import read_folder

if TYPE_CHECKING:
    from provision.bmc.target import Target
    from provision.redfish.bmc import Bmc
    from provision.redfish.limits import FleetOptions

SESSIONS = "/redfish/v1/SessionService/Sessions"


def list_sessions(
    options: FleetOptions, *, clear_own: bool = False
) -> Callable[[Bmc], Awaitable[SessionList]]:
    """Work on a BMC: its sessions, with whose they are.

    :param options: with the ledger of what other runs hold; :param clear_own: end those that are our own and belong to
        no run that lives.
    """

    async def work(bmc: Bmc) -> SessionList:
        root = await bmc.root()
        path = link(root, "Links", "Sessions") or SESSIONS
        found = judge(await bmc.members(path), bmc.session_uri, _running(bmc.target, options))
        if not clear_own:
            return SessionList(tuple(found))
        ended = [session for session in found if session.whose is Whose.OWN]
        for session in ended:
            await bmc.delete(session.uri)
        return SessionList(tuple(session for session in found if session not in ended), tuple(ended))

    return work


def _running(target: Target, options: FleetOptions) -> list[str]:
    """URIs that other runs on this machine hold at a BMC; looked up when its sessions were read, not before."""
    if options.ledger is None:
        return []
    held = [held for _, held in read_folder(options.ledger)]
    place = (target.address, target.port)
    return [one.uri for one in held if one.alive and (one.address, one.port) == place]
