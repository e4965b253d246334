"""What goes over the wire to MAAS: the key, fields, and no more at a time than is set."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import (
    ProvisionerForbiddenError,
)
from provision.maas.wire import Answer, Ask, Fields, encode_form, pairs
from tests.provision.maas.maas_script import (
    CONFLICT,
    READ,
    WRITE,
    Script,
    as_json,
    late,
    plain,
    scripted,
    sent,
)


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


def test_a_locked_machine_is_forbidden_though_the_answer_is_empty() -> None:
    error, _ = sent(WRITE, plain(403))
    assert isinstance(error, ProvisionerForbiddenError)
