"""Secrets that a BMC says back reach nobody."""

from __future__ import annotations

import json
import logging
import traceback

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from provision.redfish.bmc import Bmc
from provision.redfish.mask import Mask
from tests.provision.redfish.conftest import Asker, target_of
from tests.provision.redfish.tiny import SESSIONS, Tiny, message
from tests.sim.idrac.users import ROOT_PASSWORD

PATH = "/redfish/v1/Systems/1"
ACCOUNT = "/redfish/v1/AccountService/Accounts/2"
PASSWORD, NEW = ROOT_PASSWORD, 'new/"\u00e9-password'


def echo(form: str, status: int) -> object:
    """An answer that says all it was ever told."""

    async def answer(request: web.Request) -> web.Response:
        token = request.headers.get("X-Auth-Token", "none")
        sent = await request.text()
        said = f"{PASSWORD} {token} {request.headers.get('Authorization', '')} {sent}"
        if form == "text":
            return web.Response(status=status, text=said)
        if form == "late":  # where it is cut for people
            return message(status, "SYS999", "x" * 230 + said)
        if form == "escaped":
            text = json.dumps({"error": {"message": said}}).replace("/", "\\/")
            return web.Response(status=status, text=text, content_type="application/json")
        return message(status, "SYS999", said)

    return answer


async def change(bmc: Bmc) -> None:
    await bmc.patch(ACCOUNT, {"Password": NEW})


async def noted(bmc: Bmc) -> None:
    await bmc.members("/redfish/v1/Chassis")


@pytest.mark.parametrize("form", ["text", "message", "late", "escaped"])
@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 503])
@pytest.mark.parametrize("basic", [False, True])
def test_no_error_and_no_note_holds_what_was_sent(
    tiny: Tiny,
    run: Asker,
    form: str,
    status: int,
    basic: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "provision")
    answer = echo(form, status)
    for method in ("GET", "PATCH"):
        tiny.rules[method, ACCOUNT] = answer  # type: ignore[assignment]
    tiny.rules["GET", "/redfish/v1/Chassis?$expand=*($levels=1)"] = answer  # type: ignore[assignment]
    for work in (change, noted):
        outcome = run(work, target_of(tiny, basic=basic))
        shown = [caplog.text, *(f"{note.path} {note.text}" for note in outcome.notes)]
        if outcome.error is not None:
            shown += traceback.format_exception(outcome.error)
        assert_hidden("".join(shown), tiny)


def assert_hidden(text: str, tiny: Tiny) -> None:
    tokens = [one.headers["X-Auth-Token"] for one in tiny.seen if "X-Auth-Token" in one.headers]
    basics = [one.headers["Authorization"] for one in tiny.seen if "Authorization" in one.headers]
    for secret in [PASSWORD, NEW, *tokens, *basics, *(basic.split()[-1] for basic in basics)]:
        for length in (len(secret), 12):  # also not its beginning
            assert secret[:length] not in text, text


def test_a_refused_login_does_not_say_the_password(tiny: Tiny, run: Asker) -> None:
    tiny.rules["POST", SESSIONS] = echo("message", 401)  # type: ignore[assignment]
    outcome = run(lambda bmc: bmc.get(PATH))
    assert outcome.error is not None
    assert PASSWORD not in str(outcome.error)
    assert "***" in str(outcome.error)


def test_a_bug_of_ours_that_quotes_an_answer_quotes_no_secret(
    tiny: Tiny, run: Asker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def work(bmc: Bmc) -> None:
        await bmc.get("/redfish/v1/AccountService/Accounts")
        raise KeyError(f"no {PASSWORD} here")

    tiny.tree["/redfish/v1/AccountService/Accounts"] = {"Members": []}
    outcome = run(work)
    assert outcome.error is not None
    assert PASSWORD not in caplog.text + "".join(traceback.format_exception(outcome.error))


def test_a_short_password_changes_nothing_of_what_is_read() -> None:
    mask = Mask()
    mask.learn({}, {"UserName": "root", "Password": "root"})
    body = {"UserName": "root", "Enabled": True}
    assert mask.body(body, json.dumps(body).encode(), good=True) == body
    assert mask.text("no such user: root") == "no such user: ***"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=8), st.booleans())
def test_a_secret_is_found_however_json_writes_it(secret: str, ascii: bool) -> None:
    mask = Mask()
    mask.learn({}, {"Oem": [{"NewPassword": secret}]})
    body = {"a": [f"x{secret}y", {secret: 1}]}
    raw = json.dumps(body, ensure_ascii=ascii).encode()
    assert mask.body(body, raw, good=True) == {"a": ["x***y", {"***": 1}]}
    assert secret.encode() not in mask.raw(secret.encode())
