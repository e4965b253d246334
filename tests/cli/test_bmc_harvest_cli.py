"""``fabricctl bmc harvest`` and ``node confirm-guids`` as an operator meets them, against simulated BMCs."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest

from fabricctl.cli.main import main
from provision.report.harvest_lists import COLUMNS
from provision.report.schemas import schema_of
from tests.provision.rack import CARDS, Rack, asked
from tests.sim.idrac import PASSWORD_VARIABLE, Fault, Simulator

Make = Callable[..., Rack]


@pytest.fixture
def make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Make]:
    running: list[Simulator] = []

    def start(count: int, first: str) -> Rack:
        running.append(Simulator(count, first=first).start())
        monkeypatch.setenv(PASSWORD_VARIABLE, running[0].password)
        return Rack(tmp_path, running[0], capsys)

    yield start
    for one in running:
        one.stop()


def test_a_rack_is_one_line_on_the_screen_and_every_session_is_closed(make: Make) -> None:
    rack = make(3, "127.34.0.1")
    code, out, err = rack.harvest("gpu[001-003]")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "3 of 3 BMCs read"
    assert lines[2].split() == [
        "hosts",
        "model",
        "cards",
        "Ethernet",
        "InfiniBand",
        "MACs",
        "GUIDs",
        "missing",
    ]
    assert lines[3].split() == ["gpu[001-003]", "PowerEdge", "XE9680", "11", "5", "8", "14", "8"]
    assert [len(bmc.sessions) for bmc in rack.sim] == [0, 0, 0]


def test_a_quick_harvest_sends_sixteen_requests_after_the_root(make: Make) -> None:
    rack = make(1, "127.34.1.1")
    rack.harvest("--quick")
    sent = asked(rack.sim)
    assert sent[0] == "GET /redfish/v1"
    assert len(sent) == 1 + 16  # login, 3 collections, 11 adapters, logout
    assert sent[1].startswith("POST")
    assert sent[-1].startswith("DELETE")


def test_bmcs_that_cannot_be_read_are_folded_by_reason_and_resume_reads_only_them(make: Make) -> None:
    rack = make(5, "127.34.2.1")
    for number in (1, 2):
        rack.sim[number].fault(Fault(method="POST", path=r".*/Sessions", status=401))
    rack.sim[3].fault(Fault(method="GET", path=rf"{CARDS}/NIC.Slot.36/.*", status=500))
    code, out, _ = rack.harvest("--quick")
    assert code == 3
    assert "2 of 5 BMCs read (quick), 1 in part" in out
    assert "could not tell: 2 BMCs" in out
    assert "\n  gpu[002-003]  " in out
    assert "told in part: 1 BMC\n  gpu004  functions of NIC.Slot.36: " in out
    assert "--resume reads only these again: gpu[002-004]" in out
    stored = {host: len(record.current()) for host, record in rack.records().items()}
    assert stored["gpu001"] > 20
    assert stored["gpu002"] == 0  # a record that is planned, and the reason in its facts
    for bmc in rack.sim:
        bmc.clear_faults()
        bmc.requests.clear()
    code, out, _ = rack.harvest("--quick", "--resume")
    assert code == 0
    assert "3 of 3 BMCs read (quick); 2 were read completely before" in out
    assert "changed since the last harvest" not in out  # what was not read before is not new
    assert [bool(bmc.requests) for bmc in rack.sim] == [False, True, True, True, False]
    code, out, _ = rack.harvest("--quick", "--resume")
    assert (code, out.splitlines()[0]) == (0, "0 of 0 BMCs read (quick); 5 were read completely before")
    # a deeper harvest was never made of any
    assert "5 of 5 BMCs read" in rack.harvest("--resume")[1]


@pytest.mark.slow
def test_ctrl_c_keeps_and_says_what_was_finished_and_leaves_no_session(make: Make) -> None:
    rack = make(3, "127.34.3.1")
    rack.sim[2].fault(Fault(method="GET", path=rf"{CARDS}.*", hang=True))
    command = [sys.executable, "-m", "fabricctl", "bmc", "harvest", "--quick", "--site", str(rack.site)]
    run = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not all(
        any(one.startswith("DELETE") for one in asked(rack.sim, host)) for host in (0, 1)
    ):
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=20)
    assert run.returncode == 130, err
    assert "2 of 3 BMCs read (quick), interrupted" in out
    assert "interrupted: 2 stored, 1 not asked; --resume reads the rest" in out
    assert "Traceback" not in err
    assert [len(bmc.sessions) for bmc in rack.sim] == [0, 0, 0]
    assert sorted(rack.facts()) == ["gpu001", "gpu002"]


def test_json_is_as_its_schema_says_and_holds_every_source(make: Make) -> None:
    rack = make(2, "127.34.4.1")
    rack.sim[1].fault(Fault(method="POST", path=r".*/Sessions", status=401))
    document = rack.json("--full")
    jsonschema.validate(document, schema_of("bmc-harvest"))
    assert document["exit_code"] == 3
    assert [one["host"] for one in document["could_not_tell"][:1]] == ["gpu002"]
    (host,) = document["hosts"]
    assert len(host["parts"]["gpu"]) == 8
    nic = next(one for one in host["parts"]["nic"] if one["id"] == "InfiniBand.Slot.31-1")
    assert nic["mac_permanent"]["how"] == "read"
    assert nic["mac_permanent"]["source"].endswith("/NetworkDeviceFunctions/InfiniBand.Slot.31-1")
    assert rack.sim.password not in json.dumps(document)


def test_csv_has_a_row_for_every_port_and_what_is_missing_goes_to_standard_error(make: Make) -> None:
    rack = make(2, "127.34.5.1")
    rack.sim[1].fault(Fault(method="POST", path=r".*/Sessions", status=401))
    code, out, err = rack.harvest("--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 3
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 1 + 5 + 8
    by_part = {row["part"]: row for row in rows}
    own = rack.sim[0].identity
    for name, row in by_part.items():
        if row["technology"] == "infiniband":
            assert row["guid"].replace("0x", "") == own[f"guid:{name}"].replace(":", "").lower()
    assert "could not tell: 1 BMC" in err
    code, out, _ = rack.harvest("--format", "markdown")
    assert out.startswith("| host | bmc_address | service_tag |")


def test_the_list_for_maas_has_boot_macs_and_power_address_and_no_password(make: Make) -> None:
    rack = make(3, "127.34.6.1")
    mac = rack.sim[1].identity["mac:NIC.Embedded.1-1-1"]
    rack.sim[0].identity.update({"mac:NIC.Embedded.1-1-1": mac, "virtual_mac:NIC.Embedded.1-1-1": mac})
    rack.sim[2].fault(Fault(method="POST", path=r".*/Sessions", status=401))
    path = rack.folder / "maas.json"
    code, _, err = rack.harvest("--maas", str(path))
    assert code == 3
    machines = json.loads(path.read_text())
    assert [one["hostname"] for one in machines] == ["gpu001", "gpu002"]
    first, own = machines[0], rack.sim[0].identity
    ethernet = sorted(key for key in own if key.startswith("mac:NIC.") and "Embedded.1-1-1" not in key)
    assert sorted(first["mac_addresses"]) == sorted(own[key].lower() for key in ethernet)
    assert first["power_parameters"] == {
        "power_address": f"https://127.34.6.1:{rack.sim.port}",
        "node_id": "System.Embedded.1",
    }
    assert (first["power_type"], first["commission"], first["architecture"]) == (
        "redfish",
        False,
        "amd64/generic",
    )
    assert f"not in {path}: gpu003: its BMC was not read" in err
    assert rack.sim.password not in path.read_text()


def test_what_goes_together_and_what_does_not(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    rack = make(1, "127.34.7.1")
    code, _, err = rack.harvest("--quick", "--full")
    assert (code, "--quick reads less, --full more" in err) == (2, True)
    assert main(["bmc", "harvest"]) == 2
    assert "--site" in capsys.readouterr().err
    code, _, err = rack.harvest("gpu009")
    assert (code, "the site has no node 'gpu009'; did you mean" in err.replace(" (", "; ")) == (2, True)


def hca_lines(rack: Rack, hosts: tuple[int, ...] = (0,)) -> list[str]:
    """As ibstat tells them, the simulator's truth."""
    lines = []
    for number in hosts:
        own = rack.sim[number].identity
        guids = sorted(value for key, value in own.items() if key.startswith("guid:"))
        lines += [f"{rack.sim.hosts[number]} mlx5_{at} {guid}" for at, guid in enumerate(guids)]
    return lines


@pytest.fixture
def derived(make: Make) -> Rack:
    """Two hosts whose BMCs tell no GUID."""
    rack = make(2, "127.34.8.1")
    for bmc in rack.sim:
        for slot in (31, 32, 33, 34, 37, 38, 39, 40):
            name = f"InfiniBand.Slot.{slot}"
            path = f"{CARDS}/{name}/NetworkDeviceFunctions/{name}-1"
            oem = {"Dell": {"DellInfiniBand": {"NodeGUID": "", "PermanentPortGUID": ""}}}
            bmc.change(path, Oem=oem, InfiniBand=None)
    code, out, _ = rack.harvest("--quick")
    assert code == 0
    assert "8 (8 derived)" in out
    assert "GUIDs of gpu[001-002] are derived" in out
    return rack


def test_derived_guids_are_confirmed_by_ibstat_and_what_was_not_seen_is_said(derived: Rack) -> None:
    path = derived.folder / "guids.txt"
    path.write_text("\n".join(hca_lines(derived)))
    code, out, _ = derived.run("node", "confirm-guids", "--hca-guids", str(path))
    assert code == 3
    assert out.splitlines()[0].split() == ["confirmed", "8", "gpu001"]
    assert out.splitlines()[1].split() == ["not", "seen", "8", "gpu002"]
    assert "no HCA of gpu002 was seen by name" in out
    sources = {i.fact.source for i in derived.records()["gpu001"].current() if i.fact.kind == "guid"}
    assert sources == {"ibstat"}
    _, out, _ = derived.harvest("--quick")
    assert "GUIDs of gpu002 are derived" in out  # a new harvest does not make them derived again
    path.write_text("\n".join(hca_lines(derived, (0, 1))))
    assert derived.run("node", "confirm-guids", "--hca-guids", str(path))[0] == 0
    code, out, _ = derived.run("node", "confirm-guids", "--hca-guids", str(path))
    assert (code, "no derived GUID is recorded" in out) == (0, True)


def test_a_derived_guid_that_another_host_shows_is_a_finding(derived: Rack) -> None:
    lines = hca_lines(derived, (0, 1))
    lines[0] = lines[0].replace("gpu001 mlx5_0", "gpu002 mlx5_9")
    path = derived.folder / "guids.txt"
    path.write_text("\n".join(lines))
    code, out, _ = derived.run(
        "node", "confirm-guids", "gpu001", "--hca-guids", str(path), "--format", "json"
    )
    assert code == 1
    wrong = [one for one in json.loads(out)["guids"] if one["verdict"] == "contradicted"]
    assert [(one["node"], "of gpu002" in one["why"]) for one in wrong] == [("gpu001", True)]


def test_derived_guids_are_confirmed_by_a_fabric_discovery(derived: Rack) -> None:
    guids = [line.split()[2].replace(":", "").lower() for line in hca_lines(derived, (0, 1))]
    text = []
    for number, guid in enumerate(guids):
        text += [
            f"vendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{guid}\ncaguid=0x{guid}",
            f'Ca\t1 "H-{guid}"\t\t# "gpu{number // 8 + 1:03d} mlx5_{number % 8}"',
            f'[1]({guid}) \t"S-b83fd20300ffff00"[{number + 1}]\t\t# lid {number + 10} lmc 0 "leaf1" lid 1 4xNDR\n',
        ]
    path = derived.folder / "net.txt"
    path.write_text("\n".join(text))
    code, out, _ = derived.run("node", "confirm-guids", "--discovered", str(path))
    assert (code, out.split()) == (0, ["confirmed", "16", "gpu[001-002]"])
    events = [e for e in derived.events() if "(derived) -> " in f"{e.before} -> " and "(fabric)" in e.after]
    assert len(events) == 16


def test_confirming_wants_something_to_compare_with(derived: Rack) -> None:
    code, _, err = derived.run("node", "confirm-guids")
    assert (code, "give --discovered FILE or --hca-guids FILE" in err) == (2, True)
