"""Passwords of BMCs: import, list, and changes that are killed at any point and finished by the next run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fabricctl.cli.main import main
from fabricctl.errors import BmcError, SecretError
from provision.bmc.credential import Entry, Key, KeyKind
from provision.bmc.secret import Secret
from provision.bmc.target import Target, Trust
from provision.secrets.store import SecretStore, credentials_for, open_secrets
from provision.workflows.access import fleet_options
from provision.workflows.rotate import Rotation, asker
from provision.workflows.rotate_plan import Fate, Rotated, plan_rotation
from provision.workflows.targets import site_targets
from tests.provision.halls import Hall
from tests.sim.idrac import PASSWORD_VARIABLE, Fault, Profile, Simulator
from tests.sim.idrac.accounts import Accounts
from tests.sim.idrac.sessions import Sessions

NOW = datetime(2026, 3, 2, 10, 15, tzinfo=UTC)


class Killed(BaseException):
    """As if the process were gone: nothing of the run goes on."""


class Keys:
    """A hall whose factory passwords are imported and whose certificates are recorded.

    :param counted: logins that failed, per BMC.
    """

    def __init__(self, hall: Hall) -> None:
        self.hall, self.sim = hall, hall.sim
        self.list = hall.folder / "factory.csv"
        rows = "".join(f"{bmc.service_tag},root,{bmc.users['root']}\n" for bmc in self.sim)
        self.list.write_text("Service Tag,User,iDRAC Password\n" + rows)
        self.list.chmod(0o600)

    def start(self) -> Keys:
        """Import and trust."""
        assert self.hall.run("credentials", "import", str(self.list))[0] == 0
        assert self.hall.run("trust", "--yes")[0] == 0
        return self

    @property
    def store(self) -> SecretStore:
        """Read anew."""
        return open_secrets(self.hall.site)

    @property
    def targets(self) -> list[Target]:
        """With their certificates."""
        pins = {bmc.host: bmc.fingerprint for bmc in self.sim}
        return site_targets(self.hall.site, pins=pins)

    def entry(self, at: int = 0) -> Entry:
        """What is kept for a BMC."""
        return self.store.entries()[Key(KeyKind.TAG, self.sim[at].service_tag)]

    def rotate(self, *, stop: str = "", wave: int = 32, length: int = 20) -> list[Rotated]:
        """Give all new passwords. :param stop: be killed when this step is done."""
        store = self.store

        def step(name: str) -> None:
            if name == stop:
                raise Killed

        options = replace(fleet_options(self.hall.site), ledger=None, reaper=False, sleep=_no_wait)
        with store.alone():
            plan = plan_rotation(self.hall.site, store, self.targets)
            assert plan.hopeless == ()
            rotation = Rotation(store, asker(options), length=length, now=lambda: NOW, step=step)
            return [one for part in rotation.run(plan.jobs, wave) for one in part]

    def failed(self, at: int = 0) -> int:
        """Logins that this BMC refused."""
        paths = ("/redfish/v1/SessionService/Sessions",)
        return sum(
            one.method == "POST" and one.path in paths and one.status == 401 for one in self.sim[at].requests
        )


async def _no_wait(_seconds: float) -> None:
    return None


@pytest.fixture
def keys(
    simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Keys]:
    def make(count: int = 1, **options: Any) -> Keys:
        return Keys(Hall(tmp_path, simulator(count, **options), capsys)).start()

    return make


def fates(results: Sequence[Rotated]) -> list[Fate]:
    return [one.fate for one in results]


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


# factory passwords that must be changed first (bug row 17)


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


# the commands


def test_import_says_what_it_knows_and_shows_no_password(
    simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sim = simulator(4)
    known = {bmc.host: bmc.service_tag for bmc in list(sim)[:3]}
    desk = Keys(Hall(tmp_path, sim, capsys, tags=known))
    lines = desk.list.read_text().splitlines(keepends=True)
    desk.list.write_text("".join([*lines[:3], lines[4], "ZZZZZZ9,root,factory-of-z\n"]))
    code, out, err = desk.hall.run("credentials", "import", str(desk.list), "--dry-run")
    assert (code, err) == (0, "")
    assert out == (
        f"4 passwords in {desk.list}\n"
        f"  would be kept: 4, in file:{tmp_path}/hall.secrets\n"
        "  of the site: 2  gpu[001-002]\n"
        f"  service tags the site does not have: {sim[3].service_tag}, ZZZZZZ9\n"
        "  without a password: gpu003\n"
        "  service tag not known: gpu004; fabricctl bmc scan --write-tags FILE finds them\n"
    )
    assert not (tmp_path / "hall.secrets").exists()
    desk.hall.run("credentials", "import", str(desk.list))
    assert len(desk.store.entries()) == 4
    assert "kept already: 4" in desk.hall.run("credentials", "import", str(desk.list))[1]


def test_a_list_imported_again_does_not_bring_back_a_factory_password(keys: Callable[..., Keys]) -> None:
    desk = keys(2)
    desk.rotate()
    code, out, _ = desk.hall.run("credentials", "import", str(desk.list))
    assert code == 0
    assert "left alone, changed since" in out
    assert desk.entry().password == Secret(desk.sim[0].users["root"])
    desk.hall.run("credentials", "import", str(desk.list), "--replace")
    assert desk.entry().factory


def test_a_list_with_an_error_brings_nothing(keys: Callable[..., Keys], tmp_path: Path) -> None:
    desk = keys(1)
    bad = tmp_path / "factory-bad.csv"
    bad.write_text("Service Tag,Password\n7XK4QZ3,Zebra-4711\n8ABCDE1,\n")
    code, out, err = desk.hall.run("credentials", "import", str(bad))
    assert (code, out) == (2, "")
    assert f"{bad}:3: service tag 8ABCDE1 has no password" in err
    assert len(desk.store.entries()) == 1


def test_a_list_that_others_may_read_is_pointed_out(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    desk.list.chmod(0o644)
    assert "mode 0644): chmod 600 it" in desk.hall.run("credentials", "import", str(desk.list))[2]


def test_list_tells_who_has_what_and_never_the_password(keys: Callable[..., Keys]) -> None:
    desk = keys(3)
    desk.store.put(
        [Entry(Key(KeyKind.TAG, "ZZZZZZ9"), "root", Secret("spare-machine-9"), NOW, "import x", True)]
    )
    with pytest.raises(Killed):
        desk.rotate(stop="kept", wave=1)
    document = json.loads(desk.hall.run("credentials", "list", "--format", "json")[1])["credentials"]
    assert [(row["host"], row["service_tag"], row["state"]) for row in document] == [
        ("gpu001", desk.sim[0].service_tag, "pending"),
        ("gpu002", desk.sim[1].service_tag, "factory"),
        ("gpu003", desk.sim[2].service_tag, "factory"),
        ("", "ZZZZZZ9", "factory"),
    ]
    for form in ("text", "json", "csv", "markdown"):
        out = desk.hall.run("credentials", "list", "--format", form)[1]
        entry = desk.entry()
        assert entry.pending is not None
        for word in (desk.sim[0].users["root"], entry.pending.reveal(), "spare-machine-9"):
            assert word not in out


def test_rotate_shows_its_plan_asks_and_keeps_an_event(
    keys: Callable[..., Keys], capsys: pytest.CaptureFixture[str]
) -> None:
    desk = keys(2)
    old = desk.sim[0].users["root"]
    code, out, err = desk.hall.run("credentials", "rotate", "all")
    assert (code, "confirm with --yes" in err) == (2, True)
    assert "gpu[001-002]  new password of 20 characters for root, now factory" in out
    assert desk.sim[0].users["root"] == old
    code, out, _ = desk.hall.run("credentials", "rotate", "all", "--yes", "--reason", "acceptance")
    assert (code, "done" in out) == (0, True)
    main(["events", "--site", desk.hall.path, "--format", "json"])
    said = capsys.readouterr()[0]
    events = [event for event in json.loads(said)["events"] if event["kind"] == "bmc.password"]
    assert [(event["subject"], event["before"], event["reason"]) for event in events] == [
        ("gpu001", "factory", "acceptance"),
        ("gpu002", "factory", "acceptance"),
    ]
    assert desk.sim[0].users["root"] not in said


def test_rotate_without_a_recorded_certificate_sends_no_password(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    desk.sim[0].certificate.renew()
    before = len(desk.sim[0].requests)
    code, out, _ = desk.hall.run("credentials", "rotate", "all", "--yes")
    assert code == 3
    assert "expected the pinned certificate" in out
    assert len(desk.sim[0].requests) == before


@pytest.mark.parametrize("length", ["11", "21"])
def test_lengths_that_ipmi_or_safety_forbid_are_refused(keys: Callable[..., Keys], length: str) -> None:
    code, _, err = keys(1).hall.run("credentials", "rotate", "all", "--length", length, "--yes")
    assert (code, "expected 12 to 20" in err) == (2, True)


def test_a_host_without_password_is_exit_code_3_and_the_others_are_changed(keys: Callable[..., Keys]) -> None:
    desk = keys(2)
    path = desk.hall.folder / "hall.secrets"
    document = json.loads(path.read_text())
    del document["service_tags"][desk.sim[1].service_tag]
    path.write_text(json.dumps(document))
    old = desk.sim[1].users["root"]
    code, out, _ = desk.hall.run("credentials", "rotate", "all", "--yes")
    assert code == 3
    assert "no password for gpu002" in out
    assert desk.entry(0).state.value == "current"
    assert desk.sim[1].users["root"] == old


def test_only_one_rotation_at_a_time(keys: Callable[..., Keys]) -> None:
    desk = keys(1)
    with desk.store.alone():
        code, _, err = desk.hall.run("credentials", "rotate", "all", "--yes")
    assert (code, "another fabricctl is changing passwords" in err) == (2, True)


def test_a_target_without_tag_keeps_its_new_password_under_its_host(
    simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sim = simulator(1)
    desk = Keys(Hall(tmp_path, sim, capsys, tags={}, password=f"env:{PASSWORD_VARIABLE}"))
    assert desk.hall.run("trust", "--yes")[0] == 0
    assert fates(desk.rotate()) == [Fate.CHANGED]
    assert desk.store.entries()[Key(KeyKind.HOST, "gpu001")].password == Secret(sim[0].users["root"])
    assert credentials_for(
        desk.hall.site, desk.store, Target("gpu001", "x", trust=Trust())
    ).password == Secret(sim[0].users["root"])
