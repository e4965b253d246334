"""What 511 hosts look like: who says the same shares a line, and no line is wider than the screen."""

from __future__ import annotations

from collections.abc import Sequence

from fabricctl.cli.phases import Phases
from fabricctl.mac import Mac
from fabricctl.report.lines import BAD, Line
from provision.install.disk_rule import DiskRule
from provision.install.disks import choose_boot_disk
from provision.install.machine import QUARANTINE_TAG, Disk, Machine, Nic, Phase, Stage
from provision.install.outcome import End, NodeResult, Told
from provision.report.change_report import Planned, plan_lines
from provision.report.install_changes import install_report, result_lines
from provision.report.install_disks import HostDisks, disks_report
from provision.report.install_status import Seen, status_report

HOSTS = [f"gpu{number:03}" for number in range(1, 512)]
GB = 10**9


def machine(host: str, stage: Stage = Stage.READY, status: str = "Ready", **more: object) -> Machine:
    number = int(host[3:])
    disks = [Disk("0", "nvme0n1", f"BOSS{number:03}", "Dell BOSS-N1", 960 * GB)]
    disks += [Disk(str(at), f"nvme{at}n1", f"S{number:03}{at}", "Dell NVMe", 3840 * GB) for at in range(1, 9)]
    nics = (Nic("1", "eno1", Mac(f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}")),)
    return Machine(host, host, stage, status, disks=tuple(disks), nics=nics, boot_disk="0", **more)  # type: ignore[arg-type]


def text(lines: Sequence[Line]) -> list[str]:
    return ["".join(part for part, _ in line) for line in lines]


def wide(lines: Sequence[str], width: int = 80) -> list[str]:
    return [line for line in lines if len(line) > width]


def test_a_hall_of_511_ready_machines_is_one_line() -> None:
    lines = text(status_report([Seen(host, machine(host)) for host in HOSTS], "MAAS").text(80))
    assert [line for line in lines if "gpu" in line] == [
        "511    gpu[001-511]  Ready   unknown  Dell BOSS-N1  9"
    ]
    assert wide(lines) == []


def test_a_machine_that_failed_stands_apart_with_its_reason() -> None:
    failed = machine("gpu003", Stage.BROKEN, "Broken", tags=(QUARANTINE_TAG,), failed=Phase.DEPLOY)
    seen = [Seen(host, machine(host)) for host in HOSTS if host != "gpu003"]
    report = status_report([*seen, Seen("gpu003", failed, why="curtin: no space left on device")], "MAAS")
    lines = text(report.text(80))
    assert "QUARANTINED          gpu003: Broken: curtin: no space left on device" in lines
    assert [line.split()[:2] for line in lines if "gpu" in line][:2] == [
        ["510", "gpu[001-002,004-511]"],
        ["1", "gpu003"],
    ]


def test_a_host_without_a_machine_is_not_enrolled_and_no_finding() -> None:
    report = status_report([Seen(host) for host in HOSTS], "MAAS")
    assert report.findings == []
    assert "not enrolled" in text(report.text(80))[1]


def test_disks_of_511_hosts_are_three_lines_and_what_is_wiped_is_red() -> None:
    rule = DiskRule(model="*BOSS*")
    hosts = [
        HostDisks(host, machine(host), choose_boot_disk(machine(host).disks, rule), recorded=True)
        for host in HOSTS
    ]
    lines = disks_report(hosts).text(80)
    assert text(lines)[:3] == [
        "gpu[001-511]",
        "  root   Dell BOSS-N1 (960 GB): the only disk of model *BOSS*",
        "  wiped  8 of Dell NVMe (3.84 TB)",
    ]
    assert lines[2][1] == ("8 of Dell NVMe (3.84 TB)", BAD)
    assert text(lines)[-1] == "511 hosts: each has one disk for the system, and no disk that is new"


def test_a_table_of_disks_has_a_row_each_with_what_becomes_of_it() -> None:
    choice = choose_boot_disk(machine("gpu001").disks, DiskRule(model="*BOSS*"))
    rows = disks_report([HostDisks("gpu001", machine("gpu001"), choice)]).csv().splitlines()
    assert rows[1] == (
        "gpu001,nvme0n1,BOSS001,Dell BOSS-N1,960000000000,,boot,root,the only disk of model *BOSS*"
    )
    assert [row.split(",")[7] for row in rows[2:]] == ["wiped"] * 8


def test_a_plan_wraps_and_tells_what_is_lost_in_red_on_lines_of_its_own() -> None:
    long = "wipes 8 of Dell Ent NVMe CM6 RI 3.84TB (3.84 TB); it is ON: its power is cut"
    lines = plan_lines(
        [Planned(host, "Ready: install jammy (ga)", danger=long) for host in HOSTS], "deploy", "host", 80
    )
    assert text(lines) == [
        "gpu[001-511]  Ready: install jammy (ga)",
        "              wipes 8 of Dell Ent NVMe CM6 RI 3.84TB (3.84 TB); it is ON: its",
        "              power is cut",
        "deploy: 511 of 511 hosts",
    ]
    assert [style for _, style in (line[-1] for line in lines[1:3])] == [BAD, BAD]


def test_results_are_counted_by_where_hosts_ended_and_every_bad_one_says_why() -> None:
    good = [NodeResult(host, Told.OK, End.DEPLOYED, "Ready", "Deployed") for host in HOSTS[2:]]
    bad = NodeResult(
        "gpu001",
        Told.FINDING,
        End.QUARANTINED,
        "Deploying",
        "Broken",
        "deploy took longer than 60 min and is still Deploying",
    )
    lost = NodeResult("gpu002", Told.UNKNOWN, End.UNKNOWN, "Ready", "Ready", "no answer within 90 s")
    lines = text(result_lines([bad, lost, *good], 80))
    assert [line.split() for line in lines[:3]] == [
        ["deployed", "509", "gpu[003-511]"],
        ["quarantined", "1", "gpu001"],
        ["unknown", "1", "gpu002"],
    ]
    assert lines[3:] == [
        "  gpu001  Deploying -> Broken: deploy took longer than 60 min and is still",
        "          Deploying",
        "  gpu002  Ready: no answer within 90 s",
    ]
    report = install_report([bad, lost, *good])
    assert [one.kind for one in report.findings] == ["quarantined"]
    assert list(report.doubts) == [("gpu002", "Ready: no answer within 90 s")]


def test_progress_names_what_most_hosts_do_first_with_the_hosts_folded() -> None:
    from fabricctl.cli.maas.progress import rows

    now = 0.0
    phases = Phases("deploy", 511, clock=lambda: now, noun="hosts")
    for host in HOSTS[:30]:
        phases.tell(host, "Installing OS")
    for host in HOSTS[30:40]:
        phases.tell(host, "Performing PXE boot")
    now = 240.0
    phases.end("gpu001", 1)
    assert rows(phases) == [
        "deploy: 1 of 511 hosts",
        "    29  gpu[002-030]  Installing OS, longest 4 min",
        "    10  gpu[031-040]  Performing PXE boot, longest 4 min",
    ]
