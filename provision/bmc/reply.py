"""One answer of a Redfish service, and what it says about itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

_VERSIONED = re.compile(r"(?P<registry>[A-Za-z][\w ]*?)(?:\.\d+)+\.(?P<key>\w+)\Z")


def message_key(message_id: str) -> str:
    """``SYS518`` of ``IDRAC.2.8.SYS518``: versions change with every firmware."""
    match = _VERSIONED.match(message_id)
    return match["key"] if match else message_id.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of ``@Message.ExtendedInfo`` (DSP0266, error responses).

    :param id: as written (``IDRAC.2.8.SYS518``); :param text: the sentence; :param resolution: what the BMC advises.
    :param args: what stands in the sentence for its variables.
    """

    id: str
    text: str = ""
    severity: str = ""
    resolution: str = ""
    args: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The id without registry and version: ``SYS518``. Versions change with every firmware."""
        return message_key(self.id)


@dataclass(frozen=True)
class Reply:
    """An answer.

    :param path: of the resource asked for; :param status: HTTP status; :param headers: names in lower case.
    :param body: parsed JSON, None when there was none; :param size: bytes of it, unpacked.
    """

    path: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    size: int = 0

    @property
    def ok(self) -> bool:
        """Whether the status says success."""
        return 200 <= self.status < 300

    @property
    def resource(self) -> Mapping[str, Any]:
        """The body as a resource; empty when it is no JSON object."""
        return self.body if isinstance(self.body, dict) else {}

    @property
    def etag(self) -> str:
        """ETag of the header, else of the body; empty when there is none."""
        return self.headers.get("etag", "") or str(self.resource.get("@odata.etag") or "")

    @property
    def location(self) -> str:
        """Where what was made lives: a session, a job."""
        return self.headers.get("location", "")

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """What the service says about the answer; also of a success, where jobs and warnings stand."""
        error = self.resource.get("error")
        holders = [error if isinstance(error, dict) else {}, self.resource]
        found: list[Message] = []
        for holder in holders:
            entries = holder.get("@Message.ExtendedInfo")
            listed = entries if isinstance(entries, list) else [entries]
            found += [_message(entry) for entry in listed if isinstance(entry, dict)]
        if not found and isinstance(error, dict):
            found.append(Message(str(error.get("code") or ""), str(error.get("message") or "")))
        return tuple(found)

    def says(self, *keys: str) -> bool:
        """Whether one of the messages has one of these keys (``SYS518``), whatever its registry's version."""
        return any(message.key in keys for message in self.messages)


def _message(entry: Mapping[str, Any]) -> Message:
    said = {name: str(entry.get(name) or "") for name in ("MessageId", "Message", "Severity", "Resolution")}
    args = entry.get("MessageArgs")
    texts = tuple(str(arg) for arg in args) if isinstance(args, list) else ()
    return Message(said["MessageId"], said["Message"], said["Severity"], said["Resolution"], texts)
