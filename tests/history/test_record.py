"""What tells two runs apart, and which runs are compared with each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fabricctl.adapters.store.runs import Recorded
from fabricctl.cabling.finding_id import finding_id
from fabricctl.cabling.verdict import Options
from fabricctl.discovery.model import Observation
from fabricctl.history.record import known_of, run_of, series_of
from fabricctl.plan.model import Plan
from fabricctl.workflows.history import record_verdict
from fabricctl.workflows.verify_cabling import Intent, judge
from tests.cabling.fabrics import plan, seen, two_tier, without
from tests.cabling.test_finding_id import SLOTS

ROWS = two_tier(hosts=8, leaves=4, spines=2, width=2)
UP = ("leaf4", 21, "spine1", 7)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def fingerprint(*, identify: bool = False, **options: object) -> str:
    intent = Intent(plan(ROWS), Options(**options), identify=identify)  # type: ignore[arg-type]
    found = seen(ROWS)
    verdict = judge(intent, found)
    run = run_of(
        verdict,
        found,
        intent.plan,
        intent.options,
        series="plan x",
        made=NOW,
        who="anna@ufm1",
        command="verify-cabling",
        known=known_of(verdict.findings),
    )
    return run.fingerprint


QUESTIONS: tuple[Mapping[str, object], ...] = (
    {},
    {"strict": True},
    {"check_rails": True},
    {"identify": True},
    {"only": "leaf1"},
    {"only": "leaf2"},
    {"gate": 0.5},
    {"manager_hosts": "ufm1"},
    {"hca_slots": tuple(slot._replace(slot="31") for slot in SLOTS)},
    {"hca_slots": tuple(slot._replace(slot="32") for slot in SLOTS)},
    {"strict": True, "check_rails": True},
)


def test_every_question_has_a_fingerprint_of_its_own_and_always_the_same() -> None:
    once, again = ([fingerprint(**question) for question in QUESTIONS] for _ in range(2))  # type: ignore[arg-type]
    assert len(set(once)) == len(QUESTIONS)
    assert once == again


def test_a_look_further_is_kept_though_the_answer_is_the_same(tmp_path: Path) -> None:
    strangers = seen([*ROWS, ("leaf1", 40, "stranger", 1)])

    def recorded(found: Observation, *, strict: bool) -> Recorded:
        intent = Intent(plan(ROWS), Options(gate=1.0, strict=strict))
        done = record_verdict(intent, found, judge(intent, found), state=str(tmp_path / "x.sqlite"))
        assert isinstance(done, Recorded)
        return done

    assert len(recorded(strangers, strict=True).step.opened) == 2
    assert len(recorded(seen(ROWS), strict=False).step.not_looked) == 2
    assert len(recorded(seen(ROWS), strict=True).step.gone) == 2
    assert not recorded(seen(ROWS), strict=True).new


# -- series -------------------------------------------------------------------------------------------------------


def _record(path: str, wanted: Plan, found: Observation, state: Path) -> Recorded:
    intent = Intent(replace(wanted, path=path), Options(gate=1.0))
    done = record_verdict(intent, found, judge(intent, found), state=str(state))
    assert isinstance(done, Recorded)
    return done


@pytest.mark.parametrize(("first", "second"), [("/a/cabling.csv", "/b/cabling.csv"), ("-", "-")])
def test_two_plans_of_one_name_do_not_close_each_others_findings(
    first: str, second: str, tmp_path: Path
) -> None:
    state = tmp_path / "x.sqlite"
    small = two_tier(hosts=4, leaves=2, spines=1, width=2)
    opened = _record(first, plan(ROWS), seen(without(ROWS, UP)), state).step.opened
    assert len(opened) == 1
    other = _record(second, plan(small), seen(small), state)
    assert (other.step.gone, other.step.not_looked) == ((), ())
    assert _record(first, plan(ROWS), seen(ROWS), state).step.gone == opened


def test_one_plan_is_one_series_from_wherever_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    opened = []
    for folder, path in ((tmp_path, "cabling.csv"), (tmp_path / "sub", "../cabling.csv")):
        monkeypatch.chdir(folder)
        step = _record(path, plan(ROWS), seen(without(ROWS, UP)), tmp_path / "x.sqlite").step
        opened.append((len(step.opened), len(step.still)))
    assert opened == [(1, 0), (0, 1)]


def test_the_same_path_with_a_plan_of_other_devices_closes_nothing(tmp_path: Path) -> None:
    state = tmp_path / "x.sqlite"
    small = two_tier(hosts=4, leaves=2, spines=1, width=2)
    bad = judge(Intent(plan(ROWS), Options(gate=1.0)), seen(without(ROWS, UP))).findings
    _record("/a/cabling.csv", plan(ROWS), seen(without(ROWS, UP)), state)
    assert _record("/a/cabling.csv", plan(small), seen(small), state).step.not_looked == (finding_id(bad[0]),)


def test_what_a_run_is_compared_with() -> None:
    wanted = plan(ROWS)
    assert series_of("compute", wanted, path="/x/site.yaml") == "fabric compute"
    assert series_of("") == "no plan"
    assert series_of("", wanted, path="/x/cabling.csv") == "plan /x/cabling.csv"
    assert series_of("", wanted, path="/x/cabling.csv", site="hall") == "plan /x/cabling.csv with site hall"
    piped = {series_of("", plan(rows), path="-") for rows in (ROWS, ROWS[::-1], without(ROWS, UP))}
    assert len(piped) == 2
    assert all(name.startswith("plan on standard input, ") for name in piped)
