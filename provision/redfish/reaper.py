"""The process that ends the BMC sessions of a run that was killed.

Started by :mod:`provision.redfish.keeper` as a script, with the standard library alone, and without importing what is
needed only in an emergency: it costs 10 ms and 10 MB. It reads lines from its standard input; when that ends, the run
is over, and what was opened and not closed is deleted. Tokens and passwords come through the pipe and stay in memory.

Of this package it imports, in the emergency, what needs no more than the standard library: ``ledger``, ``tls`` and
``session_list``.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from typing import Any

DEADLINE_S = 10.0
DELETE_AT_S = (0.0, 3.0, 10.0, 30.0)
"""Seconds after the end at which a session is deleted, until the BMC says that it is gone."""
LOOK_AT_S = (1.5, 5.0, 15.0)
"""Seconds after the end at which is looked for the session of a login that was never answered."""
SLACK_S = 10.0
"""Seconds by which a BMC's times may be off between two of its own sessions."""
SETTLE_S = 1.0
"""Seconds in which another run has written down a session that it just opened."""
AT_ONCE = 16

Login = dict[str, Any]


def main() -> None:
    """Listen until the run is over, then clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no password into a core file
    logins: dict[int, Login] = {}
    ledger = ""
    for line in sys.stdin.buffer:
        try:
            told = json.loads(line)
        except ValueError:
            continue  # the run was killed in the middle of a line
        ledger = told.get("ledger", ledger)
        note(logins, told)
    if logins:
        clean(list(logins.values()), ledger)


def note(logins: dict[int, Login], told: dict[str, Any]) -> None:
    """Keep what a line tells."""
    if "asking" in told:
        logins[told["asking"]] = told
    elif "opened" in told and told["opened"] in logins:
        logins[told["opened"]].update(uri=told["uri"], token=told["token"])
    elif "closed" in told:
        logins.pop(told["closed"], None)


def clean(logins: list[Login], ledger: str) -> None:
    """End every session, several BMCs at once; the ledger goes when none is left."""
    from concurrent.futures import ThreadPoolExecutor

    ended_at = time.monotonic()
    by_bmc: dict[tuple[str, int], list[Login]] = {}
    for login in logins:
        by_bmc.setdefault((login["address"], login["port"]), []).append(login)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        gone = list(threads.map(lambda group: _end(group, ended_at, ledger), by_bmc.values()))
    if ledger and all(gone):
        try:
            os.unlink(ledger)
        except OSError:
            return  # somebody was faster


def _end(logins: list[Login], ended_at: float, ledger: str) -> bool:
    """End the sessions of one BMC, those whose tokens are known first; whether all are gone."""
    known = [login for login in logins if login.get("uri")]
    lost = [login for login in logins if not login.get("uri")]
    try:
        gone = True
        for login in known:
            gone = _delete_known(login, ended_at) and gone
        return (not lost or _delete_lost(lost, ended_at, ledger)) and gone
    except Exception:  # noqa: BLE001 - nobody is there to be told; the other BMCs must be cleaned all the same
        return False


def _delete_known(login: Login, ended_at: float) -> bool:
    for moment in DELETE_AT_S:
        _sleep_until(ended_at + moment)
        status, _, _ = request(login, "DELETE", login["uri"], login["token"])
        if status in (200, 202, 204, 401, 404):
            return True
    return False


def _delete_lost(lost: list[Login], ended_at: float, ledger: str) -> bool:
    """Log in to look for sessions of this user from this address that were opened since; the BMC may be slow."""
    login = min(lost, key=lambda one: float(one["at"]))
    left = len(lost)
    looked = False
    for moment in LOOK_AT_S:
        _sleep_until(ended_at + moment)
        body = json.dumps({"UserName": login["user"], "Password": login["password"]})
        status, headers, _ = request(login, "POST", login["path"], "", body)
        if status == 401:
            return True  # the password is refused: there never was a session
        token, own = headers.get("x-auth-token", ""), _path(headers.get("location", ""))
        if not token or not own:
            continue
        try:
            for uri in _lost_ones(login, own, token, ledger, left):
                left -= request(login, "DELETE", uri, token)[0] in (200, 202, 204, 404)
            looked = True
        finally:
            request(login, "DELETE", own, token)
        if left <= 0:
            return True
    return looked


def _lost_ones(login: Login, own: str, token: str, ledger: str, number: int) -> list[str]:
    _, _, listing = request(login, "GET", login["path"], token)
    uris = [_path(str(entry.get("@odata.id"))) for entry in listing.get("Members") or []]
    sessions = {uri: request(login, "GET", uri, token)[2] for uri in uris}
    if own not in sessions:
        return []
    candidates = strays(own, sessions, time.time() - login["at"], number)
    if candidates:
        time.sleep(SETTLE_S)
    spared = held_by_others(login["address"], login["port"], ledger)
    return [uri for uri in candidates if uri not in spared]


def strays(own: str, sessions: dict[str, dict[str, Any]], elapsed_s: float, number: int = 1) -> list[str]:
    """Sessions like our own that were opened in the last seconds, the newest first.

    Same user, same client address, a session of the API and none of a browser; and opened since, by the BMC's own
    times, or, from firmware that tells none (iDRAC9 before 7), by a number just below our own.

    :param sessions: URI -> body, of all open ones; :param elapsed_s: since the first login was sent.
    :param number: of logins that were never answered.
    """
    from provision.bmc.session_list import same_owner

    alike = [uri for uri, body in sessions.items() if uri != own and same_owner(sessions[own], body)]
    made = {uri: _moment(sessions[uri].get("CreatedTime")) for uri in [*alike, own]}
    own_made = made[own]
    if own_made is not None:
        since = own_made - elapsed_s - SLACK_S
        alike = [uri for uri in alike if (when := made[uri]) is not None and when >= since]
        return sorted(alike, key=lambda uri: -(made[uri] or 0.0))[:number]
    numbers = {uri: int(uri.rpartition("/")[2]) for uri in [*alike, own] if uri.rpartition("/")[2].isdigit()}
    if own not in numbers:
        return []
    below = [uri for uri in alike if uri in numbers and numbers[uri] < numbers[own]]
    return sorted(below, key=lambda uri: -numbers[uri])[:number]


def held_by_others(address: str, port: int, ledger: str) -> set[str]:
    """URIs of sessions at a BMC that other runs wrote down, and whose runs live."""
    if not ledger:
        return set()
    from pathlib import Path

    from provision.redfish.ledger import read_folder

    own = Path(ledger)
    others = read_folder(own.parent, but=own)
    return {held.uri for _, held in others if held.alive and (held.address, held.port) == (address, port)}


def request(
    login: Login, method: str, path: str, token: str, body: str | None = None
) -> tuple[int, dict[str, str], dict[str, Any]]:
    """Status, headers in lower case and JSON body; status 0 when there was no answer.

    The certificate is checked before anything is sent, as the run did.
    """
    import hashlib
    import http.client

    from provision.redfish.tls import context_of

    headers = {"Accept": "application/json", "User-Agent": "fabricctl"}
    if token:
        headers["X-Auth-Token"] = token
    if body is not None:
        headers["Content-Type"] = "application/json"
    context = context_of(login["ca"], login["floor"])
    connection = http.client.HTTPSConnection(
        login["address"], login["port"], timeout=DEADLINE_S, context=context
    )
    try:
        connection.connect()
        shown = connection.sock.getpeercert(True) or b""
        if login["pin"] and hashlib.sha256(shown).hexdigest() != login["pin"]:
            return 0, {}, {}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        raw = answer.read(16 * 1024 * 1024)
        fields = {name.lower(): value for name, value in answer.getheaders()}
        try:
            parsed = json.loads(raw) if raw else {}
        except ValueError:
            parsed = {}
        return answer.status, fields, parsed if isinstance(parsed, dict) else {}
    except (OSError, http.client.HTTPException):
        return 0, {}, {}
    finally:
        connection.close()


def _moment(text: Any) -> float | None:
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _path(uri: str) -> str:
    """The path of a URI that may carry a host."""
    head, mark, tail = uri.partition("://")
    return "/" + tail.partition("/")[2] if mark else head


def _sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


if __name__ == "__main__":
    # last, as nothing but this package is to come from there
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    main()
