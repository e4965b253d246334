"""What handlers of a simulated BMC get and give."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

Body = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """One request that passed login and the general checks.

    :param path: without query and trailing slash; :param query: options as decoded; :param headers: in lower case.
    :param body: parsed JSON object, empty when there was none; :param raw: the bytes.
    :param user: who is logged in, empty for anonymous; :param session: id of the session, empty with Basic.
    :param match: of the path's pattern, where the handler was registered with one.
    """

    bmc: SimBmc
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Body = field(default_factory=dict)
    raw: bytes = b""
    user: str = ""
    session: str = ""
    client: str = ""
    match: re.Match[str] | None = None

    def part(self, name: str) -> str:
        """A named group of the path's pattern."""
        return self.match[name] if self.match else ""


@dataclass
class Answer:
    """What goes back. :param body: a JSON object, ready bytes of one, or None for no content."""

    status: int = 200
    body: Body | bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


class RefusedError(Exception):
    """A handler says no; ``answer`` is what goes back."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"refused with {answer.status}")
        self.answer = answer


Handler = Callable[[Call], Answer]
LiveBody = Callable[["SimBmc"], "Body | None"]
FamilyBody = Callable[["SimBmc", re.Match[str]], "Body | None"]
