"""What an error says about one host: that it is so, or that nobody can tell."""

from __future__ import annotations

from fabricctl.errors import (
    EXIT_COULD_NOT_TELL,
    FabricctlError,
    OtherMachineError,
    ProvisionerError,
    ProvisionerForbiddenError,
    ProvisionerPowerError,
    ProvisionerRefusedError,
    ProvisionerUnsupportedError,
)
from provision.install.outcome import Told

_ANSWERS = (
    ProvisionerRefusedError,
    ProvisionerForbiddenError,
    ProvisionerPowerError,
    ProvisionerUnsupportedError,
    OtherMachineError,
)
"""Errors of a provisioner that are an answer about the machine, so that it is known how things stand."""


def reason_of(error: FabricctlError) -> str:
    """Its words; of a provisioner's error the host is left out."""
    if not isinstance(error, ProvisionerError):
        return str(error)
    return error.message if not error.hint else f"{error.message} ({error.hint})"


def told_by(error: FabricctlError) -> Told:
    """Whether an error tells how things stand."""
    known = isinstance(error, _ANSWERS) or error.exit_code != EXIT_COULD_NOT_TELL
    return Told.FINDING if known else Told.UNKNOWN
