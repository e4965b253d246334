"""What ``fabricctl maas`` refuses, and what it says where MAAS, a host or a disk is not as it should be."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.provision.install.maas_hall import MaasHall, enrolled, harvested, ready

Start = Callable[..., MaasHall]
COMMANDS = ["status", "disks", "enrol", "commission", "deploy", "release", "replace"]


def plain(text: str) -> str:
    """Without the line breaks of the screen."""
    return " ".join(text.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_refused_key_is_named_by_its_reference_and_never_shown(hall_of: Start, command: str) -> None:
    hall = harvested(hall_of(1))
    hall.environ["MAAS_API_KEY"] = "doubleconsumer:doubletoken:othersecret"
    ran = hall.run("maas", command, "all")
    assert (ran.code, "the key is read from env:MAAS_API_KEY" in ran.err) == (3, True), ran.all
    assert "othersecret" not in ran.all
    assert "Traceback" not in ran.all


def test_a_key_that_is_not_set_is_wrong_usage(hall_of: Start) -> None:
    hall = hall_of(1)
    hall.environ["MAAS_API_KEY"] = ""
    ran = hall.run("maas", "status")
    assert (ran.code, ran.err) == (
        2,
        "fabricctl: secret env:MAAS_API_KEY: the environment variable is not set\n",
    )


def test_a_key_of_another_form_is_not_repeated(hall_of: Start) -> None:
    hall = hall_of(1)
    hall.environ["MAAS_API_KEY"] = "hunter2-hunter2"
    ran = hall.run("maas", "status")
    assert ran.code == 3
    assert "three parts joined by colons" in ran.err
    assert "hunter2" not in ran.all


@pytest.mark.parametrize("command", COMMANDS)
def test_a_maas_that_is_not_there_is_could_not_tell_with_its_address(hall_of: Start, command: str) -> None:
    hall = harvested(hall_of(1))
    hall.change(f":{hall.maas.port}/MAAS", ":9/MAAS")
    ran = hall.run("maas", command, "all")
    assert ran.code == 3, ran.all
    assert (
        "fabricctl: no connection to MAAS: connection refused (maas.url is http://127.0.0.1:9/MAAS)"
        in ran.err
    )


@pytest.mark.parametrize("command", [*COMMANDS, "doctor"])
@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ("gpu1", "the site has no node 'gpu1' (did you mean gpu001?)"),
        ("", "which hosts? name them, or say all"),
        ("gpu[001", "gpu[001"),
    ],
)
def test_a_host_that_is_none_is_wrong_usage(hall_of: Start, command: str, hosts: str, words: str) -> None:
    ran = hall_of(1).run("maas", command, hosts)
    assert (ran.code, words in ran.err) == (2, True), ran.all


def test_a_site_without_maas_says_what_to_write(hall_of: Start) -> None:
    hall = hall_of(1)
    hall.write(hall.simulator.site_text(whole=True))
    ran = hall.run("maas", "status")
    assert (ran.code, "names no MAAS (write maas: {url:" in ran.err) == (2, True), ran.all


def test_a_host_that_was_not_harvested_is_not_enrolled(hall_of: Start) -> None:
    ran = hall_of(1).run("maas", "enrol", "all", "--yes")
    assert (ran.code, "not possible" in ran.out) == (1, True), ran.all
    assert "harvest" in ran.out


def test_hosts_that_are_not_enrolled_are_refused_and_the_others_go_on(hall_of: Start) -> None:
    hall = harvested(hall_of(2))
    hall.do("enrol", "gpu001", "--yes")
    ran = hall.run("maas", "commission", "all", "--yes")
    assert ran.code == 1
    assert "gpu002  not possible: MAAS has no machine of this name: enrol it first" in plain(ran.out).replace(
        "gpu002 not", "gpu002  not"
    )
    assert hall.statuses == {"gpu001": "Ready"}


def test_more_nodes_than_the_cap_are_refused(hall_of: Start) -> None:
    hall = harvested(hall_of(2))
    hall.change("max_nodes_per_change: 511", "max_nodes_per_change: 1")
    ran = hall.run("maas", "enrol", "all", "--yes")
    assert ran.code == 2
    assert "this would change 2 nodes; at most 1 may be changed at once" in ran.err
    assert hall.statuses == {}


@pytest.mark.parametrize("command", ["commission", "deploy", "release"])
def test_a_node_in_service_is_left_alone_without_force(hall_of: Start, command: str) -> None:
    hall = enrolled(hall_of(1)) if command == "commission" else ready(hall_of(1))
    if command == "release":
        hall.do("deploy", "all", "--yes")
    before = hall.statuses
    for state in ("ready", "in-service"):
        assert hall.run("node", "set", "gpu001", "--to", state, "--yes", "--reason", "test").code == 0
    ran = hall.run("maas", command, "all", "--yes")
    assert (ran.code, "gpu001 is in service, and this would" in ran.err) == (2, True), ran.all
    assert hall.statuses == before
    assert hall.run("maas", command, "all", "--yes", "--force-in-service").code == 0


def test_another_disk_than_the_recorded_one_stops_an_installation_until_it_is_accepted(
    hall_of: Start,
) -> None:
    hall = ready(hall_of(1))
    hall.maas.double.faults.add("replace-boot-disk", op="commission")
    assert hall.run("maas", "commission", "all", "--again", "--yes").code == 1
    refused = hall.run("maas", "deploy", "all", "--yes")
    assert (refused.code, "disks are not those recorded" in plain(refused.out)) == (1, True), refused.all
    assert "--accept-disk-change installs all the same" in plain(refused.out)
    shown = hall.run("maas", "disks")
    assert (shown.code, "DISKS CHANGED" in shown.out) == (1, True), shown.all
    done = hall.do("deploy", "all", "--yes", "--accept-disk-change")
    (changed,) = re.findall(r"disks are not those recorded: (.*?); --accept", plain(refused.out))[:1]
    assert f"disks that are not those recorded are accepted: {changed}" in plain(done.out)


def test_a_host_that_maas_hosts_does_not_name_is_no_business_of_maas(hall_of: Start) -> None:
    hall = hall_of(2)
    hall.change("'gpu[001-002]': {}", "'gpu001': {}")
    ran = hall.run("maas", "enrol", "gpu002", "--yes")
    assert (ran.code, "gpu002 is not among" in plain(ran.err)) == (2, True), ran.all
    assert not hall.maas.double.machines


def test_a_rule_that_no_disk_fits_is_a_finding_with_the_disks_that_are_there(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    hall.change("*BOSS*", "*PERC*")
    shown = hall.run("maas", "disks")
    assert (shown.code, "expected exactly one disk of model *PERC*, found none" in plain(shown.out)) == (
        1,
        True,
    )
    refused = hall.run("maas", "deploy", "all", "--yes")
    assert (refused.code, "not possible" in refused.out) == (1, True), refused.all
    assert hall.statuses == {"gpu001": "Ready"}


def test_hosts_that_were_not_commissioned_have_no_disks_that_could_be_told(hall_of: Start) -> None:
    hall = enrolled(hall_of(1))
    ran = hall.run("maas", "disks")
    assert (ran.code, "could not tell: 1 host" in ran.out) == (3, True), ran.all
    assert "MAAS knows no disk of it, it is New: commission it" in plain(ran.out)


def test_a_machine_that_fails_ends_in_quarantine_with_its_reason_and_the_others_are_installed(
    hall_of: Start,
) -> None:
    hall = ready(hall_of(2))
    hall.maas.double.faults.add("fail", machine="gpu002", op="deploy", text="curtin: no space left")
    ran = hall.run("maas", "deploy", "all", "--yes")
    assert ran.code == 1, ran.all
    assert "deployed                      1  gpu001" in ran.out
    assert "quarantined                   1  gpu002" in ran.out
    assert "Failed deployment" in ran.out
    assert hall.statuses["gpu001"] == "Deployed"
    status = hall.document("maas-status", "status")
    assert [(one["host"], one["quarantined"]) for one in status["machines"]] == [
        ("gpu001", False),
        ("gpu002", True),
    ]
    assert [one["kind"] for one in status["findings"]] == ["quarantined"]
    again = hall.run("maas", "deploy", "all", "--yes")
    assert (again.code, "--from-quarantine takes it back" in plain(again.out)) == (1, True), again.all


def test_hardware_that_is_missing_is_quarantined_with_what_is_missing(hall_of: Start) -> None:
    hall = enrolled(hall_of(1))
    hall.maas.double.faults.add("missing-gpu", op="commission")
    ran = hall.run("maas", "commission", "all", "--yes")
    assert (ran.code, "expected 8 GPUs, found 7" in plain(ran.out)) == (1, True), ran.all
    assert hall.statuses == {"gpu001": "Broken"}


def test_a_bmc_whose_clock_is_off_stops_a_first_installation_unless_that_is_skipped(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    hall.change("  bmc_access:", "  max_clock_skew_s: 0.001\n  bmc_access:")
    hall.simulator.clock.advance(3600)
    ran = hall.run("maas", "deploy", "all", "--yes")
    assert (ran.code, "--skip-clock-check does it all the same" in plain(ran.out)) == (1, True), ran.all
    assert hall.statuses == {"gpu001": "Ready"}
    assert hall.do("deploy", "all", "--yes", "--skip-clock-check").code == 0


def test_words_that_name_no_release_are_wrong_usage(hall_of: Start) -> None:
    hall = hall_of(1)
    assert (
        "--series focal: expected jammy or noble"
        in hall.run("maas", "deploy", "all", "--series", "focal").err
    )
    assert "--kernel edge: expected ga or hwe" in hall.run("maas", "deploy", "all", "--kernel", "edge").err


def test_users_whose_keys_cannot_be_read_stop_an_installation_before_anything_is_asked(
    hall_of: Start,
) -> None:
    hall = hall_of(1)
    hall.change('ssh_keys: ["', 'ssh_keys: ["file:gone.pub", "')
    ran = hall.run("maas", "deploy", "all", "--yes")
    assert (ran.code, "gone.pub" in ran.err) == (2, True), ran.all
