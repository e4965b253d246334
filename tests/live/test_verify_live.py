"""The whole command on live simulated fabrics: eight islands seen from eight viewers, and viewers over ssh."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verify import verify
from fabricctl.cli.main import main
from fabricctl.discovery.merge import merge
from fabricctl.discovery.recognise import parse_any
from fabricctl.plan.snapshot import plan_from_observation
from fabricctl.report.screen import render
from tests.conftest import read_capture
from tests.sim.ibsim import Ibsim
from tests.sim.netgen import SHAPES, build, discovery_lines
from tests.sim.sshd import Sshd, sshd_program

Sim = Callable[..., AbstractContextManager[Ibsim]]


@pytest.mark.slow
def test_eight_views_of_a_split_fabric_are_eight_islands_before_any_cable(captures: Path, ibsim: Sim) -> None:
    plan = plan_from_observation(parse_any(read_capture(captures / "ibsim/imbue/ibnetdiscover.txt.gz")))
    net = read_capture(captures / "ibsim/imbue-islands/fabric.net.gz")
    viewers = [key for key, node in plan.fabric.nodes.items() if node.host == "gpu001"]
    assert len(viewers) == 8
    with ibsim(net) as sim:
        views = [parse_any(sim.discover(sim_host=f"H-{key[2:]}"), key) for key in viewers]
    verdict = verify(plan, merge(views))
    assert [(island.switches, len(island.sources)) for island in verdict.islands.seen if island.switches] == [
        (40, 1)
    ] * 8
    assert verdict.findings[0].kind is FindingKind.SPLIT_FABRIC
    rows = verdict.counts.by_tier
    assert rows["leaf-spine"]["miswired"] + rows["leaf-spine"]["swapped"] == 4064
    assert rows["leaf-spine"]["ok"] == 4096 - 4064
    assert (rows["spine-core"]["ok"], rows["host-leaf"]["ok"]) == (4096, 4090)
    assert verdict.counts.cables_differ == 4064
    assert verdict.exit_code == 1
    head = " ".join("".join(text for text, _ in line) for line in render(verdict)[:3])
    assert "8 seen where 1 is planned: they cannot reach each other" in head
    assert "40 switches" in head


@pytest.mark.slow
@pytest.mark.skipif(sshd_program() is None, reason="sshd is not installed")
def test_verify_cabling_over_ssh_against_the_net_it_simulates(
    ibsim: Sim, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(discovery_lines(build(SHAPES["small3"])))
    net = tmp_path / "plan.net"
    net.write_text(text)
    tools = tmp_path / "bin"
    tools.mkdir()
    with ibsim(text, opensm=True) as sim, Sshd([tools]) as server:
        sim.write_wrappers(tools)
        where = f"ssh://{server.user}@{server.address}:{server.port}"
        login = ["--known-hosts", str(server.known_hosts), "--identity", str(server.key), "--deadline", "30"]
        saved = tmp_path / "saved"
        code = main(
            [
                "verify-cabling",
                "--plan",
                str(net),
                "--from",
                where,
                "--save",
                str(saved),
                *login,
                "-f",
                "json",
            ]
        )
        report = json.loads(capsys.readouterr().out)
        assert (code, report["verdict"], report["doubts"]) == (0, "ok", [])
        assert report["counts"]["intended"] == report["counts"]["ok"] == 96

        (replay,) = saved.glob("*.ibnetdiscover.txt")
        assert main(["verify-cabling", "--plan", str(net), "--discovered", str(replay)]) == 0
        capsys.readouterr()

        (tools / "ibnetdiscover").unlink()
        code = main(["verify-cabling", "--plan", str(net), "--from", where, *login, "-f", "json"])
        report = json.loads(capsys.readouterr().out)
        assert (code, report["verdict"]) == (3, "could_not_tell")
        assert report["counts"]["not_judged"] == 96
        assert "ibnetdiscover" in report["doubts"][0]
