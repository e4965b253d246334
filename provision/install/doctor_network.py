"""Verdicts of the probes of DNS, NTP, HTTP proxy and metadata service.

A service that refuses or stays silent is a finding: that it answers is what was asked. It could not be told when this
machine had no way to ask.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence

from provision.bmc.clock import span
from provision.install.doctor import Question, Role, Verdict
from provision.install.doctor_seen import AT_OUR_END, DnsSeen, HttpSeen, NoAnswer, NtpSeen, ProxySeen, Why

WORST_STRATUM = 15
"""16, which goes over the wire as 0, means not synchronised (RFC 5905, section 7.3)."""
REFUSALS = ("DENY", "RSTR", "RATE")
"""Kiss codes of a server that does not want to be asked (RFC 5905, section 7.4)."""
NOT_SYNCHRONISED = 3
"""Leap indicator."""


def no_answer(question: Question, seen: NoAnswer, todo: str) -> Verdict:
    """The verdict of an answer that did not come. :param todo: what to do about a server that is down."""
    if seen.why in AT_OUR_END:
        return question.doubt(
            seen.words, "this says nothing of the server: look at this machine's network first"
        )
    return question.finding("garbled" if seen.why is Why.GARBLED else "down", seen.words, todo)


# ---- DNS -------------------------------------------------------------------------------------------------------------


def judge_dns(seen: DnsSeen | NoAnswer, *, server: str, name: str, expected: Sequence[str]) -> Verdict:
    """Whether the address of a host is the one MAAS or the site has for it.

    :param expected: addresses, any of which is right; empty when nobody knows one: then any answer is.
    """
    wanted = " or ".join(sorted(expected)) if expected else "an answer"
    question = Question(Role.DNS, server, f"the address of {name}", wanted)
    if isinstance(seen, NoAnswer):
        return no_answer(question, seen, _DNS)
    if not expected:
        if seen.rcode not in ("NOERROR", "NXDOMAIN"):
            return _refused(question, seen)
        return question.ok(f"it answers ({_answer(seen)}); no address is known to compare with")
    if seen.rcode == "NXDOMAIN" or (seen.rcode == "NOERROR" and not seen.answers):
        return question.finding(
            "missing", _answer(seen), "MAAS has not written its zone, or this server does not serve it"
        )
    if seen.rcode != "NOERROR":
        return _refused(question, seen)
    if not set(_plain(seen.answers)) & set(_plain(expected)):
        return question.finding(
            "other-address", _answer(seen), "another server than MAAS's answers, or its zone is old"
        )
    return question.ok(_answer(seen))


def judge_reverse(seen: DnsSeen | NoAnswer, *, server: str, address: str, name: str) -> Verdict:
    """Whether an address leads back to its host. :param name: of the host, with or without its domain."""
    question = Question(Role.DNS, server, f"the name of {address}", name)
    if isinstance(seen, NoAnswer):
        return no_answer(question, seen, _DNS)
    if seen.rcode not in ("NOERROR", "NXDOMAIN"):
        return _refused(question, seen)
    names = {answer.rstrip(".").lower() for answer in seen.answers}
    wanted = name.rstrip(".").lower()
    if wanted in names or wanted in {one.partition(".")[0] for one in names}:
        return question.ok(_answer(seen))
    kind = "other-name" if names else "missing"
    return question.finding(
        kind, _answer(seen), "the reverse zone does not fit: MAAS writes it with the forward one"
    )


def _refused(question: Question, seen: DnsSeen) -> Verdict:
    return question.finding("error", _answer(seen), "the server answers, but not this: look at its log")


def _answer(seen: DnsSeen) -> str:
    over = " (over TCP)" if seen.tcp else ""
    return (", ".join(seen.answers) or seen.rcode) + over


def _plain(addresses: Sequence[str]) -> list[str]:
    found = []
    for text in addresses:
        try:
            found.append(str(ipaddress.ip_address(text)))
        except ValueError:
            continue
    return found


_DNS = "is named running on the region controller, and does a firewall let port 53 through, UDP and TCP?"


# ---- NTP -------------------------------------------------------------------------------------------------------------


def judge_ntp(seen: NtpSeen | NoAnswer, *, server: str, max_skew_s: float) -> Verdict:
    """Whether a time server is synchronised, sure of its time, and near this machine's clock."""
    question = Question(
        Role.NTP, server, "the time", f"a synchronised clock within {max_skew_s:g} s of this one's"
    )
    if isinstance(seen, NoAnswer):
        return no_answer(question, seen, _NTP)
    if seen.stratum == 0 and seen.reference in REFUSALS:
        return question.finding(
            "refuses",
            f"a refusal ({seen.reference})",
            "it limits or forbids this client: see its allow rules",
        )
    if seen.leap == NOT_SYNCHRONISED or not 0 < seen.stratum <= WORST_STRATUM:
        return question.finding(
            "unsynchronised",
            f"it says that it is not synchronised (leap {seen.leap}, stratum {seen.stratum})",
            "give it a source it reaches; machines would start without a clock",
        )
    told = f"stratum {seen.stratum}, {seen.offset_s:+.3f} s (±{seen.delay_s / 2:.3f} s)"
    if seen.root_distance_s > max_skew_s:
        return question.finding(
            "unsure", f"{told}, but its time may be {span(seen.root_distance_s)} off", "it lost its source"
        )
    if abs(seen.offset_s) - seen.delay_s / 2 > max_skew_s:
        way = "ahead of" if seen.offset_s > 0 else "behind"
        return question.finding(
            "skew",
            f"{told}: {span(abs(seen.offset_s))} {way} this machine",
            "one of the two clocks is wrong; fabricctl bmc clock compares with the BMCs'",
        )
    return question.ok(told)


_NTP = "is chronyd running on the controller, and does a firewall let UDP port 123 through?"


# ---- HTTP ------------------------------------------------------------------------------------------------------------


def judge_proxy(seen: ProxySeen, *, series: str = "") -> Verdict:
    """Whether packages come through the proxy, and if not, who is down: it or the archive behind it.

    :param series: the page asked for is the ``Release`` file of that series; empty when it is any page.
    """
    wanted = f"the Release file of {series}" if series else "its page"
    question = Question(Role.PROXY, seen.proxy, f"{seen.url} through the proxy", wanted)
    through = seen.through
    if isinstance(through, NoAnswer):
        return no_answer(
            question, through, "the proxy is down: is squid running on the controller, port 8000 open?"
        )
    if through.status == 200:
        if series and not re.search(
            rf"^(?:Suite|Codename): {re.escape(series)}\b", through.body, re.MULTILINE
        ):
            return question.finding(
                "other-page",
                f"another page: {_begin(through.body)}",
                "something between answers in the archive's place",
            )
        return question.ok(f"200 in {through.seconds:.1f} s")
    told = f"the proxy is up and answers {through.status}"
    if through.status in (403, 407):
        return question.finding(
            "forbids", told, "it does not let this machine or this page through: see its access rules"
        )
    return _behind(question, told, seen.direct)


def _behind(question: Question, told: str, direct: HttpSeen | NoAnswer | None) -> Verdict:
    if isinstance(direct, HttpSeen) and direct.status == 200:
        return question.finding(
            "way-out",
            f"{told}; without it the page comes",
            "the proxy has no way out: its DNS, route or parent proxy",
        )
    if isinstance(direct, HttpSeen):
        return question.finding(
            "upstream", f"{told}, and {direct.status} without it", "the archive itself does not have the page"
        )
    why = f"; without it: {direct.words}" if isinstance(direct, NoAnswer) else ""
    return question.finding(
        "upstream",
        f"{told}{why}",
        "the proxy works, the archive behind it is not reached: look there, not at the proxy",
    )


def judge_metadata(seen: HttpSeen | NoAnswer, *, url: str) -> Verdict:
    """Whether MAAS's metadata service is there: it lists its versions, or wants a machine's own token (401)."""
    question = Question(
        Role.METADATA, url, "the metadata service", "MAAS's list of versions, or 401 for want of a token"
    )
    if isinstance(seen, NoAnswer):
        return no_answer(
            question, seen, "is the region controller running, and nginx on its rack controllers?"
        )
    if seen.status == 401 and _is_maas(seen.headers):
        return question.ok("401, it wants a machine's token")
    if seen.status == 200 and ("2012-03-01" in seen.body or "latest" in seen.body.split()):
        return question.ok(f"200, {' '.join(seen.body.split())[:60]}")
    if seen.status >= 500:
        return question.finding(
            "broken", f"{seen.status} {_begin(seen.body)}", "look at the region controller's log"
        )
    return question.finding(
        "other-service",
        f"{seen.status} {_begin(seen.body)}",
        "something else answers there: is maas.roles.metadata right?",
    )


def _is_maas(headers: Mapping[str, str]) -> bool:
    """Whether headers are MAAS's: its way of login, its web server, or the hash of its API."""
    login, server = headers.get("www-authenticate", "").lower(), headers.get("server", "").lower()
    return login.startswith("oauth") or server.startswith("twistedweb") or "x-maas-api-hash" in headers


def _begin(body: str) -> str:
    text = " ".join(body.split())
    return repr(text[:60]) if text else "an empty page"
