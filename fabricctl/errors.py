"""Every error fabricctl raises on purpose, in one tree.

::

    FabricctlError                 has a one-line message, a subject and an exit code
    ├── UsageError          (2)    wrong options or options that do not go together
    ├── InputError          (2)    a file that cannot be used: path, line, expected, found
    │   ├── SiteError              the site file
    │   ├── PlanError              a cabling plan of any format
    │   └── DiscoveryError         a discovery (ibnetdiscover, iblinkinfo, ...)
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
