"""Power as a decision: which command brings a system where it should be, and what shows that it was reset."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import BmcOutcomeUnknownError, BmcUnreachableError, BmcUnsupportedError
from provision.bmc.power import (
    PowerRequest,
    PowerState,
    ResetType,
    SystemView,
    Witness,
    action_info_path,
    decide_power,
    read_system,
    restarted,
)
from provision.bmc.reply import Reply
from provision.workflows.power import PowerOptions, set_power
from tests.provision.events import Events
from tests.provision.stateful_bmc import DGX, StatefulBmc, refusal, run

SYSTEM = "/redfish/v1/Systems/System.Embedded.1"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
R750 = frozenset(
    {
        "On",
        "ForceOff",
        "ForceRestart",
        "GracefulRestart",
        "GracefulShutdown",
        "PushPowerButton",
        "Nmi",
        "PowerCycle",
    }
)
"""Reset types of the R750 capture, iDRAC9 6.00.30."""
DGX_TYPES = frozenset({"ForceOff", "ForceRestart", "GracefulShutdown", "On"})
"""Of the DGX H100 capture."""


def view(power: PowerState, allowed: frozenset[str] | None = R750) -> SystemView:
    return SystemView(power, RESET, allowed)


def sent(
    request: PowerRequest, power: PowerState, allowed: frozenset[str] | None = R750, *, force: bool = False
) -> str:
    decision = decide_power(request, view(power, allowed), force=force)
    return ">".join(reset.value for reset in decision.step.all) if decision.step is not None else ""


@pytest.mark.parametrize(
    ("request_", "power", "expected"),
    [
        (PowerRequest.ON, PowerState.ON, ""),
        (PowerRequest.ON, PowerState.POWERING_ON, ""),
        (PowerRequest.ON, PowerState.OFF, "On"),
        (PowerRequest.ON, PowerState.POWERING_OFF, "On"),
        (PowerRequest.OFF, PowerState.OFF, ""),
        (PowerRequest.OFF, PowerState.POWERING_OFF, ""),
        (PowerRequest.OFF, PowerState.ON, "GracefulShutdown"),
        (PowerRequest.CYCLE, PowerState.ON, "GracefulRestart"),
        (PowerRequest.CYCLE, PowerState.OFF, "On"),
    ],
)
def test_a_request_is_a_state_not_a_key(request_: PowerRequest, power: PowerState, expected: str) -> None:
    assert sent(request_, power) == expected


def test_force_cuts_power_only_after_the_operating_system_was_asked() -> None:
    assert sent(PowerRequest.OFF, PowerState.ON, force=True) == "GracefulShutdown>ForceOff"
    assert sent(PowerRequest.CYCLE, PowerState.ON, force=True) == "GracefulRestart>PowerCycle"


def test_a_dgx_that_knows_no_graceful_restart_is_shut_down_and_switched_on() -> None:
    assert sent(PowerRequest.CYCLE, PowerState.ON, DGX_TYPES) == "GracefulShutdown>On"
    assert sent(PowerRequest.CYCLE, PowerState.ON, DGX_TYPES, force=True) == "ForceRestart"


def test_a_bmc_that_cannot_ask_the_operating_system_is_refused_with_what_it_accepts() -> None:
    decision = decide_power(PowerRequest.OFF, view(PowerState.ON, frozenset({"On", "ForceOff"})))
    assert decision.step is None
    assert "ForceOff, On" in decision.refused
    assert "--force" in decision.refused


@pytest.mark.parametrize("request_", list(PowerRequest))
def test_a_power_state_nobody_knows_is_never_acted_on(request_: PowerRequest) -> None:
    for force in (False, True):
        decision = decide_power(request_, view(PowerState.UNKNOWN), force=force)
        assert decision.step is None
        assert decision.refused


@given(
    st.sampled_from(list(PowerRequest)),
    st.sampled_from(list(PowerState)),
    st.none() | st.frozensets(st.sampled_from(sorted(R750 | {"ForceOn", "Suspend", "Nonsense"}))),
    st.booleans(),
)
def test_nothing_that_cuts_power_is_sent_unless_it_is_forced(
    request: PowerRequest, power: PowerState, allowed: frozenset[str] | None, force: bool
) -> None:
    decision = decide_power(request, view(power, allowed), force=force)
    resets = decision.step.all if decision.step is not None else ()
    assert force or not any(reset.cuts for reset in resets)
    assert allowed is None or all(reset.value in allowed for reset in resets)
    assert bool(resets) + bool(decision.refused) + (decision.settle is not None) == 1
    if request is PowerRequest.ON:
        assert set(resets) <= {ResetType.ON, ResetType.FORCE_ON}
    if request is PowerRequest.OFF:
        assert not set(resets) & {
            ResetType.ON,
            ResetType.FORCE_ON,
            ResetType.POWER_CYCLE,
            ResetType.FORCE_RESTART,
        }


def test_an_unknown_word_for_the_power_state_is_unknown() -> None:
    for word in (None, "", "Dreaming", 3):
        assert read_system({"@odata.id": SYSTEM, "PowerState": word}).power is PowerState.UNKNOWN


@pytest.mark.captures
def test_the_r750_of_the_capture_lists_its_reset_types_in_the_action(captures: Path) -> None:
    body = json.loads((captures / "redfish" / "dell_r750_h100_ib_idrac9_6.00.30.json").read_text())[SYSTEM]
    assert action_info_path(body) == ""
    seen = read_system(body)
    assert (seen.power, seen.allowed, seen.reset_path) == (PowerState.ON, R750, RESET)
    assert seen.last_reset == "2024-06-11T00:14:47-05:00"


@pytest.mark.captures
def test_the_dgx_of_the_capture_lists_them_in_its_action_info(captures: Path) -> None:
    dump = json.loads((captures / "redfish" / "nvidia_dgx_h100_8xCX7.json").read_text())
    body = dump["/redfish/v1/Systems/DGX"]
    assert action_info_path(body) == "/redfish/v1/Systems/DGX/ResetActionInfo"
    assert read_system(body, dump["/redfish/v1/Systems/DGX/ResetActionInfo"]).allowed == DGX_TYPES


ON = Witness(PowerState.ON, "OSRunning", "2024-06-11T00:14:47-05:00")
UNPADDED = Witness(PowerState.ON, "", "2024-2-15T05:59:20+00:00")
"""As a DGX H100 writes times."""


@pytest.mark.parametrize(
    ("before", "now", "keys", "shown"),
    [
        (ON, ON, [], False),
        (ON, Witness(PowerState.ON, "OSRunning", "2024-06-12T00:00:00-05:00"), [], True),
        (ON, Witness(PowerState.OFF), [], True),
        (ON, Witness(PowerState.ON, "MemoryInitializationStarted", ON.last_reset), [], True),
        (ON, Witness(PowerState.ON, "", ""), [], False),
        (ON, Witness(PowerState.ON, "OSRunning", "2024-06-11T00:14:48-05:00"), [], False),
        (ON, Witness(PowerState.ON, "OSRunning", "2024-06-11T05:14:47+00:00"), [], False),
        (ON, Witness(PowerState.ON, "OSRunning", "yesterday"), [], False),
        (ON, Witness(PowerState.ON, "OSRunning", "2024-06-11T00:14:48"), [], False),
        (UNPADDED, Witness(PowerState.ON, "", "2024-2-15T05:59:21+00:00"), [], False),
        (UNPADDED, Witness(PowerState.ON, "", "2024-2-15T06:09:21+00:00"), [], True),
        (Witness(PowerState.ON), Witness(PowerState.ON), [], False),
        (Witness(PowerState.ON), Witness(PowerState.ON, "OSRunning", "2024-06-12"), [], False),
        (Witness(PowerState.ON), Witness(PowerState.ON), ["USR0030", "SYS1003"], True),
    ],
)
def test_a_reset_shows_by_its_traces_only(
    before: Witness, now: Witness, keys: list[str], shown: bool
) -> None:
    assert bool(restarted(before, now, keys)) is shown


class Host:
    """A server whose reset action a test scripts; power by time."""

    def __init__(self, power: str = "On", *, dgx: bool = False, **body: Any) -> None:
        self.power = power
        self.shuts_down = True
        self.body = {"LastResetTime": "2024-06-11T00:14:47-05:00", **body}
        self.path = "/redfish/v1/Systems/DGX" if dgx else SYSTEM
        self.bmc = StatefulBmc({self.path: self._system}, DGX if dgx else StatefulBmc({})._layout)
        self.bmc.handlers["POST", f"{self.path}/Actions/ComputerSystem.Reset"] = self.reset
        self.lost: set[str] = set()
        self.dropped: set[str] = set()

    def _system(self, now: float) -> dict[str, Any]:
        allowed = {"ResetType@Redfish.AllowableValues": sorted(DGX_TYPES if "DGX" in self.path else R750)}
        target = {"target": f"{self.path}/Actions/ComputerSystem.Reset", **allowed}
        return {
            "@odata.id": self.path,
            "PowerState": self.power,
            "Actions": {"#ComputerSystem.Reset": target},
            **self.body,
        }

    def reset(self, body: Any) -> Any:
        kind = body["ResetType"]
        if kind not in self.lost:
            if kind == "On" and self.power == "On":
                return refusal(409, "PSU501")
            self._do(kind)
        if kind in self.lost | self.dropped:
            return BmcOutcomeUnknownError("the answer was lost", bmc="gpu001")
        return Reply("", 204)

    def _do(self, kind: str) -> None:
        if kind == "On":
            self.power = "On"
        elif kind == "ForceOff" or (kind == "GracefulShutdown" and self.shuts_down):
            self.power = "Off"
        elif kind in ("PowerCycle", "ForceRestart") or (kind == "GracefulRestart" and self.shuts_down):
            self.body["LastResetTime"] = "2024-06-12T00:00:00-05:00"

    @property
    def resets(self) -> list[str]:
        return [body["ResetType"] for method, _, body in self.bmc.sent if method == "POST"]


def options(**more: Any) -> PowerOptions:
    return PowerOptions(clock=itertools.repeat(0.0).__next__, **more)


def test_a_node_that_is_on_gets_no_command() -> None:
    host = Host("On")
    result = run(set_power(host.bmc, PowerRequest.ON, options()))
    assert host.resets == []
    assert result.reached


def test_already_powered_on_is_success() -> None:
    host = Host("Off")
    host._do("On")  # somebody was quicker
    read = host._system(0)
    host.bmc.resources[SYSTEM] = lambda now: {**read, "PowerState": "Off" if not host.bmc.sent else "On"}
    result = run(set_power(host.bmc, PowerRequest.ON, options()))
    assert (result.reached, result.sent, result.after) == (True, (), PowerState.ON)


def test_a_node_that_does_not_shut_down_is_not_cut_off_without_force() -> None:
    host = Host("On")
    host.shuts_down = False
    result = run(set_power(host.bmc, PowerRequest.OFF, options()))
    assert host.resets == ["GracefulShutdown"]
    assert not result.reached
    assert host.bmc.now >= 300


def test_with_force_power_is_cut_once_the_grace_is_over() -> None:
    host = Host("On")
    host.shuts_down = False
    result = run(set_power(host.bmc, PowerRequest.OFF, options(force=True, grace_s=60)))
    assert host.resets == ["GracefulShutdown", "ForceOff"]
    assert result.reached
    assert 60 <= host.bmc.now < 120


def test_force_without_grace_does_not_ask_first() -> None:
    host = Host("On")
    run(set_power(host.bmc, PowerRequest.OFF, options(force=True, grace_s=0)))
    assert host.resets == ["ForceOff"]


@pytest.mark.parametrize(
    ("request_", "power", "kind"),
    [
        (PowerRequest.ON, "Off", "On"),
        (PowerRequest.OFF, "On", "GracefulShutdown"),
        (PowerRequest.CYCLE, "On", "GracefulRestart"),
    ],
)
def test_a_command_whose_answer_is_lost_is_sent_once_and_found_in_the_state(
    request_: PowerRequest, power: str, kind: str
) -> None:
    host = Host(power)
    host.dropped = {kind}
    result = run(set_power(host.bmc, request_, options()))
    assert host.resets == [kind]
    assert result.reached
    assert result.evidence


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("request_", "power", "kind"),
    [
        (PowerRequest.ON, "Off", "On"),
        (PowerRequest.OFF, "On", "GracefulShutdown"),
        (PowerRequest.CYCLE, "On", "GracefulRestart"),
    ],
)
def test_a_command_that_never_arrived_is_not_repeated_and_said_to_be_unknown(
    request_: PowerRequest, power: str, kind: str, force: bool
) -> None:
    host = Host(power)
    host.lost = {kind}
    with pytest.raises(BmcOutcomeUnknownError, match="not repeated"):
        run(set_power(host.bmc, request_, options(force=force, grace_s=60)))
    assert host.resets == [kind]


def test_a_bmc_that_cannot_be_read_after_the_command_leaves_it_unknown() -> None:
    host = Host("Off")
    host.dropped = {"On"}
    host.bmc.silent = lambda now: BmcUnreachableError("refused", bmc="gpu001") if host.bmc.sent else None
    with pytest.raises(BmcOutcomeUnknownError, match="not repeated"):
        run(set_power(host.bmc, PowerRequest.ON, options()))
    assert host.resets == ["On"]


def test_every_step_of_a_dgx_restart_is_sent_once() -> None:
    host = Host("On", dgx=True)
    result = run(set_power(host.bmc, PowerRequest.CYCLE, options()))
    assert host.resets == ["GracefulShutdown", "On"]
    assert (result.before, result.after) == (PowerState.ON, PowerState.ON)


def test_what_is_refused_is_sent_nowhere() -> None:
    host = Host("Dreaming")
    with pytest.raises(BmcUnsupportedError):
        run(set_power(host.bmc, PowerRequest.OFF, options(force=True)))
    assert host.resets == []


def test_a_command_is_one_event_that_tells_what_came_of_it() -> None:
    host, events = Host("On"), Events()
    run(set_power(host.bmc, PowerRequest.OFF, options(), events))
    assert events.moves == [("On", "GracefulShutdown: it is Off")]


def test_a_power_cut_after_a_shutdown_nobody_followed_is_an_event_of_its_own() -> None:
    host, events = Host("On"), Events()
    host.shuts_down = False
    run(set_power(host.bmc, PowerRequest.OFF, options(force=True), events))
    assert events.moves == [
        ("On", "GracefulShutdown: accepted, and nothing shows that it was carried out; it is On"),
        ("On", "ForceOff: it is Off"),
    ]


@pytest.mark.parametrize(("force", "asked"), [(True, ["ForceOff"]), (False, ["GracefulShutdown"])])
def test_without_grace_a_forced_shutdown_asks_nobody(force: bool, asked: list[str]) -> None:
    decision = decide_power(PowerRequest.OFF, view(PowerState.ON, R750), force=force, grace_s=0)
    assert decision.step is not None
    assert [reset.value for reset in decision.step.all] == asked
