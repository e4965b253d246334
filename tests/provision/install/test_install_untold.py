"""What MAAS does not tell of a machine is never taken for good news."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provision.install.lifecycle import Act, Verb, Wish, decide
from provision.install.machine import Machine, Stage
from provision.maas.parse import machine_of, machines_of
from provision.report.install_status import Seen, status_report

RAW: dict[str, Any] = {
    "system_id": "abc123",
    "hostname": "gpu001",
    "status": 4,
    "status_name": "Ready",
    "tag_names": [],
    "locked": False,
}
ODD = [
    ({"status": None, "status_name": None}, "its state"),
    ({"status": 99, "status_name": "Hibernating"}, "its state"),
    ({"tag_names": None}, "whether it is in quarantine (no tag_names)"),
    ({"locked": None}, "whether it is locked"),
]


def seen(raw: dict[str, Any], recorded: str = "") -> Seen:
    (machine,) = machines_of([raw])
    return Seen("gpu001", machine, recorded=recorded)


def test_a_machine_that_tells_everything_is_ok() -> None:
    report = status_report([seen(RAW, "abc123")], "MAAS")
    assert (list(report.findings), list(report.doubts)) == ([], [])


@pytest.mark.parametrize(("odd", "what"), ODD)
def test_what_is_not_told_is_a_doubt_and_nothing_is_done(odd: dict[str, Any], what: str) -> None:
    one = seen({**RAW, **odd})
    assert list(status_report([one], "MAAS").doubts) == [("gpu001", f"MAAS does not tell {what}")]
    assert one.machine is not None
    for verb in Verb:
        assert decide(Wish(verb, again=True, from_quarantine=True), one.machine).act is Act.REFUSE


def test_an_absent_field_is_as_a_null_one() -> None:
    raw = {name: value for name, value in RAW.items() if name not in ("tag_names", "locked")}
    assert len(machine_of(raw).untold) == 2


def test_a_machine_without_an_id_is_in_no_other_s_way() -> None:
    first, second = machines_of([{**RAW, "system_id": None}, {**RAW, "hostname": "gpu002"}])
    assert (first.hostname, first.untold) == ("gpu001", ("its system_id",))
    assert (second.hostname, second.untold) == ("gpu002", ())


@pytest.mark.parametrize(
    ("machine", "text"),
    [
        (None, "gpu001: recorded as machine abc123, not in MAAS"),
        (
            Machine("zzz", "gpu001", Stage.READY, "Ready"),
            "gpu001: recorded as machine abc123, found zzz under this name",
        ),
    ],
)
def test_a_machine_that_was_enrolled_and_is_not_there_is_a_finding(
    machine: Machine | None, text: str
) -> None:
    report = status_report([Seen("gpu001", machine, recorded="abc123")], "MAAS")
    assert [one.text for one in report.findings] == [text]


def test_a_host_that_was_never_enrolled_is_no_finding() -> None:
    report = status_report([replace(Seen("gpu001"))], "MAAS")
    assert (list(report.findings), list(report.doubts)) == ([], [])
