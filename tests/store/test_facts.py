"""Facts of nodes and identities of many nodes in the store, on both databases."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.store import Store, open_store
from fabricctl.errors import StateConflictError
from fabricctl.nodes.facts import FactChange, FactTelling, NodeFact, Value, merge_node_facts
from fabricctl.nodes.fleet import IdentityTelling, holders, plan_identities
from fabricctl.nodes.model import DERIVED, Fact, IdentityKind, NodeState
from tests.store.stores import at, dump

MAC, GUID = IdentityKind.MAC, IdentityKind.GUID


def fact(field: str, value: Value, part: str = "NIC.Slot.5-1", source: str = "redfish /a") -> NodeFact:
    return NodeFact(part, field, value, source)


def tell(store: Store, *facts: NodeFact, hours: float = 0, node: str = "gpu001", whole: str = "") -> None:
    telling = FactTelling(node, facts, frozenset(whole.split()))
    store.facts.tell([telling], who="anna@ufm1", reason="harvest", now=at(hours))


def test_a_fact_told_again_is_confirmed_and_another_takes_its_place(location: Location) -> None:
    with open_store(location) as store:
        tell(store, fact("nic.link", "down"))
        tell(store, fact("nic.link", "down"), hours=1)
        tell(store, fact("nic.link", "up"), hours=2)
        (now,) = store.facts.current()["gpu001"]
        history = store.facts.history("gpu001")
    assert (now.fact.value, now.since, now.confirmed, now.until) == ("up", at(2), at(2), None)
    assert [(one.fact.value, one.since, one.confirmed, one.until) for one in history] == [
        ("down", at(0), at(1), at(2)),
        ("up", at(2), at(2), None),
    ]


def test_a_node_without_a_record_gets_one_that_is_planned(location: Location) -> None:
    with open_store(location) as store:
        tell(store, fact("nic.link", "up"))
        record = store.nodes.all()["gpu001"]
    assert (record.state, record.version, record.who) == (NodeState.PLANNED, 1, "anna@ufm1")


@pytest.mark.parametrize(
    "value", ["up", "", 8, 2.5, True, False, {"complete": False, "why": "Deadline"}, ["a", "b"]]
)
def test_every_kind_of_value_comes_back_as_it_was(location: Location, value: Value) -> None:
    with open_store(location) as store:
        tell(store, fact("x.y", value))
        (now,) = store.facts.current()["gpu001"]
    assert now.fact.value == value
    assert type(now.fact.value) is type(value)


def test_true_is_another_value_than_one(location: Location) -> None:
    with open_store(location) as store:
        tell(store, fact("nic.pxe", 1))
        tell(store, fact("nic.pxe", True), hours=1)
        assert len(store.facts.history("gpu001")) == 2


def test_of_a_family_that_is_told_whole_what_is_not_told_ends(location: Location) -> None:
    with open_store(location) as store:
        tell(store, fact("nic.link", "up"), fact("nic.speed", "25 Gb/s"), fact("nico.link", "up"))
        tell(store, fact("nic.link", "up"), hours=1)
        assert len(store.facts.current()["gpu001"]) == 3
        tell(store, fact("nic.link", "up"), hours=2, whole="nic")
        assert [(o.fact.field, o.until) for o in store.facts.history("gpu001")] == [
            ("nic.link", None),
            ("nic.speed", at(2)),
            ("nico.link", None),
        ]


def test_only_what_was_told_again_is_confirmed(location: Location) -> None:
    fields = [f"nic.f{number}" for number in range(12)]
    with open_store(location) as store:
        tell(store, *(fact(field, "x") for field in fields))
        tell(store, *(fact(field, "x") for field in fields), node="gpu002")
        again = fields[:3] + fields[5:6] + fields[9:]
        tell(store, *(fact(field, "x") for field in again), hours=1)
        confirmed = {o.fact.field for o in store.facts.current()["gpu001"] if o.confirmed == at(1)}
        assert confirmed == set(again)
        assert {o.confirmed for o in store.facts.current()["gpu002"]} == {at(0)}


def test_many_nodes_are_told_at_once_and_each_keeps_its_own(location: Location) -> None:
    hosts = [f"gpu{number:03d}" for number in range(1, 201)]
    with open_store(location) as store:
        told = [FactTelling(host, [fact("nic.mac", host), fact("nic.link", "up")]) for host in hosts]
        made = store.facts.tell(told, who="anna@ufm1", reason="harvest", now=at(0))
        assert list(made) == hosts
        held = store.facts.current(hosts[:150])
        assert {host: len(facts) for host, facts in held.items()} == dict.fromkeys(hosts[:150], 2)
        assert all(facts[0].fact.value == host for host, facts in held.items())
        assert len(store.facts.current(field="nic.mac")) == 200
        assert store.facts.current(field="other") == {}


def test_changes_are_told_as_before_and_after() -> None:
    merged = merge_node_facts({}, [fact("nic.link", "up")])
    assert merged.changes("gpu001") == [FactChange("gpu001", "NIC.Slot.5-1", "nic.link", None, "up")]


keys = st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["x.x", "y.y"]))
tellings = st.lists(
    st.dictionaries(keys, st.sampled_from(["1", "2", "3"]), max_size=4), min_size=1, max_size=5
)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tellings)
def test_no_value_that_was_ever_told_is_lost_and_one_holds_per_field(
    tmp_path_factory: pytest.TempPathFactory, told: list[dict[tuple[str, str], str]]
) -> None:
    from tests.store.stores import place

    path = tmp_path_factory.mktemp("facts") / "s.sqlite"
    latest: dict[tuple[str, str], str] = {}
    with open_store(place(str(path))) as store:
        for hour, facts in enumerate(told):
            tell(store, *(NodeFact(*key, value, "s") for key, value in facts.items()), hours=hour)
            latest |= facts
        history = store.facts.history("gpu001")
        held = {one.fact.key: one.fact.value for one in store.facts.current().get("gpu001", [])}
    assert held == latest
    ever = {(key, value) for facts in told for key, value in facts.items()}
    assert {(one.fact.key, one.fact.value) for one in history} == ever
    open_now = [one.fact.key for one in history if one.until is None]
    assert len(open_now) == len(set(open_now))


def many(store: Store, *told: IdentityTelling, hours: float = 0) -> None:
    store.nodes.tell_many(told, who="anna@ufm1", reason="harvest", now=at(hours))


def identity(value: str, part: str = "eth0", source: str = "redfish", kind: IdentityKind = MAC) -> Fact:
    return Fact(kind, value, part, source)


def test_identities_of_many_nodes_are_one_transaction_with_an_event_each(location: Location) -> None:
    with open_store(location) as store:
        many(
            store,
            *(IdentityTelling(f"gpu{n:03d}", (identity(f"02:00:00:00:00:{n:02x}"),)) for n in range(40)),
        )
        many(
            store,
            *(IdentityTelling(f"gpu{n:03d}", (identity(f"02:00:00:00:00:{n:02x}"),)) for n in range(40)),
            hours=1,
        )
        records, events = store.nodes.all(), store.events.all()
    assert len(records) == len(events) == 40
    assert {record.version for record in records.values()} == {2}
    assert {i.confirmed for record in records.values() for i in record.current()} == {at(1)}


def test_two_nodes_may_exchange_their_cards_in_one_go(location: Location) -> None:
    a, b = identity("02:00:00:00:00:0a"), identity("02:00:00:00:00:0b")
    with open_store(location) as store:
        many(store, IdentityTelling("gpu001", (a,)), IdentityTelling("gpu002", (b,)))
        plan, clashes = plan_identities(
            {"gpu001": [b], "gpu002": [a]}, holders(store.nodes.all().values()), ["gpu001", "gpu002"]
        )
        many(store, *plan, hours=1)
        now = {name: [i.fact.value for i in r.current()] for name, r in store.nodes.all().items()}
    assert now == {"gpu001": [b.value], "gpu002": [a.value]}
    assert [clash.kind.value for clash in clashes] == ["moved", "moved"]


def test_what_another_node_got_meanwhile_is_not_taken_and_nothing_is_stored(location: Location) -> None:
    fresh = identity("02:00:00:00:00:0a")
    with open_store(location) as store:
        plan, _ = plan_identities({"gpu001": [fresh], "gpu003": [identity("02:00:00:00:00:0c")]}, {}, [])
        many(store, IdentityTelling("gpu002", (fresh,)))
        before = dump(location)
        with pytest.raises(StateConflictError, match=r"gpu002.*meanwhile.*02:00:00:00:00:0a"):
            many(store, *plan, hours=1)
    assert dump(location) == before


def test_a_retired_identity_ends_and_the_events_say_so(location: Location) -> None:
    guid = identity("0xb83fd20300a41bd2", "ib0", "ibstat", GUID)
    new = identity("0xb83fd20300a41bff", "ib0", DERIVED, GUID)
    with open_store(location) as store:
        many(store, IdentityTelling("gpu001", (guid,)))
        many(store, IdentityTelling("gpu001", (new,), (guid,)), hours=1)
        record, events = store.nodes.all()["gpu001"], store.events.all()
    assert [(i.fact.value, i.until) for i in record.identities] == [(guid.value, at(1)), (new.value, None)]
    assert (events[-1].before, events[-1].after) == (
        "ib0 GUID 0xb83fd20300a41bd2 (ibstat)",
        "ib0 GUID 0xb83fd20300a41bff (derived)",
    )


def test_telling_one_and_telling_many_come_to_the_same(location_factory: object) -> None:
    facts = (identity("02:00:00:00:00:0a"), identity("0xb83fd20300a41bd2", "ib0", DERIVED, GUID))
    records = []
    for how in ("one", "many"):
        with open_store(location_factory()) as store:  # type: ignore[operator]
            for hour in (0, 1):
                if how == "one":
                    store.nodes.tell("gpu001", facts, who="anna@ufm1", reason="harvest", now=at(hour))
                else:
                    many(store, IdentityTelling("gpu001", facts), hours=hour)
            records.append((store.nodes.all(), store.events.all()))
    assert records[0] == records[1]


def test_a_node_whose_addresses_nobody_knew_is_told_in_one_event(location: Location) -> None:
    facts = [identity(f"02:00:00:00:00:{n:02x}", f"eth{n}") for n in range(14)]
    facts += [identity(f"0x02000003000000{n:02x}", f"eth{n}", kind=IdentityKind.GUID) for n in range(8)]
    tag = identity("7XK4QZ3", "", kind=IdentityKind.SERVICE_TAG)
    with open_store(location) as store:
        many(store, IdentityTelling("gpu001", (tag, *facts)))
        first = store.events.all()
        many(
            store,
            IdentityTelling(
                "gpu001", tuple(identity(f"06:00:00:00:00:{n:02x}", f"eth{n}") for n in range(5))
            ),
        )
        later = store.events.all()[1:]
    assert [(e.before, e.after) for e in first] == [("", "harvested: service tag 7XK4QZ3, 14 MACs, 8 GUIDs")]
    assert [e.before for e in later] == [f"eth{n} MAC 02:00:00:00:00:{n:02x} (redfish)" for n in range(5)]


def test_what_takes_the_place_of_something_told_is_an_event_of_its_own_at_the_first_harvest_too(
    location: Location,
) -> None:
    told = identity("7XK4QZ3", "", "operator", IdentityKind.SERVICE_TAG)
    found = identity("7XK4QZ4", "", kind=IdentityKind.SERVICE_TAG)
    macs = tuple(identity(f"02:00:00:00:00:{n:02x}", f"eth{n}") for n in range(4))
    with open_store(location) as store:
        many(store, IdentityTelling("gpu001", (told,)))
        many(store, IdentityTelling("gpu001", (found, *macs)))
        events = [(e.before, e.after) for e in store.events.all()]
    assert events[1:] == [
        ("", "harvested: 4 MACs"),
        ("service tag 7XK4QZ3 (operator)", "service tag 7XK4QZ4 (redfish)"),
    ]
