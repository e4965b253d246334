"""The exit code of an identification: three results, never two."""

from __future__ import annotations

from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_OK
from fabricctl.identity.model import Identification


def exit_code(found: Identification) -> int:
    """0 every discovered switch has a certain place and every planned one is found; 1 findings; 3 could not tell.

    A refusal, or switches that cannot be told apart, is "could not tell". Findings are declared identities that the
    cabling contradicts, discovered switches that fit no place, and planned ones that were not found.
    """
    if found.refusal is not None or found.ambiguities:
        return EXIT_COULD_NOT_TELL
    if found.contradictions or found.unplaced or found.unfilled:
        return EXIT_FINDINGS
    return EXIT_OK
