"""What a fabric in islands is told to do: the whole layer, never a handful of swaps that would join the islands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fabricctl.cli.main import main

SWAPS = re.compile(
    r"\b([0-9][0-9,]*|one|two|three|four|five|six|seven|eight) (?:plugs? to move|moves?|swaps?)\b"
)


def shown(captures: Path, capsys: pytest.CaptureFixture[str], form: str) -> str:
    folder = captures / "ibsim"
    words = ["--plan", str(folder / "imbue/fabric.net.gz"), "--discovered"]
    words += [str(folder / "imbue-islands/fabric.net.gz"), "--format", form]
    assert main(["verify-cabling", *words]) == 1
    return capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_every_number_of_moves_is_that_of_the_whole_layer(
    form: str, captures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = " ".join(shown(captures, capsys, form).split())
    assert set(SWAPS.findall(out)) == {"4,064"}
    assert "recable the leaf-spine layer as planned: every spine must see leaf switches of every rail" in out


def test_the_fixes_speak_of_the_layer_and_none_of_fewer_cables(
    captures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = json.loads(shown(captures, capsys, "json"))
    [split] = [finding for finding in report["findings"] if finding["kind"] == "split_fabric"]
    assert (
        split["fix"] == "see the switch-to-switch cables and absent switches below: they are what divides it"
    )
    [cause] = report["explanation"]["causes"]
    assert cause["fix"].startswith("recable the leaf-spine layer")
    assert report["repair"]["moves"] == 4064
    whole = [cause["fix"], split["fix"], report["answer"], *report["notes"]]
    assert not any(
        re.search(r"connect(s|ed)? again|enough to|at least \d+ (swap|move)", text) for text in whole
    )
