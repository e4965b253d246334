"""Every error fabricctl raises on purpose, in one tree.

::

    FabricctlError                 has a one-line message, a subject and an exit code
    ├── UsageError          (2)    wrong options or options that do not go together
    ├── InputError          (2)    a file that cannot be used: path, line, expected, found
    │   ├── SiteError              the site file
    │   ├── PlanError              a cabling plan of any format
    │   └── DiscoveryError         a discovery (ibnetdiscover, iblinkinfo, ...)
    └── ViewerError         (3)    a live discovery that did not happen: "could not tell"
        ├── UnreachableError       no route, refused, name unknown
        ├── LoginRefusedError      the ssh server refused the key or user
        ├── HostKeyError           the host key is unknown or differs
        ├── DeadlineError          no full answer within the deadline
        ├── ToolMissingError       the host has no such command
        └── ToolFailedError        the command ended with an error

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
