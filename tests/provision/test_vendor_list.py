"""A vendor's list of factory passwords: columns by content, errors by line, and no cell in any message."""

from __future__ import annotations

import io

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import InputError
from provision.bmc.vendor_file import read_text, read_workbook
from provision.bmc.vendor_list import Delivered


def told(machines: list[Delivered]) -> list[tuple[str, str, str]]:
    return [(machine.tag, machine.user, machine.password.reveal()) for machine in machines]


@pytest.mark.parametrize(
    "header",
    [
        "Service Tag,User Name,iDRAC Password",
        "SERVICETAG,USERNAME,PASSWORD",
        "service_tag,login,default_password",
        "SvcTag,iDRAC User,Secure Password",
        "Dell Service Tag,Account,iDRAC Secure Default Password",
        "Serial Number,user,Passwd",
        "#Tag,user,pwd",
        "Asset Service Tag,Default User,Factory Password",
        "ServiceTag,UserName,RootPassword",
    ],
)
def test_common_spellings_of_the_header_are_recognised(header: str) -> None:
    assert told(read_text(f"{header}\n7XK4QZ3,root,Ab3-xyz\n", "l.csv")) == [("7XK4QZ3", "root", "Ab3-xyz")]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " ", "   "])
def test_every_usual_separator_is_read(separator: str) -> None:
    rows = [["ServiceTag", "User", "Password"], ["7XK4QZ3", "root", "one"], ["8abcde1", "root", "two"]]
    text = "\r\n".join(separator.join(row) for row in rows) + "\r\n"
    assert told(read_text(text, "l")) == [("7XK4QZ3", "root", "one"), ("8ABCDE1", "root", "two")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("7XK4QZ3,Ab3-xyz\n8ABCDE1,Ab3-xyw\n", [("7XK4QZ3", "", "Ab3-xyz"), ("8ABCDE1", "", "Ab3-xyw")]),
        ("Ab3-xyz\t7XK4QZ3\nAb3-xyw\t8ABCDE1\n", [("7XK4QZ3", "", "Ab3-xyz"), ("8ABCDE1", "", "Ab3-xyw")]),
        (
            "7XK4QZ3 root Ab3-xyz\n8ABCDE1 root Ab3-xyw\n",
            [("7XK4QZ3", "root", "Ab3-xyz"), ("8ABCDE1", "root", "Ab3-xyw")],
        ),
    ],
)
def test_a_list_without_header_is_read_where_the_columns_are_clear(
    text: str, wanted: list[tuple[str, str, str]]
) -> None:
    assert told(read_text(text, "l")) == wanted


def test_of_two_columns_that_could_be_tags_none_is_guessed() -> None:
    with pytest.raises(
        InputError, match=r"l:1: no header was recognised, and several columns could hold the tags"
    ):
        read_text("7XK4QZ3,ABCDEFG\n8ABCDE1,ABCDEFH\n", "l")


def test_titles_above_the_header_and_other_columns_do_not_matter() -> None:
    text = (
        "Order 4711\n\n"
        "Pos,Model,Asset Tag,Service Tag,Express Service Code,BIOS Setup Password,iDRAC Default Password,MAC\n"
        "1,XE9680,A-1,7XK4QZ3,123,bios,Ab3-xyz,b0:7b:25:d6:51:82\n"
    )
    assert told(read_text(text, "l")) == [("7XK4QZ3", "", "Ab3-xyz")]


def test_two_columns_of_bmc_passwords_are_not_chosen_from() -> None:
    with pytest.raises(InputError, match=r"l:1: the header names 2 columns of BMC passwords.*keep only one"):
        read_text("Service Tag,iDRAC Password,Default Password\n7XK4QZ3,a,b\n", "l")


def test_everything_wrong_is_told_with_its_line_and_no_cell() -> None:
    text = (
        "Service Tag,User,Password\n"
        "7XK4QZ3,root,Zebra-4711\n"
        "7xk4qz3,root,Zebra-4712\n"
        "8ABCDE1,root,\n"
        "Zebra-4713,root,8ABCDE2\n"
        "8ABCDE3,root,Zebra,4714\n"
        "8ABCDE4,Zebra 4715,x\n"
        "\n"
        ",root,Zebra-4716\n"
    )
    with pytest.raises(InputError) as caught:
        read_text(text, "l.csv")
    errors = [str(error) for error in caught.value.errors]  # type: ignore[attr-defined]
    assert errors == [
        "l.csv:3: service tag 7XK4QZ3 stands in line 2 already",
        "l.csv:4: service tag 8ABCDE1 has no password (column 3)",
        "l.csv:5: column 1: expected a service tag of 7 digits and letters, found 10 characters",
        "l.csv:6: has 4 cells, expected 3; quote a password that holds the separator",
        "l.csv:7: the user name of service tag 8ABCDE4 is none",
        "l.csv:9: column 1: expected a service tag of 7 digits and letters, found nothing",
    ]
    assert "Zebra" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n\n", " , \n"])
def test_an_empty_list_is_said(text: str) -> None:
    with pytest.raises(InputError, match="is empty"):
        read_text(text, "l")


def test_a_header_without_rows_is_said() -> None:
    with pytest.raises(InputError, match="l:1: has a header and no rows"):
        read_text("Service Tag,Password\n", "l")


def test_a_quoted_password_keeps_its_separator_and_quotes() -> None:
    text = 'Service Tag,Password\n7XK4QZ3,"a,b""c"\n'
    assert told(read_text(text, "l")) == [("7XK4QZ3", "", 'a,b"c')]


def test_a_stray_quote_is_told_by_its_line_alone() -> None:
    with pytest.raises(InputError, match=r"l:\d: .*do the quotes pair") as caught:
        read_text('Service Tag,Password\n7XK4QZ3,"Zebra\n8ABCDE1,x\n', "l")
    assert "Zebra" not in str(caught.value)


def workbook(*rows: list[object], title: str = "Passwords") -> bytes:
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.title = "Cover"
    first.append(["Delivery", "of March"])
    sheet = book.create_sheet(title)
    for row in rows:
        sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_of_a_workbook_the_sheet_with_the_header_is_read() -> None:
    data = workbook(["Service Tag", "iDRAC Password"], ["7XK4QZ3", "Ab3-xyz"], [1234567, "x"])
    assert told(read_workbook(data, "l.xlsx")) == [("7XK4QZ3", "", "Ab3-xyz"), ("1234567", "", "x")]


def test_a_password_that_a_spreadsheet_made_a_number_is_refused_with_its_row() -> None:
    data = workbook(["Service Tag", "iDRAC Password"], ["7XK4QZ3", 12345678])
    with pytest.raises(InputError, match=r"l.xlsx\[Passwords\]:2: .*drops leading zeros") as caught:
        read_workbook(data, "l.xlsx")
    assert "12345678" not in str(caught.value)


def test_a_broken_workbook_is_one_line_without_its_content() -> None:
    with pytest.raises(InputError, match=r"\Al.xlsx: the workbook cannot be read\Z") as caught:
        read_workbook(b"PK\x03\x04Zebra-4711" * 9, "l.xlsx")
    assert caught.value.__suppress_context__


passwords = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=20)
tags = st.text(st.sampled_from("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"), min_size=7, max_size=7)


@given(st.dictionaries(tags, passwords, min_size=1, max_size=6), st.sampled_from([",", ";", "\t", "|"]))
def test_what_is_written_as_csv_is_read_back(rows: dict[str, str], separator: str) -> None:
    import csv

    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator)
    writer.writerow(["Service Tag", "iDRAC Password"])
    writer.writerows(rows.items())
    assert {tag: word for tag, _, word in told(read_text(out.getvalue(), "l"))} == rows


@given(
    st.lists(
        st.lists(st.one_of(tags, passwords, st.just("root"), st.just("")), min_size=1, max_size=4), max_size=6
    ),
    st.sampled_from([",", ";", "\t", "|", " "]),
    st.booleans(),
)
def test_no_message_repeats_a_cell(rows: list[list[str]], separator: str, header: bool) -> None:
    head = separator.join(["ServiceTag", "User", "Password"]) + "\n" if header else ""
    text = head + "\n".join(separator.join(row) for row in rows)
    try:
        read_text(text, "l")
    except InputError as exc:
        said = str(exc)
        for cell in {cell for row in rows for cell in row if len(cell) > 7}:
            assert cell not in said
