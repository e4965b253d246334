"""Verdicts of what is asked through MAAS's API: the API itself, images, rack controllers, BMCs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fabricctl.words import many
from provision.bmc.clock import reading, span
from provision.install.doctor import Question, Role, Verdict

LAST_TESTED = "3.7"
"""Version of MAAS whose behaviour was recorded; others may answer otherwise."""
TESTED_APIS = {"36763f1444f05f8c565d0292aabefcaa9ece4369": "3.7.3"}
"""Hash of the API's description -> version of MAAS that was recorded with it."""
RACKD = "rackd"
TROUBLED = ("dead", "degraded")
"""States of a rack controller's service, as MAAS writes them, that keep it from working; ``off`` is by choice."""
RELEASES = {"jammy": "22.04", "noble": "24.04"}
"""Ubuntu series -> number in the names of its kernels."""


class ImageLike(Protocol):
    """A boot image, as MAAS tells of it."""

    @property
    def name(self) -> str:
        """``ubuntu/jammy``."""
        ...

    @property
    def architecture(self) -> str:
        """``amd64``."""
        ...

    @property
    def kernel(self) -> str:
        """``ga-22.04``."""
        ...

    @property
    def kind(self) -> str:
        """``Synced``, ``Generated``, ``Uploaded``."""
        ...


class RackLike(Protocol):
    """A rack controller, as MAAS tells of it."""

    @property
    def hostname(self) -> str:
        """Its name."""
        ...

    @property
    def services(self) -> Mapping[str, str]:
        """Service -> state."""
        ...

    @property
    def addresses(self) -> Sequence[str]:
        """Its IP addresses."""
        ...


@dataclass(frozen=True, slots=True)
class ApiSeen:
    """What MAAS said of itself; empty where it did not tell.

    :param api_hash: of its description; :param date: by its ``Date`` header.
    :param sent: our clock when that was asked; :param took_s: its round trip.
    """

    version: str = ""
    api_hash: str = ""
    date: datetime | None = None
    sent: datetime | None = None
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """MAAS answered with an error, or not at all. :param words: for people; :param login: it was about the key."""

    words: str
    login: bool = False
    power: bool = False


def judge_api(
    version: ApiSeen | Refusal, login: str | Refusal, *, url: str, max_skew_s: float
) -> list[Verdict]:
    """Whether the API answers, takes our key, and has about our time.

    :param version: what it said without a key; :param login: user of the key.
    """
    question = Question(
        Role.API, url, "version and clock of MAAS", f"MAAS, within {max_skew_s:g} s of this clock"
    )
    if isinstance(version, Refusal):
        if version.login:
            return [_login(url, version, ApiSeen())]
        return [
            question.finding(
                "down", version.words, "is the region controller running, and is maas.url right?"
            )
        ]
    return [_about(question, version, max_skew_s), _login(url, login, version)]


def _about(question: Question, seen: ApiSeen, max_skew_s: float) -> Verdict:
    if not seen.version:
        return question.finding("other-service", "an answer without a version", "is maas.url MAAS's own?")
    told = f"MAAS {seen.version}"
    if seen.version.split(".")[:2] != LAST_TESTED.split("."):
        told += f", not {LAST_TESTED}, with which this was tested"
    if seen.api_hash:
        other = (
            ""
            if seen.api_hash in TESTED_APIS or seen.version not in TESTED_APIS.values()
            else " (not the one tested)"
        )
        told += f", API {seen.api_hash[:12]}{other}"
    skew_s, bound_s = skew(seen)
    if skew_s is None:
        return question.doubt(f"{told}, without a Date header", "its clock was not compared")
    told += f", clock {skew_s:+.1f} s (±{bound_s:.1f} s)"
    if abs(skew_s) - bound_s > max_skew_s:
        way = "ahead of" if skew_s > 0 else "behind"
        return question.finding(
            "clock",
            f"{told}: {span(abs(skew_s))} {way} this machine's",
            "correct the wrong clock first: MAAS refuses keys and machines whose time is minutes off",
        )
    return question.ok(told)


def skew(seen: ApiSeen) -> tuple[float | None, float]:
    """Seconds MAAS's clock is ahead of ours, and how far off that may be: round trip, and the second cut off."""
    if seen.date is None or seen.sent is None:
        return None, 0.0
    one = reading("MAAS", seen.date, seen.sent, seen.took_s)
    return one.skew_s, one.bound_s


def _login(url: str, login: str | Refusal, version: ApiSeen) -> Verdict:
    question = Question(Role.API, url, "whose API key this is", "a user of MAAS")
    if isinstance(login, str):
        return question.ok(f"user {login}") if login else question.doubt("an answer without a user name")
    if login.login:
        skew_s, _ = skew(version)
        clock = (
            " (its clock is minutes off ours, which alone makes it refuse)"
            if abs(skew_s or 0.0) > 240
            else ""
        )
        return question.finding(
            "key", f"{login.words}{clock}", "give a valid key: maas.api_key says where it is read"
        )
    return question.doubt(login.words)


def judge_images(
    images: Sequence[ImageLike] | Refusal, *, series: str, kernel: str, architecture: str = "amd64"
) -> list[Verdict]:
    """Whether the image to install is there with the kernel to install.

    :param kernel: ``ga`` or ``hwe``.
    """
    wanted = f"ubuntu/{series}"
    named = f"{kernel}-{RELEASES[series]}" if series in RELEASES else kernel
    question = Question(
        Role.IMAGES,
        "boot images",
        "the images MAAS holds",
        f"{wanted} for {architecture} with kernel {named}",
    )
    if isinstance(images, Refusal):
        return [question.doubt(images.words)]
    ours = [one for one in images if one.name == wanted and one.architecture == architecture]
    if not ours:
        held = ", ".join(sorted({f"{one.name} ({one.architecture})" for one in images})) or "none at all"
        return [
            question.finding(
                "missing", held, f"select {series} for {architecture} in MAAS and let it synchronise"
            )
        ]
    kernels = sorted({one.kernel for one in ours})
    if named not in kernels:
        return [
            question.finding(
                "kernel",
                f"{wanted} with {', '.join(kernels)}",
                f"choose another install.kernel, or sync {named}",
            )
        ]
    unsynced = sorted(
        {one.kind for one in ours if one.kernel == named and one.kind not in ("Synced", "Uploaded")}
    )
    if unsynced:
        return [
            question.finding(
                "unsynced", f"{wanted} as {', '.join(unsynced)}", "wait for MAAS to synchronise it"
            )
        ]
    return [question.ok(f"{wanted} with {', '.join(kernels)}")]


def judge_racks(racks: Sequence[RackLike] | Refusal) -> list[Verdict]:
    """Whether rack controllers are there and connected: they power machines and serve what they boot."""
    question = Question(
        Role.RACKS, "rack controllers", "rack controllers and their services", "one or more that run"
    )
    if isinstance(racks, Refusal):
        return [question.doubt(racks.words)]
    if not racks:
        return [
            question.finding(
                "none", "none", "register one: without it MAAS can neither power nor boot a machine"
            )
        ]
    return [_rack(rack) for rack in racks]


def _rack(rack: RackLike) -> Verdict:
    question = Question(Role.RACKS, rack.hostname, f"services of rack controller {rack.hostname}", "running")
    main = rack.services.get(RACKD, "")
    if not main:
        return question.doubt("MAAS does not tell whether it is connected")
    if main != "running":
        return question.finding(
            "down", f"{RACKD} is {main}", "it is not connected to the region: look at its log"
        )
    bad = sorted(f"{name} is {state}" for name, state in rack.services.items() if state in TROUBLED)
    if bad:
        return question.finding(
            "service", ", ".join(bad), "restart it on the rack controller, and look at its log"
        )
    running = sum(state == "running" for state in rack.services.values())
    return question.ok(f"connected, {many(running, 'service')} running")


def judge_bmc(host: str, state: str | Refusal) -> Verdict:
    """Whether a rack controller reaches the BMC of a host. :param state: the power state MAAS told."""
    question = Question(
        Role.RACKS, host, "the power state, from its BMC through a rack controller", "on or off"
    )
    if isinstance(state, Refusal):
        if state.power:
            return question.finding(
                "bmc",
                state.words,
                "check power address, user and password in MAAS, and the route from the rack controller to the BMC",
            )
        return question.doubt(state.words)
    if state in ("on", "off"):
        return question.ok(state)
    return question.finding("bmc", state, "MAAS's own power check fails: its events of this machine say why")
