"""The narrow edge to the network: one request, one answer, never a second try."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from typing import Any, Protocol

import orjson

from fabricctl.errors import BmcError, BmcGarbledError, BmcTooLargeError
from provision.bmc.reply import Reply
from provision.bmc.target import Target
from provision.redfish.mask import Mask

LARGEST_BODY = 32 * 1024 * 1024
"""Bytes, on the wire and unpacked; the largest body of the captures has 0.6 MB."""
CONNECT_S = 10.0
"""Seconds until a connection must stand, TLS included."""


class Transport(Protocol):
    """Sends requests to one BMC. Sessions, retries and meaning live above."""

    @property
    def mask(self) -> Mask:
        """The secrets that were sent, which no text about this BMC may hold."""
        ...

    async def send(
        self,
        method: str,
        path: str,
        *,
        deadline_s: float,
        headers: Mapping[str, str],
        body: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Send one request and return its answer, whatever its status. Redirects are not followed.

        :param path: with its query, as it goes over the wire.
        :raises BmcUnreachableError: no connection, or it broke; :raises BmcDeadlineError: no full answer in time.
        :raises BmcTlsError: not trusted; nothing was sent. :raises BmcGarbledError: cut short, or no JSON.
            ``error.sent`` tells of each whether the BMC may have received the request.
        """
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


def unsent(error: BmcError) -> BmcError:
    """Mark an error: the request did not leave this machine."""
    error.sent = False
    return error


def too_large(target: Target, path: str) -> BmcTooLargeError:
    """The error of an answer that is larger than any that makes sense."""
    return BmcTooLargeError(f"{path}: an answer of more than {LARGEST_BODY / 2**20:g} MiB", bmc=str(target))


def make_reply(
    target: Target, path: str, status: int, headers: Mapping[str, str], raw: bytes, mask: Mask
) -> Reply:
    """An answer from its parts.

    :param headers: names in lower case; :param raw: the body as it came over the wire. :param mask: secrets that are
        taken out of the body; it learns the token of a login.
    :raises BmcGarbledError: a success that is no JSON, or a body that unpacks to more than any that makes sense.
    """
    try:
        raw = _unpacked(target, path, headers.get("content-encoding", ""), raw)
    except BmcGarbledError:
        if status < 400:
            raise
        raw = b""  # a refusal stays one when its text cannot be read
    mask.learn(headers)
    body: Any = None
    if raw:
        try:
            body = orjson.loads(raw)
        except ValueError:
            body = _tolerant(raw)
            if body is None and 200 <= status < 300:
                raise BmcGarbledError(
                    f"{path}: expected JSON, found {len(raw):,} bytes that begin with {mask.raw(raw)[:40]!r}",
                    bmc=str(target),
                ) from None
        body = mask.body(body, raw, good=200 <= status < 300)
    return Reply(path, status, headers, body, len(raw))


def _unpacked(target: Target, path: str, encoding: str, raw: bytes) -> bytes:
    """The body of a BMC that compresses though it was asked not to; never more than the largest."""
    if not raw or encoding.strip().lower() in ("", "identity"):
        return raw
    if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        raise BmcGarbledError(f"{path}: the answer is packed as {encoding[:40]!r}", bmc=str(target))
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # tells gzip and zlib apart by itself
    try:
        body = unpacker.decompress(raw, LARGEST_BODY + 1)
    except zlib.error as exc:
        raise BmcGarbledError(f"{path}: the packed answer is damaged", bmc=str(target)) from exc
    if len(body) > LARGEST_BODY:
        del body  # an error keeps what stood around it
        raise too_large(target, path)
    if not unpacker.eof:
        raise BmcGarbledError(f"{path}: the packed answer is cut short", bmc=str(target))
    return body


def _tolerant(raw: bytes) -> Any:
    """JSON that is none by the letter: bytes that are no UTF-8, control characters (serial numbers of never written
    parts), numbers that are none."""
    try:
        text = raw.decode("utf-8-sig", "replace")
        return json.loads(
            text, strict=False, parse_constant=lambda _: None, parse_float=_finite, parse_int=_counted
        )
    except (ValueError, RecursionError):
        return None


def _finite(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def _counted(digits: str) -> int | None:
    """No counter of a machine reaches more digits, and no database of ours holds them."""
    return int(digits) if len(digits) <= 18 else None
