"""Bodies made once for all BMCs of a kind, with a BMC's own identities put in when they are sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_OWN = re.compile(r"\{\{([^{}]+)\}\}")


def own(what: str, part: str = "") -> str:
    """Stands in a fixed body for something each BMC has its own of: ``own("mac", "NIC.Slot.1-1")``, ``own("tag")``."""
    return "{{" + (f"{what}:{part}" if part else what) + "}}"


def dumps(body: Any) -> bytes:
    """Compact JSON."""
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class Template:
    """A serialised body, cut where identities go: plain text at even places, names of identities at odd ones."""

    pieces: tuple[str, ...]

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Template:
        """Serialise once."""
        return cls(tuple(_OWN.split(dumps(body).decode())))

    def fill(self, identity: Mapping[str, str]) -> bytes:
        """The body of one BMC."""
        if len(self.pieces) == 1:
            return self.pieces[0].encode()
        filled = list(self.pieces)
        filled[1::2] = [identity[name] for name in self.pieces[1::2]]
        return "".join(filled).encode()
