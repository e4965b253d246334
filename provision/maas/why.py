"""Why a machine failed, in MAAS's words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from provision.http.asked import shorten
from provision.install.machine import Machine, Phase
from provision.maas.events import Event
from provision.maas.values import ScriptResult

BEGINNINGS = ("Commissioning", "Deploying", "Releasing", "Erasing disk", "Testing")
"""Kinds of the INFO event with which a phase begins; what is older belongs to another try."""
SCRIPTS = {
    Phase.COMMISSION: ("Commissioning", "Testing"),
    Phase.DEPLOY: ("Installation",),
    Phase.RELEASE: ("Release",),
}
"""Phase -> kinds of the scripts that run in it."""
MOST = 3
"""Events, and scripts, that are told at most."""


def why_of(machine: Machine, events: Iterable[Event], results: Iterable[ScriptResult]) -> str:
    """The reason from what MAAS recorded since the phase began: warnings and errors, scripts that failed.

    The machine's own words are told when nothing else is.
    :param events: newest first, of level INFO and higher; :param results: of all phases.
    """
    parts = [event.words for event in _of_this_phase(events) if event.bad]
    ran = [result for result in results if machine.failed is None or result.phase in SCRIPTS[machine.failed]]
    failed = [f"{result.script} {result.status.lower()}{_ending(result)}" for result in ran if result.failed]
    told = [*_first(parts), *(f"script {script}" for script in _first(failed))]
    return shorten("; ".join(told) or machine.said)


def _of_this_phase(events: Iterable[Event]) -> list[Event]:
    found = []
    for event in events:
        if event.level == "INFO" and event.type in BEGINNINGS:
            break
        found.append(event)
    return found


def _first(parts: Sequence[str]) -> list[str]:
    """Each once: MAAS tells one reason under several kinds of event (Failed deployment, Marking node failed)."""
    told: dict[str, str] = {}
    for part in parts:
        kind, _, reason = part.rstrip(".").partition(": ")
        told.setdefault(reason or kind, kind if kind == reason else part.rstrip("."))
    return list(told.values())[:MOST]


def _ending(result: ScriptResult) -> str:
    return f" (exit status {result.exit_status})" if result.exit_status else ""
