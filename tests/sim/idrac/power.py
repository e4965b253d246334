"""Power: a state machine with POST, as ComputerSystem.Reset and Chassis.Reset drive it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer, Call
from tests.sim.idrac.clock import Timer
from tests.sim.idrac.messages import errors, message, refused
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Moment, Tree

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SYSTEM = "/redfish/v1/Systems/System.Embedded.1"
CHASSIS = "/redfish/v1/Chassis/System.Embedded.1"
RESET_TYPES = (
    *("On", "ForceOff", "ForceRestart", "GracefulRestart", "GracefulShutdown"),
    *("PushPowerButton", "Nmi", "PowerCycle"),
)
CHASSIS_RESET_TYPES = ("On", "ForceOff")


class Phase(Enum):
    """What the server does."""

    OFF = "off"
    POST = "post"
    RUNNING = "running"
    STOPPING = "stopping"
    """Power is still on: the operating system shuts down, or power is being cut."""


class PowerEvent(Enum):
    """What a real machine behind the BMC must do now."""

    ON = "on"
    OFF = "off"
    RESET = "reset"


PowerHook = Callable[["SimBmc", PowerEvent, str], None]
"""(bmc, event, boot device of this boot as BootSourceOverrideTarget names it, ``Hdd`` when there is no override)."""


class Power:
    """Power of one server. Times are simulated seconds and may be changed by a test."""

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        self.phase = Phase.RUNNING
        self.post_s = 180.0
        """An XE9680 with eight GPUs and 2 TB takes minutes."""
        self.off_s = 5.0
        self.shutdown_s = 30.0
        self.cycle_s = 10.0
        self.inventory_s = 30.0
        """After POST: until the inventory collected by it (CSIOR) is shown."""
        self.heeds_shutdown = True
        """Whether the operating system heeds a graceful shutdown; if not, the server stays on."""
        self.reset_types: tuple[str, ...] = RESET_TYPES
        self.collected = True
        """Whether an inventory was ever collected; until then no part of the host is shown."""
        self.boots = 0
        """POSTs finished."""
        self.actions: list[str] = []
        """Reset types carried out, in order: to see whether a command was carried out once."""
        self.hooks: list[PowerHook] = []
        self.post_started = 0.0
        self.ever_started = False
        self.post_by_hook = False
        """A real machine tells by :meth:`finish_post` when its POST is over; the time alone does not end it."""
        self._again = False
        self._extra = 0.0
        self._timer: Timer | None = None

    @property
    def state(self) -> str:
        """``On`` or ``Off``, as PowerState says it."""
        self._bmc.settle()
        return "Off" if self.phase is Phase.OFF else "On"

    @property
    def in_post(self) -> bool:
        """Between power-on and boot."""
        self._bmc.settle()
        return self.phase is Phase.POST

    def set(self, phase: Phase) -> None:
        """Put the server into a phase at once, without anything happening on the way."""
        self._cancel()
        self.phase = phase

    def extend_post(self, seconds: float) -> None:
        """Called at POST_STARTED: this POST takes longer (a configuration job, a firmware update)."""
        self._extra += seconds

    def reboot_after_post(self) -> None:
        """Called at POST_STARTED: another boot follows this one, as after a BIOS configuration job."""
        self._again = True

    def on(self) -> None:
        """Switch on."""
        self._start_post(PowerEvent.ON)

    def restart(self) -> None:
        """Warm reset: POST begins anew."""
        self._start_post(PowerEvent.RESET)

    def off(self, seconds: float) -> None:
        """Power goes in so many seconds."""
        self._cancel()
        self.phase = Phase.STOPPING
        self._timer = self._bmc.after(seconds, self._now_off)

    def cycle(self, seconds: float) -> None:
        """Off in so many seconds, and on again after a pause."""

        def off() -> None:
            self._now_off()
            self._timer = self._bmc.after(self.cycle_s, self.on)

        self._cancel()
        self.phase = Phase.STOPPING
        self._timer = self._bmc.after(seconds, off)

    def finish_post(self) -> None:
        """POST is over: the boot device was taken. By the clock, or told by a real machine."""
        with self._bmc.lock:
            if self.phase is not Phase.POST:
                return
            self._cancel()
            self.phase = Phase.RUNNING
            self.boots += 1
            self._bmc.after(self.inventory_s, self._collect)
            self._bmc.tell(Moment.POST_DONE)
            if self._again:
                self._again = False
                self.restart()

    def _collect(self) -> None:
        if self.phase is not Phase.OFF:
            self.collected = True
            self._bmc.tell(Moment.INVENTORY_COLLECTED)

    def _start_post(self, event: PowerEvent) -> None:
        self._cancel()
        self.phase = Phase.POST
        self.post_started = self._bmc.now()
        self.ever_started = True
        self._extra = 0.0
        self._bmc.tell(Moment.POST_STARTED)
        self._tell_hooks(event)
        if not self.post_by_hook:
            self._timer = self._bmc.after(self.post_s + self._extra, self.finish_post)

    def _now_off(self) -> None:
        if self.phase is Phase.OFF:
            return
        self.phase = Phase.OFF
        self._again = False
        self._bmc.tell(Moment.POWERED_OFF)
        self._tell_hooks(PowerEvent.OFF)

    def _tell_hooks(self, event: PowerEvent) -> None:
        for hook in self.hooks:
            hook(self._bmc, event, self._bmc.boot.device())

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def progress(power: Power) -> str:
    """``BootProgress.LastState`` (DSP2046)."""
    if power.phase is Phase.OFF:
        return "None"
    if power.phase is not Phase.POST:
        return "OSRunning"
    share = (power._bmc.now() - power.post_started) / max(power.post_s, 0.001)
    if share < 0.2:
        return "PrimaryProcessorInitializationStarted"
    if share < 0.5:
        return "MemoryInitializationStarted"
    if share < 0.8:
        return "PCIResourceConfigStarted"
    return "SystemHardwareInitializationComplete"


def carry_out(bmc: SimBmc, kind: str) -> None:
    """One reset type.

    :raises RefusedError: 409, the server already is in that state.
    """
    power = bmc.power
    on = power.phase is not Phase.OFF
    if kind == "PushPowerButton":
        kind = "GracefulShutdown" if on else "On"
    if (kind == "On") == on:
        raise refused(bmc.profile, "PSU501", "ON" if on else "OFF")
    if kind in ("GracefulShutdown", "GracefulRestart") and not power.heeds_shutdown:
        return
    actions: dict[str, Callable[[], None]] = {
        "On": power.on,
        "ForceOff": lambda: power.off(power.off_s),
        "GracefulShutdown": lambda: power.off(power.shutdown_s),
        "GracefulRestart": lambda: power.cycle(power.shutdown_s),
        "ForceRestart": power.restart,
        "PowerCycle": lambda: power.cycle(power.off_s),
        "Nmi": lambda: None,
    }
    actions[kind]()
    bmc.log(LOG_OF[kind], *(() if kind != "Nmi" else ("NMI",)))


LOG_OF = {
    "On": "SYS1000",
    "ForceOff": "SYS1001",
    "GracefulShutdown": "SYS1003",
    "GracefulRestart": "SYS1003",
    "ForceRestart": "SYS1003",
    "PowerCycle": "SYS1001",
    "Nmi": "SYS1003",
}


def _reset(call: Call, allowed: tuple[str, ...], action: str) -> Answer:
    kind = call.body.get("ResetType")
    profile = call.bmc.profile
    if kind is None:
        raise refused(profile, "ActionParameterMissing", action, "ResetType")
    if kind not in allowed:
        return errors(
            profile,
            400,
            message(profile, "SYS426", str(kind), "ResetType"),
            message(profile, "ActionParameterValueNotInList", str(kind), "ResetType", action),
        )
    call.bmc.power.actions.append(str(kind))
    try:
        carry_out(call.bmc, str(kind))
    except Exception:
        call.bmc.power.actions.pop()
        raise
    return Answer(204)


def install(tree: Tree, _profile: Profile) -> None:
    """The reset actions of system and chassis."""
    tree.on(
        "POST",
        f"{SYSTEM}/Actions/ComputerSystem.Reset",
        lambda call: _reset(call, call.bmc.power.reset_types, "ComputerSystem.Reset"),
    )
    tree.on(
        "POST",
        f"{CHASSIS}/Actions/Chassis.Reset",
        lambda call: _reset(call, CHASSIS_RESET_TYPES, "Chassis.Reset"),
    )
