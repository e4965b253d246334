"""Power: what a system says of itself, and which one command brings it where it should be.

Desired states, not keys to press: what is there already needs no command. Nothing that cuts power is chosen unless it
is forced, whatever a BMC offers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from provision.bmc.json_bodies import inner, objects, text
from provision.bmc.times import parse_time


class PowerState(StrEnum):
    """``PowerState`` of a ComputerSystem (DSP8010)."""

    ON = "On"
    OFF = "Off"
    POWERING_ON = "PoweringOn"
    POWERING_OFF = "PoweringOff"
    PAUSED = "Paused"
    UNKNOWN = ""
    """Null, missing, or a word nobody knows."""


class ResetType(StrEnum):
    """``ResetType`` of ComputerSystem.Reset (DSP8010), those that are sent from here."""

    ON = "On"
    FORCE_ON = "ForceOn"
    GRACEFUL_SHUTDOWN = "GracefulShutdown"
    GRACEFUL_RESTART = "GracefulRestart"
    FORCE_OFF = "ForceOff"
    FORCE_RESTART = "ForceRestart"
    POWER_CYCLE = "PowerCycle"

    @property
    def cuts(self) -> bool:
        """Whether the operating system loses its power, or its processor, unasked."""
        return self in (ResetType.FORCE_OFF, ResetType.FORCE_RESTART, ResetType.POWER_CYCLE)

    @property
    def asks(self) -> bool:
        """Whether it is up to the operating system to follow."""
        return self in (ResetType.GRACEFUL_SHUTDOWN, ResetType.GRACEFUL_RESTART)


class PowerRequest(StrEnum):
    """What an operator wants."""

    ON = "on"
    OFF = "off"
    CYCLE = "cycle"


@dataclass(frozen=True, slots=True)
class SystemView:
    """A ComputerSystem as it was read.

    :param allowed: reset types it accepts, None when it does not tell; :param reset_path: of the action.
    :param progress: last state of the boot, empty when not told; :param last_reset: time of the last reset as written.
    """

    power: PowerState
    reset_path: str
    allowed: frozenset[str] | None = None
    progress: str = ""
    last_reset: str = ""

    @property
    def power_words(self) -> str:
        """For people."""
        return self.power.value or "unknown"

    def accepts(self, *types: ResetType) -> ResetType | None:
        """The first of some reset types that it accepts."""
        return next((one for one in types if self.allowed is None or one.value in self.allowed), None)


def action_info_path(system: Mapping[str, Any]) -> str:
    """Where the reset types stand when the action itself does not list them; empty when nowhere.

    A DGX H100 (BMC of 2024) lists them there only.
    """
    action = _action(system)
    return text(action.get("@Redfish.ActionInfo")) if _listed(action) is None else ""


def read_system(system: Mapping[str, Any], action_info: Mapping[str, Any] | None = None) -> SystemView:
    """A system's body, with the body of its reset action's info where that was needed."""
    action = _action(system)
    allowed = _listed(action)
    for parameter in objects(action_info, "Parameters"):
        if parameter.get("Name") == "ResetType":
            values = parameter.get("AllowableValues")
            allowed = allowed if not isinstance(values, list) else frozenset(map(str, values))
    word = text(system.get("PowerState"))
    path = text(action.get("target")) or f"{text(system.get('@odata.id'))}/Actions/ComputerSystem.Reset"
    return SystemView(
        power=PowerState(word) if word in list(PowerState) else PowerState.UNKNOWN,
        reset_path=path,
        allowed=allowed,
        progress=text(inner(system, "BootProgress").get("LastState")),
        last_reset=text(system.get("LastResetTime")),
    )


@dataclass(frozen=True, slots=True)
class PowerStep:
    """One command, and what shows that it was carried out.

    :param goal: state that is waited for; None: a restart, which shows by its traces only.
    :param then: what may follow when the goal is not reached in time, or is the next leg of a restart.
    :param escalates: ``then`` is for when the operating system does not follow; else it follows the reached goal.
    """

    reset: ResetType
    goal: PowerState | None
    then: PowerStep | None = None
    escalates: bool = False

    @property
    def words(self) -> str:
        """For people: ``GracefulShutdown, then ForceOff if it is not followed``."""
        if self.then is None:
            return self.reset.value
        follow = f"then {self.then.words}" + (" if that is not followed" if self.escalates else "")
        return f"{self.reset.value}, {follow}"

    @property
    def all(self) -> tuple[ResetType, ...]:
        """Every command it may send."""
        return (self.reset, *(self.then.all if self.then is not None else ()))


@dataclass(frozen=True, slots=True)
class PowerDecision:
    """What to do about one system.

    :param step: None when nothing is to be sent; :param settle: a state that is on its way already, to be waited for.
    :param refused: why it cannot be done, empty when it can.
    """

    step: PowerStep | None = None
    settle: PowerState | None = None
    refused: str = ""

    @property
    def words(self) -> str:
        """For people."""
        if self.refused:
            return self.refused
        if self.step is not None:
            return self.step.words
        return (
            f"nothing to do, it is {self.settle.value.lower()}"
            if self.settle is not None
            else "nothing to do"
        )


def decide_power(
    request: PowerRequest, view: SystemView, *, force: bool = False, grace_s: float = 1.0
) -> PowerDecision:
    """What brings a system to where it should be.

    :param force: cut the power, or restart without asking, when the operating system does not follow.
    :param grace_s: seconds it has for that; with none, and force, it is not asked at all.
    """
    decision = _decide(request, view, force)
    step = decision.step
    if grace_s <= 0 and step is not None and step.escalates:
        return PowerDecision(step.then)
    return decision


def _decide(request: PowerRequest, view: SystemView, force: bool) -> PowerDecision:
    power = view.power
    if power in (PowerState.UNKNOWN, PowerState.PAUSED):
        return PowerDecision(refused=f"its power state is {view.power_words}")
    on = power in (PowerState.ON, PowerState.POWERING_ON)
    if request is PowerRequest.ON or (request is PowerRequest.CYCLE and not on):
        return PowerDecision(settle=PowerState.ON) if on else _turn_on(view)
    if request is PowerRequest.OFF:
        return _turn_off(view, force) if on else PowerDecision(settle=PowerState.OFF)
    return _restart(view, force)


def _turn_on(view: SystemView) -> PowerDecision:
    chosen = view.accepts(ResetType.ON, ResetType.FORCE_ON)
    return _or_refused(view, PowerStep(chosen, PowerState.ON) if chosen else None, "turn on")


def _turn_off(view: SystemView, force: bool) -> PowerDecision:
    graceful = view.accepts(ResetType.GRACEFUL_SHUTDOWN)
    cut = view.accepts(ResetType.FORCE_OFF) if force else None
    forced = PowerStep(cut, PowerState.OFF) if cut else None
    step = PowerStep(graceful, PowerState.OFF, forced, forced is not None) if graceful else forced
    return _or_refused(view, step, "shut down", "" if force else "; --force cuts its power")


def _restart(view: SystemView, force: bool) -> PowerDecision:
    graceful = view.accepts(ResetType.GRACEFUL_RESTART)
    cut = view.accepts(ResetType.POWER_CYCLE, ResetType.FORCE_RESTART) if force else None
    forced = PowerStep(cut, None) if cut else None
    if graceful:
        step: PowerStep | None = PowerStep(graceful, None, forced, forced is not None)
    elif forced:
        step = forced
    else:
        step = _off_and_on(view, force)
    return _or_refused(view, step, "restart", "" if force else "; --force restarts it without asking")


def _off_and_on(view: SystemView, force: bool) -> PowerStep | None:
    """Shutdown, then on: for a BMC that knows no graceful restart, as a DGX H100."""
    on = view.accepts(ResetType.ON, ResetType.FORCE_ON)
    off = view.accepts(ResetType.FORCE_OFF) if force else view.accepts(ResetType.GRACEFUL_SHUTDOWN)
    if not on or not off:
        return None
    return PowerStep(off, PowerState.OFF, PowerStep(on, PowerState.ON))


def _or_refused(view: SystemView, step: PowerStep | None, what: str, hint: str = "") -> PowerDecision:
    if step is not None:
        return PowerDecision(step)
    accepts = ", ".join(sorted(view.allowed or ())) or "nothing"
    return PowerDecision(refused=f"its BMC cannot {what} it: it accepts {accepts}{hint}")


@dataclass(frozen=True, slots=True)
class Witness:
    """What tells one running of a system from another.

    :param log_id: of the newest entry of the lifecycle log, empty when it was not read.
    """

    power: PowerState
    progress: str = ""
    last_reset: str = ""
    log_id: str = ""


def witness(view: SystemView, log_id: str = "") -> Witness:
    """As a system is now."""
    return Witness(view.power, view.progress, view.last_reset, log_id)


RESET_KEYS = frozenset({"SYS1000", "SYS1001", "SYS1003"})
"""Entries of an iDRAC's lifecycle log: the system turns on, turns off, its processors are reset."""
_RUNNING = frozenset(
    {"OSRunning", "OSBootStarted", "SystemHardwareInitializationComplete", "SetupEntered", "OEM"}
)


WENT = {
    PowerState.OFF: "it went off",
    PowerState.POWERING_OFF: "it went off",
    PowerState.POWERING_ON: "it was switched on",
}
"""What a state between two runnings showed; in the past, for it is over when it is read."""


def restarted(before: Witness, now: Witness, log_keys: Sequence[str] = ()) -> str:
    """What shows that a system was reset between two looks; empty when nothing does.

    :param log_keys: message keys of lifecycle log entries written since the first look.
    """
    if now.power in (PowerState.OFF, PowerState.POWERING_OFF, PowerState.POWERING_ON):
        return WENT[now.power] if before.power is PowerState.ON else ""
    if _other_moment(before.last_reset, now.last_reset):
        return f"last reset at {now.last_reset}"
    if before.progress in _RUNNING and now.progress and now.progress not in _RUNNING:
        return f"its boot is at {now.progress}"
    logged = next((key for key in log_keys if key in RESET_KEYS), "")
    return f"its log says so ({logged})" if logged else ""


_SAME_S = 5.0
"""A BMC that works the moment of the last reset out of the time since then is off by a second or two each time."""


def _other_moment(before: str, now: str) -> bool:
    """Whether two times of a last reset, as written, mean two resets."""
    first = parse_time(before)
    second = parse_time(now, first.tzinfo if first is not None else None)
    if first is None or second is None:
        return False  # what cannot be read shows nothing
    first = parse_time(before, second.tzinfo) or first  # one without an offset is of the other's zone
    return abs((second - first).total_seconds()) > _SAME_S


def _action(system: Mapping[str, Any]) -> Mapping[str, Any]:
    return inner(system, "Actions", "#ComputerSystem.Reset")


def _listed(action: Mapping[str, Any]) -> frozenset[str] | None:
    values = action.get("ResetType@Redfish.AllowableValues")
    return frozenset(map(str, values)) if isinstance(values, list) else None
