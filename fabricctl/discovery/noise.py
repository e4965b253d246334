"""Lines of standard error that ``2>&1`` mixes into what a tool of infiniband-diags prints.

Forms: libibnetdisc's ``src/query_smp.c:195; umad (...) bad status 110; Connection timed out``; the prefixes
``ibwarn:``, ``ibpanic:``, ``ibdebug:`` of libibmad; ``TOOL: iberror: failed: ...`` of the tools themselves
(rdma-core ``libibnetdisc/internal.h``, ``libibmad/mad_internal.h``, ``infiniband-diags/ibdiag_common.c``).
"""

from __future__ import annotations

import re

from fabricctl.discovery.model import Problem, ProblemKind

_NOISE = re.compile(
    r"\s*(?:\S+\.[ch]:[0-9]+[;:] |(?:ibwarn|ibpanic|ibdebug|iberror): |\S+: ib(?:error|warn|panic): |"
    r"WARN: |umad|mad_rpc|can't (?:open|stat) )"
)
_HARMLESS = re.compile(r"sim_connect: attached as client")
"""ibsim's greeting."""


def is_noise(line: str) -> bool:
    """Whether a line is a tool's complaint instead of its answer."""
    return _NOISE.match(line) is not None


def complaint(line: str, number: int) -> Problem | None:
    """The doubt that a noise line raises: some query got no answer. None for a greeting."""
    if _HARMLESS.search(line):
        return None
    return Problem(ProblemKind.TIMEOUT, f"the tool said at line {number}: {line.strip()}", number)
