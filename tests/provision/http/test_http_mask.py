"""No secret comes back out of a server's answer, however it repeats it and wherever the answer is cut."""

from __future__ import annotations

import asyncio
import base64
import html
import json
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import ProvisionerError
from provision.bmc.secret import Secret
from provision.http.asked import Asked
from provision.http.mask import WINDOW, Mask
from provision.install.cloud_init import LoginUser, UserData, render_user_data
from provision.install.spec import DeploySpec
from provision.ironic.answers import told
from provision.maas.answers import error_of
from provision.workflows.install_keys import make_host_key
from tests.provision.maas.maas_script import Say, asked

# capitals: words of ours are in small letters, so that what is found can only come from the secret
LETTERS = "ABCDEFGHJKLMNPQRSTUVWYZ23456789 \n\t\"'\\/%<>&{}[]:,+=#$"
SECRETS = st.text(LETTERS, min_size=WINDOW, max_size=60)
ECHOES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "Python": repr,
    "URL": lambda text: quote(text, safe=""),
    "HTML": html.escape,
    "one line": lambda text: " ".join(text.split()),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "beginning": lambda text: text[: 2 * len(text) // 3],
    "end": lambda text: text[len(text) // 3 :],
}
BODIES: dict[str, Callable[[str], str]] = {
    "text": str,
    "JSON": lambda words: json.dumps({"power_pass": [words]}),
    "HTML": lambda words: f"<html><title>{words}</title></html>",
    "fault": lambda words: json.dumps({"error_message": json.dumps({"faultstring": words})}),
    "fault that is no JSON": lambda words: '{"error_message": "' + words,
}
KEY = make_host_key()
USER_DATA = render_user_data(
    UserData((LoginUser("ops", (KEY.public,)),), ("192.0.2.1",), "http://192.0.2.10:3142", KEY)
)
KEY_LINES = [line for line in KEY.private.reveal().splitlines() if not line.startswith("-")]


def windows(*texts: str) -> Iterator[str]:
    """Every run of six characters."""
    return (text[at : at + WINDOW] for text in texts for at in range(len(text) - WINDOW + 1))


def words_of(body: str, mask: Mask, status: int) -> str:
    """What both drivers tell of an error answer."""
    error = error_of(Asked("POST", "machines/"), status, {"location": body}, body, mask)
    return f"{error} {told(body.encode(), mask)}"


@settings(deadline=None)
@given(
    secret=SECRETS,
    before=st.integers(0, 420),
    echo=st.sampled_from(sorted(ECHOES)),
    body=st.sampled_from(sorted(BODIES)),
    status=st.sampled_from([302, 400, 409, 500, 504]),
)
def test_no_six_characters_of_a_secret_are_in_an_error_wherever_an_answer_repeats_it(
    secret: str, before: int, echo: str, body: str, status: int
) -> None:
    text = BODIES[body]("x" * before + ECHOES[echo](secret) + "x")
    shown = words_of(text, Mask([Secret(secret)]), status)
    found = [part for part in windows(secret) if part in shown]
    assert found == []
    if echo == "base64":
        coded = base64.b64encode(secret.encode()).decode()
        assert [part for part in windows(coded) if part in shown] == []


@settings(deadline=None)
@given(
    start=st.integers(0, len(USER_DATA)),
    before=st.integers(0, 420),
    length=st.integers(1, len(USER_DATA)),
    echo=st.sampled_from(sorted(ECHOES)),
    body=st.sampled_from(sorted(BODIES)),
)
def test_no_six_characters_of_a_private_key_in_user_data_are_in_an_error(
    start: int, before: int, length: int, echo: str, body: str
) -> None:
    data = base64.b64encode(USER_DATA.encode()).decode()
    mask = Mask([Secret(USER_DATA), Secret(data)])
    shown = words_of(BODIES[body]("x" * before + ECHOES[echo](USER_DATA[start : start + length])), mask, 400)
    assert [part for part in windows(*KEY_LINES) if part in shown] == []


def test_words_of_user_data_are_no_secret_so_that_errors_can_be_read() -> None:
    said = "Schema error for configdrive: package_upgrade, servers, disable_root true; http://192.0.2.10:3142"
    assert Mask([Secret(USER_DATA)]).line(said) == said


@pytest.mark.parametrize("line", ["password: hunterhunter", "hashed: $6$Ab1$xyz", "token: abcdefgh"])
def test_a_password_in_user_data_is_a_secret(line: str) -> None:
    value = line.partition(": ")[2]
    shown = Mask([Secret(f"#cloud-config\n{line}\n")]).line(f"wrong: {value[:-1]}")
    assert shown == "wrong: ***"


@pytest.mark.parametrize("secret", ["abc", "abcde"])
def test_a_short_secret_is_taken_out_as_a_whole_and_a_shorter_one_is_not_looked_for(secret: str) -> None:
    assert Mask([Secret(secret)]).text(f"is {secret} wrong") == "is *** wrong"
    assert Mask([Secret("is")]).text("is wrong") == "is wrong"
    assert Mask([Secret("")]).text("is wrong") == "is wrong"


def test_what_should_be_json_is_masked_before_its_beginning_is_shown() -> None:
    private = KEY_LINES[1]

    async def cut(_: web.Request) -> web.StreamResponse:
        return web.Response(text="{" + "y" * 20 + USER_DATA, content_type="application/json")

    async def told_of(_: web.Request) -> web.StreamResponse:
        return web.Response(text="z" * 290 + private, status=400)

    def deploying(say: Say) -> str:
        spec = DeploySpec("jammy", "ga", Secret(USER_DATA))
        error, _ = asked(lambda maas: maas.deploy("abcdef", spec), say)
        assert isinstance(error, ProvisionerError)
        return str(error)

    for say in (cut, told_of):
        shown = deploying(say)
        assert [part for part in windows(*KEY_LINES) if part in shown] == []


def test_many_secrets_of_one_fleet_are_learnt_once() -> None:
    mask = Mask()
    for _ in range(3):
        mask.learn(Secret("spring-tide-7"))
    assert mask.text("x spring-tide-7 tide-7 x") == "x *** *** x"


def test_nothing_waits_for_it() -> None:
    """A long page is looked through in a moment."""
    text = "".join(chr(97 + n % 26) for n in range(1 << 16))

    async def within() -> str:
        return await asyncio.wait_for(asyncio.to_thread(Mask([Secret("spring-tide-7")]).line, text), 5)

    assert len(asyncio.run(within())) == 1 << 16
