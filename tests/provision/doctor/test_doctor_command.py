"""``fabricctl maas doctor`` with everything real or simulated behind it: services, MAAS, BMCs."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest
import typer
from typer.testing import CliRunner, Result

from fabricctl.adapters.store.location import Location
from fabricctl.cli.maas.doctor import register
from fabricctl.errors import FabricctlError
from fabricctl.site.load import load_site
from provision.install.doctor_agree import View
from provision.report.schemas import schema_of
from provision.workflows.doctor_bmcs import who_are
from tests.sim.idrac import PASSWORD_VARIABLE, Simulator
from tests.sim.maas.double import MaasDouble
from tests.sim.maas.process import ServedDouble, maas_double
from tests.sim.roles import DOMAIN, INTERFACE, PAGE, PROXY, SERVER, Roles
from tests.sim.roles import missing as missing_for_roles

pytestmark = pytest.mark.slow

KEYLESS = "(without the BMCs' password)"
app = typer.Typer()
register(app)


@app.callback()
def group() -> None:
    """So that the command keeps its name."""


@pytest.fixture(scope="module")
def network() -> Iterator[Roles]:
    absent = missing_for_roles() + ([] if os.geteuid() == 0 else ["root"])
    if absent and os.environ.get("REQUIRE_TOOLS") != "1":
        pytest.skip(f"tools not installed: {', '.join(absent)}")
    with Roles({"gpu001": "02:00:00:aa:00:01"}) as running:
        yield running


Run = Callable[..., Result]


@pytest.fixture
def run(network: Roles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs the command on the client, beside a MAAS that knows two hosts and their BMCs.

    :param change: what is changed at the double before.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def invoke(*words: str, change: Callable[[MaasDouble], object] = lambda _: None) -> Result:
        return network.call(lambda: _run(words, change, tmp_path, monkeypatch))

    yield invoke
    network.restore()


def _run(
    words: tuple[str, ...],
    change: Callable[[MaasDouble], object],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Result:
    with Simulator(2) as fleet, maas_double() as maas:
        monkeypatch.setenv(PASSWORD_VARIABLE, fleet.password)
        monkeypatch.setenv("MAAS_API_KEY", maas.api_key)
        path = folder / "site.yaml"
        bmcs = fleet.site_text(whole=True, verify="off", tags=True)
        path.write_text(bmcs + _maas(maas, {}), "utf-8")
        told = _told(path, fleet.hosts)
        boots = {}
        for host, address in zip(fleet.hosts, fleet.addresses, strict=True):
            boots[host] = sorted(told[host].macs)[0]
            power = {"address": address, "user": "maas", "pass": "none"}
            fields = {f"power_parameters_power_{name}": text for name, text in power.items()}
            maas.double.add_machine(host, [boots[host]], **{"power_type": "redfish", **fields})
        change(maas.double)
        path.write_text(bmcs + _maas(maas, boots), "utf-8")
        if KEYLESS in words:
            monkeypatch.delenv(PASSWORD_VARIABLE)
            words = tuple(word for word in words if word != KEYLESS)
        return CliRunner().invoke(app, ["doctor", *words, "--site", str(path), "--interface", INTERFACE])


def _maas(maas: ServedDouble, boots: dict[str, str]) -> str:
    hosts = ", ".join(f"{host}: {{boot_nic: '{mac}'}}" for host, mac in boots.items())
    return (
        f"maas:\n  url: {maas.url}\n  hosts: {{{hosts}}}\n"
        f"  roles: {{dhcp: {SERVER}, dns: {SERVER}, ntp: {SERVER}, domain: {DOMAIN}, "
        f"proxy: '{PROXY}', page: '{PAGE}'}}\n"
    )


def _told(path: Path, hosts: list[str]) -> dict[str, View]:
    import asyncio

    site = load_site(path.read_text(), str(path))
    nowhere = Location("nowhere", "", str(path.parent / "nowhere.sqlite"))
    told = asyncio.run(who_are(site, nowhere, hosts))
    return {host: view for host, view in told.items() if isinstance(view, View)}


def test_everything_right_ends_with_0_and_says_so_role_by_role(run: Run) -> None:
    done = run()
    assert done.exit_code == 0, done.output
    roles = [line.split()[:2] for line in done.output.splitlines() if line[:1].islower()]
    assert [words for words in roles if words[0] != "all"] == [
        [role, "ok"]
        for role in ("api", "racks", "dhcp", "images", "metadata", "ntp", "dns", "proxy", "agreement")
    ]
    assert "all 9 roles are right" in done.output


def test_a_role_that_fails_is_a_finding_and_ends_with_1(run: Run, network: Roles) -> None:
    network.stop("ntp")
    done = run()
    assert done.exit_code == 1, done.output
    assert "not right: ntp (of 9 roles)" in done.output
    assert "expected a synchronised clock within 30 s of this one's, found connection refused" in " ".join(
        done.output.split()
    )


def test_what_could_not_be_told_ends_with_3(run: Run) -> None:
    done = run(change=lambda double: double.faults.add("error", op="boot-resources.read", count=None))
    assert done.exit_code == 3, done.output
    assert "could not tell: images" in done.output


def test_the_json_document_is_that_of_its_schema_and_has_every_answer(run: Run, network: Roles) -> None:
    network.start("rogue")
    done = run("--format", "json")
    document = json.loads(done.stdout)
    jsonschema.validate(document, schema_of("maas-doctor"))
    assert done.exit_code == 1
    assert [one["kind"] for one in document["findings"]] == ["dhcp-rogue"]
    assert {one["role"]: one["result"] for one in document["roles"]}["dhcp"] == "finding"


def test_csv_has_a_row_for_every_question(run: Run) -> None:
    done = run("--format", "csv", "--only", "ntp,images,racks")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["role"], row["result"]) for row in rows] == [
        *[("racks", "ok")] * 3,  # the rack controller, and two BMCs through it
        ("images", "ok"),
        ("ntp", "ok"),
    ]


def test_a_crossed_cable_is_a_disagreement_with_all_values(run: Run) -> None:
    def crossed(double: MaasDouble) -> None:
        first, second = (double.machine(host).power for host in ("gpu001", "gpu002"))
        first["power_address"], second["power_address"] = second["power_address"], first["power_address"]

    done = run("--only", "agreement", "--format", "json", change=crossed)
    findings = json.loads(done.stdout)["findings"]
    assert {(one["host"], one["kind"]) for one in findings} == {
        ("gpu001", "agreement-bmc-address"),
        ("gpu002", "agreement-bmc-address"),
    }
    assert "site says 127.31.0.1, MAAS says 127.31.0.2, BMC says 127.31.0.1" in findings[0]["text"]


def test_without_the_bmcs_password_site_and_maas_are_compared_and_the_rest_could_not_tell(run: Run) -> None:
    done = run(KEYLESS, "--only", "agreement")
    assert done.exit_code == 3, done.output
    assert "gpu[001-002]" in done.output
    assert PASSWORD_VARIABLE in done.output


def test_a_part_of_the_hosts_is_enough(run: Run) -> None:
    done = run("gpu002", "--only", "racks,agreement", "--no-bmc")
    assert done.exit_code == 0, done.output
    assert "gpu001" not in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only", "dhpc"), "MAAS plays no role 'dhpc'"),
        (("--only", "ntp", "--skip", "ntp"), "no role is left to ask"),
        (("gpu999",), "the site has no node 'gpu999'"),
    ],
)
def test_wrong_usage_is_said(run: Run, words: tuple[str, ...], said: str) -> None:
    error = run(*words).exception
    assert isinstance(error, FabricctlError)
    assert (error.exit_code, said in str(error)) == (2, True)
