"""ETags, and what If-Match must be: as the firmware at hand wants it."""

from __future__ import annotations

import zlib
from enum import Enum
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer, Call
from tests.sim.idrac.messages import error

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc


class EtagRule(Enum):
    """What a PATCH may carry as If-Match."""

    OPTIONAL = "optional"
    """None, ``*``, or the ETag that was told."""
    REQUIRED = "required"
    """428 without."""
    STRONG_ONLY = "strong only"
    """Weak ones are told, but If-Match only works without the ``W/`` (seen on iDRAC9 5.x and others)."""
    NEVER = "never"
    """412 with any."""


class Etags:
    """How one BMC treats ETags."""

    def __init__(self, bmc: SimBmc) -> None:
        self.rule = EtagRule.OPTIONAL
        self.weak = bmc.profile.value.weak_etags
        self.stale = 0
        """So many more PATCHes meet a resource that has just changed under them: 412, then all is well."""

    def of(self, data: bytes) -> str:
        """The ETag of a body."""
        text = f'"{zlib.crc32(data):08x}"'
        return f"W/{text}" if self.weak else text


def refusal(call: Call) -> Answer | None:
    """Why a write is refused for its If-Match, None when it is fine."""
    given = call.headers.get("if-match")
    etags = call.bmc.part(Etags)
    if call.method == "POST":
        # An iDRAC9 answers an action that carries If-Match with 412, whatever its value.
        return error(call.bmc.profile, "PreconditionFailed") if given and "/Actions/" in call.path else None
    if call.method not in ("PATCH", "PUT"):
        return None
    if given is None:
        wanted = etags.rule is EtagRule.REQUIRED
        return error(call.bmc.profile, "PreconditionRequired") if wanted else None
    if etags.stale > 0:
        etags.stale -= 1
        return error(call.bmc.profile, "PreconditionFailed")
    return None if _fits(call.bmc, etags, call.path, given) else error(call.bmc.profile, "PreconditionFailed")


def _fits(bmc: SimBmc, etags: Etags, path: str, given: str) -> bool:
    from tests.sim.idrac.query import single

    if etags.rule is EtagRule.NEVER:
        return False
    if given == "*":
        return True
    data = single(bmc, path)
    if data is None:
        return True
    told = etags.of(data)
    if etags.rule is EtagRule.STRONG_ONLY:
        return given == told.removeprefix("W/")
    return given.removeprefix("W/") == told.removeprefix("W/")
