"""Hosts that say the same share a line; nothing that differs is hidden by it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.hostset import expand
from provision.bmc.outcome import BmcFinding, Note, Outcome
from provision.bmc.scan import Answer, Sight, compare
from provision.bmc.service_root import Claim
from provision.bmc.target import Target
from provision.report.alike import alike, alike_rows
from provision.report.common import SHOWN, Table, said_lines
from provision.report.fleet import finding_lines, note_lines
from provision.report.scan_report import scan_report


def texts(said: list[tuple[str, str]], *, parts: bool = False) -> list[tuple[str, str]]:
    return [(one.who, one.text) for one in alike(said, parts=parts)]


def shown(lines: object) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]  # type: ignore[attr-defined]


def test_numbers_with_a_unit_that_lie_near_each_other_are_a_range() -> None:
    assert texts([("gpu001", "25.2 min ahead (±0.5 s)"), ("gpu002", "25.4 min ahead (±0.7 s)")]) == [
        ("gpu[001-002]", "25.2-25.4 min ahead (±0.5-0.7 s)")
    ]


def test_numbers_of_both_signs_are_a_range_that_can_be_read() -> None:
    assert texts([("a", "-0.4 s"), ("b", "+0.3 s")]) == [("a,b", "-0.4 to +0.3 s")]


def test_a_number_far_from_the_others_stands_on_its_own_line() -> None:
    said = [("gpu001", "31 °C"), ("gpu002", "90 °C"), ("gpu003", "34 °C")]
    assert texts(said) == [("gpu[001,003]", "31-34 °C"), ("gpu002", "90 °C")]


@pytest.mark.parametrize("pair", [("BIOS 2.2.8", "BIOS 2.2.9"), ("2/2 OK", "1/2 OK"), ("DIMM A1", "DIMM A2")])
def test_numbers_without_a_unit_are_names_and_stay_apart(pair: tuple[str, str]) -> None:
    assert len(texts([("gpu001", pair[0]), ("gpu002", pair[1])])) == 2


def test_moments_of_one_hour_are_a_range() -> None:
    rows = [(f"gpu00{n}", ["On", f"2026-01-14T0{n}:14:46+00:00"]) for n in (4, 5)]
    rows.append(("gpu003", ["On", "2026-01-11T05:00:00Z"]))
    assert alike_rows(rows) == [
        (("gpu003",), ["On", "2026-01-11T05:00:00Z"]),
        (("gpu004", "gpu005"), ["On", "2026-01-14T04:14:46+00:00 to 2026-01-14T05:14:46+00:00"]),
    ]


def test_what_is_no_moment_breaks_nothing() -> None:
    assert len(texts([("a", "2026-02-30T00:00:00Z"), ("b", "2026-02-28T00:00:00Z")])) == 2


def test_names_of_parts_are_a_folded_set() -> None:
    said = [("gpu001", f"InfiniBand.Slot.{n}-1 names a port") for n in (31, 32, 33, 37)]
    assert texts(said, parts=True) == [("gpu001", "InfiniBand.Slot.[31-33,37]-1 names a port")]


def test_parts_of_different_hosts_are_not_mixed() -> None:
    said = [("gpu001", "NIC.Slot.5-1 is down"), ("gpu002", "NIC.Slot.6-1 is down")]
    assert len(texts(said, parts=True)) == 2


@given(
    st.lists(
        st.tuples(
            st.integers(1, 999).map(lambda number: f"gpu{number:03d}"),
            st.tuples(
                st.sampled_from(["clock", "NIC.Slot.5-1", "fan"]),
                st.integers(-50, 5000),
                st.sampled_from(["s", "min", "°C", "times", "lanes"]),
            ).map(lambda words: "{} {} {}".format(*words)),
        ),
        max_size=30,
    )
)
def test_every_host_is_named_and_every_number_lies_in_its_range(said: list[tuple[str, str]]) -> None:
    groups = alike(said)
    assert sorted({host for group in groups for host in group.hosts}) == sorted({host for host, _ in said})
    for host, text in said:
        head, number, unit = text.rsplit(" ", 2)
        own = [g.text for g in groups if host in g.hosts and g.text.startswith(f"{head} ")]
        ranges = [
            re.fullmatch(rf"{re.escape(head)} (-?\d+)(?:(?:-| to )(-?\d+))? {unit}", one) for one in own
        ]
        assert any(one and int(one[1]) <= int(number) <= int(one[2] or one[1]) for one in ranges), (text, own)


def test_a_table_that_is_too_wide_says_once_what_is_the_same_in_every_row() -> None:
    rows = [(f"gpu{n:03d}", "On", "a very long model name of some maker") for n in range(1, 4)]
    lines = shown(Table(("host", "power", "model"), rows).lines(40))
    assert lines[0].split() == ["host", "power"]
    assert lines[-1] == "  each: model a very long model name of some maker"
    assert len(shown(Table(("host", "power", "model"), rows).lines(80))) == 4


def test_of_more_lines_than_a_screen_has_those_that_are_unusual_are_shown() -> None:
    rows = [(f"gpu{n:03d}", f"v{n}") for n in range(100)]
    styles = ["bad" if n == 77 else "" for n in range(100)]
    lines = shown(Table(("host", "version"), rows, styles).lines(80, each=False))
    assert len(lines) == SHOWN + 2
    assert "gpu077" in lines[1]
    assert lines[-1] == f"  and {100 - SHOWN} more lines: --format json or csv"


def test_a_link_that_leads_nowhere_is_said_once() -> None:
    cards = "/redfish/v1/Chassis/1/NetworkAdapters/InfiniBand.Slot"
    notes = []
    for n in (31, 32):
        notes += [
            Note(f"{cards}.{n}/Ports/InfiniBand.Slot.{n}", "is not there"),
            Note(
                f"{cards}.{n}/X/InfiniBand.Slot.{n}-1", f"names port InfiniBand.Slot.{n}, which is not there"
            ),
        ]
    outcomes = [Outcome(Target(host, "192.0.2.1"), 1, notes=tuple(notes)) for host in ("gpu001", "gpu002")]
    assert shown(note_lines(outcomes)) == [
        "odd, and tolerated",
        "  gpu[001-002]  InfiniBand.Slot.[31-32]-1 names port InfiniBand.Slot.[31-32], which is not there",
    ]


def test_findings_of_hundreds_of_hosts_are_one_paragraph() -> None:
    found = [
        BmcFinding(f"gpu{n:03d}", "clock-skew", f"gpu{n:03d}: BMC clock is {25 + n / 1000:.1f} min ahead")
        for n in range(1, 512)
    ]
    assert shown(finding_lines(found, 100)) == [
        "CLOCK SKEW           gpu[001-511] (511): BMC clock is 25.0-25.5 min ahead"
    ]


def test_a_scan_of_a_hall_is_a_screen_and_who_is_unusual_has_a_line() -> None:
    sights = [
        Sight(
            f"192.0.2.{n}",
            f"gpu{n:03d}",
            f"TAG{n:04d}",
            claim=Claim(f"TAG{n:04d}", redfish="1.17.0", product="iDRAC"),
        )
        for n in range(1, 201)
    ]
    owners = {sight.tag: sight.host for sight in sights}
    sights[41] = Sight("192.0.2.42", "gpu042", "TAG0042", answer=Answer.SILENT, text="no answer within 10 s")
    lines = shown(scan_report(compare(sights, owners)).text(80))
    assert len(lines) < 16
    assert any(line.split()[:2] == ["199", "gpu[001-041,043-200]"] for line in lines)
    assert any(line.split()[:3] == ["192.0.2.42", "gpu042", "no"] for line in lines)
    each = shown(scan_report(compare(sights, owners), each=True).text(80))
    assert sum(line.startswith("192.0.2.") for line in each) == 200


def test_said_lines_name_every_host_once() -> None:
    lines = shown(said_lines((f"gpu{n:03d}", "is slow") for n in range(1, 512)))
    assert lines == ["  gpu[001-511]  is slow"]
    assert len(expand(lines[0].split()[0])) == 511
