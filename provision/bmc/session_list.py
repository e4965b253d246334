"""Whose the open sessions of a BMC are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Whose(Enum):
    """Who a session belongs to."""

    THIS = "this command"
    RUNNING = "another fabricctl"
    """One that is running on this machine, by its list of sessions."""
    OWN = "own, left behind"
    """Of this user and this machine, of the API and no browser, and of no fabricctl that runs."""
    OTHER = "others"


@dataclass(frozen=True, slots=True)
class OpenSession:
    """One open session of a BMC.

    :param client: address it was opened from, empty when the BMC does not tell; :param kind: ``Redfish``, ``WebUI``, ….
    :param since: as the BMC writes it, by its own clock; empty from firmware that does not tell (iDRAC9 before 7).
    """

    uri: str
    user: str
    client: str
    kind: str
    since: str
    whose: Whose


@dataclass(frozen=True, slots=True)
class SessionList:
    """The open sessions of one BMC. :param ended: those of ours that were ended."""

    open: tuple[OpenSession, ...]
    ended: tuple[OpenSession, ...] = ()


def judge(members: Iterable[Mapping[str, Any]], current: str, running: Iterable[str]) -> list[OpenSession]:
    """Sessions with their owners.

    :param current: URI of the session that is asking, empty with HTTP Basic: then nothing is known to be our own.
    :param running: URIs that other runs on this machine hold.
    """
    known = set(running)
    listed = [member for member in members if member.get("@odata.id")]
    own = next((member for member in listed if member["@odata.id"] == current), {})
    return [_session(member, own, current, known) for member in listed]


def _session(
    member: Mapping[str, Any], own: Mapping[str, Any], current: str, running: set[str]
) -> OpenSession:
    uri = str(member["@odata.id"])
    if uri == current:
        whose = Whose.THIS
    elif uri in running:
        whose = Whose.RUNNING
    else:
        whose = Whose.OWN if same_owner(own, member) else Whose.OTHER
    told = {
        name: str(member.get(name) or "") for name in ("UserName", "ClientOriginIPAddress", "SessionType")
    }
    since = str(member.get("CreatedTime") or "")
    return OpenSession(
        uri, told["UserName"], told["ClientOriginIPAddress"], told["SessionType"], since, whose
    )


def same_owner(own: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two sessions are of one user and one client address, and the other is none of a browser.

    Where the BMC does not tell addresses (a DGX H100), nothing tells our sessions from those of others.
    """
    if other.get("SessionType") not in (None, "Redfish") or not own.get("ClientOriginIPAddress"):
        return False
    return all(own.get(name) == other.get(name) for name in ("UserName", "ClientOriginIPAddress"))


def still_ours(own: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a session that we wrote down as ours still is: a BMC that was restarted counts its sessions anew.

    A BMC that names sessions by long random words instead of numbers never gives one name twice.
    """
    if own.get("UserName") != other.get("UserName"):
        return False
    return same_owner(own, other) or (
        not own.get("ClientOriginIPAddress") and len(str(other.get("Id") or "")) >= 16
    )
