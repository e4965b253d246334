"""What reaches a terminal cannot steer it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.cli.console import plain, print_text, safe
from fabricctl.words import printable

# Unicode 15, Bidi_Control property; C0 and C1 controls
BIDI = [0x61C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069]
CONTROLS = [*range(9), 11, 12, *range(14, 32), *range(127, 160)]

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize("code", [*BIDI, *CONTROLS], ids=hex)
def test_no_control_and_no_turn_of_direction_is_printed(
    code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"gpu{chr(code)}001"
    assert safe(text) == "gpu\ufffd001"
    assert plain([((text, ""),)]) == "gpu\ufffd001\n"
    assert printable(text) == "gpu\ufffd001"
    print_text(f"host\n{text}\n")
    assert capsys.readouterr().out == "host\ngpu\ufffd001\n"


@given(st.dictionaries(TEXT, TEXT))
def test_json_says_the_same_without_showing_it(body: dict[str, str]) -> None:
    shown: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout.write", shown.append)
        print_text(json.dumps(body, ensure_ascii=False))
    text = "".join(shown)
    assert json.loads(text) == json.loads(json.dumps(body))
    assert not set(text) & {chr(code) for code in [*BIDI, *CONTROLS]}
