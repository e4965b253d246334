"""The commands of ``fabricctl ironic`` against a real Ironic, as an operator uses them."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fabricctl.adapters.store.location import find_location
from fabricctl.adapters.store.store import open_store
from fabricctl.cli.main import main
from fabricctl.nodes.facts import FactTelling, NodeFact
from tests.sim.idrac import PASSWORD_VARIABLE
from tests.sim.ironic import IronicServices

pytestmark = pytest.mark.slow

HOSTS = "gpu[000-007]"
SITE = """\
name: hall
node_models: {{m: {{hcas: [mlx5_0]}}}}
nodes: {{'gpu[000-007]': {{model: m}}}}
state: {{url: hall.sqlite}}
management:
  bmc_addresses:
{addresses}
  bmc_access:
    '{hosts}': {{user: {user}, password: 'env:{variable}', port: {port}, verify: ca, ca: {ca}}}
ironic:
  url: {url}
  user: {api_user}
  password: file:api.password
  inspect: 'no'
  image: {{deploy_interface: ramdisk, boot_interface: ipxe, kernel: {images}/kernel, ramdisk: {images}/ramdisk}}
  limits: {{poll_s: 1, deploy_min: 8}}
  hosts:
{boots}
"""


class Hall:
    """A site of emulated servers."""

    def __init__(self, services: IronicServices, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.systems, self._capsys = services.systems[:8], capsys
        self.site = folder / "site.yaml"
        secret = folder / "api.password"
        secret.touch(mode=0o600)
        secret.write_text(services.password)
        self.site.write_text(
            SITE.format(
                addresses="\n".join(f"    {one.name}: {one.address}" for one in self.systems),
                boots="\n".join(f"    {one.name}: {{boot_nic: '{one.mac}'}}" for one in self.systems),
                hosts=HOSTS,
                user=services.bmc_user,
                variable=PASSWORD_VARIABLE,
                port=self.systems[0].port,
                ca=services.folder / "bmc.pem",
                url=services.url,
                api_user=services.user,
                images=services.images,
            )
        )
        with open_store(find_location(str(folder / "hall.sqlite")), site="hall") as store:
            # where a harvest would have found each system
            read = [(one.name, f"redfish {one.system_id}") for one in self.systems]
            told = [FactTelling(host, [NodeFact("", "system.model", "emulated", at)]) for host, at in read]
            store.facts.tell(told, who="test", reason="harvest", now=datetime.now(UTC))

    def run(self, *words: str) -> tuple[int, Any]:
        """Exit code and document of a command."""
        code = main([*words, "--site", str(self.site), "--format", "json"])
        out, err = self._capsys.readouterr()
        assert all(" of 8 hosts" in line for line in err.splitlines()), (
            err
        )  # how far it is, when it takes long
        return code, json.loads(out)

    def ends(self, *words: str) -> tuple[int, set[tuple[str, str]]]:
        """Exit code and how the hosts ended."""
        code, document = self.run("ironic", *words, HOSTS, "--yes")
        return code, {(change["end"], change["reason"]) for change in document["changes"]}


@pytest.fixture
def hall(
    services: IronicServices,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Hall:
    monkeypatch.setenv(PASSWORD_VARIABLE, services.bmc_password)
    return Hall(services, tmp_path, capsys)


def test_eight_hosts_go_all_the_way_and_back(services: IronicServices, hall: Hall) -> None:
    assert hall.ends("enrol") == (0, {("enrolled", "")})
    assert hall.ends("enrol") == (0, {("nothing to do", "")})
    assert hall.ends("manage") == (0, {("ready", "")})
    assert hall.ends("deploy") == (0, {("deployed", "")})
    assert {services.redfish.power(system) for system in hall.systems} == {"On"}
    assert {services.redfish.boot(system)[0] for system in hall.systems} == {"Pxe"}
    code, document = hall.run("ironic", "status", HOSTS)
    assert (code, document["provisioner"]) == (0, "Ironic")
    assert {(one["status"], one["power"]) for one in document["machines"]} == {("active", "on")}
    assert hall.ends("deploy") == (0, {("nothing to do", "")})
    assert hall.ends("release") == (0, {("released", "")})
    assert {services.redfish.power(system) for system in hall.systems} == {"Off"}
    events = hall.run("events")[1]["events"]
    kinds = [event["kind"] for event in events]
    assert [kinds.count(f"node.{kind}") for kind in ("enrol", "commission", "deploy", "release")] == [8] * 4
    assert os.environ[PASSWORD_VARIABLE] not in json.dumps(events)
