"""Who answers at BMC addresses: one request each, without a login and without trust in what is claimed."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network, ip_network

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.store import open_store
from fabricctl.errors import (
    BmcDeadlineError,
    BmcError,
    BmcGarbledError,
    BmcTlsError,
    UsageError,
)
from fabricctl.nodes.fleet import IdentityTelling
from fabricctl.nodes.model import IdentityKind, make_fact
from provision.bmc.reply import Reply
from provision.bmc.scan import Answer, Comparison, Sight, compare
from provision.bmc.service_root import claim_of
from provision.bmc.target import Target, Trust, Verify
from provision.redfish.aio import AiohttpTransport
from provision.redfish.answers import error_of

ROOT = "/redfish/v1"
DEADLINE_S = 10.0
"""Of one address: an iDRAC9 takes 0.2 s for its root (captures); twice that long a connection may need."""
MAX_ADDRESSES = 4096
"""A /20. More in one scan is a typing error or wants to be said."""
AT_ONCE = 256
SOURCE = "scan"
"""Source of a service tag that was claimed without a login, at the address the site has for the host."""
_MOVED = (301, 302, 307, 308)

Network = IPv4Network | IPv6Network
Done = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Question:
    """One address to ask. :param mac: of the host's BMC by the node record, empty when unknown."""

    target: Target
    mac: str = ""


def parse_network(text: str) -> Network | None:
    """The network or single address that a text names, None when it names hosts.

    :raises UsageError: it looks like a network and is none.
    """
    text = text.strip()
    try:
        return ip_network(text, strict=False)
    except ValueError:
        if "/" in text and not any(char.isalpha() for char in text.partition("/")[0].replace(":", "")):
            raise UsageError(f"{text!r} is no network; expected something like 192.0.2.0/24") from None
        return None


def network_questions(
    network: Network,
    known: Sequence[Target],
    macs: Mapping[str, str],
    *,
    port: int,
    most: int = MAX_ADDRESSES,
) -> list[Question]:
    """Every address of a network; those the site knows as it knows them.

    :param known: all BMCs of the site; :param port: of addresses the site does not know.
    :raises UsageError: it holds more than ``most`` addresses.
    """
    if network.num_addresses > most + 2:
        raise UsageError(
            f"{network} has {network.num_addresses:,} addresses; at most {most:,} are scanned at once",
            hint="name a smaller network, or raise --max-addresses",
        )
    of = {target.address: target for target in known}
    addresses = [str(address) for address in network.hosts()]
    targets = [of.get(address) or Target("", address, port) for address in addresses]
    return [Question(target, macs.get(target.host, "")) for target in targets]


def scan(
    questions: Sequence[Question],
    owners: Mapping[str, str],
    *,
    at_once: int = AT_ONCE,
    deadline_s: float = DEADLINE_S,
    done: Done | None = None,
) -> Comparison:
    """Ask every address once and compare.

    :param owners: service tag -> host, of all hosts whose tag is known; :param done: told (asked so far, answered).
    """
    return compare(asyncio.run(_all(questions, at_once, deadline_s, done)), owners)


async def _all(
    questions: Sequence[Question], at_once: int, deadline_s: float, done: Done | None
) -> list[Sight]:
    gate = asyncio.Semaphore(at_once)
    count = [0, 0]

    async def one(question: Question) -> Sight:
        async with gate:
            sight = await _look(question, deadline_s)
        count[0] += 1
        count[1] += sight.claim is not None
        if done is not None:
            done(*count)
        return sight

    return list(await asyncio.gather(*(one(question) for question in questions)))


async def _look(question: Question, deadline_s: float) -> Sight:
    target = question.target
    sight = Sight(target.address, target.host, target.service_tag, question.mac)
    # nothing secret is sent, and who it is shall be known before its certificate is trusted
    anybody = replace(target, trust=Trust(Verify.OFF, tls_floor=target.trust.tls_floor))
    transport = AiohttpTransport(anybody, connections=1)
    try:
        return _seen(sight, target, await _root(transport, deadline_s))
    except BmcError as exc:
        return replace(sight, answer=_kind(exc), text=exc.message)
    finally:
        await transport.close()


async def _root(transport: AiohttpTransport, deadline_s: float) -> Reply:
    """The service root; one redirection on the same BMC is followed (``/redfish/v1`` to ``/redfish/v1/``, DSP0266)."""
    reply = await transport.send("GET", ROOT, deadline_s=deadline_s, headers={})
    if reply.status in _MOVED and reply.location.partition("?")[0].endswith(f"{ROOT}/"):
        reply = await transport.send("GET", f"{ROOT}/", deadline_s=deadline_s, headers={})
    return reply


def _seen(sight: Sight, target: Target, reply: Reply) -> Sight:
    claim = claim_of(reply.body) if reply.ok else None
    if claim is not None:
        return replace(sight, claim=claim)
    if reply.ok:
        return replace(sight, answer=Answer.OTHER, text=f"HTTP {reply.status}, but no service root")
    # of an error only Redfish has messages; iDRAC9 answers a bare 400 to a name it does not know
    if reply.messages or reply.status in (400, 503):
        error = error_of(target, "GET", reply)
        hint = f" ({error.hint})" if error.hint else ""
        return replace(sight, answer=Answer.UNREADY, text=f"{error.message}{hint}")
    return replace(sight, answer=Answer.OTHER, text=f"HTTP {reply.status} to GET {ROOT}")


def _kind(error: BmcError) -> Answer:
    causes = list(_causes(error))
    plain = any(getattr(one, "reason", "") == _NO_TLS for one in causes)
    if isinstance(error, BmcGarbledError) or (isinstance(error, BmcTlsError) and plain):
        return Answer.OTHER
    if isinstance(error, BmcTlsError):
        return Answer.UNREADY
    if isinstance(error, BmcDeadlineError):
        return Answer.SILENT
    refused = any(isinstance(one, OSError) and one.errno in _REFUSALS for one in causes)
    return Answer.REFUSED if refused else Answer.SILENT


_NO_TLS = "WRONG_VERSION_NUMBER"
"""OpenSSL's reason where a server answers a handshake with something that is no TLS at all."""
_REFUSALS = (errno.ECONNREFUSED, errno.ECONNRESET)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What an error came of; aiohttp keeps an operating system's error beside the chain."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or getattr(cause, "os_error", None)


def record_tags(location: Location, site: str, tags: Mapping[str, str], *, who: str, now: datetime) -> None:
    """Write service tags into the node records of hosts that have none, all or none; each is an event.

    :raises StateConflictError: a host got a tag meanwhile, or another host has one of these; nothing was recorded.
    """
    tellings = [
        IdentityTelling(host, (make_fact(IdentityKind.SERVICE_TAG, tag, SOURCE),), only_new=True)
        for host, tag in tags.items()
    ]
    with open_store(location, site=site) as store:
        store.nodes.tell_many(tellings, who=who, reason="answered at its BMC address", now=now)


def with_tags(seen: Comparison, owners: Mapping[str, str]) -> Comparison:
    """The same sights, compared once the tags that were learned are the hosts' own."""
    sights = [replace(sight, tag=sight.tag or seen.learned.get(sight.host, "")) for sight in seen.sights]
    return compare(sights, {**owners, **{tag: host for host, tag in seen.learned.items()}})


def tag_lines(tags: Mapping[str, str]) -> Iterator[str]:
    """A ``service_tags:`` block for the site file's ``management``, ready to be pasted.

    Tags are quoted: YAML reads 1234567 and 12345E6 as numbers.
    """
    yield "  service_tags:"
    for host, tag in tags.items():
        yield f'    {host}: "{tag}"'
