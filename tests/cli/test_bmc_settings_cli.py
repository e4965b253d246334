"""BIOS settings, firmware, logs, clocks and state of simulated BMCs as an operator meets them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fabricctl.cli.main import main
from provision.report.schemas import schema_of
from tests.sim.idrac import PASSWORD_VARIABLE, Fault, Profile, SimBmc, Simulator
from tests.sim.idrac.bios import Bios
from tests.sim.idrac.firmware import Firmware
from tests.sim.idrac.jobs import JobQueue
from tests.sim.idrac.logs import Logs
from tests.sim.idrac.readings import Readings

SITE = """\
name: hall
node_models:
  xe9680:
    hcas: [mlx5_0]
{profile}
nodes:
  gpu[001-{count:03d}]: {{model: xe9680}}
state: {{url: hall.sqlite}}
gates: {{max_nodes_per_change: 8}}
management:
  bmc_addresses: {{gpu001: {first}, "gpu[001-{count:03d}]": {first}}}
  bmc_access:
    gpu[001-{count:03d}]: {{user: root, password: "env:{variable}", port: {port}, verify: "off"}}
{more}"""
PROFILE = "    bios: {SysProfile: PerfOptimized, LogicalProc: Enabled}"


class Hall:
    """A site of simulated BMCs, and commands about it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], sim: Simulator) -> None:
        self.folder, self._capsys, self.sim = folder, capsys, sim
        self.site = folder / "site.yaml"
        self.write()

    def write(self, profile: str = PROFILE, more: str = "") -> None:
        text = SITE.format(
            profile=profile,
            count=len(self.sim),
            first=self.sim.addresses[0],
            variable=PASSWORD_VARIABLE,
            port=self.sim.port,
            more=more,
        )
        self.site.write_text(text, "utf-8")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        code = main(["bmc", *arguments, "--site", str(self.site)])
        out, err = self._capsys.readouterr()
        return code, out, err

    def json(self, *arguments: str) -> tuple[int, Any]:
        code, out, err = self.run(*arguments, "--format", "json")
        assert out, err
        return code, json.loads(out)

    def rows(self, *arguments: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.run(*arguments, "--format", "csv")[1])))

    def events(self) -> list[tuple[str, str, str, str]]:
        main(["events", "--site", str(self.site), "--format", "json"])
        found = json.loads(self._capsys.readouterr()[0])["events"]
        return [(one["kind"], one["subject"], one["before"], one["after"]) for one in found]


@pytest.fixture
def hall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Hall]]:
    running: list[Simulator] = []

    def start(count: int = 3, profile: Profile = Profile.IDRAC9_7) -> Hall:
        sim = Simulator(count, profile, first="127.36.0.1").start()
        running.append(sim)
        monkeypatch.setenv(PASSWORD_VARIABLE, sim.password)
        return Hall(tmp_path, capsys, sim)

    yield start
    for sim in running:
        assert [len(bmc.sessions) for bmc in sim] == [0] * len(sim), "a session was left behind"
        sim.stop()


def writes(bmc: SimBmc) -> list[str]:
    """Changing requests a BMC got, but for logins and the question whether it is ready."""
    beside = ("/Sessions", "GetRemoteServicesAPIStatus")
    return [
        f"{one.method} {one.path}"
        for one in bmc.requests
        if one.method not in ("GET", "HEAD") and not any(word in one.path for word in beside)
    ]


# ---- BIOS ----------------------------------------------------------------------------------------------------------


def test_nodes_with_the_same_value_share_a_line(hall: Callable[..., Hall]) -> None:
    desk = hall()
    desk.sim[1].part(Bios).current["LogicalProc"] = "Disabled"
    code, out, _ = desk.run("bios", "get", "all", "LogicalProc")
    assert code == 0
    assert [line.split() for line in out.splitlines()[1:3]] == [
        ["LogicalProc", "Enabled", "2", "gpu[001,003]"],
        ["LogicalProc", "Disabled", "1", "gpu002"],
    ]


def test_an_unknown_attribute_is_said_with_the_nearest_and_could_not_tell(hall: Callable[..., Hall]) -> None:
    code, out, _ = hall(1).run("bios", "get", "all", "SysProfil")
    assert code == 3
    assert "did you mean SysProfile?" in out


def test_the_throttling_profile_is_a_finding(hall: Callable[..., Hall]) -> None:
    desk = hall()
    for bmc in desk.sim:
        bmc.part(Bios).current["SysProfile"] = "PerfOptimized"
    desk.sim[2].part(Bios).current["SysProfile"] = "PerfPerWattOptimizedDapc"
    code, found = desk.json("bios", "diff", "all")
    assert code == 1
    assert [(one["host"], one["part"], one["found"]) for one in found["findings"]] == [
        ("gpu003", "SysProfile", "PerfPerWattOptimizedDapc")
    ]


def test_without_a_profile_in_the_site_file_diff_is_wrong_usage(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    desk.write(profile="")
    code, _, err = desk.run("bios", "diff", "all")
    assert code == 2
    assert "no BIOS profile" in err


@pytest.mark.parametrize("profile", list(Profile))
def test_set_writes_what_differs_once_and_a_second_run_nothing(
    hall: Callable[..., Hall], profile: Profile
) -> None:
    desk = hall(2, profile)
    for bmc in desk.sim:
        bmc.part(Bios).current.update(SysProfile="PerfPerWattOptimizedDapc", LogicalProc="Disabled")
    code, out, err = desk.run("bios", "set", "all", "--yes", "--reason", "no throttling")
    assert (code, err) == (0, "")
    assert "SysProfile  PerfPerWattOptimizedDapc -> PerfOptimized" in out
    assert "takes effect at the next restart" in out
    assert [len(writes(bmc)) for bmc in desk.sim] == [1, 1]
    assert [len(bmc.part(JobQueue)) for bmc in desk.sim] == [1, 1]
    assert desk.sim[0].part(Bios).pending["SysProfile"] == "PerfOptimized"
    code, out, _ = desk.run("bios", "set", "all", "--yes")
    assert code == 0
    assert "waits already" in out
    assert [len(writes(bmc)) for bmc in desk.sim] == [1, 1]


def test_every_changed_attribute_is_an_event_with_before_and_after(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    desk.sim[0].part(Bios).current["LogicalProc"] = "Disabled"
    desk.run("bios", "set", "gpu001", "LogicalProc=Enabled", "--yes")
    assert desk.events() == [
        ("node.bios", "gpu001", "LogicalProc=Disabled", "LogicalProc=Enabled, at the next reset")
    ]


def test_what_is_as_wanted_is_not_written(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    value = desk.sim[0].part(Bios).current["LogicalProc"]
    code, out, _ = desk.run("bios", "set", "gpu001", f"LogicalProc={value}", "--yes")
    assert code == 0
    assert "as wanted already" in out
    assert writes(desk.sim[0]) == []


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("SysProfile=Fast", "takes one of PerfPerWattOptimizedDapc"),
        ("SysProfil=Custom", "did you mean SysProfile?"),
        ("SysMemSize=1", "not an attribute"),
        ("SysProfile", "expected ATTRIBUTE=VALUE"),
    ],
)
def test_a_value_the_bios_does_not_take_is_wrong_usage_and_nothing_is_sent(
    hall: Callable[..., Hall], setting: str, says: str
) -> None:
    desk = hall(1)
    code, out, err = desk.run("bios", "set", "gpu001", setting, "--yes")
    assert code == 2
    assert says in out + err
    assert writes(desk.sim[0]) == []


def test_without_consent_nothing_is_changed(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    desk.sim[0].part(Bios).current["LogicalProc"] = "Disabled"
    code, out, err = desk.run("bios", "set", "gpu001", "LogicalProc=Enabled")
    assert code == 2
    assert "Disabled -> Enabled" in out
    assert "confirm with --yes" in err
    assert writes(desk.sim[0]) == []


def test_more_nodes_than_the_site_allows_at_once_are_refused(hall: Callable[..., Hall]) -> None:
    desk = hall(9)
    for bmc in desk.sim:
        bmc.part(Bios).current["LogicalProc"] = "Disabled"
    code, _, err = desk.run("bios", "set", "all", "LogicalProc=Enabled", "--yes")
    assert code == 2
    assert "this would change 9 nodes; at most 8 may be changed at once" in err
    assert [writes(bmc) for bmc in desk.sim] == [[]] * 9


def test_a_node_in_service_is_refused_without_force(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    desk.sim[0].part(Bios).current["LogicalProc"] = "Disabled"
    for state in ("provisioning", "ready", "in service"):
        main(["node", "set", "gpu001", "--to", state, "--reason", "x", "--yes", "--site", str(desk.site)])
    code, _, err = desk.run("bios", "set", "gpu001", "LogicalProc=Enabled", "--yes")
    assert code == 2
    assert "in service" in err
    assert writes(desk.sim[0]) == []


def test_pending_values_of_somebody_else_are_left_alone_and_said(hall: Callable[..., Hall]) -> None:
    desk = hall(2)
    for bmc in desk.sim:
        bmc.part(Bios).current["LogicalProc"] = "Disabled"
    desk.sim[0].part(Bios).pending["NumLock"] = "Off"
    code, out, _ = desk.run("bios", "set", "all", "LogicalProc=Enabled", "--yes")
    assert code == 3
    assert "NumLock=Off; nothing is written over them" in out
    assert [len(writes(bmc)) for bmc in desk.sim] == [0, 1]


def test_a_lost_answer_is_found_by_its_job_and_sent_once(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    desk.sim[0].part(Bios).current["LogicalProc"] = "Disabled"
    desk.sim[0].fault(Fault(method="PATCH", path=r".*/Bios/Settings", drop_answer=True, times=1))
    code, out, err = desk.run("bios", "set", "gpu001", "LogicalProc=Enabled", "--yes")
    assert (code, len(writes(desk.sim[0])), len(desk.sim[0].part(JobQueue))) == (0, 1, 1), out + err
    assert [event[0] for event in desk.events()] == ["node.bios"]


# ---- firmware ------------------------------------------------------------------------------------------------------


def test_one_node_lists_its_components_and_several_their_versions(hall: Callable[..., Hall]) -> None:
    desk = hall(4)
    desk.sim[2].part(Firmware).set("BIOS.Setup.1-1", "1.0.1")
    code, out, _ = desk.run("firmware", "list", "all")
    assert code == 0
    odd = [line for line in out.splitlines() if "differs from most" in line]
    assert len(odd) == 1
    assert "1.0.1" in odd[0]
    assert "gpu003" in odd[0]
    code, out, _ = desk.run("firmware", "list", "gpu001")
    assert "BIOS.Setup.1-1" in out


def test_firmware_that_is_older_than_the_baseline_is_a_finding(hall: Callable[..., Hall]) -> None:
    desk = hall(2)
    desk.sim[1].part(Firmware).set("BIOS.Setup.1-1", "1.0.1")
    good = next(r["version"] for r in desk.rows("firmware", "list", "gpu001") if r["component"] == "BIOS")
    desk.write(profile=f"    firmware: {{BIOS: {good}}}")
    code, found = desk.json("firmware", "diff", "all")
    assert code == 1
    assert [(one["host"], one["expected"], one["found"]) for one in found["findings"]] == [
        ("gpu002", good, "1.0.1")
    ]
    assert {row["verdict"] for row in found["comparisons"]} == {"as wanted", "older"}


def test_a_baseline_that_names_no_part_could_not_tell(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    desk.write(profile="    firmware: {Perfect Switch: '1'}")
    code, out, _ = desk.run("firmware", "diff", "all")
    assert code == 3
    assert "could not tell" in out


# ---- logs ----------------------------------------------------------------------------------------------------------


def test_serious_entries_are_grouped_across_nodes(hall: Callable[..., Hall]) -> None:
    desk = hall(3)
    for bmc in desk.sim:
        bmc.part(Logs).quiet = True
    for number in (0, 2):
        desk.sim[number].part(Logs).write("PSU0003", "2")
    desk.sim[1].part(Logs).write("USR0030", "root", "192.0.2.7", "REDFISH")
    code, found = desk.json("logs", "all")
    serious = {(one["host"], one["found"]) for one in found["findings"]}
    assert (code, serious) == (1, {("gpu001", "PSU0003"), ("gpu003", "PSU0003")})


def test_the_sites_ignore_list_makes_an_entry_harmless(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    desk.sim[0].part(Logs).quiet = True
    desk.sim[0].part(Logs).write("PSU0003", "2")
    desk.write(more="  log_ignore: ['PSU*']\n")
    code, out, _ = desk.run("logs", "all")
    assert code == 0
    assert "not serious by the ignore-list" in out


def test_only_entries_since_the_time_asked_for_are_shown(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    logs = desk.sim[0].part(Logs)
    logs.quiet = True
    now = datetime.now(UTC)
    for days in (20, 10, 1):
        logs.write("PSU0003", str(days), when=now - timedelta(days=days))
    assert len(desk.rows("logs", "all", "--since", "12d")) == 2
    assert len(desk.rows("logs", "all", "--since", "all")) == 3
    moment = (now - timedelta(days=15)).isoformat(timespec="seconds")
    assert len(desk.rows("logs", "all", "--since", moment)) == 2


def test_hundreds_of_entries_are_all_read(hall: Callable[..., Hall]) -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/12: only the 50 newest were
    desk = hall(1)
    logs = desk.sim[0].part(Logs)
    logs.quiet = True
    for number in range(230):
        logs.write("PSU0003", str(number))
    assert len(desk.rows("logs", "all", "--severity", "ok", "--log", "lifecycle", "--all")) >= 230


def test_a_time_that_is_none_is_told_what_may_stand_there(hall: Callable[..., Hall]) -> None:
    code, _, err = hall(1).run("logs", "all", "--since", "yesterday")
    assert code == 2
    assert "--since yesterday: expected 7d, 12h, all, or a date such as 2026-03-01" in err


def test_new_shows_only_what_came_since_the_last_time(hall: Callable[..., Hall]) -> None:
    desk = hall(2)
    for bmc in desk.sim:
        bmc.part(Logs).quiet = True
        bmc.part(Logs).write("PSU0003", "1")
    assert len(desk.rows("logs", "all", "--new")) == 2
    assert desk.rows("logs", "all", "--new") == []
    assert len(desk.rows("logs", "all")) == 2
    desk.sim[1].part(Logs).write("PSU0003", "2")
    assert [row["host"] for row in desk.rows("logs", "all", "--new")] == ["gpu002"]
    assert desk.run("logs", "all", "--new")[0] == 0


def test_a_log_that_was_cleared_is_new_again(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    logs = desk.sim[0].part(Logs)
    logs.quiet = True
    now = datetime.now(UTC)
    for hours in (5, 4, 3):
        logs.trouble("PSU0003", "1", when=now - timedelta(hours=hours))
    assert len(desk.rows("logs", "all", "--new", "--log", "sel")) == 3
    logs.clear_sel()
    logs.trouble("PSU0003", "1")
    assert len(desk.rows("logs", "all", "--new", "--log", "sel")) == 1


def test_a_bad_ignore_list_is_said_with_its_file(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    desk.write(more="  log_ignore: ['/(/']\n")
    code, _, err = desk.run("logs", "all")
    assert code == 2
    assert "log_ignore" in err


# ---- clock ---------------------------------------------------------------------------------------------------------


def test_a_clock_that_is_off_is_a_finding_and_the_others_share_a_line(hall: Callable[..., Hall]) -> None:
    desk = hall(4)
    desk.sim[1].clock_skew_s = -7200
    code, out, _ = desk.run("clock", "all")
    assert code == 1
    assert "gpu002: BMC clock is 2.0 h behind the controller's" in " ".join(out.split())
    assert "gpu[001,003-004]: within 30 s" in out


def test_clocks_that_all_agree_against_us_make_us_the_suspect(hall: Callable[..., Hall]) -> None:
    desk = hall(4)
    for bmc in desk.sim:
        bmc.clock_skew_s = 5000
    code, found = desk.json("clock", "all")
    assert (code, len(found["findings"])) == (1, 4)
    assert "the controller's own clock is probably wrong" in found["controller"]["suspect"]


def test_right_clocks_exit_0(hall: Callable[..., Hall]) -> None:
    code, found = hall(2).json("clock", "all")
    assert (code, found["findings"]) == (0, [])
    assert all(abs(one["skew_s"]) < 5 for one in found["clocks"])
    now = datetime.now(UTC).isoformat()
    dates = [(one["certificate_not_before"], one["certificate_not_after"]) for one in found["clocks"]]
    assert all(start < now < end for start, end in dates), dates


# ---- status --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", list(Profile))
def test_healthy_nodes_of_every_generation_exit_0(hall: Callable[..., Hall], profile: Profile) -> None:
    code, found = hall(2, profile).json("status", "all")
    assert (code, found["findings"], [node["not_told"] for node in found["nodes"]]) == (0, [], [[], []])
    node = found["nodes"][0]
    assert (node["power"], node["health"]) == ("On", "OK")
    assert len(node["temperatures"]) >= 12
    assert node["fans"]
    assert node["power_supplies"]


def test_an_impossible_temperature_and_full_fans_are_findings(hall: Callable[..., Hall]) -> None:
    desk = hall(2, Profile.IDRAC10)
    desk.sim[0].part(Readings).celsius["SystemBoardGPU3Temp"] = 255.0
    desk.sim[1].part(Readings).all_fans = 100
    code, found = desk.json("status", "all")
    assert code == 1
    assert {(one["host"], one["kind"]) for one in found["findings"]} >= {
        ("gpu001", "sensor-impossible"),
        ("gpu002", "fans-full-while-cool"),
    }


def test_a_supply_without_input_is_a_finding(hall: Callable[..., Hall]) -> None:
    desk = hall(1)
    desk.sim[0].part(Readings).lost_inputs.add(2)
    code, found = desk.json("status", "all")
    assert code == 1
    assert "power-supply" in {one["kind"] for one in found["findings"]}


# ---- partial failure -----------------------------------------------------------------------------------------------

READS = (("status",), ("clock",), ("firmware", "list"), ("logs",), ("bios", "get"))


@pytest.mark.parametrize("command", READS, ids=" ".join)
def test_a_bmc_that_refuses_is_named_and_the_others_are_told(
    hall: Callable[..., Hall], command: tuple[str, ...]
) -> None:
    desk = hall(3)
    desk.sim[1].users["root"] = "another"
    code, out, _ = desk.run(*command, "all")
    assert code == 3
    told = out[out.index("could not tell: 1 BMC") :]
    assert "gpu002" in told
    assert "gpu001" not in told.split("certificate")[0].splitlines()[1]


@pytest.mark.parametrize("command", READS, ids=" ".join)
def test_beside_csv_what_could_not_be_told_goes_to_standard_error(
    hall: Callable[..., Hall], command: tuple[str, ...]
) -> None:
    desk = hall(2)
    desk.sim[1].users["root"] = "another"
    code, out, err = desk.run(*command, "all", "--format", "csv")
    assert code == 3
    assert "could not tell: 1 BMC" in err
    assert "gpu002" in err
    assert "gpu002" not in out


@pytest.mark.parametrize("command", READS, ids=" ".join)
def test_a_ticket_says_below_its_table_what_could_not_be_told(
    hall: Callable[..., Hall], command: tuple[str, ...]
) -> None:
    desk = hall(2)
    desk.sim[1].users["root"] = "another"
    code, out, _ = desk.run(*command, "all", "--format", "markdown")
    assert code == 3
    table, _, below = out.rpartition("|\n\n")
    assert "gpu002" not in table
    assert "- could not tell: 1 BMC\n- gpu002  " in below
    assert "- gpu\\[001-002\\]: the certificate is not checked" in below


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *((command, f"bmc-{command[0]}") for command in READS),
        (("bios", "diff"), "bmc-bios-diff"),
        (("firmware", "diff"), "bmc-firmware-diff"),
        (("sessions",), "bmc-sessions"),
    ],
)
def test_json_is_as_its_published_schema_says(
    hall: Callable[..., Hall], command: tuple[str, ...], name: str
) -> None:
    desk = hall(2)
    desk.write(profile=f"{PROFILE}\n    firmware: {{BIOS: 1.0.0}}")
    desk.sim[1].users["root"] = "another"
    code, document = desk.json(*command, "all")
    assert code == 3
    jsonschema.validate(document, schema_of(name))
    assert [one["host"] for one in document["could_not_tell"]] == ["gpu002"]
    assert [one["host"] for one in document["weak_trust"]] == ["gpu001", "gpu002"]


@pytest.mark.parametrize("command", [("status",), ("power", "status"), ("boot", "status"), ("clock",)])
def test_hosts_that_say_about_the_same_share_a_line_and_each_has_its_own_when_asked(
    hall: Callable[..., Hall], command: tuple[str, ...]
) -> None:
    desk = hall(3)
    for bmc in desk.sim:
        bmc.clock_skew_s = 7000
    out = desk.run(*command, "all")[1]
    assert [line.split()[:2] for line in out.splitlines() if re.match(r"\d+ +gpu", line)] == [
        ["3", "gpu[001-003]"]
    ]
    out = desk.run(*command, "all", "--each")[1]
    assert [line.split()[0] for line in out.splitlines() if re.match(r"gpu00\d  ", line)] == desk.sim.hosts


@pytest.mark.parametrize("command", READS, ids=" ".join)
@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
def test_every_list_is_written_in_every_form(
    hall: Callable[..., Hall], command: tuple[str, ...], form: str
) -> None:
    desk = hall(1)
    code, out, err = desk.run(*command, "all", "--format", form)
    assert code in (0, 1), err
    assert out.strip()
    if form == "text":
        assert "gpu001: the certificate is not checked" in out


# ---- trust ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
@pytest.mark.parametrize(
    "command",
    [
        ("power", "on", "all", "--yes"),
        ("power", "status"),
        ("boot", "status"),
        ("media", "status"),
        ("jobs", "list"),
        ("locate", "all", "on", "--yes"),
        ("credentials", "list"),
        ("credentials", "rotate", "all", "--yes"),
        ("sessions",),
        ("trust",),
    ],
    ids=" ".join,
)
def test_a_certificate_that_is_not_checked_is_said_in_every_report_and_form(
    hall: Callable[..., Hall], command: tuple[str, ...], form: str
) -> None:
    desk = hall(2)
    desk.write(more="  secrets: file:hall.secrets\n")
    code, out, err = desk.run(*command, "--format", form)
    assert code == 0, err
    if form == "json":
        assert [one["host"] for one in json.loads(out)["weak_trust"]] == ["gpu001", "gpu002"]
    else:
        place = err if form == "csv" else out.replace("\\", "")
        assert "gpu[001-002]: the certificate is not checked (verify: off)" in place


@pytest.mark.parametrize("command", [("power", "off"), ("status",), ("credentials", "rotate"), ("scan",)])
def test_an_empty_variable_of_a_script_does_not_mean_all(
    hall: Callable[..., Hall], command: tuple[str, ...]
) -> None:
    desk = hall(1)
    code, _, err = desk.run(*command, "")
    assert (code, "name them" in err) == (2, True)
    assert not desk.sim[0].requests
