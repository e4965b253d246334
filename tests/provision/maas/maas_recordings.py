"""Recorded requests and answers of a real MAAS 3.7.3, in the order in which they were sent."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PHASES = ("phaseA-no-rack", "phaseB-commission-storage", "phaseC-deploy-release")
_LINE = re.compile(r"(\d{3}) [\d.]+s (GET|POST|PUT|DELETE) (\S+) (\{.*?\})? ?-> ?(.*)")
_METADATA = "/MAAS/metadata/"


@dataclass
class Recorded:
    """One request and its answer. :param name: of its file; :param body: JSON, text or None.

    :param form: as it was sent, None: no body; :param files: name -> content.
    :param rebuilt: the file holds another round of the same request: form and answer are the log's.
    """

    name: str
    method: str
    url: str
    form: dict[str, Any] | None
    status: int
    body: Any
    files: dict[str, str] = field(default_factory=dict)
    rebuilt: bool = False

    @property
    def from_machine(self) -> bool:
        """Sent by a machine, with its own key."""
        return self.url.startswith(_METADATA)


def load(path: Path) -> Recorded:
    """Of a file."""
    told = json.loads(path.read_text())
    request, response = told["request"], told["response"]
    files = {name: content for name, (_, content) in (request["files"] or {}).items()}
    body = response["json"] if response["json"] is not None else response["text"]
    if body == "null":
        body = None
    return Recorded(
        path.stem, request["method"], request["url"], request["form"], response["status"], body, files
    )


def files(folder: Path) -> list[Path]:
    """The recordings of a phase, by name."""
    return sorted(folder.glob("*.json"))


def in_order(folder: Path) -> Iterator[Recorded]:
    """All requests of a phase as its log has them.

    A machine's own requests were recorded under the same names each time it was commissioned, so that only the last
    round is there in full: for the others the log gives form and answer.
    """
    found = [load(path) for path in files(folder)]
    asked = [one for one in found if not one.from_machine]
    told = [one for one in found if one.from_machine]
    machines = {one.name.split("-")[1] for one in told}
    machine = ""
    log = next(iter(folder.glob("summary*.txt")))
    for line in log.read_text().splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        status, method, url, form, answer = match.groups()
        if not url.startswith(_METADATA):
            yield from _until(asked, method, url, int(status))
            machine = next((one for one in url.split("/") if one in machines), machine)
        else:
            sent = ast.literal_eval(form) if form else None
            own = [one for one in told if one.name.split("-")[1] == machine]
            yield _of_machine(own, method, url, sent, int(status), answer)
    yield from asked


def _until(asked: list[Recorded], method: str, url: str, status: int) -> Iterator[Recorded]:
    """Up to the request the log tells of: some before the first were not logged."""
    while asked:
        one = asked.pop(0)
        yield one
        if (one.method, one.url, one.status) == (method, url, status):
            return
    raise AssertionError(f"the log tells of {method} {url} ({status}), and no recording is left that is it")


def _of_machine(
    told: list[Recorded], method: str, url: str, form: dict[str, Any] | None, status: int, answer: str
) -> Recorded:
    sent = form or {}
    same = [one for one in told if (one.method, one.url) == (method, url)]
    exact = next((one for one in same if (one.form or {}) == sent and one.status == status), None)
    if exact is not None:
        return exact
    about = ("op", "script_name")
    like = next(one for one in same if all((one.form or {}).get(key) == sent.get(key) for key in about))
    return Recorded(like.name, method, url, form, status, answer, like.files, rebuilt=True)
