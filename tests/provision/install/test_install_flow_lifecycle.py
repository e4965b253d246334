"""What is done next with a machine, by its state."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.install.lifecycle import Act, Step, Verb, Wish, decide
from provision.install.machine import QUARANTINE_TAG, Machine, Phase, Stage

COMMISSION, DEPLOY, RELEASE = Wish(Verb.COMMISSION), Wish(Verb.DEPLOY), Wish(Verb.RELEASE)


def machine(stage: Stage, failed: Phase | None = None, **more: object) -> Machine:
    return replace(Machine("abc", "gpu001", stage, stage.value.capitalize(), failed=failed), **more)  # type: ignore[arg-type]


TAGGED = (QUARANTINE_TAG,)


@pytest.mark.parametrize(
    ("wish", "stage", "act", "phase"),
    [
        (COMMISSION, Stage.NEW, Act.START, Phase.COMMISSION),
        (COMMISSION, Stage.MANAGING, Act.WAIT, Phase.COMMISSION),
        (COMMISSION, Stage.RELEASING, Act.WAIT, Phase.RELEASE),
        (COMMISSION, Stage.READY, Act.DONE, None),
        (COMMISSION, Stage.DEPLOYING, Act.REFUSE, None),
        (COMMISSION, Stage.DEPLOYED, Act.REFUSE, None),
        (COMMISSION, Stage.ALLOCATED, Act.REFUSE, None),
        (COMMISSION, Stage.OTHER, Act.REFUSE, None),
        (DEPLOY, Stage.NEW, Act.REFUSE, None),
        (DEPLOY, Stage.MANAGING, Act.WAIT, Phase.COMMISSION),
        (DEPLOY, Stage.READY, Act.START, Phase.DEPLOY),
        (DEPLOY, Stage.DEPLOYING, Act.WAIT, Phase.DEPLOY),
        (DEPLOY, Stage.DEPLOYED, Act.DONE, None),
        (DEPLOY, Stage.RELEASING, Act.WAIT, Phase.RELEASE),
        (DEPLOY, Stage.ALLOCATED, Act.REFUSE, None),
        (DEPLOY, Stage.OTHER, Act.REFUSE, None),
        (RELEASE, Stage.NEW, Act.DONE, None),
        (RELEASE, Stage.READY, Act.DONE, None),
        (RELEASE, Stage.DEPLOYED, Act.START, Phase.RELEASE),
        (RELEASE, Stage.ALLOCATED, Act.START, Phase.RELEASE),
        (RELEASE, Stage.RELEASING, Act.WAIT, Phase.RELEASE),
        (RELEASE, Stage.DEPLOYING, Act.REFUSE, None),
        (RELEASE, Stage.MANAGING, Act.REFUSE, None),
        (RELEASE, Stage.OTHER, Act.REFUSE, None),
    ],
)
def test_each_state_asks_for_one_thing(wish: Wish, stage: Stage, act: Act, phase: Phase | None) -> None:
    step = decide(wish, machine(stage))
    assert (step.act, step.phase) == (act, phase)


@pytest.mark.parametrize("wish", [COMMISSION, DEPLOY])
@pytest.mark.parametrize("failed", list(Phase))
def test_a_failed_phase_ends_in_quarantine(wish: Wish, failed: Phase) -> None:
    assert decide(wish, machine(Stage.FAILED, failed)).act is Act.QUARANTINE


def test_the_reason_of_a_failure_goes_into_the_quarantine() -> None:
    step = decide(
        DEPLOY, machine(Stage.FAILED, Phase.DEPLOY, status="Failed deployment", said="curtin failed")
    )
    assert step.words == "Failed deployment: curtin failed"


@pytest.mark.parametrize("verb", list(Verb))
@pytest.mark.parametrize("tags", [(), TAGGED])
def test_nothing_leads_out_of_quarantine_without_being_asked(verb: Verb, tags: tuple[str, ...]) -> None:
    step = decide(Wish(verb), machine(Stage.BROKEN, tags=tags, said="bad psu"))
    assert step == Step(Act.REFUSE, words="in quarantine: bad psu; --from-quarantine takes it back")


@pytest.mark.parametrize("verb", list(Verb))
def test_from_quarantine_ends_it_first(verb: Verb) -> None:
    assert decide(Wish(verb, from_quarantine=True), machine(Stage.BROKEN, tags=TAGGED)).act is Act.RESTORE


@pytest.mark.parametrize("stage", [Stage.READY, Stage.ALLOCATED, Stage.FAILED])
def test_a_quarantine_that_was_cut_off_is_finished(stage: Stage) -> None:
    assert decide(DEPLOY, machine(stage, Phase.DEPLOY, tags=TAGGED)).act is Act.QUARANTINE


def test_a_new_machine_with_the_tag_is_refused_because_maas_lets_nobody_mark_it() -> None:
    assert decide(COMMISSION, machine(Stage.NEW, tags=TAGGED)).act is Act.REFUSE


def test_a_failure_is_tried_again_only_when_asked_and_only_once() -> None:
    again = Wish(Verb.COMMISSION, from_quarantine=True)
    failed = machine(Stage.FAILED, Phase.COMMISSION, tags=TAGGED)
    assert decide(again, failed).act is Act.START
    assert decide(again, failed, frozenset({Phase.COMMISSION})).act is Act.QUARANTINE


def test_a_failed_installation_is_released_before_it_is_tried_again() -> None:
    step = decide(Wish(Verb.DEPLOY, from_quarantine=True), machine(Stage.FAILED, Phase.DEPLOY, tags=TAGGED))
    assert (step.act, step.phase) == (Act.START, Phase.RELEASE)


@pytest.mark.parametrize("verb", [Verb.COMMISSION, Verb.DEPLOY])
def test_a_failure_that_is_to_be_tried_again_gets_the_tag_first(verb: Verb) -> None:
    failed = machine(Stage.FAILED, Phase.COMMISSION if verb is Verb.COMMISSION else Phase.DEPLOY)
    assert decide(Wish(verb, from_quarantine=True), failed).act is Act.RESTORE


def test_an_installed_machine_is_installed_again_only_when_asked() -> None:
    step = decide(Wish(Verb.DEPLOY, again=True), machine(Stage.DEPLOYED))
    assert (step.act, step.phase) == (Act.START, Phase.RELEASE)


def test_a_machine_this_run_installed_is_not_installed_again() -> None:
    again = Wish(Verb.DEPLOY, again=True)
    assert decide(again, machine(Stage.DEPLOYED), frozenset({Phase.RELEASE, Phase.DEPLOY})).act is Act.DONE


def test_an_installation_that_is_under_way_is_waited_for_and_not_begun_again() -> None:
    assert decide(Wish(Verb.DEPLOY, again=True), machine(Stage.DEPLOYING)).act is Act.WAIT


@pytest.mark.parametrize(
    ("wish", "stage", "phase"),
    [
        (COMMISSION, Stage.NEW, Phase.COMMISSION),
        (DEPLOY, Stage.READY, Phase.DEPLOY),
        (RELEASE, Stage.DEPLOYED, Phase.RELEASE),
    ],
)
def test_a_machine_that_went_back_is_not_started_again_and_again(
    wish: Wish, stage: Stage, phase: Phase
) -> None:
    assert decide(wish, machine(stage), frozenset({phase})).act is Act.FAIL


def test_an_allocation_to_us_that_our_installation_left_goes_into_quarantine_any_other_is_refused() -> None:
    left = machine(Stage.ALLOCATED, owner="ops")
    assert decide(DEPLOY, left, ours=True, user="ops").act is Act.QUARANTINE
    for ours, user in ((False, "ops"), (True, ""), (False, ""), (True, "me"), (False, "me")):
        step = decide(DEPLOY, left, ours=ours, user=user)
        assert step == Step(Act.REFUSE, words="it is Allocated to ops: release it first")


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        (Stage.ALLOCATED, "it is Allocated to eve: release it first"),
        (Stage.DEPLOYING, "it is Deploying for eve: wait for its end"),
        (Stage.RELEASING, "it is Releasing for eve: wait for its end"),
        (Stage.FAILED, "it is Failed for eve: release it first"),
    ],
)
@pytest.mark.parametrize("wish", [COMMISSION, DEPLOY, Wish(Verb.DEPLOY, True, True)])
def test_what_another_user_holds_is_left_alone(wish: Wish, stage: Stage, words: str) -> None:
    seen = machine(stage, owner="eve", failed=Phase.DEPLOY if stage is Stage.FAILED else None)
    for begun in (frozenset[Phase](), frozenset({Phase.DEPLOY})):
        assert decide(wish, seen, begun, ours=True, user="ops") == Step(Act.REFUSE, words=words)


def test_what_another_user_holds_is_released_when_that_is_asked_for() -> None:
    assert decide(RELEASE, machine(Stage.ALLOCATED, owner="eve"), user="ops").act is Act.START


@pytest.mark.parametrize(
    ("wish", "stage", "begun", "act"),
    [
        (COMMISSION, Stage.READY, frozenset(), Act.START),
        (COMMISSION, Stage.READY, frozenset({Phase.COMMISSION}), Act.DONE),
        (COMMISSION, Stage.MANAGING, frozenset(), Act.WAIT),
        (DEPLOY, Stage.READY, frozenset(), Act.START),
        (DEPLOY, Stage.DEPLOYED, frozenset(), Act.DONE),
        (DEPLOY, Stage.DEPLOYED, frozenset({Phase.DEPLOY}), Act.DONE),
        (RELEASE, Stage.READY, frozenset(), Act.DONE),
    ],
)
def test_what_comes_out_of_quarantine_keeps_its_tag_on_its_way(
    wish: Wish, stage: Stage, begun: frozenset[Phase], act: Act
) -> None:
    assert decide(replace(wish, from_quarantine=True), machine(stage, tags=TAGGED), begun).act is act


@pytest.mark.parametrize("wish", [RELEASE, Wish(Verb.DEPLOY, again=True)])
def test_a_locked_machine_is_refused(wish: Wish) -> None:
    step = decide(wish, machine(Stage.DEPLOYED, locked=True))
    assert step.act is Act.REFUSE
    assert "locked" in step.words


def test_a_locked_machine_that_is_as_wanted_needs_nothing() -> None:
    assert decide(DEPLOY, machine(Stage.DEPLOYED, locked=True)).act is Act.DONE


MACHINES = st.builds(
    Machine,
    id=st.just("abc"),
    hostname=st.just("gpu001"),
    stage=st.sampled_from(Stage),
    status=st.just("x"),
    failed=st.sampled_from([None, *Phase]),
    tags=st.sampled_from([(), TAGGED]),
    locked=st.booleans(),
    owner=st.sampled_from(["", "ops", "eve"]),
)


@given(
    st.builds(Wish, st.sampled_from(Verb), st.booleans(), st.booleans()),
    MACHINES,
    st.frozensets(st.sampled_from(Phase)),
    st.booleans(),
    st.sampled_from(["", "ops"]),
)
def test_there_is_a_decision_for_everything_and_a_phase_is_begun_once(
    wish: Wish, seen: Machine, begun: frozenset[Phase], ours: bool, user: str
) -> None:
    step = decide(wish, seen, begun, ours=ours, user=user)
    assert (step.phase is not None) is (step.act in (Act.START, Act.WAIT))
    if step.act is Act.START:
        assert step.phase not in begun or step.phase is Phase.RELEASE
        assert not seen.locked
    if not wish.from_quarantine:
        assert step.act is not Act.RESTORE
        assert not (step.act is Act.START and QUARANTINE_TAG in seen.tags)
