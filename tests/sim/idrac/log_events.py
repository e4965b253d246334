"""What stands in the logs of a simulated BMC: events a machine of this kind has, and the noise around them.

Ids and texts are those of Dell's event messages; the hexadecimal ids are how an iDRAC9 names such events in its SEL.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Event:
    """A kind of event. :param code: its id in the SEL of an iDRAC9; :param sensor: ``SensorType`` there."""

    key: str
    text: str
    severity: str = "OK"
    category: str = "System"
    code: str = ""
    sensor: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a log."""

    number: int
    created: datetime
    event: Event
    args: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The sentence."""
        return self.event.text.format(*self.args)


CRITICAL, WARNING, OK = "Critical", "Warning", "OK"
_LISTED = (
    Event("USR0030", "Successfully logged in using {0}, from {1} and {2}.", OK, "Audit"),
    Event("USR0031", "Unable to log in for {0} from {1} using {2}.", WARNING, "Audit"),
    Event("USR0032", "The session for {0} from {1} using {2} is logged off.", OK, "Audit"),
    Event("LOG007", "The previous log entry was repeated {0} times.", OK, "Audit"),
    Event("PSU0001", "Power supply {0} failed.", CRITICAL, "System", "6f01ffff", "Power Supply / Converter"),
    Event(
        "PSU0003",
        "The power input for power supply {0} is lost.",
        CRITICAL,
        "System",
        "6f03ffff",
        "Power Unit",
    ),
    Event("PSU0800", "Power Supply {0}: Status = 0x{1}, IOUT = 0x{2}.", WARNING, "System"),
    Event("PSU0017", "Power supply {0} is operating normally.", OK, "System", "ef01ffff", "Power Unit"),
    Event("RDU0011", "The power supplies are redundant.", OK, "System", "0b00ffff", "Power Unit"),
    Event("RDU0012", "Power supply redundancy is lost.", CRITICAL, "System", "0b01ffff", "Power Unit"),
    Event(
        "FAN0001",
        "Fan {0} RPM is less than the lower critical threshold.",
        CRITICAL,
        "System",
        "0102ffff",
        "Fan",
    ),
    Event(
        "FAN0000",
        "Fan {0} RPM is less than the lower warning threshold.",
        WARNING,
        "System",
        "0100ffff",
        "Fan",
    ),
    Event("FAN0014", "Fan {0} RPM is within range.", OK, "System", "8102ffff", "Fan"),
    Event(
        "TMP0120",
        "The system inlet temperature is greater than the upper warning threshold.",
        WARNING,
        "System",
        "0107ffff",
        "Temperature",
    ),
    Event(
        "TMP0118",
        "The system inlet temperature is less than the lower warning threshold.",
        WARNING,
        "System",
        "0100fffe",
        "Temperature",
    ),
    Event(
        "TMP0121", "The system inlet temperature is within range.", OK, "System", "8107ffff", "Temperature"
    ),
    Event(
        "MEM0701",
        "Correctable memory error rate exceeded for {0}.",
        WARNING,
        "System",
        "744e4241",
        "Memory",
    ),
    Event(
        "MEM0702",
        "Correctable memory error rate exceeded for {0}.",
        CRITICAL,
        "System",
        "744ef241",
        "Memory",
    ),
    Event(
        "PCI1318",
        "A fatal error was detected on a component at bus {0} device {1} function {2}.",
        CRITICAL,
        "System",
        "6fa41100",
        "Critical Interrupt",
    ),
    Event(
        "PCI1320",
        "A bus fatal error was detected on a component at slot {0}.",
        CRITICAL,
        "System",
        "6fa81100",
        "Critical Interrupt",
    ),
    Event(
        "SEC0033",
        "The chassis is open while the power is off.",
        CRITICAL,
        "System",
        "6f8002ff",
        "Physical Security",
    ),
    Event(
        "SEC0034",
        "The chassis is closed while the power is off.",
        OK,
        "System",
        "ef8002ff",
        "Physical Security",
    ),
    Event(
        "PDR1016",
        "Drive {0} is removed from disk drive bay {1}.",
        CRITICAL,
        "Storage",
        "efa00113",
        "Drive Slot / Bay",
    ),
    Event("SEL9901", "OEM diagnostic event.", OK, "System", "7e012790"),
    Event("SYS1003", "System CPU Resetting.", OK, "Audit"),
    Event("SYS1000", "System is turning on.", OK, "Audit"),
    Event("SYS1001", "System is turning off.", OK, "Audit"),
    Event("RAC0182", "The iDRAC firmware was rebooted with the following reason: {0}.", OK, "Audit"),
    Event("RAC0704", "Requested system powercycle.", OK, "Audit"),
    Event(
        "JCP027",
        "The (installation or configuration) job {0} is successfully created on iDRAC.",
        OK,
        "Configuration",
    ),
    Event(
        "JCP037",
        "The (installation or configuration) job {0} is successfully completed.",
        OK,
        "Configuration",
    ),
    Event(
        "PR36",
        "Version change detected for {0} firmware. Previous version:{1}, Current version:{2}",
        OK,
        "Updates",
    ),
    Event("PR7", "New device detected: {0}({1}).", OK, "Configuration"),
    Event("NIC100", "The {0} network port link is down.", WARNING, "System"),
    Event("NIC101", "The {0} network port link is started.", OK, "System"),
    Event(
        "SWC9005",
        "The requested SecureBoot Certificate Export operation cannot be completed.",
        CRITICAL,
        "Configuration",
    ),
    Event("LIC208", "License {0} has expired.", WARNING, "Configuration"),
    Event("LOG203", "The System Event Log (SEL) was cleared by {0} from {1}.", OK, "Audit"),
)
EVENTS = {event.key: event for event in _LISTED}
CLEARED = Event("SEL0012", "Log cleared.", OK, "System", "6f02ffff", "Event Logging Disabled")

Plan = Sequence[tuple[float, str, tuple[str, ...]]]
"""(days ago, key, arguments), oldest first."""

_TROUBLE: Plan = (
    (40.0, "PCI1318", ("26", "0", "0")),
    (33.2, "PSU0003", ("2",)),
    (33.2, "RDU0012", ()),
    (33.1, "PSU0017", ("2",)),
    (33.1, "RDU0011", ()),
    (21.0, "MEM0701", ("DIMM_B3",)),
    (12.5, "FAN0000", ("4A",)),
    (12.4, "FAN0014", ("4A",)),
    (6.0, "TMP0120", ()),
    (5.9, "TMP0121", ()),
    (1.5, "MEM0701", ("DIMM_B3",)),
    (0.2, "SEC0033", ()),
    (0.1, "SEC0034", ()),
)


def _noise(
    now: datetime, dice: random.Random, count: int
) -> Iterator[tuple[datetime, Event, tuple[str, ...]]]:
    """Logins, repeats and power events spread over the last weeks."""
    for _ in range(count):
        when = now - timedelta(days=dice.uniform(0.3, 45.0))
        roll = dice.random()
        if roll < 0.55:
            yield when, EVENTS["USR0030"], ("root", f"192.0.2.{dice.randrange(2, 40)}", "REDFISH")
        elif roll < 0.75:
            yield when, EVENTS["LOG007"], (str(dice.randrange(1, 40)),)
        elif roll < 0.85:
            yield when, EVENTS["USR0032"], ("root", f"192.0.2.{dice.randrange(2, 40)}", "GUI")
        elif roll < 0.95:
            yield when, EVENTS["SYS1003"], ()
        else:
            yield when, EVENTS["NIC101"], ("NIC 1 in Slot 40 Port 1",)


def lifecycle_history(now: datetime, dice: random.Random, noise: int = 118, first: int = 1180) -> list[Entry]:
    """The Lifecycle log so far, oldest first: three pages, mostly noise."""
    past = [(now - timedelta(days=days), EVENTS[key], args) for days, key, args in _TROUBLE]
    past += _noise(now, dice, noise)
    past.append((now - timedelta(days=44), EVENTS["RAC0182"], ("ac",)))
    past.append((now - timedelta(days=44), EVENTS["PR36"], ("BIOS", "2.1.5", "2.2.8")))
    past.sort(key=lambda entry: entry[0])
    return [Entry(first + at, when, event, args) for at, (when, event, args) in enumerate(past)]


def sel_history(now: datetime, diagnostics: int = 48) -> list[Entry]:
    """The system event log so far, oldest first: a little over a page, since every boot leaves diagnostic events."""
    past: list[tuple[datetime, Event, tuple[str, ...]]] = [(now - timedelta(days=50), CLEARED, ())]
    past += [
        (now - timedelta(days=days), EVENTS[key], args) for days, key, args in _TROUBLE if EVENTS[key].code
    ]
    past += [(now - timedelta(days=30, seconds=-at), EVENTS["SEL9901"], ()) for at in range(diagnostics)]
    past.sort(key=lambda entry: entry[0])
    return [Entry(at, when, event, args) for at, (when, event, args) in enumerate(past, start=1)]
