"""What goes over the wire, what is sent again, and what a broken wire means for a read and for a write."""

from __future__ import annotations

import asyncio
import re
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from aiohttp import web
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import (
    ProvisionerAnswerError,
    ProvisionerBusyError,
    ProvisionerDeadlineError,
    ProvisionerError,
    ProvisionerForbiddenError,
    ProvisionerGarbledError,
    ProvisionerLoginError,
    ProvisionerOutcomeUnknownError,
    ProvisionerStateError,
    ProvisionerUnreachableError,
)
from provision.bmc.secret import Secret
from provision.maas.provisioner import open_maas
from provision.maas.settings import MaasSettings
from provision.maas.transport import MaasTransport
from provision.maas.wire import Answer, Ask, Fields, encode_form, masked, pairs
from tests.provision.maas.maas_script import (
    KEY,
    Say,
    Script,
    as_json,
    broken,
    late,
    plain,
    scripted,
)

READ = Ask("GET", "machines/", query=(("id", "abcdef"),))
WRITE = Ask("POST", "machines/abcdef/", "release", host="gpu001")
CONFLICT = plain(409, "", Retry_After="5")


def sent(ask: Ask, *answers: Say, **options: Any) -> tuple[Answer | ProvisionerError, Script]:
    async def run() -> tuple[Answer | ProvisionerError, Script]:
        async with scripted(*answers) as script:
            transport = script.transport(**options)
            try:
                return await transport.send(ask), script
            except ProvisionerError as exc:
                return exc, script
            finally:
                await transport.close()

    return asyncio.run(asyncio.wait_for(run(), 30))


def test_the_key_is_sent_as_oauth_plaintext_with_a_nonce_of_its_own_each_time() -> None:
    first, script = sent(READ, CONFLICT, as_json([]))
    assert isinstance(first, Answer)
    headers = [got.headers["Authorization"] for got in script.got]
    for header in headers:
        assert header.startswith("OAuth ")
        fields = dict(re.findall(r'(\w+)="([^"]*)"', header))
        assert fields.pop("oauth_nonce")
        assert abs(int(fields.pop("oauth_timestamp")) - 1.7e9) < 1e9
        assert fields == {
            "oauth_version": "1.0",
            "oauth_signature_method": "PLAINTEXT",
            "oauth_consumer_key": "ConsumerKey0",
            "oauth_token": "TokenKey0",
            "oauth_signature": "%26TokenSecret0",
        }
    assert headers[0] != headers[1]


def test_a_write_without_fields_has_an_empty_body_and_says_so() -> None:
    _, script = sent(WRITE, as_json({}))
    (got,) = script.got
    assert (got.path, got.query) == ("/MAAS/api/2.0/machines/abcdef/", (("op", "release"),))
    assert got.headers["Content-Length"] == "0"
    assert "Content-Type" not in got.headers
    assert got.body == b""


def test_a_list_is_the_same_field_several_times_and_a_truth_is_a_word() -> None:
    form: Fields = {
        "mac_addresses": ["52:54:00:00:00:01", "52:54:00:00:00:02"],
        "commission": False,
        "root_device": 4,
    }
    _, script = sent(Ask("POST", "machines/", form=form), as_json({}))
    assert script.got[0].form == (
        ("mac_addresses", "52:54:00:00:00:01"),
        ("mac_addresses", "52:54:00:00:00:02"),
        ("commission", "false"),
        ("root_device", "4"),
    )


@given(
    st.dictionaries(st.text(min_size=1, max_size=8), st.lists(st.text(max_size=12), min_size=1), max_size=4)
)
def test_every_field_arrives_as_it_was_given(fields: dict[str, list[str]]) -> None:
    body = encode_form(fields).decode()
    assert parse_qsl(body, keep_blank_values=True, strict_parsing=bool(body)) == pairs(fields)


def test_macs_in_a_query_stay_as_they_are() -> None:
    ask = Ask(
        "GET", "machines/", query=(("mac_address", "52:54:00:00:00:01"), ("mac_address", "52:54:00:00:00:02"))
    )
    _, script = sent(ask, as_json([]))
    assert script.got[0].query == ask.query


def test_a_conflict_is_sent_again_after_the_time_maas_asks_for() -> None:
    answer, script = sent(WRITE, CONFLICT, CONFLICT, as_json({"ok": 1}))
    assert isinstance(answer, Answer)
    assert len(script.got) == 3
    assert script.slept == [5.0, 10.0]  # dice at 0.5: no more and no less than asked, longer each time


def test_conflicts_without_end_end_in_an_error() -> None:
    error, script = sent(WRITE, CONFLICT, conflicts=4)
    assert isinstance(error, ProvisionerBusyError)
    assert len(script.got) == 4


def test_a_state_violation_is_sent_once() -> None:
    error, script = sent(WRITE, plain(409, "Machine cannot be released in its current state ('New')."))
    assert isinstance(error, ProvisionerStateError)
    assert str(error) == "gpu001: Machine cannot be released in its current state ('New')."
    assert len(script.got) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_write_that_a_server_failed_at_is_sent_once_and_its_outcome_unknown(status: int) -> None:
    error, script = sent(WRITE, plain(status, "x", Retry_After="1"))
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert len(script.got) == 1


def test_a_read_is_sent_a_second_time_when_no_rack_controller_was_there_for_a_moment() -> None:
    answer, script = sent(READ, plain(503, "no connections", Retry_After="10"), as_json([]))
    assert isinstance(answer, Answer)
    assert script.slept == [10.0]


def test_a_read_whose_connection_breaks_is_sent_a_second_time_and_no_third() -> None:
    error, script = sent(READ, broken())
    assert isinstance(error, ProvisionerUnreachableError)
    assert len(script.got) == 2


def test_a_write_whose_connection_breaks_is_sent_once_and_its_outcome_unknown() -> None:
    error, script = sent(WRITE, broken())
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert len(script.got) == 1


def test_a_late_answer_is_a_deadline_of_a_read_and_an_unknown_outcome_of_a_write() -> None:
    error, script = sent(READ, late(5), answer_s=0.2)
    assert isinstance(error, ProvisionerDeadlineError)
    assert len(script.got) == 1
    error, script = sent(WRITE, late(5), answer_s=0.2)
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert "within 0.2 s" in str(error)
    assert len(script.got) == 1


def test_nothing_was_sent_where_nobody_listens() -> None:
    async def run() -> ProvisionerError:
        transport = MaasTransport(MaasSettings("http://127.0.0.1:1/MAAS", Secret(KEY)))
        try:
            await transport.send(WRITE)
        except ProvisionerError as exc:
            return exc
        finally:
            await transport.close()
        raise AssertionError

    error = asyncio.run(run())
    assert type(error) is ProvisionerUnreachableError
    assert str(error) == "gpu001: no connection to MAAS: connection refused"


def test_the_key_does_not_follow_a_redirect() -> None:
    error, script = sent(READ, plain(302, "", Location="/MAAS/elsewhere/"))
    assert isinstance(error, ProvisionerAnswerError)
    assert "/MAAS/elsewhere/" in str(error)
    assert len(script.got) == 1


def test_an_answer_that_is_no_json_though_it_says_so_is_garbled() -> None:
    async def garbled(_: web.Request) -> web.StreamResponse:
        return web.Response(text='[{"system_id": "abc', content_type="application/json")

    error, _ = sent(READ, garbled)
    assert isinstance(error, ProvisionerGarbledError)
    assert "19 bytes" in str(error)
    error, script = sent(WRITE, garbled)
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert len(script.got) == 1


def test_an_answer_cut_short_is_garbled_for_a_read_and_an_unknown_outcome_for_a_write() -> None:
    async def short(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "100", "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"a"')
        assert request.transport is not None
        request.transport.close()
        return response

    error, _ = sent(READ, short)
    assert isinstance(error, ProvisionerGarbledError)
    error, script = sent(WRITE, short)
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert len(script.got) == 1


def test_an_answer_larger_than_any_that_makes_sense_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("provision.maas.transport.LARGEST_BODY", 1000)
    error, _ = sent(READ, plain(200, "x" * 100_000))
    assert isinstance(error, ProvisionerGarbledError)


def test_requests_share_connections_and_no_more_are_under_way_than_set() -> None:
    async def run() -> Script:
        async with scripted(late(0.02)) as script:
            transport = script.transport(requests=3)
            await asyncio.gather(*(transport.send(READ) for _ in range(30)))
            assert transport.requests == 30
            await transport.close()
            return script

    script = asyncio.run(asyncio.wait_for(run(), 30))
    assert script.most_under_way == 3
    assert len(script.peers) == 3


def test_waiting_for_others_does_not_use_up_the_deadline() -> None:
    async def run() -> int:
        async with scripted(late(0.15)) as script:
            transport = script.transport(requests=1, answer_s=0.6)
            await asyncio.gather(*(transport.send(READ) for _ in range(8)))
            await transport.close()
            return len(script.got)

    assert asyncio.run(asyncio.wait_for(run(), 30)) == 8


def test_secrets_that_maas_repeats_are_not_shown() -> None:
    ask = Ask("POST", "machines/", host="gpu001", hidden=(Secret('s3cr"t pw'),))
    error, _ = sent(ask, plain(400, '{"power_pass": ["\'s3cr\\"t pw\' and TokenSecret0 are no good"]}'))
    assert str(error) == "gpu001: power_pass: '***' and *** are no good"


@given(st.text(min_size=3, max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_no_text_holds_a_hidden_secret(hidden: str, before: str, after: str) -> None:
    clean = masked(before + hidden + after, [Secret(hidden)])
    assert hidden not in clean or hidden in "***"


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
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        app = web.Application()
        app.router.add_get("/MAAS/api/2.0/version/", as_json({"version": "3.7.3"}))
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        port = runner.addresses[0][1]
        try:
            async with open_maas(
                MaasSettings(f"https://127.0.0.1:{port}/MAAS", Secret(KEY), ca_file)
            ) as maas:
                return await maas.version()
        except ProvisionerError as exc:
            return exc
        finally:
            await runner.cleanup()

    assert asyncio.run(run(str(certificate))) == "3.7.3"
    error = asyncio.run(run(""))
    assert type(error) is ProvisionerUnreachableError
    assert "certificate" in str(error)
    error = asyncio.run(run(str(tmp_path / "absent.pem")))
    assert type(error) is ProvisionerUnreachableError


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that is its own authority."""
    from datetime import UTC, datetime, timedelta
    from ipaddress import ip_address

    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "maas")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "maas.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "maas.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return folder / "maas.pem", folder / "maas.key"


def test_a_locked_machine_is_forbidden_though_the_answer_is_empty() -> None:
    error, _ = sent(WRITE, plain(403))
    assert isinstance(error, ProvisionerForbiddenError)
