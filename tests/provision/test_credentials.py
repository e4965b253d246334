"""Passwords of BMCs as an operator meets them: import, list, rotate."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabricctl.cli.main import main
from provision.bmc.credential import Entry, Key, KeyKind
from provision.bmc.secret import Secret
from provision.bmc.target import Target, Trust
from provision.secrets.store import credentials_for
from provision.workflows.rotate_plan import Fate, Rotated, goes_on, plan_rotation
from tests.provision.halls import Hall
from tests.provision.key_desk import NOW, Keys, Killed, fates
from tests.sim.idrac import PASSWORD_VARIABLE, Simulator


@pytest.fixture
def keys(
    simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Keys]:
    def make(count: int = 1, **options: Any) -> Keys:
        return Keys(Hall(tmp_path, simulator(count, **options), capsys)).start()

    return make


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
        "  service tag not known: gpu004; fabricctl bmc scan --record finds them\n"
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
    document = desk.hall.document("bmc-credentials", "credentials", "list")["credentials"]
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
    assert f"gpu002  not possible: secret file:{desk.hall.folder}/hall.secrets: no password is kept" in out
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


def test_all_of_it_works_with_an_ansible_vault(
    simulator: Callable[..., Simulator],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Keys(Hall(tmp_path, simulator(2), capsys))
    site = Path(desk.hall.path)
    site.write_text(site.read_text().replace("file:hall.secrets", "vault:bmc.yml?password=env:HALL_VAULT"))
    monkeypatch.setenv("HALL_VAULT", "open sesame")
    desk.start()
    assert desk.hall.run("credentials", "rotate", "all", "--yes")[0] == 0
    assert desk.entry().password == Secret(desk.sim[0].users["root"])
    assert (tmp_path / "bmc.yml").read_bytes().startswith(b"$ANSIBLE_VAULT")


def test_one_password_of_all_serves_until_each_has_its_own(
    simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Keys(Hall(tmp_path, simulator(2), capsys, password=f"env:{PASSWORD_VARIABLE}"))
    assert desk.hall.run("trust", "--yes")[0] == 0
    code, out, _ = desk.hall.run("credentials", "list")
    assert (code, out.splitlines()[1].split()) == (
        0,
        ["2", "gpu[001-002]", "reference", "root", f"env:{PASSWORD_VARIABLE}"],
    )
    assert desk.hall.run("credentials", "rotate", "gpu001", "--yes")[0] == 0
    out = desk.hall.run("credentials", "list", "--each")[1]
    assert f"tag {desk.sim[0].service_tag}" in out
    assert desk.sim[1].users["root"] == desk.sim.password
    assert credentials_for(desk.hall.site, desk.store, desk.targets[1]).password == Secret(desk.sim.password)


def test_a_password_the_bmc_refuses_is_a_finding_since_it_is_certain_that_nothing_changed(
    keys: Callable[..., Keys],
) -> None:
    desk = keys(2)
    desk.sim[1].users["root"] = "changed-by-somebody"
    code, out, _ = desk.hall.run("credentials", "rotate", "all", "--yes")
    assert (code, "nothing was changed" in out) == (1, True)
    assert desk.entry(0).state.value == "current"


def test_a_run_that_goes_on_changes_only_factory_and_pending_passwords(keys: Callable[..., Keys]) -> None:
    desk = keys(3)
    assert desk.hall.run("credentials", "rotate", "gpu001", "--yes")[0] == 0
    entry = desk.entry(1)
    desk.store.put([replace(entry, pending=Secret("new-one-of-gpu002"), pending_since=NOW)])
    held = desk.sim[0].users["root"]
    code, out, _ = desk.hall.run("credentials", "rotate", "all", "--only", "factory,pending", "--yes")
    assert code == 0
    assert "gpu001  nothing to do: current, not asked for" in out
    assert "new passwords: 2 of 3 BMCs" in out
    assert "factory: 1, pending: 1" in out
    assert desk.sim[0].users["root"] == held
    assert {desk.entry(at).state.value for at in range(3)} == {"current"}
    code, out, _ = desk.hall.run("credentials", "rotate", "all", "--older-than", "1", "--yes")
    assert (code, "new passwords: 0 of 3 BMCs" in out) == (0, True)
    code, _, err = desk.hall.run("credentials", "rotate", "all", "--only", "fresh")
    assert (code, "expected some of factory, current, pending, reference" in err) == (2, True)


def test_the_command_that_goes_on_leaves_out_what_is_done(keys: Callable[..., Keys]) -> None:
    desk = keys(3)
    plan = plan_rotation(desk.hall.site, desk.store, desk.targets)
    done = [Rotated(plan.jobs[0], Fate.CHANGED)]
    said = goes_on(plan, done, " --site s")
    assert said == "fabricctl bmc credentials rotate 'gpu[001-003]' --only factory,pending --site s"
    desk.store.put([replace(desk.entry(at), factory=False) for at in range(3)])
    plan = plan_rotation(desk.hall.site, desk.store, desk.targets)
    assert goes_on(plan, done, "") == "fabricctl bmc credentials rotate 'gpu[002-003]'"
