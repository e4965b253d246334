"""Identities as people and tools read them: the table, the published JSON, the node-name-map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fabricctl.discovery import namemap
from fabricctl.identity.identify import identify
from fabricctl.identity.model import (
    Ambiguity,
    Assignment,
    Contradiction,
    Hypothesis,
    Identification,
    Refusal,
    Source,
)
from fabricctl.report import identity_map, identity_screen
from fabricctl.report.identity_json import identity_schema, to_json
from tests.identity.nets import hosts_exchanged, net_of, observe, plan_of

SNAPSHOT = Path(__file__).with_name("identify.schema.json")


def sample() -> Identification:
    """Something of everything."""
    seen = [f"0x{n:016x}" for n in range(1, 6)]
    return Identification(
        assignments=[
            Assignment(seen[0], "leaf1", Source.VOTES, 64, 2, 60, "leaf3", "leaf1", "R1 U8"),
            Assignment(seen[1], "leaf2", Source.DECLARED, 3, 60, -57, "leaf4", 'odd "name"\x1b', "", True),
            Assignment(seen[2], "leaf3", Source.VOTES, 32, 32, 0, "leaf4"),
            Assignment(seen[3], "leaf4", Source.VOTES, 32, 32, 0, "leaf3"),
            Assignment(seen[4], None, Source.VOTES, described="stranger"),
        ],
        ambiguities=[
            Ambiguity(
                (seen[2], seen[3]),
                (
                    Hypothesis("one way: move 8 ends", ((seen[2], "leaf3"), (seen[3], "leaf4")), 8, 0),
                    Hypothesis("the other: move 9 ends", ((seen[2], "leaf4"), (seen[3], "leaf3")), 9, 2),
                ),
                ("read the label of leaf3",),
            )
        ],
        contradictions=[Contradiction(seen[1], "leaf2", "leaf4", 60, 3)],
        names={seen[0]: "leaf1", seen[1]: "leaf2"},
        unplaced=[seen[4]],
        unfilled=["spine1", "spine2"],
        notes=["a note"],
        assumed=["ambiguity 2, hypothesis 1: so be it"],
    )


def text(found: Identification, *, everything: bool = False) -> str:
    lines = identity_screen.render(found, everything=everything)
    return "\n".join("".join(span for span, _ in line) for line in lines)


def test_the_screen_says_the_worst_first() -> None:
    said = text(sample())
    parts = ["COULD NOT TELL ALL", "assumed", "AMBIGUITY 1", "  hypothesis 1", "decide by", "CONTRADICTION"]
    parts += ["NO PLACE", "NOT FOUND", "describes itself as another place", "a note"]
    at = [said.index(part) for part in parts]
    assert at == sorted(at)
    assert "2 of 5 discovered switches have a certain place, 2 cannot be told apart" in said
    assert "(describes itself as stranger)" in said
    assert "spine[1-2]" in said


def test_every_switch_stands_in_the_long_form() -> None:
    rows = [line for line in text(sample(), everything=True).splitlines() if line.startswith("leaf")]
    assert rows[0].split() == ["leaf1", "R1", "U8", f"0x{1:016x}", "64", "2", "60", "leaf3", "leaf1"]
    assert rows[1].startswith("leaf2 (declared)")
    assert rows[2].startswith("leaf3 ?")


def test_a_refusal_shows_its_evidence_and_nothing_else() -> None:
    said = text(Identification(refusal=Refusal(("this is not it", "fact one", "fact two"))))
    assert said.split() == [
        "ANOTHER",
        "FABRIC",
        "this",
        "is",
        "not",
        "it",
        "evidence",
        "fact",
        "one",
        "fact",
        "two",
    ]


def test_the_json_keeps_the_published_schema() -> None:
    for found in (sample(), Identification(refusal=Refusal(("no",))), Identification()):
        report: dict[str, Any] = json.loads(to_json(found))
        jsonschema.Draft202012Validator(identity_schema()).validate(report)
    report = json.loads(to_json(sample()))
    assert (report["exit_code"], report["certain"], report["switches_seen"]) == (3, 2, 5)
    assert [h["moves"] for h in report["ambiguities"][0]["hypotheses"]] == [8, 9]


def test_the_published_schema_changes_only_on_purpose() -> None:
    jsonschema.Draft202012Validator.check_schema(identity_schema())
    assert identity_schema() == json.loads(SNAPSHOT.read_text("utf-8"))


def test_the_map_names_what_is_certain_and_comments_the_rest() -> None:
    made = identity_map.render(sample())
    assert namemap.parse(made) == {f"0x{1:016x}": "leaf1", f"0x{2:016x}": "leaf2"}
    assert f'# 0x{3:016x} "leaf4"' in made
    assert f"# 0x{5:016x} fits no place of the plan" in made
    refused = identity_map.render(Identification(refusal=Refusal(("not\nthis",))))
    assert all(line.startswith("#") for line in refused.splitlines())


@pytest.mark.parametrize("exchanged", [False, True])
def test_every_report_of_a_real_run_agrees_with_the_names(exchanged: bool) -> None:
    faults = [hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")] if exchanged else []
    found = identify(plan_of("medium"), observe(net_of("medium", *faults)).observation)
    assert namemap.parse(identity_map.render(found)) == found.names
    report = json.loads(to_json(found))
    assert {s["guid"]: s["name"] for s in report["switches"] if s["certain"]} == found.names
    assert ("0 cannot be told" in text(found)) is False


def test_a_name_with_control_characters_reaches_no_terminal_by_the_map() -> None:
    found = Identification(names={"0x1": "leaf\x1b[31m1\u202e", "0x2": "a\nb"})
    text = identity_map.render(found)
    assert not {"\x1b", "\u202e"} & set(text)
    assert '0x2 "a b"' in text


@pytest.mark.parametrize(
    ("number", "words"), [(1, "1 planned was not found"), (2, "2 planned were not found")]
)
def test_one_is_one(number: int, words: str) -> None:
    found = Identification(unfilled=[f"leaf{n}" for n in range(number)])
    assert words in identity_screen.verdict_words(found)[2]
