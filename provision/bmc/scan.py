"""Who answers at which BMC address, compared with who should: crossed cables, strangers, the absent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from fabricctl.hostset import fold, natural_key
from provision.bmc.outcome import BmcFinding
from provision.bmc.service_root import Claim


class Answer(StrEnum):
    """What came of asking an address."""

    BMC = "bmc"
    """A Redfish service."""
    SILENT = "silent"
    """Nothing, within the deadline."""
    REFUSED = "refused"
    """A machine without such a service, or no route to it."""
    OTHER = "other"
    """Something that is no Redfish service."""
    UNREADY = "unready"
    """A Redfish service that answers with an error, or no TLS version in common."""


@dataclass(frozen=True, slots=True)
class Sight:
    """One address.

    :param host: whose BMC the site has there, empty when nobody's; :param tag: service tag of that host by site file or
        node record, empty when neither knows it; :param mac: of its BMC by the node record, likewise.
    :param claim: who answered, None when no Redfish service did; :param text: why not, in words.
    """

    address: str
    host: str = ""
    tag: str = ""
    mac: str = ""
    answer: Answer = Answer.BMC
    claim: Claim | None = None
    text: str = ""

    @property
    def found_tag(self) -> str:
        """Service tag that was claimed, empty when none was."""
        return self.claim.service_tag if self.claim is not None else ""

    @property
    def where(self) -> str:
        """Host and address for people."""
        return f"{self.host} ({self.address})" if self.host else self.address


@dataclass(frozen=True)
class Comparison:
    """What a scan says.

    :param findings: what is wrong; :param doubts: what could not be told, host sets folded.
    :param learned: host -> service tag, of hosts without one whose machine answered at their address.
    """

    sights: tuple[Sight, ...]
    findings: tuple[BmcFinding, ...]
    doubts: tuple[str, ...]
    learned: Mapping[str, str]


def compare(sights: Sequence[Sight], owners: Mapping[str, str]) -> Comparison:
    """Compare what answered with the site.

    :param owners: service tag -> host, of every host whose tag is known, also of those that were not asked.
    """
    twice = _twice(sights)
    repeated = {tag for tag, seen in twice.items() if len(seen) > 1}
    findings = [_twice_finding(tag, twice[tag]) for tag in sorted(repeated)]
    findings += _crossed([sight for sight in sights if sight.found_tag not in repeated], owners)
    findings += _strangers(sights, owners)
    findings += _other_boards(sights)
    findings += [_something_else(sight) for sight in sights if sight.answer is Answer.OTHER and sight.host]
    learned = {
        sight.host: sight.found_tag
        for sight in sights
        if sight.host
        and not sight.tag
        and sight.found_tag not in repeated
        and sight.found_tag not in {"", *owners}
    }
    return Comparison(tuple(sights), tuple(findings), tuple(_doubts(sights)), learned)


def _twice(sights: Iterable[Sight]) -> dict[str, list[Sight]]:
    seen: dict[str, list[Sight]] = defaultdict(list)
    for sight in sights:
        if sight.found_tag:
            seen[sight.found_tag].append(sight)
    return seen


def _twice_finding(tag: str, seen: Sequence[Sight]) -> BmcFinding:
    where = ", ".join(sight.where for sight in seen)
    text = f"service tag {tag} answers at {len(seen)} addresses: {where}; one machine has one BMC address"
    return BmcFinding(seen[0].host, "tag-twice", text, found=tag)


def _crossed(sights: Sequence[Sight], owners: Mapping[str, str]) -> Iterator[BmcFinding]:
    """Machines that answer at each other's addresses: whole rings first, then what answers elsewhere."""
    at_host = {sight.host: sight for sight in sights if sight.host}
    found = {s.host: owners[s.found_tag] for s in sights if s.host and s.found_tag in owners}
    wrong = {host: owner for host, owner in found.items() if owner != host}
    in_ring: set[str] = set()
    for ring in _rings(wrong):
        in_ring.update(ring)
        yield _ring_finding([at_host[host] for host in ring])
    for sight in sights:
        owner = owners.get(sight.found_tag, "")
        if owner and owner != sight.host and sight.host not in in_ring:
            yield _elsewhere(sight, owner, at_host.get(owner))


def _rings(wrong: Mapping[str, str]) -> Iterator[list[str]]:
    """Rings of a mapping in which no host is named twice, each from its first host on, in natural order."""
    done: set[str] = set()
    for start in sorted(wrong, key=natural_key):
        path: list[str] = []
        host = start
        while host in wrong and host not in done:
            done.add(host)
            path.append(host)
            host = wrong[host]
        if host in path:
            yield path[path.index(host) :]


def _ring_finding(ring: Sequence[Sight]) -> BmcFinding:
    first = ring[0]
    names = [sight.host for sight in ring]
    if len(ring) == 2:
        a, b = ring
        text = (
            f"BMC cables of {a.host} and {b.host} are crossed: {b.tag} ({b.host}) answers at {a.address}, and "
            f"{a.tag} ({a.host}) at {b.address}; exchange the two plugs, or the two tags if the site has them wrong"
        )
    else:
        steps = "; ".join(
            f"at {sight.where} answers {following.tag} ({following.host})"
            for sight, following in zip(ring, [*ring[1:], first], strict=True)
        )
        text = f"BMC cables of {len(ring)} nodes are crossed in a ring: {steps}"
    return BmcFinding(
        first.host, "bmc-crossed", text, part=",".join(names), expected=first.tag, found=first.found_tag
    )


def _elsewhere(sight: Sight, owner: str, own: Sight | None) -> BmcFinding:
    at_own = ""
    if own is not None:
        at_own = f"; at {owner}'s own address {own.address} " + (
            f"answers {own.found_tag}" if own.found_tag else own.text or "no service tag is told"
        )
    unknown = f"the service tag of {sight.host} is not known" if sight.host else "the site has nobody there"
    should = f"expected {sight.tag} ({sight.host})" if sight.tag else unknown
    text = f"at {sight.where} answers {sight.found_tag}, which is {owner}; {should}{at_own}"
    return BmcFinding(sight.host or owner, "bmc-elsewhere", text, expected=sight.tag, found=sight.found_tag)


def _strangers(sights: Sequence[Sight], owners: Mapping[str, str]) -> Iterator[BmcFinding]:
    for sight in sights:
        unknown = sight.found_tag and sight.found_tag not in owners
        if unknown and sight.tag:
            text = (
                f"at {sight.where} answers a machine the site does not know: expected service tag {sight.tag}, found "
                f"{sight.found_tag}; another chassis, or a wrong tag in the site file?"
            )
            yield BmcFinding(sight.host, "unknown-machine", text, expected=sight.tag, found=sight.found_tag)
        elif unknown and not sight.host:
            text = f"at {sight.address} answers service tag {sight.found_tag}, which the site does not know"
            yield BmcFinding("", "unknown-machine", text, part=sight.address, found=sight.found_tag)


def _other_boards(sights: Sequence[Sight]) -> Iterator[BmcFinding]:
    """The right chassis with another BMC: the board was replaced, and its password is the factory's again."""
    for sight in sights:
        mac = sight.claim.mac if sight.claim is not None else ""
        if sight.tag and sight.tag == sight.found_tag and mac and sight.mac and mac != sight.mac:
            text = (
                f"{sight.where} has the right service tag and another BMC: expected MAC {sight.mac}, found {mac}; was "
                "its board replaced? then certificate and password are new, too"
            )
            yield BmcFinding(sight.host, "bmc-replaced", text, expected=sight.mac, found=mac)


def _something_else(sight: Sight) -> BmcFinding:
    text = f"at {sight.where} something else answers than a BMC: {sight.text}"
    return BmcFinding(sight.host, "no-bmc", text, expected="a Redfish service", found=sight.text)


def _doubts(sights: Sequence[Sight]) -> Iterator[str]:
    """What could not be told of hosts; an address of no host may well be empty."""
    of: dict[str, list[str]] = defaultdict(list)
    for sight in sights:
        if sight.host and sight.answer in (Answer.SILENT, Answer.REFUSED, Answer.UNREADY):
            of[sight.text].append(sight.host)
    for text, hosts in of.items():
        yield f"{fold(hosts)}: {text}"
    untold = [s.host for s in sights if s.host and s.tag and s.claim is not None and not s.found_tag]
    if untold:
        yield f"{fold(untold)}: the BMC tells no service tag without a login, so who answers was not compared"
    tagless = [s.host for s in sights if s.host and not s.tag and s.found_tag]
    if tagless:
        yield f"{fold(tagless)}: neither site file nor node record has a service tag, so who answers was not compared"
