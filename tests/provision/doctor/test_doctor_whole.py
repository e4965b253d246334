"""The whole doctor: every service real, the API by the double, one thing wrong at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from fabricctl.mac import Mac
from fabricctl.site.load import load_site
from fabricctl.site.schema import Site
from provision.bmc.secret import Secret
from provision.install.doctor import Role, RoleResult, named
from provision.install.doctor_agree import View
from provision.maas.provisioner import open_maas
from provision.maas.settings import MaasSettings
from provision.workflows.doctor_book import Book
from provision.workflows.maas_doctor import Doctor, DoctorOptions
from tests.sim.maas.double import MaasDouble, Settings
from tests.sim.maas.server import Front
from tests.sim.maas.states import Status
from tests.sim.roles import DOMAIN, INTERFACE, PAGE, PROXY, SERVER, Roles
from tests.sim.roles import missing as missing_for_roles

pytestmark = pytest.mark.slow

MACHINES = {"gpu001": Mac("02:00:00:aa:00:01"), "gpu002": Mac("02:00:00:aa:00:02")}
BMCS = {"gpu001": "198.51.100.1", "gpu002": "198.51.100.2"}
SITE = """
name: lab
node_models: {{xe9680: {{hcas: [mlx5_0], gpus: 8}}}}
nodes: {{'gpu[001-002]': {{model: xe9680}}}}
management: {{bmc_addresses: {{'gpu[001-002]': 198.51.100.1}}}}
maas:
  url: {url}
  roles: {{dhcp: {server}, dns: {server}, ntp: {server}, domain: {domain}, proxy: '{proxy}', page: '{page}', \
metadata: '{metadata}'}}
"""
Change = Callable[["Ward"], None]


@pytest.fixture(scope="module")
def network() -> Iterator[Roles]:
    absent = missing_for_roles() + ([] if os.geteuid() == 0 else ["root"])
    if absent and os.environ.get("REQUIRE_TOOLS") != "1":
        pytest.skip(f"tools not installed: {', '.join(absent)}")
    with Roles(MACHINES) as running:
        yield running


@pytest.fixture
def ward(network: Roles) -> Iterator[Ward]:
    yield Ward(network)
    network.restore()


def power(address: str) -> dict[str, str]:
    """How a machine's BMC is reached, as fields of its creation."""
    given = {"address": address, "user": "maas", "pass": "none"}
    return {
        "power_type": "redfish",
        **{f"power_parameters_power_{name}": text for name, text in given.items()},
    }


class Ward:
    """A site with two hosts, all services, a MAAS that knows both, and what the doctor finds there.

    The API is served by one double, the metadata service by another, so that each can be stopped alone.
    """

    def __init__(self, roles: Roles) -> None:
        self.roles = roles
        self.settings = Settings()
        self.prepare: list[Callable[[MaasDouble], Any]] = []
        self.without: set[str] = set()
        self.key = ""
        self.bmcs: dict[str, View | str] = {
            host: View(host, frozenset({mac}), BMCS[host]) for host, mac in MACHINES.items()
        }
        self.options = DoctorOptions(
            interface=INTERFACE, window_s=0.6, answer_s=0.4, whole=True, roles=frozenset(Role), bmcs=2
        )

    def examine(self) -> list[RoleResult]:
        return self.roles.inside(self._examine)

    def named(self) -> list[Role]:
        return named(self.examine())

    def kinds(self) -> list[str]:
        return [verdict.kind for one in self.examine() for verdict in one.bad]

    async def _examine(self) -> list[RoleResult]:
        double, other = MaasDouble(self.settings), MaasDouble()
        for host, mac in MACHINES.items():
            double.add_machine(host, [mac], **power(BMCS[host]))
        for change in self.prepare:
            change(double)
        api, metadata = Front(double), Front(other)
        await api.start()
        await metadata.start()
        site = self._site(api, metadata)
        if "api" in self.without:
            await api.stop()
        if "metadata" in self.without:
            await metadata.stop()

        async def ask(hosts: object) -> dict[str, View | str]:
            return self.bmcs

        key = Secret(self.key or double.settings.api_key)
        book = Book(
            {host: View(host, frozenset({mac}), BMCS[host]) for host, mac in MACHINES.items()},
            {host: [mac] for host, mac in MACHINES.items()},
            {host: f"{host}.{DOMAIN}" for host in MACHINES},
        )
        assert site.maas is not None
        try:
            async with open_maas(MaasSettings(site.maas.url, key, answer_s=5)) as maas:
                return await Doctor(site, maas, book, list(MACHINES), self.options, ask).examine()
        finally:
            await api.stop()
            await metadata.stop()

    @staticmethod
    def _site(api: Front, metadata: Front) -> Site:
        text = SITE.format(
            url=f"{api.double.origin}/MAAS",
            metadata=f"{metadata.double.origin}/MAAS/metadata/",
            server=SERVER,
            domain=DOMAIN,
            proxy=PROXY,
            page=PAGE,
        )
        return load_site(text, "site.yaml")


def test_when_everything_works_every_role_is_ok(ward: Ward) -> None:
    results = ward.examine()
    assert [(one.role, one.result.value) for one in results] == [(role, "ok") for role in Role], [
        verdict.text for one in results for verdict in one.bad
    ]


def stop(role: str) -> Change:
    return lambda ward: ward.roles.stop(role)


def without(role: str) -> Change:
    return lambda ward: ward.without.add(role)


def settings(**changed: Any) -> Change:
    def change(ward: Ward) -> None:
        ward.settings = replace(ward.settings, **changed)

    return change


def bmc(host: str, **changed: Any) -> Change:
    def change(ward: Ward) -> None:
        view = ward.bmcs[host]
        assert isinstance(view, View)
        ward.bmcs[host] = replace(view, **changed)

    return change


def prepared(change: Callable[[MaasDouble], Any]) -> Change:
    return lambda ward: ward.prepare.append(change)


def start(role: str, **options: Any) -> Change:
    return lambda ward: ward.roles.start(role, **options)


def no_image(ward: Ward) -> None:
    ward.settings = replace(ward.settings, images=("ubuntu/noble",))


def wrong_key(ward: Ward) -> None:
    ward.key = "another:key:thatisrefused"


@pytest.mark.parametrize(
    ("change", "role", "kind"),
    [
        (stop("dhcp"), Role.DHCP, "dhcp-silent"),
        (stop("dns"), Role.DNS, "dns-down"),
        (stop("ntp"), Role.NTP, "ntp-down"),
        (stop("proxy"), Role.PROXY, "proxy-down"),
        (without("metadata"), Role.METADATA, "metadata-down"),
        (no_image, Role.IMAGES, "images-missing"),
        (settings(images=()), Role.IMAGES, "images-missing"),
        (stop("upstream"), Role.PROXY, "proxy-upstream"),
        (start("rogue"), Role.DHCP, "dhcp-rogue"),
        (start("ntp", synchronised=False), Role.NTP, "ntp-unsynchronised"),
        (settings(clock_offset_s=120.0), Role.API, "api-clock"),
        (
            prepared(lambda double: double.faults.add("no-rack", "gpu002", count=None)),
            Role.RACKS,
            "racks-bmc",
        ),
        (bmc("gpu002", bmc_address="198.51.100.77"), Role.AGREEMENT, "agreement-bmc-address"),
        (bmc("gpu002", hostname="gpu001"), Role.AGREEMENT, "agreement-host-name"),
        (bmc("gpu002", macs=frozenset({"02:00:00:aa:00:77"})), Role.AGREEMENT, "agreement-mac"),
        (
            prepared(
                lambda double: double.add_machine("spare", ["02:00:00:aa:00:99"], **power("198.51.100.9"))
            ),
            Role.AGREEMENT,
            "agreement-stranger",
        ),
    ],
)
def test_what_fails_alone_is_named_alone(ward: Ward, change: Change, role: Role, kind: str) -> None:
    change(ward)
    results = ward.examine()
    assert named(results) == [role]
    assert {verdict.kind for one in results for verdict in one.bad} == {kind}


def test_without_rack_controllers_that_is_named(ward: Ward) -> None:
    ward.settings = replace(ward.settings, racks=0)
    results = ward.examine()
    assert named(results) == [Role.RACKS]
    texts = [verdict.text for one in results for verdict in one.bad]
    assert "No rack controllers can access the BMC of node gpu001" in " ".join(texts)


def test_a_refused_key_is_named_and_what_needs_it_could_not_tell(ward: Ward) -> None:
    wrong_key(ward)
    results = ward.examine()
    assert named(results) == [Role.API]
    doubtful = {one.role for one in results if one.result.value == "could not tell"}
    assert doubtful == {Role.RACKS, Role.IMAGES, Role.AGREEMENT}


def test_without_the_api_it_is_named_and_the_services_are_asked_all_the_same(ward: Ward) -> None:
    ward.without.add("api")
    results = {one.role: one.result.value for one in ward.examine()}
    assert results == {
        Role.API: "finding",
        **dict.fromkeys((Role.RACKS, Role.IMAGES, Role.AGREEMENT), "could not tell"),
        **dict.fromkeys((Role.DHCP, Role.METADATA, Role.NTP, Role.DNS, Role.PROXY), "ok"),
    }


def test_a_disagreement_tells_all_three_values(ward: Ward) -> None:
    bmc("gpu002", bmc_address="198.51.100.77")(ward)
    (verdict,) = [verdict for one in ward.examine() for verdict in one.bad]
    assert verdict.subject == "gpu002"
    assert verdict.found == "site says 198.51.100.2, MAAS says 198.51.100.2, BMC says 198.51.100.77"


def installed(ward: Ward, address: str) -> None:
    """gpu001 is installed and has an address by MAAS."""

    def change(double: MaasDouble) -> None:
        record = double.machine("gpu001")
        record.status = Status.DEPLOYED
        record.nics[0].address = address

    ward.prepare.append(change)


def test_the_name_of_an_installed_host_is_looked_up_both_ways(ward: Ward) -> None:
    installed(ward, ward.roles.address("gpu001"))
    (dns,) = [one for one in ward.examine() if one.role is Role.DNS]
    assert [(verdict.result.value, verdict.found) for verdict in dns.verdicts] == [
        ("ok", ward.roles.address("gpu001")),
        ("ok", f"gpu001.{DOMAIN}."),
    ]


def test_a_dns_server_that_gives_another_address_is_named(ward: Ward) -> None:
    installed(ward, ward.roles.address("gpu001"))
    ward.roles.start("dns", wrong="192.0.2.99")
    results = ward.examine()
    assert named(results) == [Role.DNS]
    assert {verdict.kind for one in results for verdict in one.bad} == {"dns-other-address", "dns-missing"}


def test_a_host_that_is_not_enrolled_is_named(ward: Ward) -> None:
    ward.prepare.append(lambda double: double.records.pop(double.machine("gpu002").system_id))
    (verdict,) = [verdict for one in ward.examine() for verdict in one.bad]
    assert (verdict.subject, verdict.kind) == ("gpu002", "agreement-not-enrolled")


def test_a_role_that_takes_too_long_could_not_tell_and_holds_up_no_other(ward: Ward) -> None:
    ward.prepare.append(
        lambda double: double.faults.add("slow", op="boot-resources.read", seconds=3.0, count=None)
    )
    ward.options = replace(ward.options, probe_s=2.0)
    results = {one.role: one for one in ward.examine()}
    assert results[Role.IMAGES].verdicts[0].found == "it was not finished within 2 s"
    assert [role for role, one in results.items() if one.result.value != "ok"] == [Role.IMAGES]


def test_only_the_roles_asked_for_are_asked(ward: Ward) -> None:
    ward.options = replace(ward.options, roles=frozenset({Role.NTP, Role.API}))
    assert [one.role for one in ward.examine()] == [Role.API, Role.NTP]
