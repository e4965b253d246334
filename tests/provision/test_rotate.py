"""New passwords for BMCs: killed at any point they are finished by the next run, and no login is wasted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabricctl.errors import BmcError, BmcIdentityError, SecretError
from fabricctl.nodes.model import EventKind
from provision.bmc.secret import Secret
from provision.secrets.store import credentials_for
from provision.workflows.rotate_plan import Fate, plan_rotation
from tests.provision.events import Events
from tests.provision.halls import Hall
from tests.provision.key_desk import Keys, Killed, fates
from tests.sim.idrac import Fault, Profile, Simulator
from tests.sim.idrac.accounts import Accounts
from tests.sim.idrac.sessions import Sessions


@pytest.fixture
def keys(
    simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Keys]:
    def make(count: int = 1, **options: Any) -> Keys:
        return Keys(Hall(tmp_path, simulator(count, **options), capsys)).start()

    return make


# a change that goes well


@pytest.mark.parametrize("profile", list(Profile))
def test_a_new_password_holds_and_the_old_one_is_forgotten(
    keys: Callable[..., Keys], profile: Profile
) -> None:
    desk = keys(2, profile=profile)
    old = [bmc.users["root"] for bmc in desk.sim]
    assert fates(desk.rotate()) == [Fate.CHANGED, Fate.CHANGED]
    for at, bmc in enumerate(desk.sim):
        entry = desk.entry(at)
        assert entry.password == Secret(bmc.users["root"])
        assert bmc.users["root"] != old[at]
        assert (entry.state.value, entry.pending, entry.source) == ("current", None, "rotate")
        assert len(bmc.part(Sessions)) == 0
        assert desk.failed(at) == 0
    assert desk.sim[0].users["root"] != desk.sim[1].users["root"]


def test_only_the_account_of_that_name_is_changed_whatever_its_number(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    accounts = desk.sim[0].part(Accounts)
    accounts.slots[7], accounts.slots[2] = accounts.slots[2], accounts.slots[7]
    assert fates(desk.rotate()) == [Fate.CHANGED]
    assert accounts.changes == [(7, "Password")]


def test_waves_follow_one_another(keys: Callable[..., Keys]) -> None:
    desk = keys(5)
    assert fates(desk.rotate(wave=2)) == [Fate.CHANGED] * 5


def test_a_bmc_that_wants_longer_passwords_gets_one(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    desk.sim[0].part(Accounts).least = 16
    desk.rotate(length=12)
    assert len(desk.sim[0].users["root"]) == 16


def test_a_bmc_that_wants_longer_ones_than_ipmi_stores_keeps_its_own(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    desk.sim[0].part(Accounts).least = 24
    (result,) = desk.rotate()
    assert result.fate is Fate.UNCHANGED
    assert "it wants passwords of 24 to 40 characters" in str(result.error)
    assert desk.entry().pending is None


def test_an_own_password_policy_is_met(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    desk.sim[0].part(Accounts).classes = 4
    assert fates(desk.rotate()) == [Fate.CHANGED]


def test_a_bmc_that_takes_user_and_password_with_every_request_is_changed_too(
    keys: Callable[..., Keys],
) -> None:
    desk = keys(1)
    site = Path(desk.hall.path)
    site.write_text(site.read_text().replace("gpu001: {port", "gpu001: {basic: true, port"))
    assert fates(desk.rotate()) == [Fate.CHANGED]
    assert desk.entry().password == Secret(desk.sim[0].users["root"])


def test_that_a_password_was_changed_is_recorded_before_the_old_one_is_forgotten(
    keys: Callable[..., Keys],
) -> None:
    desk = keys(2)
    seen: list[tuple[str, str]] = []

    class Watching(Events):
        def tell(self, number: int, after: str) -> None:
            super().tell(number, after)
            if "kept by" in after:
                seen.append((self.kept[number].host, desk.entry(number).state.value))

    desk.rotate(record=Watching())
    assert seen == [("gpu001", "pending"), ("gpu002", "pending")]


@pytest.mark.parametrize(
    ("stop", "fault", "after"),
    [
        ("sent", None, "new password: accepted, not proved by a login"),
        ("sent", Fault(drop_answer=True), "new password: answer lost, not proved by a login"),
        ("", Fault(drop_answer=True), "new password, kept by service tag"),
        ("", Fault(reset=True), "not changed: the old one holds"),
        ("", Fault(status=400, message_id="SYS999", message="Too weak."), "not changed: PATCH "),
    ],
)
def test_a_change_of_a_password_is_one_event_that_tells_how_far_it_came(
    keys: Callable[..., Keys], stop: str, fault: Fault | None, after: str
) -> None:
    desk, events = keys(1), Events()
    if fault is not None:
        desk.sim[0].fault(replace(fault, method="PATCH", path=ACCOUNT, times=1))
    with pytest.raises(Killed) if stop else nullcontext():
        desk.rotate(stop=stop, record=events)
    (event,) = events.kept
    assert (event.kind, event.before) == (EventKind.BMC_PASSWORD, "factory")
    assert event.after.startswith(after)


# killed at any point

STEPS = ["former tried", "prepared", "kept", "sent", "proved", "promoted"]


@pytest.mark.parametrize("stop", STEPS)
def test_killed_after_any_step_the_next_run_finishes_with_at_most_one_refused_login(
    keys: Callable[..., Keys], stop: str
) -> None:
    desk = keys(2)
    factory = [bmc.users["root"] for bmc in desk.sim]
    with pytest.raises(Killed):
        desk.rotate(stop=stop)
    for at, bmc in enumerate(desk.sim):  # whatever happened: the password that holds is kept
        entry = desk.entry(at)
        assert Secret(bmc.users["root"]) in (entry.password, entry.pending)
    again = desk.rotate()
    assert set(fates(again)) <= {Fate.CHANGED, Fate.FINISHED}
    for at, bmc in enumerate(desk.sim):
        assert desk.entry(at).password == Secret(bmc.users["root"])
        assert desk.entry(at).pending is None
        assert bmc.users["root"] != factory[at]
        assert desk.failed(at) <= 1


def test_killed_again_and_again_it_ends_well(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    for stop in (*STEPS, *reversed(STEPS)):
        desk.sim[0].part(Sessions).failures.clear()  # hours lie between
        with pytest.raises(Killed):
            desk.rotate(stop=stop)
    assert set(fates(desk.rotate())) <= {Fate.CHANGED, Fate.FINISHED}
    assert desk.entry().password == Secret(desk.sim[0].users["root"])


def test_between_two_runs_no_other_command_guesses_a_password(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    with pytest.raises(Killed):
        desk.rotate(stop="sent")
    before = len(desk.sim[0].requests)
    with pytest.raises(SecretError, match="was interrupted"):
        credentials_for(desk.hall.site, desk.store, desk.targets[0])
    assert len(desk.sim[0].requests) == before


# answers that are lost, and BMCs that refuse

ACCOUNT = r"/redfish/v1/AccountService/Accounts/\d+"


def test_a_change_whose_answer_is_lost_is_sent_once_and_proved_by_a_login(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    desk.sim[0].fault(Fault(method="PATCH", path=ACCOUNT, drop_answer=True, times=1))
    assert fates(desk.rotate()) == [Fate.CHANGED]
    assert desk.sim[0].part(Accounts).changes == [(2, "Password")]
    assert desk.failed() == 0


def test_a_change_that_was_cut_off_before_it_was_carried_out_leaves_the_old_password(
    keys: Callable[..., Keys],
) -> None:
    desk = keys(1)
    desk.sim[0].fault(Fault(method="PATCH", path=ACCOUNT, reset=True, times=1))
    (result,) = desk.rotate()
    assert result.fate is Fate.UNCHANGED
    assert (desk.entry().pending, desk.entry().password) == (None, Secret(desk.sim[0].users["root"]))
    assert desk.failed() == 1
    assert fates(desk.rotate()) == [Fate.CHANGED]


SAYS = [
    Fault(status=401, message_id="NoValidSession"),
    Fault(status=401, message_id="RAC0212", message="Login failed. Login delayed for 60 seconds."),
    Fault(status=403),
    Fault(status=400, message_id="PropertyValueFormatError"),
    Fault(status=404),
    Fault(status=405),
    Fault(status=412),
    Fault(status=429, retry_after=1),
    Fault(status=500),
    Fault(status=503, retry_after=1),
    Fault(status=503),
    Fault(message_id="SYS518", retry_after=1),
    Fault(message_id="RAC0218"),
    Fault(message_id="SWC1908"),
    Fault(status=200, body="no JSON"),
    Fault(status=301),
]


@pytest.mark.parametrize("carried", [True, False])
@pytest.mark.parametrize("times", [1, 2])
def test_whatever_a_bmc_answers_to_the_change_the_password_that_holds_is_kept(
    keys: Callable[..., Keys], carried: bool, times: int
) -> None:
    desk = keys(len(SAYS))
    for bmc, said in zip(desk.sim, SAYS, strict=True):
        bmc.fault(replace(said, method="PATCH", path=ACCOUNT, carried=carried, times=times))
    for at, (bmc, result) in enumerate(zip(desk.sim, desk.rotate(), strict=True)):
        entry, holds = desk.entry(at), Secret(bmc.users["root"])
        if result.fate is Fate.UNKNOWN:
            assert holds in (entry.password, entry.pending), SAYS[at]
        else:
            assert (entry.password, entry.pending) == (holds, None), SAYS[at]
            assert (result.error is None) == (result.fate is Fate.CHANGED)
        assert desk.failed(at) <= 2, SAYS[at]
        bmc.part(Sessions).failures.clear()
        bmc.clear_faults()
    assert set(fates(desk.rotate())) <= {Fate.CHANGED, Fate.FINISHED}
    assert [desk.entry(at).password for at in range(len(SAYS))] == [Secret(b.users["root"]) for b in desk.sim]


def test_after_a_change_that_was_carried_out_but_refused_a_bmc_that_locks_logins_loses_nothing(
    keys: Callable[..., Keys],
) -> None:
    desk = keys(1)
    desk.sim[0].fault(Fault(method="PATCH", path=ACCOUNT, status=401, carried=True, times=1))
    locked = Fault(method="POST", path=r".*/Sessions", status=401, message_id="RAC0212", after=2)
    desk.sim[0].fault(replace(locked, message="Login failed. Login delayed for 60 seconds."))
    (result,) = desk.rotate()
    assert result.fate is Fate.UNKNOWN
    assert desk.entry().pending == Secret(desk.sim[0].users["root"])
    desk.sim[0].clear_faults()
    assert fates(desk.rotate()) == [Fate.FINISHED]


def test_crossed_cables_no_password_is_changed_and_none_is_sent(keys: Callable[..., Keys]) -> None:
    desk = keys(2)
    site = Path(desk.hall.path)
    site.write_text(site.read_text().replace("{port", "{verify: 'off', port"))
    before = [bmc.users["root"] for bmc in desk.sim], desk.store.entries()
    desk.sim.cross_cables("gpu001", "gpu002")
    results = desk.rotate()
    assert fates(results) == [Fate.UNCHANGED, Fate.UNCHANGED]
    assert all(isinstance(one.error, BmcIdentityError) for one in results)
    assert ([bmc.users["root"] for bmc in desk.sim], desk.store.entries()) == before
    assert not [one for bmc in desk.sim for one in bmc.requests if one.method in ("POST", "PATCH")]


def test_a_bmc_that_dies_after_the_change_is_finished_by_the_next_run(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    patched = Fault(method="PATCH", path=ACCOUNT, drop_answer=True, times=1)
    desk.sim[0].fault(patched)
    gone = Fault(method="POST", path=r".*/Sessions", reset=True, after=2)
    desk.sim[0].fault(gone)
    (result,) = desk.rotate()
    assert result.fate is Fate.UNKNOWN
    assert isinstance(result.error, BmcError)
    assert desk.entry().pending == Secret(desk.sim[0].users["root"])
    desk.sim[0].clear_faults()
    assert fates(desk.rotate()) == [Fate.FINISHED]
    assert desk.entry().password == Secret(desk.sim[0].users["root"])
    assert desk.failed() == 0


def test_a_refused_change_leaves_everything_as_it_was(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    refusal = "The value ****** for the property Password is of a different format."
    desk.sim[0].fault(
        Fault(
            method="PATCH", path=ACCOUNT, status=400, message_id="PropertyValueFormatError", message=refusal
        )
    )
    before = desk.entry()
    (result,) = desk.rotate()
    assert result.fate is Fate.UNCHANGED
    assert desk.entry() == before
    assert desk.failed() == 0


def test_a_wrong_password_is_tried_once(keys: Callable[..., Keys]) -> None:
    desk = keys(2)
    desk.sim[1].users["root"] = "somebody-elses-2"
    first, second = desk.rotate()
    assert (first.fate, second.fate) == (Fate.CHANGED, Fate.UNCHANGED)
    assert desk.failed(1) == 1
    assert desk.entry(1).pending is None


def test_when_neither_password_holds_each_was_tried_once_and_both_are_kept(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    with pytest.raises(Killed):
        desk.rotate(stop="kept")
    desk.sim[0].users["root"] = "somebody-elses-3"
    before = desk.entry()
    (result,) = desk.rotate()
    assert result.fate is Fate.UNKNOWN
    assert "neither the former password nor the new one is accepted" in str(result.error)
    assert "racadm set iDRAC.Users" in str(result.error)
    assert desk.failed() == 2
    assert desk.entry() == before


def test_a_locked_account_is_left_alone_with_both_passwords(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    with pytest.raises(Killed):
        desk.rotate(stop="sent")
    desk.sim[0].fault(
        Fault(
            method="POST",
            path=r".*/Sessions",
            status=401,
            message_id="RAC0212",
            message="Login failed. Login delayed for 60 seconds.",
        )
    )
    (result,) = desk.rotate()
    assert result.fate is Fate.UNKNOWN
    assert desk.entry().pending == Secret(desk.sim[0].users["root"])
    assert sum(one.path.endswith("/Sessions") and one.status == 401 for one in desk.sim[0].requests) == 1


# factory passwords that must be changed first (https://github.com/dell/iDRAC-Redfish-Scripting/issues/346)


def test_a_factory_password_that_must_be_changed_is_changed(keys: Callable[..., Keys]) -> None:
    """DSP0266, "Password change required handling": the BMC lets nothing but this change through."""
    desk = keys(1)
    sessions = desk.sim[0].part(Sessions)
    sessions.change_required = True
    (result,) = desk.rotate()
    assert (result.error, result.fate) == (None, Fate.CHANGED)
    assert not sessions.change_required
    assert desk.failed() == 0


def test_where_even_that_is_refused_it_says_what_to_do_and_tries_nothing_twice(
    keys: Callable[..., Keys],
) -> None:
    """https://github.com/dell/iDRAC-Redfish-Scripting/issues/346: SWC1908 for the PATCH itself."""
    desk = keys(1)
    desk.sim[0].part(Sessions).change_required = True
    desk.sim[0].part(Sessions).change_refused = True
    (result,) = desk.rotate()
    assert result.fate is Fate.UNCHANGED
    assert "racadm set iDRAC.Users.2.Password" in str(result.error)
    assert desk.entry().pending is None
    patches = [one for one in desk.sim[0].requests if one.method == "PATCH"]
    assert (len(patches), desk.failed()) == (1, 0)


def test_two_hosts_with_one_service_tag_are_not_given_two_passwords(keys: Callable[..., Keys]) -> None:
    desk = keys(2)
    tag = desk.sim[0].service_tag
    twins = [replace(target, service_tag=tag) for target in desk.targets]
    plan = plan_rotation(desk.hall.site, desk.store, twins)
    assert [job.host for job in plan.jobs] == ["gpu001"]
    assert [
        (target.host, f"gpu001 and gpu002 share service tag {tag}" in str(why))
        for target, why in plan.hopeless
    ] == [("gpu002", True)]
