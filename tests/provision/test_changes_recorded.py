"""Whatever becomes of a change of hardware, ``fabricctl events`` tells it: the same for every command that changes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fabricctl.adapters.store import store as stores
from fabricctl.errors import BmcError, BmcNotReadyError, StateError
from fabricctl.nodes.model import EventKind
from provision.bmc.reply import Reply
from provision.workflows.change import Sending
from provision.workflows.journal import Begun, Journal
from tests.provision.events import Events
from tests.provision.stateful_bmc import DELL, StatefulBmc, refusal, run
from tests.provision.test_power_commands import ISO, Desk
from tests.sim.idrac import Fault, Simulator
from tests.sim.idrac.bios import Bios
from tests.sim.idrac.jobs import JobQueue
from tests.sim.idrac.media import Inserted, VirtualMedia

Start = Callable[..., Simulator]
SYSTEM, PORT = DELL.system, "NIC.Slot.36-1"
BIOS = ("PATCH", f"{SYSTEM}/Bios/Settings", "node.bios")
BOOT = ("PATCH", f"{SYSTEM}(/Settings)?", "node.boot")
RESET = ("POST", ".*ComputerSystem.Reset", "node.power")

CHANGES = {
    ("power", "off", "gpu001"): RESET,
    ("power", "cycle", "gpu001", "--force", "--grace", "0"): RESET,
    ("boot", "pxe", "gpu001"): BOOT,
    ("boot", "disk", "gpu001", "--persistent"): BOOT,
    ("boot", "pxe", "gpu001", "--nic", PORT): BIOS,
    ("bios", "set", "gpu001", "LogicalProc=Enabled"): BIOS,
    ("media", "insert", "gpu001", ISO, "--no-boot"): ("POST", ".*InsertMedia", "node.media"),
    ("media", "eject", "gpu001"): ("POST", ".*EjectMedia", "node.media"),
    ("locate", "gpu001", "on"): ("PATCH", ".*", "node.led"),
    ("jobs", "clear", "gpu001", "--id", "JID_7"): ("POST", ".*DeleteJobQueue", "node.job"),
}
"""What an operator types -> the request that changes something, and the kind of its event."""
AT_ONCE = [command for command in CHANGES if command[:2] not in (("power", "off"), ("bios", "set"))]
AT_ONCE = [command for command in AT_ONCE if CHANGES[command] != BIOS and "--persistent" not in command]
"""Those that do not wait half a minute for a job, or for a state, when their answer was lost."""
OPEN = ("being sent", "accepted, not read back", "answer lost, not read back", "interrupted")
every_change = pytest.mark.parametrize("command", CHANGES, ids=" ".join)


@pytest.fixture
def desk(simulator: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    sim = simulator(3, first="127.43.7.1", speed=1000.0)
    for bmc in sim:
        bmc.power.shutdown_s = bmc.power.off_s = bmc.power.cycle_s = 0.0
        bmc.part(Bios).current["LogicalProc"] = "Disabled"
    return Desk(sim, tmp_path, capsys)


def ready(desk: Desk, command: tuple[str, ...]) -> tuple[str, ...]:
    """Bring about what a command changes. :returns: the command."""
    if command[:2] == ("media", "eject"):
        desk.sim[0].part(VirtualMedia).slots["1"] = Inserted(ISO, "CD")
    if command[:2] == ("jobs", "clear"):
        return (*command[:-1], desk.sim[0].part(JobQueue).plant().id)
    return command


def afters(desk: Desk, kind: str) -> list[str]:
    """What the events of a kind say in the end."""
    return [after for found, _, _, after in desk.events() if found == kind]


@every_change
def test_ctrl_c_while_it_is_sent_leaves_an_event(desk: Desk, command: tuple[str, ...]) -> None:
    words, (method, path, kind) = ready(desk, command), CHANGES[command]
    fault = Fault(method=method, path=path, delay_s=0.4)
    desk.sim[0].fault(fault)
    on_the_wire: list[str] = []

    def interrupt() -> None:
        until = time.monotonic() + 20
        while not fault.hits and time.monotonic() < until:
            time.sleep(0.01)
        with stores.open_store(desk.location, site="hall") as store:
            on_the_wire.extend(event.after for event in store.events.all() if event.kind.value == kind)
        os.kill(os.getpid(), signal.SIGINT)

    helper = threading.Thread(target=interrupt)
    helper.start()
    code = desk.bmc(*words, "--yes")[0]
    helper.join()
    assert code == 130
    assert on_the_wire[-1].endswith(": being sent, no answer yet"), "what SIGKILL would have left"
    (after,) = afters(desk, kind)[-1:]
    assert after.endswith(": interrupted while it was sent, not read back")
    assert fault.hits == 1


@every_change
def test_a_lost_answer_to_a_change_that_took_effect_leaves_one_event_that_says_so(
    desk: Desk, command: tuple[str, ...]
) -> None:
    words, (method, path, kind) = ready(desk, command), CHANGES[command]
    desk.sim[0].fault(Fault(method=method, path=path, drop_answer=True, times=1))
    code, out, err = desk.bmc(*words, "--yes")
    assert code in (0, 1), out + err  # with --nic the override itself comes after the next reset
    found = afters(desk, kind)
    assert found
    assert kind == "node.bios" or len(found) == 1
    assert not [after for after in found if any(word in after for word in (*OPEN, "lost"))]


@pytest.mark.parametrize("command", AT_ONCE, ids=" ".join)
def test_a_change_that_was_lost_on_its_way_leaves_an_event_that_claims_nothing(
    desk: Desk, command: tuple[str, ...]
) -> None:
    words, (method, path, kind) = ready(desk, command), CHANGES[command]
    words = tuple(
        word for word in words if word != "--force"
    )  # a restart that is asked for gets 0 s, one forced 120
    desk.sim[0].fault(Fault(method=method, path=path, reset=True))
    assert desk.bmc(*words, "--yes")[0] in (1, 3)
    (after,) = afters(desk, kind)
    assert "lost" in after


@pytest.mark.parametrize("command", CHANGES, ids=" ".join)
def test_a_change_that_was_refused_leaves_an_event_with_the_bmcs_words(
    desk: Desk, command: tuple[str, ...]
) -> None:
    words, (method, path, kind) = ready(desk, command), CHANGES[command]
    desk.sim[0].fault(
        Fault(method=method, path=path, status=400, message_id="SYS999", message="It is not so.")
    )
    assert desk.bmc(*words, "--yes")[0] in (1, 3)
    assert "It is not so" in [after for found, _, _, after in desk.events() if found == kind][-1]


def test_a_change_that_cannot_be_recorded_is_not_sent() -> None:
    class Full:
        def begin(self, *_: object) -> Begun:
            raise StateError("disk full", place="hall.sqlite")

    bmc = StatefulBmc({})
    with pytest.raises(StateError):
        run(Sending(bmc, Full(), EventKind.NODE_LED, [("off", "on")]).patch(SYSTEM, {}))
    assert bmc.sent == []


def test_where_the_outcome_cannot_be_recorded_the_intent_still_stands() -> None:
    class FullLater(Events):
        def tell(self, number: int, after: str) -> None:
            raise StateError("disk full", place="hall.sqlite")

    bmc, events = StatefulBmc({}), FullLater()
    bmc.handlers["PATCH", SYSTEM] = lambda body: Reply(SYSTEM, 200)
    run(Sending(bmc, events, EventKind.NODE_LED, [("off", "on")]).patch(SYSTEM, {}))
    assert events.moves == [("off", "on: being sent, no answer yet")]
    assert "disk full" in bmc.notes[0].text


@pytest.mark.parametrize(
    ("error", "sent", "words"),
    [
        (refusal(400, "SYS518"), True, "on: the BMC answered HTTP 400"),
        (BmcNotReadyError("still in POST"), False, "on: not sent: still in POST"),
        (BmcError("odd"), True, "on: what came of it is not known: odd"),
    ],
)
def test_an_event_says_how_far_a_change_came(error: BmcError, sent: bool, words: str) -> None:
    bmc, events = StatefulBmc({}), Events()
    error.sent = sent
    bmc.handlers["PATCH", SYSTEM] = lambda body: error
    with pytest.raises(BmcError):
        run(Sending(bmc, events, EventKind.NODE_LED, [("off", "on")]).patch(SYSTEM, {}))
    assert events.moves == [("off", words)]


def test_a_command_opens_the_store_as_often_for_three_nodes_as_for_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    real = stores.Database

    def counted(*arguments: object, **named: object) -> object:
        opened.append(1)
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(stores, "Database", counted)
    counts = []
    for hosts in ("gpu001", "gpu[001-003]"):
        before = len(opened)
        assert desk.bmc("locate", hosts, "off" if counts else "on", "--yes")[0] == 0
        counts.append(len(opened) - before)
    assert counts[0] == counts[1]
    assert counts[0] <= 3


def test_an_event_begun_in_the_store_is_one_event_with_its_last_word(desk: Desk) -> None:
    with stores.open_store(desk.location, site="hall") as store:
        begun = Journal(store, "fans").begin(EventKind.NODE_LED, "gpu001", [("off", "on: sent"), ("a", "b")])
        begun.tell(["on", "c"])
        begun.tell(["on", "d"])
        found = [(e.before, e.after, e.reason) for e in store.events.all() if e.reason == "fans"]
    assert found == [("off", "on", "fans"), ("a", "d", "fans")]
