"""From an error answer to the error an operator reads."""

from __future__ import annotations

from ipaddress import ip_address

from fabricctl.errors import (
    BmcAnswerError,
    BmcBusyError,
    BmcError,
    BmcLockedOutError,
    BmcLoginError,
    BmcNotFoundError,
    BmcNotReadyError,
    BmcPasswordChangeError,
    BmcSessionsFullError,
    BmcUnsupportedError,
)
from provision.bmc.messages import Meaning, meaning, said
from provision.bmc.reply import Reply
from provision.bmc.target import Target


def error_of(target: Target, method: str, reply: Reply) -> BmcError:
    """The most specific error of an answer that is no success."""
    name, what = str(target), f"{method} {reply.path}: {said(reply)}"
    kind = meaning(reply)
    if kind is Meaning.PASSWORD_CHANGE:
        return password_change(target, reply)
    if kind is Meaning.LOCKED_OUT:
        return BmcLockedOutError(
            f"locked out after too many failed logins: {said(reply)}",
            bmc=name,
            hint="wait until the penalty is over; every further try makes it longer",
        )
    if kind is Meaning.SESSIONS_FULL:
        return BmcSessionsFullError(
            "every session of the BMC is taken",
            bmc=name,
            hint="log out elsewhere, or wait 30 minutes until idle ones end; a BMC reset ends all",
        )
    if kind is Meaning.UNAUTHORIZED:
        hint = (
            "an iDRAC10 offers no HTTP Basic: leave basic out of management.bmc_access"
            if target.basic
            else f"is it the machine that the site expects? fabricctl bmc scan {target.host}; another password: "
            "fabricctl bmc credentials import FILE --replace; an iDRAC locks the login after 3 failures"
        )
        return BmcLoginError(f"the BMC does not accept the login: {said(reply)}", bmc=name, hint=hint)
    if kind is Meaning.NOT_READY:
        return BmcNotReadyError(what, bmc=name)
    if kind in (Meaning.BUSY, Meaning.PENDING):
        return BmcBusyError(what, bmc=name, hint=f"see fabricctl bmc jobs list {target.host}")
    ids = tuple(message.id for message in reply.messages if message.id)
    if kind is Meaning.NOT_FOUND:
        return BmcNotFoundError(what, status=reply.status, ids=ids, bmc=name)
    if reply.status in (405, 501):
        return BmcUnsupportedError(what, bmc=name)
    return BmcAnswerError(what, status=reply.status, ids=ids, bmc=name, hint=_hint(target, reply))


def password_change(target: Target, reply: Reply) -> BmcPasswordChangeError:
    """The error of a BMC that lets nothing be done but change the password; it may say so in a success."""
    return BmcPasswordChangeError(
        "the BMC wants its factory password changed before anything else",
        account=_account(reply),
        bmc=str(target),
        hint=f"run fabricctl bmc credentials rotate {target.host}",
    )


def _account(reply: Reply) -> str:
    """The account whose password is to be changed: the one variable of Base.PasswordChangeRequired (DSP0268)."""
    named = (m.args[0] for m in reply.messages if m.key == "PasswordChangeRequired" and m.args)
    return next((path for path in named if path.startswith("/redfish/v1/")), "")


def _hint(target: Target, reply: Reply) -> str:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/303: iDRAC9 answers a bare 400 to a name it does not know
    if reply.status == 400 and not reply.messages:
        named = "" if is_ip(target.address) else f" {target.address!r}"
        return (
            f"iDRAC's WebServer.HostHeaderCheck refuses a Host name it does not know{named}: give the BMC's own IP "
            "address, or switch the check off"
        )
    return ""


def is_ip(address: str) -> bool:
    """Whether it is an IP address and no name."""
    try:
        ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return True
