"""The verdict of the DHCP probe."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from fabricctl.words import many
from provision.install.doctor import Question, Role, Verdict
from provision.install.doctor_seen import AT_OUR_END, DhcpSeen, NoAnswer, Offer


def judge_dhcp(
    seen: DhcpSeen | NoAnswer, *, mac: str, host: str, way: str, servers: Collection[str], sure: bool = True
) -> list[Verdict]:
    """Whether the right server, and no other, offers a machine an address and something to boot.

    Silence is a finding: nothing else comes of a DHCP server that is down.

    :param servers: addresses of the servers that should answer; empty when nobody knows them.
    :param sure: whether the server serves the network it was asked from: of another one's it says nothing.
    """
    who = ", ".join(sorted(servers)) or "one server"
    question = Question(
        Role.DHCP,
        who if servers else way,
        f"a DHCPDISCOVER of {host} ({mac}, PXE over UEFI x64), {way}",
        f"an offer of {who} with next server and boot file",
    )
    if isinstance(seen, NoAnswer):
        if seen.why in AT_OUR_END:
            return [question.doubt(seen.words)]
        return [question.finding("silent", seen.words, _SILENT)]
    if not seen.offers:
        found = f"no offer in {seen.waited_s:g} s"
        return [question.finding("silent", found, _SILENT) if sure else question.doubt(found, _ELSEWHERE)]
    strangers = [offer for offer in seen.offers if servers and not _is_of(offer, servers)]
    ours = [offer for offer in seen.offers if offer not in strangers]
    return [*_of_ours(question, ours, servers), *_rogue(question, strangers, ours, servers)]


def _of_ours(question: Question, offers: list[Offer], servers: Collection[str]) -> list[Verdict]:
    if not offers:
        return [question.finding("silent", f"no offer of {question.subject}", _SILENT)]
    lame = [offer for offer in offers if not offer.bootfile or not _next(offer)]
    if lame:
        missing = "boot file" if not lame[0].bootfile else "next server"
        return [
            question.finding(
                "no-boot",
                f"{_words(lame[0])}, without {missing}",
                f"switch DHCP on for that VLAN in MAAS; another DHCP server there must hand out {missing} itself",
            )
        ]
    elsewhere = next((offer for offer in offers if servers and _foreign_next(offer, servers)), None)
    if elsewhere is not None:
        return [
            question.finding(
                "next-server",
                f"{_words(elsewhere)}: that next server is none of MAAS's",
                "correct next-server of the DHCP server: machines would boot from somebody else",
            )
        ]
    told = replace(question, subject=", ".join(sorted({offer.server for offer in offers})))
    return [told.ok("; ".join(_words(offer) for offer in offers))]


def _rogue(
    question: Question, strangers: list[Offer], ours: list[Offer], servers: Collection[str]
) -> list[Verdict]:
    if not servers and len({offer.server for offer in ours}) > 1:
        strangers = ours
    if not strangers:
        return []
    said = "; ".join(_words(offer) for offer in strangers)
    number = many(len({offer.server for offer in strangers}), "server")
    expected = "no other server that answers"
    asked = question.asked
    return [
        Question(Role.DHCP, ", ".join(sorted({o.server for o in strangers})), asked, expected).finding(
            "rogue",
            f"{number} that {'is' if number.startswith('1 ') else 'are'} not expected: {said}",
            "find it by its address and switch it off, or name it in maas.roles.dhcp if it is right",
        )
    ]


def _is_of(offer: Offer, servers: Collection[str]) -> bool:
    return offer.server in servers or offer.sender in servers


def _next(offer: Offer) -> str:
    return offer.next_server or offer.tftp_name


def _foreign_next(offer: Offer, servers: Collection[str]) -> bool:
    return bool(offer.next_server) and offer.next_server not in servers


def _words(offer: Offer) -> str:
    boot = f", boot {offer.bootfile} from {_next(offer)}" if offer.bootfile else ""
    return f"{offer.server} offers {offer.address}{boot}"


_SILENT = (
    "is dhcpd running on the rack controller, is DHCP switched on for this VLAN in MAAS, "
    "and does a relay stand where the subnets differ?"
)
_ELSEWHERE = (
    "it answers a relay only for networks it serves, which this machine's may not be: ask from the hosts' own network "
    "with --interface, or write maas.roles.dhcp when it serves this one"
)
