"""What is read of a site before hosts are enrolled and installed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fabricctl.adapters.store.location import find_location
from fabricctl.adapters.store.store import open_store
from fabricctl.errors import SecretError, UsageError
from fabricctl.nodes.facts import FactTelling, NodeFact, Value
from fabricctl.nodes.model import Fact, IdentityKind
from fabricctl.site.load import load_site
from fabricctl.site.schema import Site
from provision.secrets.store import open_secrets
from provision.workflows.install_access import (
    deploy_jobs,
    enrol_specs,
    flow_options,
    judges,
    maas_settings,
    read_known,
)
from tests.provision.install.flow_kit import flow_kit

WHEN = datetime(2026, 11, 1, tzinfo=UTC)
SITE = """\
name: lab
nodes:
  "gpu[001-004]": {model: xe}
node_models:
  xe: {hcas: [mlx5_0], gpus: 8, disks: 9, memory_gib: 2048, boot_disk: {model: "*BOSS*"}}
install:
  series: noble
  kernel: hwe
  boot_disks: {gpu002: PHXX1}
management:
  bmc_addresses: {"gpu[001-003]": 192.0.2.11}
  bmc_access:
    "gpu[001-002]": {user: ops, password: "env:LAB_BMC"}
  service_tags: {gpu001: TAG0001}
  secrets: "file:secrets.json"
maas:
  url: http://192.0.2.1:5240/MAAS
  api_key: env:LAB_MAAS
  hosts:
    "gpu[001-004]": {pool: gpus, tags: [h100]}
    gpu002: {power: ipmi, boot_nic: 52-54-00-00-00-77}
  limits: {deploy_min: 30, wave: 8, requests: 4}
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("LAB_BMC", "calvin")
    monkeypatch.setenv("LAB_MAAS", "a:b:c")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return load_site(SITE, str(tmp_path / "site.yaml"))


def harvested(site: Site, folder: Path) -> None:
    """What a harvest of gpu001 and gpu003 keeps."""
    with open_store(find_location(str(folder / "s.db"), site_name=site.name), site=site.name) as store:
        for host, mac in (("gpu001", "52:54:00:00:00:01"), ("gpu003", "52:54:00:00:00:03")):
            part, path = "NIC.Embedded.1-1-1", "redfish /redfish/v1/Systems/System.Embedded.1"
            fields: dict[str, Value] = {
                "nic.technology": "ethernet",
                "nic.mac_permanent": mac,
                "nic.pxe": True,
            }
            told = [NodeFact(part, name, value, path) for name, value in fields.items()]
            own = NodeFact("", "system.model", "PowerEdge XE9680", "redfish /redfish/v1/Systems/Self")
            store.facts.tell([FactTelling(host, [*told, own])], who="t", reason="t", now=WHEN)
            store.nodes.tell(
                host, [Fact(IdentityKind.MAC, mac, part, "redfish")], who="t", reason="t", now=WHEN
            )


def test_who_can_be_enrolled_and_why_others_cannot(site: Site, tmp_path: Path) -> None:
    harvested(site, tmp_path)
    location = find_location(str(tmp_path / "s.db"), site_name=site.name)
    made = enrol_specs(
        read_known(site, location, ["gpu001", "gpu002", "gpu003", "gpu004"]), open_secrets(site)
    )
    one, two = made.specs
    assert (one.host, one.macs, one.service_tag, one.pool, one.tags) == (
        "gpu001", ("52:54:00:00:00:01",), "TAG0001", "gpus", ("h100",)
    )  # fmt: skip
    assert (one.power.kind, one.power.address, one.power.user) == ("redfish", "192.0.2.11", "ops")
    assert one.power.password.reveal() == "calvin"
    assert one.power.system_id == "Self"
    assert (two.host, two.macs, two.power.kind, two.pool) == ("gpu002", ("52:54:00:00:00:77",), "ipmi", "")
    assert set(made.refused) == {"gpu003", "gpu004"}
    assert made.refused["gpu003"].startswith("no password for gpu003")
    assert made.refused["gpu004"].startswith("no BMC address")
    assert "calvin" not in repr(made)


def test_a_host_nobody_harvested_is_told_to_be_harvested(site: Site, tmp_path: Path) -> None:
    location = find_location(str(tmp_path / "none.db"), site_name=site.name)
    made = enrol_specs(read_known(site, location, ["gpu001"]), open_secrets(site))
    assert "fabricctl bmc harvest" in made.refused["gpu001"]


def test_limits_and_key_come_from_the_site_file(site: Site) -> None:
    settings = maas_settings(site)
    assert (settings.url, settings.key.reveal(), settings.requests) == (
        "http://192.0.2.1:5240/MAAS",
        "a:b:c",
        4,
    )
    assert site.maas is not None
    options = flow_options(site, site.maas.limits)
    assert (options.wave, options.deadlines.deploy_s, options.requests) == (8, 1800, 4)


def test_without_a_key_the_reference_is_named(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAB_MAAS")
    with pytest.raises(SecretError, match="env:LAB_MAAS"):
        maas_settings(site)


def test_a_site_without_maas_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="names no MAAS"):
        maas_settings(load_site("name: lab\n", str(tmp_path / "site.yaml")))


def test_what_is_installed_where_comes_from_the_site_file(site: Site, tmp_path: Path) -> None:
    location = find_location(str(tmp_path / "none.db"), site_name=site.name)
    known = read_known(site, location, ["gpu001", "gpu002"])
    one, two = deploy_jobs(known)
    assert (one.series, one.kernel) == ("noble", "hwe")
    assert one.rule is not None
    assert (one.rule.model, one.rule.exact) == ("*BOSS*", "")
    assert two.rule is not None
    assert two.rule.exact == "PHXX1"
    assert [job.series for job in deploy_jobs(known, series="jammy")] == ["jammy", "jammy"]


def test_the_node_model_judges_a_machine(site: Site, tmp_path: Path) -> None:
    with flow_kit(tmp_path) as kit:
        kit.run(lambda client: client.enrol(["gpu001"]))
        kit.maas.double.faults.add("missing-disk", "gpu001", "commission")
        kit.run(lambda client: client.commission(["gpu001"]))
        machine = kit.run(lambda client: client.maas.find(hostnames=["gpu001"]))[0]
    known = read_known(site, find_location(str(tmp_path / "none.db"), site_name=site.name), ["gpu001"])
    words = [one.words for one in judges(known)["gpu001"](machine) if one.told]
    assert "expected 9 disks, found 8" in words
