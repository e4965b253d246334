"""Which HCA port a discovery is sent from: one whose link layer is InfiniBand and whose link is up."""

from __future__ import annotations

from dataclasses import dataclass

from fabricctl import hostset
from fabricctl.errors import ToolFailedError

PROBE = (
    "sh",
    "-c",
    "for p in /sys/class/infiniband/*/ports/*; do if [ -r $p/link_layer ]; then "
    "read -r l <$p/link_layer; read -r s <$p/state; echo $p $l $s; fi; done",
)
"""Prints ``FOLDER LINK_LAYER STATE``: Linux, Documentation/ABI/stable/sysfs-class-infiniband."""

_PREFERRED_STATES = ("ACTIVE", "ARMED", "INIT")
"""A port waits in INIT until a subnet manager comes; direct-route queries work there already."""


@dataclass(frozen=True, slots=True)
class HcaPort:
    """A port as the kernel shows it. :param state: ``ACTIVE``, ``INIT``, ``DOWN``, ..."""

    hca: str
    number: int
    link_layer: str
    state: str

    def __str__(self) -> str:
        return f"{self.hca}/{self.number} {self.link_layer} {self.state}"


@dataclass(frozen=True, slots=True)
class Choice:
    """Options for the discovery tool, and what a reader should know about how they came about."""

    options: tuple[str, ...]
    notes: tuple[str, ...] = ()


def parse_ports(text: str) -> list[HcaPort]:
    """Ports of the probe's output; other lines (a login banner) are passed over."""
    ports = []
    for line in text.splitlines():
        words = line.split()
        folders = words[0].split("/") if words else []
        if len(words) < 3 or folders[:4] != ["", "sys", "class", "infiniband"] or len(folders) != 7:
            continue
        if folders[6].isdecimal() and len(folders[6]) <= 3:
            ports.append(HcaPort(folders[4], int(folders[6]), words[1], words[-1]))
    return sorted(ports, key=lambda port: (hostset.natural_key(port.hca), port.number))


def choose(ports: list[HcaPort], hca: str | None, number: int | None, viewer: str) -> Choice:
    """The port to send from.

    :param hca: and :param number: what the operator asked for, None where left to us.
    :raises ToolFailedError: none of the ports there will do; says which there are.
    """
    if not ports:  # no such folder in sysfs: the tool finds its own way, or says why not
        return Choice(_options(hca, number))
    wanted = [
        port
        for port in ports
        if (hca is None or port.hca == hca) and (number is None or port.number == number)
    ]
    if not wanted:
        what = f"{hca} port {number}" if hca and number else hca or f"HCA with a port {number}"
        raise _none(f"has no {what}", ports, viewer)
    usable = [port for port in wanted if port.link_layer == "InfiniBand" and port.state in _PREFERRED_STATES]
    if not usable:
        raise _none("has no InfiniBand port that is up" + (f" on {hca}" if hca else ""), ports, viewer)
    best = min(usable, key=lambda port: _PREFERRED_STATES.index(port.state))
    notes = []
    if best.state != "ACTIVE":
        notes.append(
            f"{best.hca}/{best.number} is {best.state}, not ACTIVE: no subnet manager has set it up yet"
        )
    others = [f"{port.hca}/{port.number}" for port in usable if port != best]
    if others:
        notes.append(
            f"sent from {best.hca}/{best.number}; of the same host {', '.join(others)} could be asked too: "
            "rails or fabrics that are not joined each need their own"
        )
    return Choice(_options(best.hca, best.number), tuple(notes))


def _options(hca: str | None, number: int | None) -> tuple[str, ...]:
    """ibnetdiscover(8): ``-C`` HCA, ``-P`` port."""
    return (*(("-C", hca) if hca else ()), *(("-P", str(number)) if number else ()))


def _none(what: str, ports: list[HcaPort], viewer: str) -> ToolFailedError:
    return ToolFailedError(f"{what}; there are: {', '.join(map(str, ports))}", viewer=viewer)
