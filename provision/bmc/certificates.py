"""Certificates of BMCs at first contact and later: which are new, which changed, which are shared."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from fabricctl.errors import InputError
from fabricctl.hostset import fold
from provision.bmc.outcome import BmcFinding
from provision.bmc.target import Target, Verify

_FINGERPRINT = re.compile(
    r"(?:sha-?256[:=]|sha256 fingerprint=)?((?:[0-9a-f]{2}:){31}[0-9a-f]{2}|[0-9a-f]{64})\Z"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What one BMC shows of itself.

    :param fingerprint: SHA-256 of the DER form, 64 lower-case digits; :param subject: and issuer as RFC 4514 text.
    """

    target: Target
    fingerprint: str
    subject: str
    issuer: str
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the store has of a host. :param since: when it was recorded, :param who: by whom."""

    fingerprint: str
    since: datetime
    who: str


class Standing(StrEnum):
    """What is to be done with a certificate."""

    NEW = "new"
    """The first one of this BMC."""
    SAME = "same"
    """The recorded one."""
    CHANGED = "changed"
    """Another one than the recorded one."""
    UNEXPECTED = "unexpected"
    """Another one than the list of expected ones says."""
    UNUSED = "unused"
    """The site file trusts this BMC by other means: nothing is recorded."""


@dataclass(frozen=True, slots=True)
class JudgedCertificate:
    """A certificate and where it stands.

    :param old: the recorded one, None when there is none; :param owner: another host for which this one is recorded.
    """

    shown: Shown
    standing: Standing
    old: Recorded | None = None
    owner: str = ""


def judge(
    shown: Iterable[Shown], recorded: Mapping[str, Recorded], expected: Expected | None = None
) -> list[JudgedCertificate]:
    """Where each certificate stands. :param expected: fingerprints somebody vouches for, None when nobody does."""
    judged = []
    owners = {pin.fingerprint: host for host, pin in recorded.items()}
    for one in shown:
        old = recorded.get(one.target.host)
        if expected is not None and not expected.has(one):
            standing = Standing.UNEXPECTED
        elif one.target.trust.verify is not Verify.PINNED:
            standing = Standing.UNUSED
        elif old is None:
            standing = Standing.NEW
        else:
            standing = Standing.SAME if old.fingerprint == one.fingerprint else Standing.CHANGED
        owner = owners.get(one.fingerprint, "")
        judged.append(JudgedCertificate(one, standing, old, owner if owner != one.target.host else ""))
    return judged


def findings_of(
    judged: Sequence[JudgedCertificate], now: datetime, *, replace: bool = False
) -> list[BmcFinding]:
    """What is not as it should be. :param replace: changed ones are accepted."""
    found = []
    for one in judged:
        host, shown = one.shown.target.host, one.shown
        if one.standing is Standing.CHANGED and one.old is not None and not replace:
            why = (
                f"renewed or reset on purpose? then fabricctl bmc trust {host} --replace --reason TEXT; else somebody "
                "stands between"
            )
            if one.owner:
                why = f"that is the one recorded for {one.owner}: are the BMC cables crossed? fabricctl bmc scan tells"
            text = (
                f"{shown.target} shows another certificate: expected {one.old.fingerprint} (recorded "
                f"{one.old.since:%Y-%m-%d %H:%M} UTC by {one.old.who}), found {shown.fingerprint}; {why}"
            )
            found.append(
                BmcFinding(host, "certificate-changed", text, "", one.old.fingerprint, shown.fingerprint)
            )
        elif one.standing is Standing.UNEXPECTED:
            text = f"{shown.target} shows {shown.fingerprint}, which the list of expected certificates does not have"
            found.append(BmcFinding(host, "certificate-unexpected", text, found=shown.fingerprint))
        if not shown.not_before <= now <= shown.not_after:
            text = (
                f"the certificate of {shown.target} is valid from {shown.not_before:%Y-%m-%d} to "
                f"{shown.not_after:%Y-%m-%d}, and today is {now:%Y-%m-%d}; a pinned one serves, others will refuse it"
            )
            found.append(BmcFinding(host, "certificate-validity", text))
    return found + _shared(judged)


def _shared(judged: Sequence[JudgedCertificate]) -> list[BmcFinding]:
    """One certificate on several BMCs: its private key is on all of them, and a pin cannot tell them apart."""
    of: dict[str, list[str]] = defaultdict(list)
    for one in judged:
        of[one.shown.fingerprint].append(one.shown.target.host)
    return [
        BmcFinding(
            hosts[0],
            "certificate-shared",
            f"{len(hosts)} BMCs show one and the same certificate {fingerprint}: {fold(hosts)}; whoever has the key of "
            "one speaks for all, and a pin does not tell them apart: give each its own",
            found=fingerprint,
        )
        for fingerprint, hosts in of.items()
        if len(hosts) > 1
    ]


@dataclass(frozen=True, slots=True)
class Expected:
    """Fingerprints somebody vouches for. :param of: of a host, address or service tag; :param of_any: of whoever."""

    of: Mapping[str, str]
    of_any: frozenset[str]

    def has(self, shown: Shown) -> bool:
        """Whether this certificate is expected of this BMC; what is said of it by name counts alone."""
        target = shown.target
        named = [
            self.of[n.lower()]
            for n in (target.host, target.address, target.service_tag)
            if n.lower() in self.of
        ]
        return shown.fingerprint in named if named else shown.fingerprint in self.of_any


def read_expected(text: str, path: str) -> Expected:
    """Read lines ``[host|address|service tag] FINGERPRINT``; blank lines and ``#`` comments are skipped.

    :raises InputError: with file and line.
    """
    of: dict[str, str] = {}
    of_any: set[str] = set()
    for line, raw in enumerate(text.splitlines(), 1):
        words = re.split(r"[\s,;]+", raw.partition("#")[0].strip())
        if words == [""]:
            continue
        fingerprint = parse_fingerprint(words[-1])
        if fingerprint is None or len(words) > 2:
            raise InputError(
                "expected [host] and a SHA-256 fingerprint of 64 digits (or 32 pairs joined by colons)",
                path=path,
                line=line,
            )
        if len(words) == 1:
            of_any.add(fingerprint)
        elif of.setdefault(words[0].lower(), fingerprint) != fingerprint:
            raise InputError(f"{words[0]} has another fingerprint above", path=path, line=line)
    if not of and not of_any:
        raise InputError("has no fingerprint", path=path)
    return Expected(of, frozenset(of_any))


def parse_fingerprint(text: str) -> str | None:
    """64 lower-case digits of a SHA-256 fingerprint as OpenSSL or browsers write it, None when it is none."""
    match = _FINGERPRINT.match(text.strip().lower())
    return match[1].replace(":", "") if match else None
