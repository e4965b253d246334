"""The site file's ``install`` and ``maas``: who is named must be there, and must be possible to install."""

from __future__ import annotations

from pathlib import Path

import pytest
from site_texts import SMALL
from typer.testing import CliRunner

from fabricctl.cli.site import app
from fabricctl.errors import SiteError
from fabricctl.site.check import check_site
from fabricctl.site.load import load_site

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBl0g7rdyX6kJd0cDH0g2l8sRHhCJ8KJ1aSgN0H0wT9z ops@site"
BMCS = "management: {bmc_subnets: [192.0.2.0/24], bmc_addresses: {h1: 192.0.2.1, h2: 192.0.2.2}}\n"
DISK = SMALL.replace("gpus: 2, height_u: 2}", "gpus: 2, height_u: 2, boot_disk: {model: '*BOSS*'}}")
MAAS = "maas: {url: 'http://192.0.2.9:5240/MAAS', hosts: %s}\n"


def refused(extra: str) -> str:
    with pytest.raises(SiteError) as caught:
        load_site(SMALL + extra, "site.yaml")
    return str(caught.value)


def found(text: str) -> list[str]:
    return [f"{one.line}: {one}" for one in check_site(load_site(text, "site.yaml"), {})]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (
            "install: {boot_disks: {h3: S1}}\n",
            "site.yaml:29: install.boot_disks.h3: unknown host 'h3'; expected one of h1, h2",
        ),
        (
            "install:\n  boot_disks:\n    h1: S1\n    h2: s1\n",
            "site.yaml:32: install.boot_disks.h2: expected another disk than that of h1, found s1 again",
        ),
        (
            MAAS % '{"h[1-3]": {}}',
            "site.yaml:29: maas.hosts.h[1-3]: unknown host 'h3'; expected one of h1, h2",
        ),
        (
            MAAS % '{"h[1-2]": {}, "h2,h1": {}}',
            "site.yaml:29: maas.hosts.h2,h1: expected each host in one set, found h2 in h[1-2] too",
        ),
        (
            MAAS % '{"h[1-2]": {boot_nic: "0c:42:a1:00:12:ef"}}',
            "site.yaml:29: maas.hosts.h[1-2].boot_nic: expected a NIC's id for 2 hosts, found one MAC",
        ),
    ],
)
def test_a_reference_of_the_installation_that_names_nothing_is_refused(extra: str, message: str) -> None:
    assert refused(extra) == message


def test_an_entry_of_one_host_beside_its_set_is_no_contradiction() -> None:
    site = load_site(DISK + BMCS + MAAS % '{"h[1-2]": {}, h2: {power: ipmi}}', "site.yaml")
    assert site.maas is not None
    assert check_site(site, {}) == []


def test_a_site_that_names_maas_and_no_bmc_address_is_found() -> None:
    assert found(DISK + MAAS % "{}") == [
        "29: install: maas: MAAS cannot reach a BMC: management.bmc_addresses names none"
    ]


def test_a_host_to_be_enrolled_without_a_bmc_address_is_found_with_the_line_that_names_it() -> None:
    one = BMCS.replace(", h2: 192.0.2.2", "")
    assert [line for line in found(DISK + one + MAAS % '{"h[1-2]": {}}') if "install" in line] == [
        "30: install: h2: to be enrolled in MAAS, but no BMC address is written"
    ]


def test_hosts_whose_boot_disk_nothing_tells_are_found_at_their_model() -> None:
    extra = "install: {boot_disks: {h1: S1}}\n"
    assert found(SMALL + BMCS + extra + MAAS % "{}") == [
        "5: install: h2: nothing says which disk gets the system: write node_models.host.boot_disk or "
        "install.boot_disks"
    ]


def test_a_site_without_maas_needs_no_boot_disk() -> None:
    assert found(SMALL) == []


def test_a_word_that_is_no_key_is_found_and_a_private_one_is_not_repeated() -> None:
    users = "install: {users: {ops: {ssh_keys: ['%s', nokey, '-----BEGIN OPENSSH PRIVATE KEY-----']}}}\n"
    assert found(SMALL + users % KEY) == [
        "29: install: ops: ssh_keys: expected a public key or file:PATH, found 'nokey'",
        "29: install: ops: ssh_keys: expected a public key or file:PATH, found a private key",
    ]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "cannot be read: "),
        ("# nobody yet\n", "expected public keys, one on each line, found none"),
        (f"{KEY}\nMIIEow\n", "line 2: expected a public key, found 'MIIEow'"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n", "line 1: expected a public key, found a private key"),
    ],
)
def test_a_file_of_keys_that_is_none_is_found(tmp_path: Path, content: str | None, fault: str) -> None:
    path = tmp_path / "site.yaml"
    path.write_text("name: s\ninstall:\n  users:\n    ops: {ssh_keys: ['file:keys/ops.pub']}\n")
    (tmp_path / "keys").mkdir()
    if content is not None:
        (tmp_path / "keys" / "ops.pub").write_text(content)
    result = CliRunner().invoke(app, ["check", str(path)])
    assert result.exit_code == 1, result.output
    assert f"{path}:4: install: file:keys/ops.pub: {fault}" in result.stdout


def test_a_file_of_keys_with_options_comments_and_blank_lines_is_right(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text("name: s\ninstall:\n  users:\n    ops: {ssh_keys: ['file:ops.pub']}\n")
    (tmp_path / "ops.pub").write_text(f'# us\n\n{KEY}\nno-pty,from="192.0.2.*" {KEY}\n')
    result = CliRunner().invoke(app, ["check", str(path)])
    assert (result.exit_code, result.exception) == (0, None), result.output


def test_hosts_whose_names_have_a_domain_are_found_as_maas_keeps_it_apart() -> None:
    text = (
        (DISK + BMCS)
        .replace("  h[1-2]:", "  h[1-2].lab:")
        .replace("h1:", "h1.lab:")
        .replace("h2:", "h2.lab:")
    )
    text = text.replace("devices: h2}", "devices: h2.lab}")
    (line,) = found(text + MAAS % '{"h[1-2].lab": {}}')
    assert "h[1-2].lab: MAAS knows machines by names without a domain: write h[1-2] under nodes" in line
    assert found(text) == []


@pytest.mark.parametrize(
    "domain", ["lab.example.", "", ".lab", "lab..example", "lab example", "-lab", "x" * 64]
)
@pytest.mark.parametrize("place", ["hosts: {h1: {domain: 'DOMAIN'}}", "roles: {domain: 'DOMAIN'}"])
def test_a_domain_that_maas_would_not_take_is_refused_before_anything_else(domain: str, place: str) -> None:
    maas = "maas: {url: 'http://192.0.2.9:5240/MAAS', PLACE}\n".replace("PLACE", place)
    said = refused(maas.replace("DOMAIN", domain))
    assert f"expected a DNS domain such as lab.example, found '{domain[:60]}'" in said


def test_a_domain_with_digits_and_dashes_is_taken() -> None:
    site = load_site(SMALL + MAAS % "{h1: {domain: gpu-1.4lab.example}}", "site.yaml")
    assert site.maas is not None
    assert site.maas.hosts["h1"].domain == "gpu-1.4lab.example"
