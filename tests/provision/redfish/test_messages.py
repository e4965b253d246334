"""What answers mean, by their messages; and when to ask again."""

from __future__ import annotations

from email.utils import formatdate
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.bmc.messages import BY_MESSAGE, LONGEST_WAIT_S, Meaning, asked_wait, meaning, said
from provision.bmc.reply import Reply
from provision.bmc.schedule import FIRST_PAUSE_S, LONGEST_PAUSE_S, Budget, pause


def answer(status: int, *entries: tuple[str, str], headers: dict[str, str] | None = None) -> Reply:
    told = [{"MessageId": key, "Message": text} for key, text in entries]
    return Reply("/redfish/v1/X", status, headers or {}, {"error": {"@Message.ExtendedInfo": told}})


# ids, statuses and texts as the issues and captures named in the table have them
@pytest.mark.parametrize(
    ("status", "key", "text", "expected"),
    [
        (503, "IDRAC.2.8.SYS518", "iDRAC is not ready. Retry in 30 seconds.", Meaning.NOT_READY),
        (400, "IDRAC.1.6.SWC0700", "iDRAC is not ready.", Meaning.NOT_READY),
        (500, "IDRAC.2.9.RAC0508", "the provider is not ready", Meaning.NOT_READY),
        (503, "Base.1.12.ServiceTemporarilyUnavailable", "Retry in 30 seconds", Meaning.NOT_READY),
        (503, "IDRAC.2.2.RAC0679", "A job operation is already running. Retry later.", Meaning.BUSY),
        (400, "IDRAC.2.4.LC068", "a configuration job is already scheduled", Meaning.PENDING),
        (503, "IDRAC.2.4.RAC0218", "The maximum number of user sessions is reached.", Meaning.SESSIONS_FULL),
        (400, "Base.1.8.GeneralError", "The maximum number of user sessions is reached.", Meaning.SESSIONS_FULL),
        (403, "IDRAC.2.9.SWC1908", "", Meaning.PASSWORD_CHANGE),
        (403, "Base.1.5.PasswordChangeRequired", "", Meaning.PASSWORD_CHANGE),
        (401, "IDRAC.2.8.RAC0212", "Login failed. Verify that username and password is correct.", Meaning.UNAUTHORIZED),
        (401, "IDRAC.2.8.RAC0212", "Login failed. Login delayed for 600 seconds.", Meaning.LOCKED_OUT),
        (401, "Base.1.8.AccessDenied", "The authentication credentials are missing.", Meaning.UNAUTHORIZED),
        (403, "IDRAC.2.7.LIC501", "A required license is missing or expired.", Meaning.LICENCE),
        (404, "IDRAC.2.7.SYS403", "Unable to complete the operation", Meaning.NOT_FOUND),
        (412, "Base.1.8.PreconditionFailed", "", Meaning.STALE),
        (428, "", "", Meaning.WANTS_ETAG),
        (500, "Base.1.8.InternalError", "", Meaning.ERROR),
    ],
)  # fmt: skip
def test_the_message_decides_before_the_status(status: int, key: str, text: str, expected: Meaning) -> None:
    assert meaning(answer(status, (key, text))) is expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [(503, Meaning.NOT_READY), (429, Meaning.NOT_READY), (401, Meaning.UNAUTHORIZED), (404, Meaning.NOT_FOUND)],
)  # fmt: skip
def test_without_a_known_message_the_status_decides(status: int, expected: Meaning) -> None:
    assert meaning(Reply("/x", status, {}, None)) is expected
    assert meaning(answer(status, ("IDRAC.9.9.XYZ999", "never heard of"))) is expected


def test_a_licence_error_beside_not_ready_does_not_hide_it() -> None:
    both = answer(503, ("IDRAC.2.7.LIC501", ""), ("IDRAC.2.9.RAC0508", ""))
    assert meaning(both) is Meaning.NOT_READY


@pytest.mark.parametrize("key", sorted(BY_MESSAGE))
def test_no_message_makes_a_failure_of_a_success(key: str) -> None:
    assert meaning(answer(200, (f"IDRAC.2.8.{key}", "text"))) is Meaning.OK


@given(st.integers(300, 599), st.lists(st.tuples(st.text(max_size=30), st.text(max_size=80)), max_size=3))
def test_every_error_answer_has_one_meaning_and_one_line(status: int, entries: list[tuple[str, str]]) -> None:
    reply = answer(status, *entries)
    assert meaning(reply) is not Meaning.OK
    assert said(reply).startswith(f"HTTP {status}")
    assert "\n" not in said(reply)


JUNK = st.recursive(st.none() | st.booleans() | st.text(max_size=9) | st.integers(), st.lists, max_leaves=5)


@given(JUNK, st.integers(300, 599))
def test_whatever_stands_where_messages_should_be_is_survived(junk: Any, status: int) -> None:
    for body in (
        junk,
        {"error": junk},
        {"error": {"@Message.ExtendedInfo": junk}},
        {"@Message.ExtendedInfo": junk},
    ):
        reply = Reply("/x", status, {}, body)
        assert isinstance(meaning(reply), Meaning)
        assert asked_wait(reply) is None or asked_wait(reply) >= 0


@pytest.mark.parametrize(
    ("headers", "text", "expected"),
    [
        ({"retry-after": "30"}, "", 30.0),
        ({"retry-after": "30"}, "Retry in 5 seconds", 30.0),
        ({}, "The service is temporarily unavailable. Retry in 30 seconds.", 30.0),
        ({}, "Wait for 2 minutes and try again", 120.0),
        ({}, "Wait for few minutes, refresh the page and retry.", None),
        ({"retry-after": "999999999"}, "", LONGEST_WAIT_S),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-5"}, "", None),
        ({}, "", None),
    ],
)
def test_what_the_bmc_asks_for_is_read(headers: dict[str, str], text: str, expected: float | None) -> None:
    assert asked_wait(answer(503, ("IDRAC.2.8.SYS518", text), headers=headers), now=0.0) == expected


def test_a_date_as_retry_after_is_read() -> None:
    at = 1_700_000_000.0
    reply = answer(503, headers={"retry-after": formatdate(at + 42, usegmt=True)})
    assert asked_wait(reply, now=at) == 42.0
    assert asked_wait(reply) is None


@given(st.integers(0, 1000), st.integers())
def test_a_pause_doubles_up_to_a_bound_and_at_least_half_of_it_is_waited(attempt: int, seed: int) -> None:
    full = min(FIRST_PAUSE_S * 2.0 ** min(attempt, 10), LONGEST_PAUSE_S)
    assert full / 2 <= pause(attempt, Random(seed)) <= full


@given(
    st.floats(0, 1000),
    st.lists(st.none() | st.floats(0, LONGEST_WAIT_S), max_size=40),
    st.integers(),
)
def test_no_schedule_waits_longer_than_the_budget_nor_less_than_asked(
    total: float, asked: list[float | None], seed: int
) -> None:
    budget = Budget(total, Random(seed))
    waited = 0.0
    for attempt, wish in enumerate(asked):
        wait = budget.take(attempt, wish, now=waited)
        if wait is None:
            assert budget.left_s < LONGEST_WAIT_S * 1.1
            continue
        assert wait > 0
        assert wish is None or wish <= wait <= max(wish * 1.1, 0.1, 2.0 ** (attempt - 3))
        waited += wait
    assert waited <= total + 1e-6


def test_a_budget_ends() -> None:
    budget = Budget(180.0, Random(1))
    now = 0.0
    waits = []
    for attempt in range(100):
        waits.append(budget.take(attempt, now=now))
        now += waits[-1] or 0.0
    assert waits.count(None) > 80
    assert 150 < now <= 180


def test_requests_that_wait_at_the_same_time_spend_the_budget_once() -> None:
    budget = Budget(180.0, Random(1))
    now = 0.0
    for _ in range(4):  # eleven adapters are asked together, and each is told "retry in 30 seconds"
        waits = [budget.take(0, 30.0, now=now) for _ in range(11)]
        assert None not in waits
        now += max(wait for wait in waits if wait is not None)
    assert budget.spent_s == pytest.approx(now)
