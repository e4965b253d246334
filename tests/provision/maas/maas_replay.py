"""Replays recorded requests on the double, and says where its answers differ from the recorded ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import requests
from ruamel.yaml import YAML

from tests.provision.maas.maas_asking import oauth
from tests.provision.maas.maas_listed import Listed
from tests.provision.maas.maas_recordings import Recorded
from tests.provision.maas.maas_uploads import Uploads
from tests.sim.maas import metadata
from tests.sim.maas.process import ServedDouble
from tests.sim.maas.states import Status

_DATE = re.compile(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2}\.? \d{4} \d{2}:\d{2}:\d{2}( \+0000)?")
TIMEOUT_S = 20


@dataclass(frozen=True, order=True)
class Difference:
    """Where an answer differs. :param at: ``status``, or the way to it in the body; :param said: both sides."""

    recording: str
    at: str
    said: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.recording} | {self.at} | {self.said}"


class Replay:
    """One phase, on one double.

    What MAAS gave a number or a name of its own is put in place of the recorded one as it turns up: system ids, keys
    of machines, ids of script results.

    :param listed: how answers are compared.
    """

    def __init__(self, served: ServedDouble, uploads: Uploads, listed: Listed) -> None:
        self._served = served
        self._listed = listed
        self.beside: set[str] = set()
        """Recordings before which something was done beside the API."""
        self.rebuilt: set[str] = set()
        """Recordings that were not sent as they are."""
        self.typed: set[str] = set()
        """Places that differ and were compared by type."""
        self.shaped: set[str] = set()
        """Ends of URLs whose answers were compared by shape."""
        self._uploads = uploads
        self._ids: dict[str, str] = {}
        self._results: dict[str, str] = {}
        self._machine = ""
        self._session = requests.Session()

    def play(self, recorded: Recorded) -> list[Difference]:
        """Send one request; what differs in the answer."""
        self._outside(recorded)
        if recorded.rebuilt:
            self.rebuilt.add(recorded.name)
        answer = self._send(recorded)
        ours = _body(answer)
        if recorded.body is not None:
            self._learn(recorded.body, ours)
        found = list(self._compare(recorded, answer.status_code, ours))
        return [Difference(recorded.name, at, said) for at, said in found]

    def _outside(self, recorded: Recorded) -> None:
        """What was done to the real MAAS beside the API between two requests."""
        double = self._served.double
        for old, new in self._ids.items():
            if f"/{old}/" in recorded.url:
                self._machine = new
        if recorded.url.endswith("op=get_token") and recorded.body is not None:
            metadata.boot(double, double.records[self._machine])
            self.beside.add(recorded.name)
        if recorded.name == "d026-read-deployed":
            record = double.records[self._machine]
            record.status = Status.DEPLOYED
            record.changed()
            self.beside.add(recorded.name)

    def _send(self, recorded: Recorded) -> requests.Response:
        url = self._served.url.removesuffix("/MAAS") + self.mapped(recorded.url)
        fields = self._fields(recorded)
        content = self._uploads.files(recorded) if recorded.files else {}
        parts: list[tuple[str, tuple[str | None, str]]] = [(name, (None, value)) for name, value in fields]
        parts += [(name, (name, text)) for name, text in content.items()]
        return self._session.request(
            recorded.method,
            url,
            headers=self._headers(recorded),
            files=parts or None,
            timeout=TIMEOUT_S,
        )

    def _fields(self, recorded: Recorded) -> Iterator[tuple[str, str]]:
        for name, value in (recorded.form or {}).items():
            for one in value if isinstance(value, list) else [value]:
                text = str(one)
                yield name, self._results.get(text, text) if name == "script_result_id" else self.mapped(text)

    def _headers(self, recorded: Recorded) -> dict[str, str]:
        if "noauth" in recorded.name or recorded.url.endswith(("/version/", "/describe/")):
            return {}
        key, token, secret = self._served.api_key.split(":")
        if recorded.from_machine:
            own = self._served.double.records[self._machine].token or {}
            key, token, secret = (own.get(name, "") for name in ("consumer_key", "token_key", "token_secret"))
        if "badauth" in recorded.name:
            secret = "wrong"  # noqa: S105 - on purpose
        return {"Authorization": oauth(key, token, secret)}

    def mapped(self, text: str) -> str:
        """With our ids in place of the recorded ones."""
        for old, new in self._ids.items():
            text = text.replace(old, new)
        return text

    def _learn(self, recorded: Any, ours: Any) -> None:
        """Pairs of ids from two answers of the same shape."""
        if isinstance(recorded, dict) and isinstance(ours, dict):
            for name in ("system_id", "token_key", "token_secret", "consumer_key"):
                if isinstance(recorded.get(name), str) and isinstance(ours.get(name), str):
                    self._ids.setdefault(recorded[name], ours[name])
            if "script_id" in recorded and "script_id" in ours:
                self._results[str(recorded["id"])] = str(ours["id"])
            for name in recorded.keys() & ours.keys():
                self._learn(recorded[name], ours[name])
        elif isinstance(recorded, list) and isinstance(ours, list):
            for one, other in zip(recorded, ours, strict=False):
                self._learn(one, other)

    def _compare(self, recorded: Recorded, status: int, ours: Any) -> Iterator[tuple[str, str]]:
        if status != recorded.status:
            yield "status", f"recorded {recorded.status}, ours {status}"
        theirs = json.loads(self.mapped(json.dumps(recorded.body)))
        end = next((one for one in self._listed.by_shape if recorded.url.endswith(one)), "")
        if isinstance(theirs, str) and end and status == 200:
            self.shaped.add(end)
            yield from shapes(_yaml(theirs), _yaml(str(ours)), "yaml", values=False)
        elif isinstance(theirs, str):
            yield from texts(theirs, "" if ours is None else str(ours))
        elif recorded.status >= 400 and theirs is not None:
            if theirs != ours:
                yield "body", f"recorded {_short(theirs)}, ours {_short(ours)}"
        else:
            for at, said, same_type in _differences(theirs, ours, "body"):
                place = self._listed.by_type_at(at) if same_type else None
                if place is None:
                    yield at, said
                else:
                    self.typed.add(place)


def shapes(theirs: Any, ours: Any, at: str, *, values: bool = True) -> Iterator[tuple[str, str]]:
    """Where two values differ in their keys, types or lengths. :param values: and in what they say."""
    for place, said, same_type in _differences(theirs, ours, at):
        if values or not same_type:
            yield place, said


def _differences(theirs: Any, ours: Any, at: str) -> Iterator[tuple[str, str, bool]]:
    """(place, both sides, whether they are two values of the same type)."""
    if type(theirs) is not type(ours):
        yield at, f"recorded {_short(theirs)}, ours {_short(ours)}", False
    elif isinstance(theirs, dict):
        for name in sorted(theirs.keys() | ours.keys(), key=str):
            if name not in ours:
                yield f"{at}.{name}", "recorded, not in ours", False
            elif name not in theirs:
                yield f"{at}.{name}", "in ours, not recorded", False
            else:
                yield from _differences(theirs[name], ours[name], f"{at}.{name}")
    elif isinstance(theirs, list):
        if len(theirs) != len(ours):
            yield f"{at}.length", f"recorded {len(theirs)}, ours {len(ours)}", False
        for place, (one, other) in enumerate(zip(theirs, ours, strict=False)):
            yield from _differences(one, other, f"{at}[{place}]")
    elif theirs != ours:
        yield at, f"recorded {_short(theirs)}, ours {_short(ours)}", True


def texts(theirs: str, ours: str) -> Iterator[tuple[str, str]]:
    """Where two texts differ, but for dates."""
    theirs, ours = _DATE.sub("DATE", theirs), _DATE.sub("DATE", ours)
    if theirs != ours:
        yield "text", f"recorded {_short(theirs)}, ours {_short(ours)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:160]}…"


def _yaml(text: str) -> Any:
    load: Callable[[Any], Any] = YAML(typ="safe").load
    return load(StringIO(text))


def _body(answer: requests.Response) -> Any:
    if "json" in answer.headers.get("Content-Type", ""):
        return answer.json()
    return answer.text or None
