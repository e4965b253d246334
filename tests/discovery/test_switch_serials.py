"""Serial numbers of switches: lists in any order of words, and what ibswinfo prints; strict about everything else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.discovery.switch_serials import parse
from fabricctl.errors import DiscoveryError
from tests.conftest import read_capture

WANTED = {"0x1c34da0300010540": "MT1943X00498"}


@pytest.mark.parametrize(
    "text",
    [
        "0x1c34da0300010540 MT1943X00498",
        "MT1943X00498,0x1c34da0300010540",
        "1c34:da03:0001:0540;MT1943X00498",
        "1c34da0300010540\tMT1943X00498\t",
        "guid,serial\n0x1c34da0300010540,MT1943X00498\n\n# end",
        '# read in the hall\nName,Serial Number,Node GUID,Part\n"leaf, 1",MT1943X00498,0x1c34da0300010540,MQM\n',
        "guid,serial,rack\n0x1c34da0300010540,MT1943X00498,B07\n0x1c34da0300010541,,B08\n",
        "part number | MSB7790\nserial number | MT1943X00498\nGUID | 0x1c34da0300010540\n",
        "GUID | 0x1c34da0300010540\nserial number | MT1943X00498\n",
    ],
)
def test_spellings(text: str) -> None:
    assert parse(text + "\n") == WANTED


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("0x1 MT1\n0x2\n", 2, "expected GUID and serial number"),
        ("0x1 MT1 QM9700\n", 1, "expected GUID and serial number"),
        ("0x1 0x2\n", 1, "expected GUID and serial number"),
        ("0x1 | MT1\n", 1, "expected GUID and serial number"),
        ("0x1 MT1\n0x01 MT2\n", 2, "has serial 'MT2' here and 'MT1' at line 1"),
        ("serial number | MT1\nports | 36\n", 1, "serial 'MT1' has no GUID beside it"),
        ("serial number | MT1\nGUID | none\n", 2, "GUID 'none' is none"),
        ("serial number |\nGUID | 0x1\n", 0, "no serial number found"),
        ("", 0, "no serial number found"),
    ],
)
def test_what_is_not_understood_is_named_by_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(DiscoveryError) as caught:
        parse(text, "serials.txt")
    assert (caught.value.line, caught.value.path) == (line, "serials.txt")
    assert words in str(caught.value)


def test_several_guids_of_one_chassis_have_one_serial() -> None:
    assert parse("0x1 MT1\n0x2 MT1\n") == {"0x0000000000000001": "MT1", "0x0000000000000002": "MT1"}


def test_reports_of_ibswinfo_one_after_the_other(captures: Path) -> None:
    # by hand, from the files: part number, serial number and GUID stand together; power supplies have serials too
    folder = captures / "health" / "ibswinfo"
    text = "".join(read_capture(folder / f"treydock_test{n}.out") for n in (1, 2, 3))
    assert parse(text) == {
        "0x1c34da0300010540": "MT1943X00498",
        "0x08c0eb0300d9f672": "MT2152T10239",
        "0x08c0eb0300add20e": "MT2148T25782",
    }
    assert parse(text + "0x1 MT1\n")["0x0000000000000001"] == "MT1"


@pytest.mark.parametrize("name", ["treydock_test1-missing", "treydock_test-err1", "treydock_test-err3"])
def test_a_report_with_broken_fields(captures: Path, name: str) -> None:
    text = read_capture(captures / "health" / "ibswinfo" / f"{name}.out")
    assert parse(text) == WANTED


@given(st.text())
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    try:
        serials = parse(text)
    except DiscoveryError:
        return
    assert all(len(guid) == 18 and serial for guid, serial in serials.items())


@given(st.lists(st.text(st.characters(codec="ascii", exclude_characters="\n"), max_size=40)))
def test_no_report_does_anything_but_parse_or_be_refused(lines: list[str]) -> None:
    text = "serial number | MT1\nGUID | 0x1\n" + "\n".join(f"{line} | {line}" for line in lines)
    try:
        assert parse(text)["0x0000000000000001"] == "MT1"
    except DiscoveryError:
        return
