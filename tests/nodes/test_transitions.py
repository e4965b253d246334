"""Which state may follow which; what may be done to a node in service."""

from __future__ import annotations

import re

import pytest

import fabricctl.nodes.transitions as module
from fabricctl.errors import InServiceError, TransitionError, UsageError
from fabricctl.nodes.model import NodeState, parse_state
from fabricctl.nodes.transitions import ALLOWED, BY_FORCE, guard, plan_transitions

S = NodeState


def test_the_table_of_the_documentation_is_the_table_of_the_code() -> None:
    rows = re.findall(r"(?m)^(\w[\w ]*?)  +(\S.*)$", str(module.__doc__))
    written = {parse_state(a): b for a, b in rows if a != "from"}
    assert written.keys() == set(S)
    for state, text in written.items():
        plain, _, forced = text.partition("by force also")
        named = {other for other in S if re.search(rf"\b{other.words}\b", plain)}
        by_force = {other for other in S if re.search(rf"\b{other.words}\b", forced)}
        assert named == set(ALLOWED[state]), state
        assert by_force == set(BY_FORCE.get(state, ())), state


def test_every_state_can_be_left_and_service_only_by_a_drain() -> None:
    assert ALLOWED.keys() == set(S)
    assert ALLOWED[S.IN_SERVICE] == (S.DRAINING,)
    into_service = {state for state, after in ALLOWED.items() if S.IN_SERVICE in after}
    assert into_service == {S.READY, S.DRAINING}
    reached, edge = {S.PLANNED}, [S.PLANNED]
    while edge:
        new = set(ALLOWED[edge.pop()]) - reached
        reached |= new
        edge += new
    assert reached == set(S)


def test_nodes_that_are_there_already_need_nothing() -> None:
    made = plan_transitions({"a": (S.READY, 3), "b": (S.PROVISIONING, 1)}, S.READY)
    assert [(t.name, t.before, t.after, t.version, t.forced) for t in made] == [
        ("b", S.PROVISIONING, S.READY, 1, False)
    ]


def test_entering_a_node_as_planned_is_a_transition() -> None:
    assert len(plan_transitions({"new": (S.PLANNED, 0)}, S.PLANNED)) == 1


def test_a_refusal_names_hosts_state_and_what_is_allowed() -> None:
    with pytest.raises(TransitionError) as caught:
        plan_transitions({f"gpu{n:03}": (S.PLANNED, 0) for n in range(1, 5)}, S.IN_SERVICE)
    assert str(caught.value) == (
        "gpu[001-004] are planned and cannot become in service; from there: provisioning, repair, quarantined"
    )


def test_repair_from_service_goes_through_a_drain_unless_forced() -> None:
    nodes = {"gpu001": (S.IN_SERVICE, 4), "gpu002": (S.DRAINING, 2)}
    with pytest.raises(
        InServiceError, match=r"gpu001 is in service.*without a drain.*--force-in-service"
    ) as caught:
        plan_transitions(nodes, S.REPAIR)
    assert caught.value.hosts == ("gpu001",)
    forced = plan_transitions(nodes, S.REPAIR, force=True)
    assert [(t.name, t.forced) for t in forced] == [("gpu001", True), ("gpu002", False)]


def test_force_does_not_allow_what_the_table_does_not_have() -> None:
    with pytest.raises(TransitionError):
        plan_transitions({"gpu001": (S.IN_SERVICE, 4)}, S.PLANNED, force=True)


@pytest.mark.parametrize("state", [S.IN_SERVICE, S.DRAINING])
def test_the_guard_names_the_hosts_and_the_way_out(state: NodeState) -> None:
    states = {"gpu001": state, "gpu002": S.REPAIR, "gpu003": state}
    with pytest.raises(InServiceError) as caught:
        guard(states, "power-cycle them")
    assert caught.value.hosts == ("gpu001", "gpu003")
    said = str(caught.value)
    assert said.startswith(f"gpu[001,003] are {state.words}, and this would power-cycle them")
    assert "--force-in-service" in said
    guard(states, "power-cycle them", force=True)


def test_the_guard_lets_everything_else_pass() -> None:
    free = [state for state in S if state not in (S.IN_SERVICE, S.DRAINING)]
    guard({state.value: state for state in free}, "reboot them")
    guard({}, "reboot them")


@pytest.mark.parametrize("text", ["in service", "in-service", "IN_SERVICE", "  In  Service "])
def test_states_are_read_as_people_write_them(text: str) -> None:
    assert parse_state(text) is S.IN_SERVICE


def test_an_unknown_state_names_all() -> None:
    with pytest.raises(
        UsageError, match="planned, provisioning, ready, in service, draining, repair, quarantined"
    ):
        parse_state("broken")


def test_a_refusal_speaks_of_several_nodes_in_the_plural() -> None:
    states = dict.fromkeys(("gpu001", "gpu002"), NodeState.IN_SERVICE)
    with pytest.raises(InServiceError) as told:
        guard(states, "shut it down")
    assert str(told.value).startswith("gpu[001-002] are in service, and this would shut them down")
