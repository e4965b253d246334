"""Node records in the store, on both databases: whoever comes second is told, nothing is half done."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.store import Store, open_store
from fabricctl.errors import StateConflictError, UsageError
from fabricctl.nodes.model import Fact, IdentityKind, NodeState
from fabricctl.nodes.transitions import Transition, plan_transitions
from tests.store.stores import at, dump

S = NodeState
GUID, MAC = IdentityKind.GUID, IdentityKind.MAC


def move(store: Store, names: list[str], *states: NodeState, hours: float = 0) -> None:
    for state in states:
        stored = store.nodes.all(names)
        nodes = {n: (stored[n].state, stored[n].version) if n in stored else (S.PLANNED, 0) for n in names}
        changes = plan_transitions(nodes, state)
        store.nodes.change_states(changes, who="anna@ufm1", reason=f"to {state.words}", now=at(hours))


def tell(store: Store, name: str, *facts: Fact, hours: float = 0, moved: bool = False) -> None:
    store.nodes.tell(name, facts, who="anna@ufm1", reason="harvest", now=at(hours), move=moved)


def test_a_change_of_state_keeps_who_when_why_and_what_was_before(location: Location) -> None:
    with open_store(location) as store:
        move(store, ["gpu001"], S.PROVISIONING, S.READY, hours=2)
        record = store.nodes.all()["gpu001"]
        events = store.events.all()
    assert (record.state, record.version, record.since) == (S.READY, 2, at(2))
    assert (record.who, record.reason) == ("anna@ufm1", "to ready")
    assert [(e.subject, e.before, e.after, e.who, e.reason, e.at) for e in events] == [
        ("gpu001", "planned", "provisioning", "anna@ufm1", "to provisioning", at(2)),
        ("gpu001", "provisioning", "ready", "anna@ufm1", "to ready", at(2)),
    ]


@pytest.mark.parametrize("version", [0, 1])
def test_two_controllers_cannot_both_make_a_change(location: Location, version: int) -> None:
    with open_store(location) as store:
        if version:
            move(store, ["gpu001"], S.PROVISIONING)
    before = S.PROVISIONING if version else S.PLANNED
    barrier = Barrier(8)

    def one(number: int) -> str:
        after = S.READY if number % 2 and version else S.REPAIR
        with open_store(location) as store:
            barrier.wait()
            try:
                store.nodes.change_states(
                    [Transition("gpu001", before, after, version)],
                    who=f"controller{number}",
                    reason="race",
                    now=at(number),
                )
            except StateConflictError as exc:
                return str(exc)
            return "done"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(8)))
    with open_store(location) as store:
        record = store.nodes.all()["gpu001"]
        events = [event for event in store.events.all() if event.reason == "race"]
    assert answers.count("done") == 1
    assert record.version == version + 1
    assert [event.who for event in events] == [record.who]
    assert all("meanwhile" in answer and "gpu001" in answer for answer in answers if answer != "done")


RACER = """
import sys
from datetime import UTC, datetime
from fabricctl.adapters.store.store import open_store
from fabricctl.errors import StateConflictError
from fabricctl.nodes.model import NodeState
from fabricctl.nodes.transitions import plan_transitions
from tests.store.stores import place
won = 0
with open_store(place(sys.argv[1])) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(12):
        record = store.nodes.all(["gpu001"])["gpu001"]
        to = NodeState.PROVISIONING if record.state is NodeState.REPAIR else NodeState.REPAIR
        changes = plan_transitions({"gpu001": (record.state, record.version)}, to)
        try:
            store.nodes.change_states(changes, who=sys.argv[2], reason="race", now=datetime.now(UTC))
            won += 1
        except StateConflictError:
            pass
print(won)
"""


def test_processes_that_change_one_node_again_and_again_never_overwrite_each_other(
    location: Location,
) -> None:
    with open_store(location) as store:
        move(store, ["gpu001"], S.PROVISIONING)
    place = location.place
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, place, f"c{n}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    won = 0
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    for racer in racers:
        won += int(racer.communicate(timeout=60)[0])
    with open_store(location) as store:
        record = store.nodes.all()["gpu001"]
        events = store.events.all()[1:]
    assert record.version == 1 + won == 1 + len(events)
    chain = ["provisioning"] + [event.after for event in events]
    assert [event.before for event in events] == chain[:-1]


def test_of_several_nodes_all_change_or_none(location: Location) -> None:
    with open_store(location) as store:
        move(store, ["gpu001", "gpu002"], S.PROVISIONING)
        move(store, ["gpu002"], S.READY)
        before = dump(location)
        stale = [Transition(n, S.PROVISIONING, S.REPAIR, 1) for n in ("gpu001", "gpu002", "gpu003")]
        with pytest.raises(
            StateConflictError, match=r"gpu002 was changed.*it is ready \(by anna@ufm1: to ready\)"
        ):
            store.nodes.change_states(stale, who="x", reason="y", now=at(1))
    assert dump(location) == before


def test_a_replaced_card_keeps_old_and_new_with_source_and_time(location: Location) -> None:
    with open_store(location) as store:
        tell(store, "gpu001", Fact(GUID, "0x1", "mlx5_0", "redfish"), Fact(MAC, "m1"), hours=1)
        tell(store, "gpu001", Fact(GUID, "0x2", "mlx5_0", "operator"), hours=5)
        record = store.nodes.all()["gpu001"]
        events = store.events.all(subjects=["gpu001"])
    assert [(i.fact.value, i.fact.source, i.since, i.until) for i in record.identities] == [
        ("0x1", "redfish", at(1), at(5)),
        ("m1", "operator", at(1), None),
        ("0x2", "operator", at(5), None),
    ]
    assert (events[-1].before, events[-1].after) == (
        "mlx5_0 GUID 0x1 (redfish)",
        "mlx5_0 GUID 0x2 (operator)",
    )


def test_being_told_again_makes_no_event_and_moves_only_the_time(location: Location) -> None:
    with open_store(location) as store:
        tell(store, "gpu001", Fact(GUID, "0x1"), hours=1)
        tell(store, "gpu001", Fact(GUID, "0x1"), hours=2)
        record = store.nodes.all()["gpu001"]
        assert len(store.events.all()) == 1
    assert (record.identities[0].since, record.identities[0].confirmed) == (at(1), at(2))
    assert record.version == 2


def test_an_identity_has_one_holder_unless_it_is_moved(location: Location) -> None:
    with open_store(location) as store:
        tell(store, "gpu001", Fact(GUID, "0x1", "mlx5_0"))
        before = dump(location)
        with pytest.raises(UsageError, match=r"GUID 0x1 belongs to gpu001 .*--move"):
            tell(store, "gpu002", Fact(MAC, "m2"), Fact(GUID, "0x1", "mlx5_3"))
        assert dump(location) == before
        tell(store, "gpu002", Fact(GUID, "0x1", "mlx5_3"), hours=3, moved=True)
        assert [i.fact.value for i in store.nodes.all()["gpu002"].current()] == ["0x1"]
        old = store.nodes.all()["gpu001"].identities[0]
        events = [(e.subject, e.before, e.after) for e in store.events.all()[1:]]
    assert old.until == at(3)
    assert events == [
        ("gpu001", "mlx5_0 GUID 0x1 (operator)", ""),
        ("gpu002", "", "mlx5_3 GUID 0x1 (operator)"),
    ]


def test_a_retired_identity_stays_in_the_history(location: Location) -> None:
    with open_store(location) as store:
        tell(store, "gpu001", Fact(MAC, "m1"), Fact(MAC, "m2"))
        record = store.nodes.tell("gpu001", [], who="a", reason="pulled", now=at(4), retired=["m1"])
        with pytest.raises(UsageError, match="no identity 'm9'; it has m2"):
            store.nodes.tell("gpu001", [], who="a", reason="pulled", now=at(5), retired=["m9"])
    assert [i.fact.value for i in record.current()] == ["m2"]
    assert [(i.fact.value, i.until) for i in record.identities] == [("m1", at(4)), ("m2", None)]


def test_records_and_events_of_thousands_of_nodes_are_read_by_name(location: Location) -> None:
    names = [f"gpu{n:04}" for n in range(1200)]
    with open_store(location) as store:
        move(store, names, S.PROVISIONING)
        assert len(store.nodes.all(names)) == 1200
        assert store.nodes.all([]) == {}
        assert len(store.events.all(subjects=names)) == 1200
        assert [e.subject for e in store.events.all(subjects=["gpu0007"], limit=5)] == ["gpu0007"]
        assert len(store.events.all(limit=7)) == 7
        assert store.events.all(since=at(1)) == []
