"""Every error fabricctl raises on purpose, in one tree.

::

    FabricctlError                 has a one-line message, a subject and an exit code
    ├── UsageError          (2)    wrong options or options that do not go together
    ├── InputError          (2)    a file that cannot be used: path, line, expected, found
    │   ├── SiteError              the site file
    │   ├── PlanError              a cabling plan of any format
    │   └── DiscoveryError         a discovery (ibnetdiscover, iblinkinfo, ...)
    ├── SecretError         (2)    a secret cannot be read or kept: its reference, never its text
    ├── BmcError            (3)    a BMC did not say or do what was asked: host, address, what came instead
    │   ├── BmcUnreachableError    no route, refused, reset, name unknown
    │   ├── BmcDeadlineError       no full answer within the deadline; of a read, nothing happened
    │   ├── BmcTlsError            the certificate is not trusted, or no common TLS version
    │   │   └── BmcFingerprintError    another certificate than the pinned one: a finding too
    │   ├── BmcIdentityError       another machine answers than the one that should
    │   ├── BmcLoginError          user or password refused
    │   │   ├── BmcPasswordChangeError   the factory password must be changed first
    │   │   ├── BmcLockedOutError        too many failed logins
    │   │   └── BmcSessionsFullError     every session of the BMC is taken
    │   ├── BmcNotReadyError       still not ready when the retry budget was spent
    │   ├── BmcBusyError           somebody else's job is in the way
    │   ├── BmcAnswerError         an error answer: HTTP status and message ids
    │   │   ├── BmcNotFoundError         no such resource
    │   │   └── BmcLinkError             a link that leads away from the BMC: not followed
    │   ├── BmcGarbledError        an answer cut short, or no JSON
    │   │   └── BmcTooLargeError         an answer larger than any that makes sense
    │   ├── BmcCutError            a list of which the rest was not read: something was told, but not all
    │   ├── BmcUnsupportedError    this BMC cannot do it
    │   ├── BmcOutcomeUnknownError a command whose answer was lost, and the state does not tell
    │   ├── BmcSkippedError        not asked any more: it failed too often in this run
    │   └── BmcInternalError       fabricctl itself failed on this BMC's answers: a bug
    ├── ProvisionerError    (3)    MAAS or Ironic did not say or do what was asked: host, what came instead
    │   ├── ProvisionerUnreachableError    no connection, refused, reset, name unknown, TLS
    │   ├── ProvisionerDeadlineError       no full answer to a read within the deadline
    │   ├── ProvisionerLoginError          no API key, or a refused one
    │   ├── ProvisionerForbiddenError      the machine is locked, or somebody else's
    │   ├── ProvisionerNotFoundError       no such machine or thing
    │   ├── ProvisionerRefusedError        values that are refused: field and words
    │   │   └── ProvisionerStateError            not in this state; the same request is never sent again
    │   ├── ProvisionerBusyError           requests that collide, still so when the retries were spent
    │   ├── ProvisionerPowerError          no rack controller reaches the BMC, or the BMC does not obey
    │   ├── ProvisionerAnswerError         any other error answer
    │   ├── ProvisionerGarbledError        an answer cut short, or not what the interface promises
    │   ├── ProvisionerUnsupportedError    this client or provisioner cannot do it
    │   ├── ProvisionerOutcomeUnknownError a write whose answer was lost or was a server's failure (5xx)
    │   └── OtherMachineError              a MAC, BMC address or host name that belongs to another machine
    ├── TransitionError     (2)    a node state that may not follow the present one
    ├── InServiceError      (2)    it would disturb nodes that jobs may run on
    ├── ViewerError         (3)    a live discovery that did not happen: "could not tell"
    │   ├── UnreachableError       no route, refused, name unknown
    │   ├── LoginRefusedError      the ssh server refused the key or user
    │   ├── HostKeyError           the host key is unknown or differs
    │   ├── DeadlineError          no full answer within the deadline
    │   ├── ToolMissingError       the host has no such command
    │   └── ToolFailedError        the command ended with an error
    └── StateError          (2)    the state store cannot be used: its place, what is wrong
        ├── StateVersionError      written by a newer fabricctl, or no state store at all
        ├── StateDamagedError      the file is damaged
        ├── StateUnavailableError (3)  locked for too long, or the database server does not answer
        └── StateConflictError (3) somebody else changed the record meanwhile: nothing was done

A host's failure is data in a result; a ``ViewerError`` is caught by the workflow and becomes one.
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_COULD_NOT_TELL = 3
EXIT_INTERRUPTED = 130
EXIT_BUG = 70
"""sysexits.h EX_SOFTWARE; never used for anything an operator can cause."""


class FabricctlError(Exception):
    """Base of all; ``str(error)`` is one line a human can act on.

    :param message: what is wrong, with what was expected and found.
    :param hint: what to do about it, one sentence, optional.
    """

    exit_code = EXIT_USAGE

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.message} ({self.hint})" if self.hint else self.message
        return " ".join(text.split())


class UsageError(FabricctlError):
    """Wrong options, or options that do not go together."""


class InputError(FabricctlError):
    """A file that cannot be used.

    :param path: as the operator wrote it; ``-`` is standard input.
    :param line: 1-based, 0 when the whole file is meant.
    """

    def __init__(self, message: str, *, path: str = "", line: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.line = line

    def __str__(self) -> str:
        shown = "standard input" if self.path == "-" else self.path
        where = (
            f"{shown}:{self.line}"
            if shown and self.line
            else shown or (f"line {self.line}" if self.line else "")
        )
        text = super().__str__()
        return f"{where}: {text}" if where else text

    def at(self, path: str) -> InputError:
        """Return the same error carrying the file's path (parsers know only lines)."""
        return type(self)(self.message, path=self.path or path, line=self.line, hint=self.hint)


class SiteError(InputError):
    """The site file is wrong."""


class PlanError(InputError):
    """A cabling plan is wrong."""


class DiscoveryError(InputError):
    """A discovery file is wrong."""


class ViewerError(FabricctlError):
    """A live discovery that did not happen.

    :param viewer: the host (or ``local``) that was asked.
    """

    exit_code = EXIT_COULD_NOT_TELL

    def __init__(self, message: str, *, viewer: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.viewer = viewer

    def __str__(self) -> str:
        return f"{self.viewer}: {super().__str__()}"


class UnreachableError(ViewerError):
    """The host cannot be reached."""


class LoginRefusedError(ViewerError):
    """The ssh server refused the login."""


class HostKeyError(ViewerError):
    """The host key is unknown or differs from the recorded one."""


class DeadlineError(ViewerError):
    """No full answer came within the deadline."""


class ToolMissingError(ViewerError):
    """The host has no such command."""


class ToolFailedError(ViewerError):
    """The command ended with an error."""


class TransitionError(FabricctlError):
    """A node state that may not follow the present one."""


class InServiceError(FabricctlError):
    """It would disturb nodes that jobs may run on.

    :param hosts: their names.
    """

    def __init__(self, message: str, *, hosts: tuple[str, ...], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.hosts = hosts


class StateError(FabricctlError):
    """The state store cannot be used.

    :param place: its file, or its URL without any password.
    """

    def __init__(self, message: str, *, place: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.place = place

    def __str__(self) -> str:
        text = super().__str__()
        return f"state store {self.place}: {text}" if self.place else f"state store: {text}"


class StateVersionError(StateError):
    """Written by a newer fabricctl, or no state store at all."""


class StateDamagedError(StateError):
    """The file is damaged."""


class StateUnavailableError(StateError):
    """Locked for too long, or the database server does not answer."""

    exit_code = EXIT_COULD_NOT_TELL


class StateConflictError(StateError):
    """Somebody else changed the record meanwhile; nothing was done."""

    exit_code = EXIT_COULD_NOT_TELL


class SecretError(FabricctlError):
    """A secret cannot be read or kept.

    :param reference: where it was looked for (``env:NAME``, ``file:PATH``, ...), never the secret itself.
    """

    def __init__(self, message: str, *, reference: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reference = reference

    def __str__(self) -> str:
        text = super().__str__()
        return f"secret {self.reference}: {text}" if self.reference else text


class BmcError(FabricctlError):
    """A BMC that did not say or do what was asked.

    :param bmc: host name and address as people know it, ``gpu001 (192.0.2.1)``; empty until the edge knows.
    """

    exit_code = EXIT_COULD_NOT_TELL
    sent = True
    """Whether the BMC may have received the request; False when it surely did not."""
    refused_change = False
    """Whether this is a BMC's no to a change: it is known that nothing of it was done."""

    def __init__(self, message: str, *, bmc: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.bmc = bmc

    def __str__(self) -> str:
        return f"{self.bmc}: {super().__str__()}" if self.bmc else super().__str__()


class BmcUnreachableError(BmcError):
    """No route, refused, reset, or the name is unknown."""


class BmcDeadlineError(BmcError):
    """No full answer within the deadline."""


class BmcTlsError(BmcError):
    """The certificate is not trusted, or there is no common TLS version."""


class BmcFingerprintError(BmcTlsError):
    """Another certificate than the pinned one: somebody changed it, or this is another machine."""


class BmcIdentityError(BmcError):
    """Another machine answers than the one that should: it gets no password and no command."""


class BmcLoginError(BmcError):
    """User or password refused."""


class BmcPasswordChangeError(BmcLoginError):
    """The password must be changed before anything else; trying again would only lock the account.

    :param account: path of the account to change, where the BMC tells it.
    """

    def __init__(self, message: str, *, account: str = "", bmc: str = "", hint: str = "") -> None:
        super().__init__(message, bmc=bmc, hint=hint)
        self.account = account


class BmcLockedOutError(BmcLoginError):
    """Too many failed logins; trying again makes it longer."""


class BmcSessionsFullError(BmcLoginError):
    """Every session of the BMC is taken."""


class BmcNotReadyError(BmcError):
    """Still not ready when the retry budget was spent."""

    named = True
    """Whether the BMC said so itself; False when it answered one resource 503 and no word why."""


class BmcBusyError(BmcError):
    """Somebody else's job is in the way."""


class BmcAnswerError(BmcError):
    """An error answer.

    :param status: HTTP status; :param ids: message ids as the BMC wrote them (``IDRAC.2.8.SYS403``).
    """

    def __init__(
        self, message: str, *, status: int = 0, ids: tuple[str, ...] = (), bmc: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, bmc=bmc, hint=hint)
        self.status = status
        self.ids = ids


class BmcNotFoundError(BmcAnswerError):
    """No such resource."""


class BmcLinkError(BmcAnswerError):
    """A link in an answer that leads to another host, or is no path of a Redfish service; not followed."""


class BmcGarbledError(BmcError):
    """An answer cut short, or no JSON."""


class BmcTooLargeError(BmcGarbledError):
    """An answer larger than any that makes sense; it is not asked for again."""


class BmcCutError(BmcError):
    """A list of which the rest was not read: something was told, and there may be more."""


class BmcUnsupportedError(BmcError):
    """This BMC cannot do it."""


class BmcOutcomeUnknownError(BmcError):
    """A command whose answer was lost, and the state does not tell whether it was carried out."""


class BmcSkippedError(BmcError):
    """Not asked any more: it failed too often in this run."""


class BmcInternalError(BmcError):
    """fabricctl itself failed while it worked on this BMC: a bug, whatever the BMC said."""


class ProvisionerError(FabricctlError):
    """A provisioner (MAAS, Ironic) that did not say or do what was asked.

    :param host: the node it was about, empty when it was about none or many.
    :param status: HTTP status, 0 when there was no answer.
    """

    exit_code = EXIT_COULD_NOT_TELL

    def __init__(self, message: str, *, host: str = "", status: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.host = host
        self.status = status

    def __str__(self) -> str:
        return f"{self.host}: {super().__str__()}" if self.host else super().__str__()


class ProvisionerUnreachableError(ProvisionerError):
    """No connection: refused, reset, the name is unknown, or its certificate is not trusted."""


class ProvisionerDeadlineError(ProvisionerError):
    """No full answer to a read within the deadline; nothing happened."""


class ProvisionerLoginError(ProvisionerError):
    """No API key was sent, or it was refused."""


class ProvisionerForbiddenError(ProvisionerError):
    """The machine is locked, or belongs to somebody else."""


class ProvisionerNotFoundError(ProvisionerError):
    """No such machine, tag, image or operation."""


class ProvisionerRefusedError(ProvisionerError):
    """Values that are refused; nothing was changed."""


class ProvisionerStateError(ProvisionerRefusedError):
    """Not possible in the machine's present state; sending it again changes nothing."""


class ProvisionerBusyError(ProvisionerError):
    """Requests that collide with others, still so when the retries were spent."""


class ProvisionerPowerError(ProvisionerError):
    """No rack controller reaches the BMC, or the BMC does not obey."""


class ProvisionerAnswerError(ProvisionerError):
    """Any other error answer."""


class ProvisionerGarbledError(ProvisionerError):
    """An answer cut short, or not what the interface promises."""


class ProvisionerUnsupportedError(ProvisionerError):
    """This client or provisioner cannot do it; nothing was sent."""


class ProvisionerOutcomeUnknownError(ProvisionerError):
    """A write whose answer was lost, or was a server's own failure (5xx): it may have been carried out."""


class OtherMachineError(ProvisionerError):
    """A MAC, BMC address or host name that belongs to another machine: nothing was changed."""
