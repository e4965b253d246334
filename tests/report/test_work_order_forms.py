"""Every form of a work order: nothing lost, nothing told twice, and no name that breaks one."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from fabricctl.errors import InputError
from fabricctl.repair.order_model import StepKind, WorkOrder
from fabricctl.repair.order_pieces import split
from fabricctl.report import (
    work_order_csv,
    work_order_html,
    work_order_markdown,
    work_order_screen,
)
from fabricctl.report.work_order_json import read_order, to_json, work_order_schema
from tests.report.report_samples import NASTY
from tests.report.work_orders import hostile, small


def on_screen(order: WorkOrder) -> str:
    return "\n".join("".join(text for text, _ in line) for line in work_order_screen.render(order)) + "\n"


FORMS: dict[str, Callable[[WorkOrder], str]] = {
    "html": work_order_html.render,
    "markdown": work_order_markdown.render,
    "csv": work_order_csv.render,
    "json": to_json,
    "text": on_screen,
}
STEP_HEADS = {
    "html": r'<section class="s(?: more)?" id="(W-[^"]+)">',
    "markdown": r"^- \[ \] \*\*\d+\*\* `(W-[^`]+)`",
    "csv": r"^\d+,(W-[^,]+),",
    "json": r'^\s*"id": "(W-[^"]+)"',
    "text": r"^ +\d+ .*(W-[0-9a-f-]+),",
}
"""What begins a step in each form."""
WIRE_NAMES = st.binary(max_size=64).map(lambda name: name.decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize("form", FORMS)
def test_every_step_stands_in_every_form_once_and_in_order(form: str) -> None:
    order = small(5)
    assert len(order.steps) == 10
    found = re.findall(STEP_HEADS[form], FORMS[form](order), re.MULTILINE)
    assert found == [step.id for step in order.steps]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_covered_is_said_in_every_form(form: str) -> None:
    text = FORMS[form](hostile("leaf9 gave no answer"))
    assert text.count("leaf9 gave no answer") > 1
    assert "not_covered" in text or "ot covered" in text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NASTY)
def test_a_hostile_name_is_text_in_every_form(form: str, name: str) -> None:
    text = FORMS[form](hostile(name))
    assert text.encode("utf-8") if form != "text" else True
    assert text.endswith("\n")
    if form == "html":
        assert "<script>alert" not in text
        assert "<img" not in text
        Tags(text)
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert len(rows) == 3 + 4 + 1 + 1
        assert not [
            cell for row in rows for cell in row.values() if cell[:1] in ("=", "+", "-", "@", "\t", "\r")
        ]


@pytest.mark.parametrize("form", FORMS)
@given(name=st.one_of(WIRE_NAMES, st.text(max_size=64)))
@settings(max_examples=25, deadline=None)
def test_any_name_can_be_written(form: str, name: str) -> None:
    text = FORMS[form](hostile(name))
    if form != "text":  # the terminal cleans what it prints
        assert text.encode("utf-8")


class Tags(HTMLParser):
    """Tags that pair."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(name.startswith("on") or name == "src" for name, _ in attrs)
        assert all((value or "").startswith("#W-") for name, value in attrs if name == "href")
        if tag not in ("meta", "br"):
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag


@pytest.mark.parametrize("name", ["plain", '"</script><b>', "\u2028 \\ ' \" </style> */ }", "x\x00\x1b[31m"])
def test_json_and_html_are_read_back_as_they_were(name: str) -> None:
    order = hostile(name)
    assert read_order(to_json(order), "wo.json") == order
    assert read_order(work_order_html.render(order), "wo.html") == order


def test_a_share_is_read_back_as_a_share() -> None:
    share = split(small(6), 3)[1]
    assert read_order(work_order_html.render(share), "wo.html") == share


def test_the_json_holds_what_its_schema_says() -> None:
    schema = work_order_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for order in (small(), hostile("x"), WorkOrder("", "", (), "", ())):
        assert list(validator.iter_errors(json.loads(to_json(order)))) == []


def test_the_published_schema_changes_only_on_purpose() -> None:
    """A wanted change: write work_order_schema() to the snapshot; where a key goes or changes, count the version up."""
    snapshot = Path(__file__).with_name("work-order.schema.json")
    assert work_order_schema() == json.loads(snapshot.read_text("utf-8"))


def test_every_key_of_the_schema_is_described() -> None:
    schema = work_order_schema()
    plain = {
        "id",
        "kind",
        "device",
        "text",
        "spots",
        "group_size",
        "steps",
        "parts",
        "look_first",
        "notes",
        "undo",
    }
    plain |= {"schema", "order", "cable", "type_from", "exit_code", "counts"}
    for name, part in schema["$defs"].items():
        for key, value in part.get("properties", {}).items():
            assert key in plain or value.get("description"), f"{name}.{key}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<html><body>x</body></html>", "this page holds no work order"),
        ("{not json", "this is no work order"),
        ("[]", "its schema is None"),
        ('{"schema": "fabricctl.verify-cabling/1"}', "its schema is 'fabricctl.verify-cabling/1'"),
        (
            '{"schema": "fabricctl.work-order/9", "generator": "x", "order": {}}',
            "expected a work order of version 1",
        ),
        (
            '{"schema": "fabricctl.work-order/1", "generator": "x", "order": {}}',
            "this work order is damaged: order",
        ),
    ],
)
def test_what_is_no_work_order_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        read_order(text, "wo.json")
    assert str(caught.value).startswith("wo.json:")


def test_a_later_program_may_add_keys() -> None:
    body = json.loads(to_json(small()))
    body["order"]["weather"] = "fine"
    body["order"]["steps"][0]["mood"] = "good"
    assert read_order(json.dumps(body), "wo.json") == small()


def test_the_page_loads_and_runs_nothing() -> None:
    page = work_order_html.render(small())
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "script-src" not in policy[1]
    assert re.findall(r"<script(?![^>]*application/json)", page) == []


def test_the_page_has_boxes_to_tick_and_lines_to_sign() -> None:
    order = small(2)
    page = work_order_html.render(order)
    jobs = len(order.steps) + sum(len(step.first) for step in order.steps)
    assert page.count('<i class="box"></i>') == jobs == 6
    for name in ("initials", "time", "photo"):
        assert page.count(f"<span>{name}</span>") == len(order.steps)


def test_the_page_names_the_rules_of_handling_with_their_sources() -> None:
    page = work_order_html.render(small())
    assert "inspect, clean, inspect" in page
    assert "IEC 61300-3-35" in page
    assert "Pull by the tab" in page
    assert "American wire" not in page
    assert "30 AWG" not in page  # no copper in this order


def test_the_csv_has_a_row_per_step_with_both_ends() -> None:
    order = small(2)
    rows = list(csv.DictReader(io.StringIO(work_order_csv.render(order))))
    assert [row["number"] for row in rows] == ["1", "2", "3", "4"]
    first = rows[0]
    assert (first["from_rack"], first["from_unit"], first["from_device"]) == ("A1", "U1", "leaf0")
    assert first["to_place"].startswith("cage 1")
    assert (first["initials"], first["time"], first["photo"]) == ("", "", "")
    assert first["kind"] == StepKind.MOVE.value
