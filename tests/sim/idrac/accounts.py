"""Accounts: sixteen slots, passwords with a policy, and the settings of lockout."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.messages import Text, errors, known, message, refused, success
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.sessions import Sessions
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import MANAGER, ROOT

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SERVICE = f"{ROOT}/AccountService"
ACCOUNTS = f"{SERVICE}/Accounts"
ROLES = f"{SERVICE}/Roles"
LONGEST = 40
_TYPES = ["Redfish", "SNMP", "OEM", "HostConsole", "ManagerConsole", "IPMI", "KVMIP", "VirtualMedia", "WebUI"]
_OEM_TYPES = ["IPMI", "SOL", "WSMAN", "UI", "RACADM"]
_PRIVILEGES = {
    "Administrator": ["Login", "ConfigureManager", "ConfigureUsers", "ConfigureComponents", "ConfigureSelf"],
    "Operator": ["Login", "ConfigureComponents", "ConfigureSelf"],
    "ReadOnly": ["Login", "ConfigureSelf"],
    "None": [],
}

known(
    "PropertyValueFormatError",
    Text(
        "The value {0} for the property {1} is of a different format than the property can accept.",
        "Correct the value for the property in the request body and resubmit the request.",
        "Warning",
        base=True,
    ),
)
known(
    "PropertyNotWritable",
    Text(
        "The property {0} is a read only property and cannot be assigned a value.",
        "Remove it.",
        "Warning",
        base=True,
    ),
)
known(
    "NoOperation",
    Text(
        "The request body submitted contain no data to act upon and no changes to the resource took place.",
        "Add properties in the JSON object and resubmit the request.",
        "Warning",
        base=True,
    ),
)
known(
    "SWC0296",
    Text(
        "The specified value is not allowed to be configured if the user name or password is blank.",
        "Enter a user name and a password and retry the operation.",
        "Warning",
    ),
)


@dataclass
class Slot:
    """One account."""

    user: str = ""
    role: str = "None"
    enabled: bool = False


class Accounts:
    """Accounts of one BMC; slot 2 is root, slot 1 is never used.

    :ivar least: shortest password taken; :ivar classes: how many of upper, lower, digit, other it must have.
    """

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        self.slots = {number: Slot() for number in range(1, 17)}
        self.slots[2] = Slot("root", "Administrator", True)
        self.least = 0
        self.classes = 0
        self.changes: list[tuple[int, str]] = []
        """(slot, property) of every change, without values."""

    def strong(self, password: str) -> bool:
        """Whether the policy takes it."""
        kinds = (r"[A-Z]", r"[a-z]", r"[0-9]", r"[^A-Za-z0-9]")
        found = sum(bool(re.search(kind, password)) for kind in kinds)
        return self.least <= len(password) <= LONGEST and found >= self.classes

    def may(self, user: str, number: int, wanted: Body) -> bool:
        """Whether a user may change this of an account: its own password, or anything as an administrator."""
        own = self.slots[number].user == user and set(wanted) <= {"Password"}
        role = next((slot.role for slot in self.slots.values() if slot.user == user), "Administrator")
        return own or role == "Administrator"

    def set_password(self, number: int, password: str) -> None:
        """From now on it logs in with this one. Open sessions stay."""
        slot = self.slots[number]
        self._bmc.users[slot.user] = password
        self.changes.append((number, "Password"))
        if number == 2:
            self._bmc.part(Sessions).change_required = False

    def rename(self, number: int, user: str) -> None:
        """Another name; a password goes along."""
        slot = self.slots[number]
        password = self._bmc.users.pop(slot.user, None) if slot.user else None
        slot.user = user
        if user and password is not None:
            self._bmc.users[user] = password
        self.changes.append((number, "UserName"))


def _account(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    number = int(match["number"])
    slot = bmc.part(Accounts).slots.get(number)
    if slot is None:
        return None
    has_password = bool(slot.user) and slot.user in bmc.users
    return {
        "@odata.context": f"{ROOT}/$metadata#ManagerAccount.ManagerAccount",
        "@odata.id": f"{ACCOUNTS}/{number}",
        "@odata.type": "#ManagerAccount.v1_8_0.ManagerAccount",
        "AccountTypes": _TYPES,
        "Description": "User Account",
        "Enabled": slot.enabled,
        "Id": str(number),
        "Links": {"Role": {"@odata.id": f"{ROLES}/{slot.role}"}},
        "Locked": False,
        "Name": "User Account",
        "OEMAccountTypes": _OEM_TYPES,
        "Oem": {
            "Dell": {
                "@odata.type": "#DellManagerAccount.v1_0_0.DellManagerAccount",
                "SNMPv3PassphraseEnabled": "Disabled",
            }
        },
        "Password": None,
        "PasswordChangeRequired": number == 2 and bmc.part(Sessions).change_required,
        "PasswordExpiration": None,
        "RoleId": slot.role,
        "SNMP": {
            "AuthenticationKey": None,
            "AuthenticationKeySet": has_password,
            "AuthenticationProtocol": "HMAC_SHA96",
            "EncryptionKey": None,
            "EncryptionKeySet": has_password,
            "EncryptionProtocol": "CFB128_AES128",
        },
        "StrictAccountTypes": False,
        "UserName": slot.user,
    }


def _checked(bmc: SimBmc, slot: Slot, wanted: Body) -> list[Body]:
    """What is wrong with a PATCH of an account; no value of a password is ever told back."""
    accounts, found = bmc.part(Accounts), []
    for name, value in wanted.items():
        if name == "Password":
            if not isinstance(value, str) or not value or not (wanted.get("UserName", slot.user)):
                found.append(message(bmc.profile, "SWC0296"))
            elif not accounts.strong(value):
                found.append(message(bmc.profile, "PropertyValueFormatError", "******", name))
        elif name == "UserName":
            if not isinstance(value, str) or len(value) > 16:
                found.append(message(bmc.profile, "PropertyValueFormatError", str(value), name))
        elif name == "RoleId":
            if value not in _PRIVILEGES:
                found.append(message(bmc.profile, "PropertyValueNotInList", str(value), name))
        elif name == "Enabled":
            if not isinstance(value, bool):
                found.append(message(bmc.profile, "PropertyValueNotInList", str(value), name))
        elif name != "Locked":
            known_name = name in ("Id", "Name", "Links", "Description", "AccountTypes")
            found.append(
                message(bmc.profile, "PropertyNotWritable" if known_name else "PropertyUnknown", name)
            )
    return found


def _patch(call: Call) -> Answer:
    bmc, number = call.bmc, int(call.part("number"))
    accounts = bmc.part(Accounts)
    slot = accounts.slots.get(number)
    if slot is None or number == 1:
        raise refused(bmc.profile, "SYS403", call.path)
    if not call.body:
        raise refused(bmc.profile, "MalformedJSON")
    if not accounts.may(call.user, number, call.body):
        raise refused(bmc.profile, "InsufficientPrivilege")
    if all(name.startswith("@odata.") for name in call.body):
        raise refused(bmc.profile, "NoOperation")
    problems = _checked(bmc, slot, call.body)
    if problems:
        return errors(bmc.profile, 400, *problems)
    if "UserName" in call.body:
        accounts.rename(number, str(call.body["UserName"]))
    if "Password" in call.body:
        accounts.set_password(number, str(call.body["Password"]))
    slot.role = str(call.body.get("RoleId", slot.role))
    slot.enabled = bool(call.body.get("Enabled", slot.enabled))
    return success(bmc.profile)


def _service(bmc: SimBmc) -> Body:
    sessions, accounts = bmc.part(Sessions), bmc.part(Accounts)
    return {
        "@odata.context": f"{ROOT}/$metadata#AccountService.AccountService",
        "@odata.id": SERVICE,
        "@odata.type": "#AccountService.v1_9_0.AccountService",
        "AccountLockoutCounterResetAfter": int(sessions.lockout_s),
        "AccountLockoutDuration": int(sessions.lockout_s),
        "AccountLockoutThreshold": sessions.lockout_after,
        "Accounts": {"@odata.id": ACCOUNTS},
        "AdditionalExternalAccountProviders": {"@odata.id": f"{SERVICE}/ExternalAccountProviders"},
        "AuthFailureLoggingThreshold": 2,
        "Description": "BMC User Accounts",
        "Id": "RemoteAccountService",
        "LocalAccountAuth": "Fallback",
        "MaxPasswordLength": LONGEST,
        "MinPasswordLength": accounts.least,
        "Name": "Account Service",
        "PrivilegeMap": {"@odata.id": f"{MANAGER}/PrivilegeRegistry"},
        "Roles": {"@odata.id": ROLES},
        "ServiceEnabled": True,
        "Status": {"Health": "OK", "State": "Enabled"},
        "SupportedAccountTypes": _TYPES,
        "SupportedOEMAccountTypes": ["IPMI", "SOL", "WSMAN", "UI", "Racadm"],
    }


def _lockout(call: Call) -> Answer:
    sessions = call.bmc.part(Sessions)
    names = ("AccountLockoutThreshold", "AccountLockoutDuration", "AccountLockoutCounterResetAfter")
    for name, value in call.body.items():
        if name not in names:
            raise refused(call.bmc.profile, "PropertyUnknown", name)
        if type(value) is not int or value < 0:
            raise refused(call.bmc.profile, "PropertyValueNotInList", str(value), name)
    given: dict[str, Any] = call.body
    sessions.lockout_after = int(given.get(names[0], sessions.lockout_after))
    sessions.lockout_s = float(given.get(names[1], sessions.lockout_s))
    return success(call.bmc.profile)


def _role(name: str, privileges: list[str]) -> Body:
    oem = ["ClearLogs", "AccessVirtualConsole", "AccessVirtualMedia", "TestAlerts", "ExecuteDebugCommands"]
    given = oem if name == "Administrator" else oem[1:3] if name == "Operator" else []
    return {
        "@odata.context": f"{ROOT}/$metadata#Role.Role",
        "@odata.id": f"{ROLES}/{name}",
        "@odata.type": "#Role.v1_3_1.Role",
        "AssignedPrivileges": privileges,
        "AssignedPrivileges@odata.count": len(privileges),
        "Description": f"{name} User Role",
        "Id": name,
        "IsPredefined": True,
        "Name": "User Role",
        "OemPrivileges": given,
        "OemPrivileges@odata.count": len(given),
        "RoleId": name,
    }


def install(tree: Tree, _profile: Profile) -> None:
    """The account service."""
    tree.live(SERVICE, _service)
    tree.on("PATCH", SERVICE, _lockout)
    members = [f"{ACCOUNTS}/{number}" for number in range(1, 17)]
    tree.collection(
        ACCOUNTS,
        "ManagerAccountCollection",
        members,
        name="Accounts Collection",
        about="BMC User Accounts Collection",
    )
    tree.family(rf"{ACCOUNTS}/(?P<number>\d+)", _account)
    tree.on_pattern("PATCH", rf"{ACCOUNTS}/(?P<number>\d+)", _patch)
    roles = [f"{ROLES}/{name}" for name in _PRIVILEGES]
    tree.collection(ROLES, "RoleCollection", roles, name="Roles Collection", about="Roles Collection")
    for name, privileges in _PRIVILEGES.items():
        tree.fixed(f"{ROLES}/{name}", _role(name, privileges))
