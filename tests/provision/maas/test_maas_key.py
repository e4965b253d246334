"""The API key, the certificate, and secrets that MAAS repeats."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fabricctl.errors import (
    ProvisionerAnswerError,
    ProvisionerError,
    ProvisionerLoginError,
    ProvisionerUnreachableError,
)
from provision.bmc.secret import Secret
from provision.maas.provisioner import open_maas
from provision.maas.settings import MaasSettings
from provision.maas.wire import Ask
from tests.provision.maas.maas_script import (
    KEY,
    READ,
    as_json,
    plain,
    scripted,
    sent,
)
from tests.provision.maas.maas_tls import self_signed, serving


def test_the_key_does_not_follow_a_redirect() -> None:
    error, script = sent(READ, plain(302, "", Location="/MAAS/elsewhere/"))
    assert isinstance(error, ProvisionerAnswerError)
    assert "/MAAS/elsewhere/" in str(error)
    assert len(script.got) == 1


def test_secrets_that_maas_repeats_are_not_shown() -> None:
    ask = Ask("POST", "machines/", host="gpu001", hidden=(Secret('s3cr"t pw'),))
    error, _ = sent(ask, plain(400, '{"power_pass": ["\'s3cr\\"t pw\' and TokenSecret0 are no good"]}'))
    assert str(error) == "gpu001: power_pass: '***' and *** are no good"


@pytest.mark.parametrize("key", ["", "abc", "a:b", "a:b:c:d", "a::c", "a:b c:d", "a:b:\n"])
def test_what_is_no_key_is_refused_before_anything_is_sent_and_not_shown(key: str) -> None:
    async def run() -> None:
        async with open_maas(MaasSettings("http://127.0.0.1:1/MAAS", Secret(key))):
            raise AssertionError

    with pytest.raises(ProvisionerLoginError) as caught:
        asyncio.run(run())
    assert key.strip() == "" or key not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://192.0.2.1:5240/MAAS", "http://192.0.2.1:5240/MAAS/", "http://192.0.2.1:5240/MAAS/api/2.0"]
)
def test_the_apis_address_is_found_from_how_people_write_it(url: str) -> None:
    assert MaasSettings(url, Secret(KEY)).api == "http://192.0.2.1:5240/MAAS/api/2.0/"


def test_settings_do_not_show_the_key() -> None:
    assert "TokenSecret0" not in repr(MaasSettings("http://192.0.2.1/MAAS", Secret(KEY)))


def test_a_certificate_is_checked_against_the_sites_authority(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)

    async def run(ca_file: str) -> str | ProvisionerError:
        async with scripted(as_json({"version": "3.7.3"}), context=serving(certificate, key)) as script:
            try:
                async with open_maas(MaasSettings(script.url, Secret(KEY), ca_file)) as maas:
                    return await maas.version()
            except ProvisionerError as exc:
                return exc

    assert asyncio.run(run(str(certificate))) == "3.7.3"
    error = asyncio.run(run(""))
    assert type(error) is ProvisionerUnreachableError
    assert "certificate" in str(error)
    error = asyncio.run(run(str(tmp_path / "absent.pem")))
    assert type(error) is ProvisionerUnreachableError
