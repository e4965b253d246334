"""Scans of simulated BMCs, of servers that are none, and of addresses where nobody answers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fabricctl.adapters.store.store import open_store
from fabricctl.nodes.model import IdentityKind, make_fact
from fabricctl.workflows.state_place import locate
from provision.bmc.node_facts import BMC_PART
from provision.bmc.scan import Answer, Sight
from provision.bmc.target import Target
from provision.workflows.scan import Question, scan
from tests.provision.halls import Hall
from tests.provision.plain_server import plain_server
from tests.sim.idrac import Fault, Profile, Simulator

Start = Callable[..., Simulator]


@pytest.fixture
def hall(simulator: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Hall]:
    def make(
        count: int = 4, *, tags: dict[str, str] | None = None, swap: bool = False, **options: object
    ) -> Hall:
        sim = simulator(count, **options)
        if swap:
            own = [bmc.service_tag for bmc in sim]
            tags = dict(zip(sim.hosts, [own[1], own[0], *own[2:]], strict=True))
        return Hall(tmp_path, sim, capsys, tags=tags)

    return make


def test_a_fleet_at_home_is_exit_code_0_and_costs_one_request_each_without_a_login(
    hall: Callable[..., Hall],
) -> None:
    home = hall()
    code, out, err = home.run("scan")
    assert (code, err) == (0, "")
    assert "4 addresses asked, 4 BMCs answered, 4 as expected" in out
    for bmc in home.sim:
        assert [(one.method, one.path, one.user) for one in bmc.requests] == [("GET", "/redfish/v1", "")]


@pytest.mark.parametrize("profile", list(Profile))
def test_every_firmware_tells_tag_and_mac(hall: Callable[..., Hall], profile: Profile) -> None:
    home = hall(2, profile=profile)
    document = home.document("bmc-scan", "scan")
    assert document["schema"] == "fabricctl.bmc-scan/1"
    assert [(row["service_tag"], row["bmc_mac"]) for row in document["addresses"]] == [
        (bmc.service_tag, bmc.identity["bmc_mac"].lower()) for bmc in home.sim
    ]


def test_crossed_cables_are_exit_code_1(hall: Callable[..., Hall]) -> None:
    home = hall(swap=True)
    code, out, _ = home.run("scan")
    assert code == 1
    assert "BMC cables of gpu001 and gpu002 are crossed" in out
    assert [one["kind"] for one in home.document("bmc-scan", "scan")["findings"]] == ["bmc-crossed"]
    code, out, err = home.run("scan", "gpu[001-002]", "--format", "csv")
    assert code == 1
    assert out.count("bmc-crossed") == 2
    assert "BMC cables of gpu001 and gpu002 are crossed" in err


def test_a_site_without_tags_gets_a_block_to_paste_and_is_then_compared(
    hall: Callable[..., Hall], tmp_path: Path
) -> None:
    home = hall(tags={})
    code, out, _ = home.run("scan")
    assert code == 3
    assert "gpu[001-004]  neither site file nor node record has a service tag" in out
    code, _, err = home.run("scan", "--write-tags", str(tmp_path / "tags.yaml"))
    assert "4 service tags written" in err
    site = Path(home.path)
    site.write_text(site.read_text() + (tmp_path / "tags.yaml").read_text())
    assert home.run("scan")[0] == 0
    assert f'    gpu001: "{home.sim[0].service_tag}"\n' in out


def one(target: Target, deadline_s: float = 1.0) -> Sight:
    return scan([Question(target)], {}, deadline_s=deadline_s).sights[0]


def test_a_machine_that_refuses_and_one_that_is_no_tls_server() -> None:
    with socket.create_server(("127.31.0.9", 0)) as closed:
        port = closed.getsockname()[1]
    assert one(Target("gpu001", "127.31.0.9", port)).answer is Answer.REFUSED
    with plain_server(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "127.31.0.9") as port:
        seen = one(Target("gpu001", "127.31.0.9", port))
    assert seen.answer in (Answer.OTHER, Answer.UNREADY)


def test_a_bmc_that_hangs_is_silent_after_the_deadline(simulator: Start) -> None:
    sim = simulator(1)
    sim[0].fault(Fault(hang=True))
    seen = one(Target("gpu001", sim.addresses[0], sim.port), deadline_s=0.3)
    assert (seen.answer, seen.claim) == (Answer.SILENT, None)


@pytest.mark.parametrize(
    ("fault", "answer"),
    [
        (Fault(status=404, body="<html>lights out</html>"), Answer.OTHER),
        (Fault(status=200, body='{"hello": "world"}'), Answer.OTHER),
        (Fault(status=200, body="<html>printer</html>"), Answer.OTHER),
        (Fault(status=503, message_id="SYS518"), Answer.UNREADY),
        (Fault(status=400, message_id="SWC0700"), Answer.UNREADY),
        (Fault(reset=True), Answer.REFUSED),
    ],
)
def test_answers_that_are_no_service_root(simulator: Start, fault: Fault, answer: Answer) -> None:
    sim = simulator(1)
    sim[0].fault(fault)
    assert one(Target("gpu001", sim.addresses[0], sim.port)).answer is answer


def test_a_host_header_that_the_bmc_refuses_is_named_with_its_remedy(simulator: Start) -> None:
    """https://github.com/dell/iDRAC-Redfish-Scripting/issues/303: a bare 400."""
    sim = simulator(1)
    sim[0].fault(Fault(status=400, body=""))
    seen = one(Target("gpu001", sim.addresses[0], sim.port))
    assert seen.answer is Answer.UNREADY
    assert "WebServer.HostHeaderCheck" in seen.text


def test_what_is_no_bmc_at_a_nodes_address_is_a_finding_and_a_silent_one_a_doubt(
    hall: Callable[..., Hall],
) -> None:
    home = hall(3)
    home.sim[0].fault(Fault(status=404, body="<html>"))
    code, out, _ = home.run("scan")
    assert code == 1
    assert "something else answers than a BMC: HTTP 404" in " ".join(out.split())  # wrapped to the terminal
    home.sim[1].fault(Fault(reset=True))
    code, out, _ = home.run("scan")
    assert code == 3
    assert "gpu002  " in out


def test_an_interrupted_scan_ends_its_loop(simulator: Start) -> None:
    sim = simulator(1)

    def stop(asked: int, found: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan([Question(Target("gpu001", sim.addresses[0], sim.port))], {}, done=stop)
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()


def test_a_bmc_board_that_was_replaced_is_told_by_the_harvested_mac(hall: Callable[..., Hall]) -> None:
    home = hall(2)
    location = locate(home.site, "")
    with open_store(location, site="hall") as store:
        for bmc in home.sim:
            fact = make_fact(IdentityKind.MAC, bmc.identity["bmc_mac"], "redfish")
            store.nodes.tell(
                bmc.host, [replace(fact, part=BMC_PART)], who="t", reason="harvest", now=datetime.now(UTC)
            )
    assert home.run("scan")[0] == 0
    home.sim[1].identity["bmc_mac"] = "b0:7b:25:99:99:99"
    code, out, _ = home.run("scan")
    assert code == 1
    assert "gpu002" in out
    assert "was its board replaced?" in out
