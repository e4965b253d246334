"""Logins: sessions and their limit, HTTP Basic, lockout, passwords that must be changed first."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.messages import error, errors, message, refused, success
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.users import MARKER

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SERVICE = "/redfish/v1/SessionService"
SESSIONS = f"{SERVICE}/Sessions"
ACCOUNT_OF_ROOT = "/redfish/v1/AccountService/Accounts/2"


@dataclass
class Session:
    """One open session. :param used: simulated seconds of its last request."""

    id: str
    token: str
    user: str
    client: str
    created: str
    used: float


class Sessions:
    """The sessions of one BMC, and who may log in."""

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        self._next = 1
        self.open: dict[str, Session] = {}
        self.limit = 8
        """``WebServer.1.MaxNumberOfSessions``."""
        self.timeout_s = 1800.0
        self.created = 0
        self.most = 0
        """The most that were ever open at once."""
        self.failures: dict[str, int] = {}
        self.lockout_after = 3
        self.lockout_s = 60.0
        self.locked_until: dict[str, float] = {}
        self.change_required = False
        """Factory password still in use: everything but sessions and the account itself is refused (DSP0266)."""
        self.change_refused = False
        """The account, too (R6625, https://github.com/dell/iDRAC-Redfish-Scripting/issues/346)."""
        self.basic: bool = bmc.profile.value.basic

    def wants_change(self, path: str) -> bool:
        """Whether a path is closed until the factory password is another."""
        open_ones = (SERVICE, *(() if self.change_refused else (ACCOUNT_OF_ROOT,)))
        return self.change_required and not path.startswith(open_ones)

    def expire(self) -> None:
        """Forget sessions that were idle too long."""
        now = self._bmc.now()
        for session in list(self.open.values()):
            if now - session.used > self.timeout_s:
                del self.open[session.id]

    def of_token(self, token: str) -> Session | None:
        """The session of a token, and note that it was used."""
        self.expire()
        for session in self.open.values():
            if session.token == token:
                session.used = self._bmc.now()
                return session
        return None

    def check(self, user: str, password: str, client: str) -> bool:
        """Whether they may log in; counts failures, and refuses a blocked client though it knows the password."""
        now = self._bmc.now()
        if self.locked_until.get(client, -1.0) > now:
            return False
        if self._bmc.users.get(user) == password:
            self.failures.pop(client, None)
            return True
        self.failures[client] = self.failures.get(client, 0) + 1
        if self.failures[client] >= self.lockout_after:
            self.locked_until[client] = now + self.lockout_s
            self.failures[client] = 0
        return False

    def make(self, user: str, client: str) -> Session:
        """Open one; whoever calls has looked at the limit."""
        number = str(self._next)
        self._next += 1
        token = hashlib.sha256(
            f"{self._bmc.service_tag} {number} {self._bmc.dice.random()}".encode()
        ).hexdigest()
        created = self._bmc.time().replace(microsecond=0).isoformat()
        session = Session(number, f"{MARKER}{token[:32]}", user, client, created, self._bmc.now())
        self.open[number] = session
        self.created += 1
        self.most = max(self.most, len(self.open))
        return session

    def fill(self, user: str = "someone") -> None:
        """Let somebody else hold every session."""
        while len(self.open) < self.limit:
            self.make(user, "192.0.2.99")

    def __len__(self) -> int:
        self.expire()
        return len(self.open)


@dataclass(frozen=True, slots=True)
class Login:
    """Who a request is from; ``user`` empty: nobody."""

    user: str = ""
    session: str = ""


def who(bmc: SimBmc, headers: Mapping[str, str], client: str) -> Login:
    """Who sends these headers."""
    sessions = bmc.part(Sessions)
    token = headers.get("x-auth-token")
    if token is not None:
        session = sessions.of_token(token)
        return Login(session.user, session.id) if session else Login()
    scheme, _, encoded = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic" or not sessions.basic:
        return Login()
    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return Login()
    return Login(user) if sessions.check(user, password, client) else Login()


def unauthorised(bmc: SimBmc) -> Answer:
    """401 as an iDRAC gives it."""
    answer = error(bmc.profile, "AccessDenied")
    if bmc.part(Sessions).basic:
        answer.headers["WWW-Authenticate"] = 'Basic realm="RedfishService"'
    return answer


def change_first(bmc: SimBmc) -> Answer:
    """403: the factory password must go first."""
    return errors(
        bmc.profile,
        403,
        message(bmc.profile, "SWC1908"),
        message(bmc.profile, "PasswordChangeRequired", ACCOUNT_OF_ROOT),
    )


def login(call: Call) -> Answer:
    """POST to the sessions: open one."""
    bmc, sessions = call.bmc, call.bmc.part(Sessions)
    user, password = call.body.get("UserName"), call.body.get("Password")
    for name, value in (("UserName", user), ("Password", password)):
        if not isinstance(value, str):
            raise refused(bmc.profile, "PropertyMissing", name)
    sessions.expire()
    if not sessions.check(str(user), str(password), call.client):
        return unauthorised(bmc)
    if len(sessions) >= sessions.limit:
        raise refused(bmc.profile, "RAC0218")
    session = sessions.make(str(user), call.client)
    headers = {"Location": f"{SESSIONS}/{session.id}", "X-Auth-Token": session.token}
    body = session_body(bmc, session)
    if sessions.change_required:
        body["@Message.ExtendedInfo"] = [message(bmc.profile, "PasswordChangeRequired", ACCOUNT_OF_ROOT)]
    return Answer(201, body, headers)


def logout(call: Call) -> Answer:
    """DELETE of a session."""
    sessions = call.bmc.part(Sessions)
    if sessions.open.pop(call.part("id"), None) is None:
        raise refused(call.bmc.profile, "SYS403", call.path)
    return success(call.bmc.profile)


def session_body(bmc: SimBmc, session: Session) -> Body:
    """A session as a resource."""
    body: Body = {
        "@odata.context": "/redfish/v1/$metadata#Session.Session",
        "@odata.id": f"{SESSIONS}/{session.id}",
        "@odata.type": "#Session.v1_3_0.Session",
        "ClientOriginIPAddress": session.client,
        "Description": "User Session",
        "Id": session.id,
        "Name": "User Session",
        "Password": None,
        "SessionType": "Redfish",
        "UserName": session.user,
    }
    if bmc.profile is not Profile.IDRAC9_6:
        body["@odata.type"] = "#Session.v1_5_0.Session"
        body["CreatedTime"] = session.created
    return body


def install(tree: Tree, _profile: Profile) -> None:
    """The session service."""

    def service(bmc: SimBmc) -> Body:
        return {
            "@odata.context": "/redfish/v1/$metadata#SessionService.SessionService",
            "@odata.id": SERVICE,
            "@odata.type": "#SessionService.v1_1_8.SessionService",
            "Description": "Session Service",
            "Id": "SessionService",
            "Name": "Session Service",
            "ServiceEnabled": True,
            "SessionTimeout": int(bmc.part(Sessions).timeout_s),
            "Sessions": {"@odata.id": SESSIONS},
        }

    def members(bmc: SimBmc) -> list[str]:
        sessions = bmc.part(Sessions)
        sessions.expire()
        return [f"{SESSIONS}/{number}" for number in reversed(sessions.open)]

    def one(bmc: SimBmc, match: re.Match[str]) -> Body | None:
        session = bmc.part(Sessions).open.get(match["id"])
        return session_body(bmc, session) if session else None

    def settings(call: Call) -> Answer:
        timeout = call.body.get("SessionTimeout")
        if not isinstance(timeout, int) or not 60 <= timeout <= 10800:
            raise refused(call.bmc.profile, "PropertyValueNotInList", str(timeout), "SessionTimeout")
        call.bmc.part(Sessions).timeout_s = float(timeout)
        return success(call.bmc.profile)

    tree.live(SERVICE, service)
    tree.on("PATCH", SERVICE, settings)
    tree.collection(SESSIONS, "SessionCollection", members)
    tree.family(rf"{SESSIONS}/(?P<id>\d+)", one)
    tree.on("POST", SESSIONS, login, anonymous=True)
    tree.on("POST", f"{SESSIONS}/Members", login, anonymous=True)
    tree.on_pattern("DELETE", rf"{SESSIONS}/(?P<id>\d+)", logout)
