"""``fabricctl bmc harvest`` of what real BMCs answered: an R750 with an HDR HCA and a DGX H100, served again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabricctl.cli.main import main
from tests.provision.dumps import DGX_FILE, R750_FILE
from tests.sim.idrac import PASSWORD_VARIABLE
from tests.sim.idrac.replay import Replay

SITE = """\
name: hall
node_models: {{m: {{hcas: [mlx5_0], gpus: {gpus}}}}}
nodes: {{a001: {{model: m}}}}
state: {{url: hall.sqlite}}
management:
  bmc_addresses: {{a001: {address}}}
  bmc_access: {{a001: {{user: {user}, password: 'env:{variable}', port: {port}}}}}
"""
GPUS = {R750_FILE: 1, DGX_FILE: 8}
Harvest = Callable[..., tuple[int, str]]


@pytest.fixture
def harvest_of(
    captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str, str], Harvest]:
    """Call it with a dump and an address: gives a function that harvests it, with options."""

    def of(dump: str, address: str) -> Harvest:
        def harvest(*options: str) -> tuple[int, str]:
            with Replay(captures / "redfish" / dump, address=address) as server:
                monkeypatch.setenv(PASSWORD_VARIABLE, server.password)
                site = tmp_path / "site.yaml"
                place = {"address": address, "user": server.user, "port": server.port, "gpus": GPUS[dump]}
                site.write_text(SITE.format(**place, variable=PASSWORD_VARIABLE))
                (tmp_path / "hall.sqlite").unlink(missing_ok=True)  # another certificate each time
                assert main(["bmc", "trust", "all", "--yes", "--site", str(site)]) == 0
                capsys.readouterr()
                code = main(["bmc", "harvest", "all", *options, "--site", str(site)])
                assert server.sessions == {}
            return code, capsys.readouterr().out

        return harvest

    return of


def nics(document: str) -> list[dict[str, Any]]:
    (host,) = json.loads(document)["hosts"]
    found: list[dict[str, Any]] = host["parts"]["nic"]
    return found


def kinds(found: list[dict[str, Any]]) -> Counter[str]:
    return Counter(one["technology"]["value"] for one in found)


@pytest.mark.captures
@pytest.mark.parametrize("depth", ["--quick", "", "--full"])
def test_an_r750_tells_five_ethernet_ports_and_two_hca_ports_with_derived_guids(
    harvest_of: Callable[[str, str], Harvest], depth: str
) -> None:
    harvest = harvest_of(R750_FILE, "127.36.0.1")
    code, out = harvest(*filter(None, [depth]), "--format", "json")
    assert code == 0
    found = nics(out)
    assert kinds(found) == {"ethernet": 5, "infiniband": 2}
    assert all(one["mac_permanent"]["value"] for one in found)
    hca = {one["id"]: one for one in found if one["technology"]["value"] == "infiniband"}
    # MACs as ibstat of that machine's HCA would show them; no GUID is in the dump
    assert {name: (one["mac_permanent"]["value"], one["node_guid"]["how"]) for name, one in hca.items()} == {
        "InfiniBand.Slot.7-1": ("b8:3f:d2:a4:1b:d2", "derived"),
        "InfiniBand.Slot.7-2": ("b8:3f:d2:a4:1b:d3", "derived"),
    }
    assert hca["InfiniBand.Slot.7-1"]["node_guid"]["value"] == "0xb83fd20300a41bd2"


@pytest.mark.captures
def test_a_dgx_h100_lists_its_eight_infiniband_functions_and_says_what_they_lack(
    harvest_of: Callable[[str, str], Harvest],
) -> None:
    harvest = harvest_of(DGX_FILE, "127.36.0.2")
    code, out = harvest("--format", "json")
    assert code == 3
    infiniband = [one for one in nics(out) if one["technology"]["value"] == "infiniband"]
    silent = [one for one in infiniband if one["enabled"]["value"] is not False]
    assert (len(infiniband), len(silent)) == (9, 8), "eight, and a disabled half of a two-port card"
    for one in silent:
        for field in ("mac_permanent", "node_guid"):
            assert (one[field]["value"], one[field]["how"]) == (None, "absent")
            assert one[field]["why"]
    (host,) = json.loads(out)["hosts"]
    said = [gap["part"] for gap in host["unread"] if gap["what"] == "no MAC, no GUID"]
    assert sorted(said) == sorted(one["id"] for one in silent)
    code, text = harvest()
    assert code == 3
    assert "no MAC, no GUID" in text
