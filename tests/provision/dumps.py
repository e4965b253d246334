"""The real dumps as BMCs in memory: R750 (iDRAC9 6.00.30.00) and DGX H100, captured in 2024."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.provision.stateful_bmc import DELL, DGX, StatefulBmc

R750_FILE = "dell_r750_h100_ib_idrac9_6.00.30.json"
DGX_FILE = "nvidia_dgx_h100_8xCX7.json"


@cache
def _text(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def dump(captures: Path, name: str) -> dict[str, Any]:
    """Path -> body, not to be changed."""
    found: dict[str, Any] = json.loads(_text(captures / "redfish" / name))
    return found


def r750(captures: Path) -> StatefulBmc:
    """A BMC that answers as the R750 did; its resources may be changed."""
    return StatefulBmc(_own(dump(captures, R750_FILE)), DELL)


def dgx(captures: Path) -> StatefulBmc:
    """The same of the DGX H100."""
    return StatefulBmc(_own(dump(captures, DGX_FILE)), DGX)


def _own(bodies: dict[str, Any]) -> dict[str, Any]:
    """A copy whose bodies are copied when they are first changed: a test changes one or two of thousands."""
    return dict(bodies)


def edit(bmc: StatefulBmc, path: str) -> Any:
    """The body of a path, for changing; the dump stays as it is."""
    body = copy.deepcopy(bmc.resources[path])
    bmc.resources[path] = body
    return body
