"""What help says, and what report files may hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fabricctl.cli.main import main
from fabricctl.cli.schema import SchemaName
from fabricctl.discovery.ibnetdiscover_writer import write
from tests.cabling.fabrics import seen, two_tier


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "group", [(), ("plan",), ("site",), ("panel",), ("work-order",), ("findings",), ("node",)]
)
def test_no_summary_of_a_command_is_cut(group: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, *group, "--help")
    commands = text.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert len(commands) >= 2
    assert [line for line in commands if not line.endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize(
    "command", [("plan", "show"), ("plan", "export"), ("site", "check"), ("site", "show"), ("schema",)]
)
def test_help_explains_its_file_and_shows_no_type_of_the_program(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, *command, "--help")
    assert "<str>" not in text
    if command != ("schema",):
        assert re.search(r"\n  FILE is .*- reads standard\s+input\.", text, re.DOTALL)


@pytest.mark.parametrize("name", SchemaName)
def test_each_schema_name_prints_its_own_schema(name: SchemaName, capsys: pytest.CaptureFixture[str]) -> None:
    known = {
        SchemaName.VERIFY_CABLING: "counts",
        SchemaName.SITE: "reserved_ports",
        SchemaName.IDENTIFY: "ambiguities",
        SchemaName.WORK_ORDER: "order",
        SchemaName.FINDINGS: "series",
        SchemaName.NODES: "nodes",
        SchemaName.EVENTS: "events",
        SchemaName.BMC_BIOS: "hosts",
        SchemaName.BMC_BIOS_DIFF: "comparisons",
        SchemaName.BMC_CLOCK: "controller",
        SchemaName.BMC_FIRMWARE: "versions",
        SchemaName.BMC_FIRMWARE_DIFF: "comparisons",
        SchemaName.BMC_LOGS: "entries",
        SchemaName.BMC_SESSIONS: "sessions",
        SchemaName.BMC_STATUS: "nodes",
        SchemaName.BMC_HARVEST: "depth",
        SchemaName.BMC_POWER: "nodes",
        SchemaName.BMC_BOOT: "nodes",
        SchemaName.BMC_JOBS: "jobs",
        SchemaName.BMC_MEDIA: "drives",
        SchemaName.BMC_CHANGES: "changes",
        SchemaName.BMC_CREDENTIALS: "credentials",
        SchemaName.BMC_SCAN: "learned",
        SchemaName.BMC_TRUST: "certificates",
        SchemaName.MAAS_CHANGES: "changes",
        SchemaName.MAAS_DISKS: "hosts",
        SchemaName.MAAS_DOCTOR: "roles",
        SchemaName.MAAS_STATUS: "machines",
    }
    assert known[name] in json.loads(said(capsys, "schema", name.value))["properties"]


@pytest.mark.parametrize("ending", ["txt", "md", "csv", "html", "xml", "json"])
def test_a_report_file_holds_no_control_character_of_a_description(ending: str, tmp_path: Path) -> None:
    cables = two_tier()
    text = write(seen([*cables, ("evil", 1, "leaf1", 30)]).fabric).replace(
        "evil", "evil\x1b]0;pwn\x07\x1b[2J"
    )
    discovered, plan = tmp_path / "seen.txt", tmp_path / "plan.txt"
    discovered.write_text(text, encoding="utf-8")
    plan.write_text(write(seen(cables).fabric), encoding="utf-8")
    report = tmp_path / f"r.{ending}"
    code = main(
        [
            "verify-cabling",
            "--plan",
            str(plan),
            "--discovered",
            str(discovered),
            "--strict",
            "--report",
            str(report),
        ]
    )
    assert code == 1
    written = report.read_text(encoding="utf-8")
    assert "evil" in written
    assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", written) == []


def test_a_text_report_holds_none_of_the_second_set_of_control_characters_either(tmp_path: Path) -> None:
    text = write(seen(two_tier()).fabric).replace("leaf1", "leaf1\x9b2J")
    discovered, report = tmp_path / "seen.txt", tmp_path / "r.txt"
    discovered.write_text(text, encoding="utf-8")
    main(["verify-cabling", "--discovered", str(discovered), "--all", "--report", str(report)])
    assert "\x9b" not in report.read_text(encoding="utf-8")
