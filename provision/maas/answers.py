"""From an error answer of MAAS to the error an operator reads: one table.

Status and text of every row were recorded from MAAS 3.7.3, but for those marked as read in its source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricctl.errors import (
    OtherMachineError,
    ProvisionerAnswerError,
    ProvisionerBusyError,
    ProvisionerDeadlineError,
    ProvisionerError,
    ProvisionerForbiddenError,
    ProvisionerLoginError,
    ProvisionerNotFoundError,
    ProvisionerOutcomeUnknownError,
    ProvisionerPowerError,
    ProvisionerRefusedError,
    ProvisionerStateError,
    ProvisionerUnreachableError,
)
from provision.http.asked import LONGEST, Asked
from provision.http.mask import Mask


@dataclass(frozen=True, slots=True)
class Row:
    """One row. A row fits when all that it names does.

    :param statuses: lowest and highest; :param text: searched in what MAAS says; :param retry_after: with that header.
    :param words: ``{said}`` is MAAS's own text, ``{asked}`` the request; groups of ``text`` by name.
    """

    statuses: tuple[int, int]
    error: type[ProvisionerError]
    words: str
    hint: str = ""
    write: bool | None = None
    text: re.Pattern[str] | None = None
    retry_after: bool | None = None

    def fits(self, asked: Asked, status: int, retry_after: bool, text: str) -> re.Match[str] | None:
        """The match of its text, or of nothing, when the row fits."""
        fits = (
            self.statuses[0] <= status <= self.statuses[1]
            and self.write in (None, asked.write)
            and self.retry_after in (None, retry_after)
        )
        return (self.text or _ANYTHING).search(text) if fits else None


_ANYTHING = re.compile("")
_BMC = re.compile(r"access the BMC|power control|power driver|\bBMC\b", re.IGNORECASE)
_UNKNOWN = "it may have been carried out: {asked} answered {status}: {said}"
_KEY = "maas apikey on MAAS's own host prints the key; a clock that is far off makes a good one fail"

TABLE: tuple[Row, ...] = (
    Row((300, 399), ProvisionerAnswerError, "redirected to {location}; not followed, as the API key would go along",
        "give MAAS's own address as maas.url, http or https as it listens"),
    Row((401, 401), ProvisionerLoginError, "the API key is refused: {said}", _KEY),
    Row((400, 400), ProvisionerLoginError, "MAAS saw no API key: {said}", _KEY,
        text=re.compile(r"^Unrecognised signature: method=\S+ op=None")),
    Row((400, 400), ProvisionerNotFoundError, "MAAS does not know this operation: {said}",
        text=re.compile(r"^Unrecognised signature")),
    Row((404, 404), ProvisionerNotFoundError, "{asked}: {said}"),
    Row((403, 403), ProvisionerForbiddenError, "{asked}: locked, somebody else's, or for administrators only: {said}",
        "only its owner may mark a machine as broken, an administrator neither; tags need an administrator's key"),
    # serialization failures: maasserver/utils/views.py (3.7) sends Retry-After: 5; a state violation never does
    Row((409, 409), ProvisionerBusyError, "{asked} collides with other requests: {said}", retry_after=True),
    Row((409, 409), ProvisionerStateError, "{said}"),
    Row((400, 400), ProvisionerStateError, "{said}", text=re.compile(
        r"not available because of the current state|is not in a deployment state|has never been commissioned")),
    Row((400, 400), OtherMachineError, "MAC address {mac} is already in use on {owner}",
        text=re.compile(r"MAC address (?P<mac>\S+) already in use on (?P<owner>\S+?)\.(?:;|$|\s)")),
    Row((400, 400), OtherMachineError, "the MAC address is already in use by {nic} on {owner}",
        text=re.compile(r"MAC address is already in use by (?P<nic>\S+).*? on (?P<owner>\S+?)\.(?:;|$|\s)")),
    Row((400, 400), OtherMachineError, "the host name is already in use",
        text=re.compile(r"Node with this Hostname already exists")),
    Row((400, 400), ProvisionerRefusedError, "{said}"),
    Row((405, 405), ProvisionerAnswerError, "{asked}: MAAS does not offer this"),
    # a deployment asks for the queue before anything is begun, and all of it is rolled back: the machine stayed Ready
    Row((500, 500), ProvisionerPowerError, "no rack controller reaches the BMC, nothing was begun: {said}",
        "fabricctl maas doctor", text=re.compile(r"Error determining BMC task queue")),
    Row((500, 599), ProvisionerOutcomeUnknownError, _UNKNOWN, write=True),
    Row((503, 503), ProvisionerBusyError, "{asked}: {said}", retry_after=True),  # RPC without a rack: source
    Row((500, 599), ProvisionerPowerError, "{said}", "fabricctl maas doctor", text=_BMC),
    Row((504, 504), ProvisionerDeadlineError, "{asked}: no full answer in time: {said}"),
    Row((502, 503), ProvisionerUnreachableError, "{asked}: MAAS is not there: answer {status}: {said}"),
    Row((0, 999), ProvisionerAnswerError, "{asked}: answer {status}: {said}"),
)  # fmt: skip


def error_of(
    asked: Asked, status: int, headers: Mapping[str, str], text: str, mask: Mask | None = None
) -> ProvisionerError:
    """The most specific error of an answer that is no success.

    :param headers: names in lower case; :param text: of the body; :param mask: what must not be shown of either.
    """
    mask = mask or Mask()
    retry_after = "retry-after" in headers
    words = said(text, mask)
    for row in TABLE:
        match = row.fits(asked, status, retry_after, words)
        if match is None:
            continue
        values: dict[str, Any] = {
            **match.groupdict(),
            "said": words or "no reason given",
            "asked": asked,
            "status": status,
            "location": mask.line(headers.get("location", "somewhere"), 120),
        }
        return row.error(row.words.format(**values), host=asked.host, status=status, hint=row.hint)
    raise AssertionError(status)  # the last row fits everything


def said(text: str, mask: Mask | None = None) -> str:
    """MAAS's words of an error in one line: plain text, ``{field: [words]}`` as JSON, or a proxy's HTML page.

    :param mask: takes secrets out before anything is cut off.
    """
    return (mask or Mask()).line(_words(text), LONGEST)


def _words(text: str) -> str:
    text = text.strip()
    if text.startswith("{"):
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            fields = None
        if isinstance(fields, dict):
            return "; ".join(_field(name, words) for name, words in _telling(fields).items())
    if text[:1] == "<":
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        text = re.sub(r"<[^>]*>", " ", title[1] if title else text)
    return text


def _telling(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what misleads: where MACs are refused, MAAS adds that the power type wants network interfaces."""
    return {name: words for name, words in fields.items() if name != "power_type" or not _follows(fields)}


def _follows(fields: dict[str, Any]) -> bool:
    words = str(fields.get("power_type"))
    return "mac_addresses" in fields and "without network interfaces" in words


def _field(name: str, words: object) -> str:
    listed = words if isinstance(words, Sequence) and not isinstance(words, str) else [words]
    text = " ".join(str(word) for word in listed)
    return text if name == "__all__" else f"{name}: {text}"
