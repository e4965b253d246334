"""New, open, gone, returned: against a table kept by hand and against brute force over who was there when."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import UsageError
from fabricctl.history.compare import Change, Status, baseline_of, compare
from fabricctl.history.model import Episode, Known, Run
from fabricctl.history.select import select
from fabricctl.history.step import advance
from tests.store.stores import T0, at, finding, run


def play(rows: list[dict[int, bool | None]]) -> tuple[list[Run], dict[str, Known], list[Episode]]:
    """What a store would keep of runs.

    :param rows: run by run, finding -> True there, False looked for and not there, None not looked at.
    """
    runs: list[Run] = []
    known: dict[str, Known] = {}
    episodes: dict[int, Episode] = {}
    open_at: dict[str, int] = {}
    for number, row in enumerate(rows, 1):
        told = {finding(n).id: (finding(n), there) for n, there in row.items()}
        now = {id: one for id, (one, there) in told.items() if there}
        before = {id: known[id] for id in open_at}
        step = advance(before, now, lambda k, told=told: told.get(k.id, (k, None))[1] is False)  # type: ignore[misc]
        known |= now
        runs.append(replace(run(number, range(len(now))), number=number))
        for id in step.opened:
            open_at[id] = len(episodes)
            episodes[len(episodes)] = Episode(id, number, number)
        for id in step.still:
            episodes[open_at[id]] = replace(episodes[open_at[id]], last=number)
        for id in step.gone:
            key = open_at.pop(id)
            episodes[key] = replace(episodes[key], gone=number)
    return runs, known, list(episodes.values())


def statuses(change: Change) -> dict[int, Status]:
    return {int(s.known.id[2:], 16): s.status for s in change.standings}


TABLE = [
    # 1: always there, 2: repaired, 3: new, 4: came back, 5: came and went, 6: not looked at any more
    {1: True, 2: True, 3: False, 4: True, 5: False, 6: True},
    {1: True, 2: True, 3: False, 4: False, 5: False, 6: True},
    {1: True, 2: False, 3: False, 4: False, 5: True, 6: None},
    {1: True, 2: False, 3: True, 4: True, 5: False, 6: None},
]


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        (2, {1: "open", 2: "gone", 3: "new", 4: "returned", 5: "gone", 6: "not_looked_at"}),
        (None, {1: "open", 3: "new", 4: "returned", 5: "gone", 6: "not_looked_at"}),
        (4, {1: "open", 3: "open", 4: "open", 6: "not_looked_at"}),
        (0, {1: "new", 2: "gone", 3: "new", 4: "returned", 5: "gone", 6: "not_looked_at"}),
    ],
)
def test_the_table(since: int | None, expected: dict[int, str]) -> None:
    assert statuses(compare(*play(TABLE), since=since)) == {n: Status(word) for n, word in expected.items()}


def test_a_date_means_the_last_run_before_it() -> None:
    runs = play(TABLE)[0]
    assert [r.made for r in runs] == [at(n) for n in (1, 2, 3, 4)]
    assert baseline_of(runs, at(2.5)) == runs[1]
    assert baseline_of(runs, at(2)) == runs[0]
    assert baseline_of(runs, T0) is None
    assert baseline_of(runs, 99) == runs[3]
    assert baseline_of(runs[:1], None) is None


def test_repeat_offenders_come_first_and_are_ranked_by_returns() -> None:
    flapping = [{1: True, 2: bool(n % 2), 3: n in (0, 3)} for n in range(6)]
    flapping[-1][3] = True
    change = compare(*play(flapping))
    assert [(int(s.known.id[2:], 16), s.came_back) for s in change.standings] == [(2, 2), (3, 2), (1, 0)]
    assert [(o.device, o.came_back, o.faults, o.open) for o in change.offenders] == [
        ("spine1", 4, 3, 3),
        ("leaf2", 2, 1, 1),
        ("leaf3", 2, 1, 1),
    ]
    two = next(s for s in change.standings if s.known.subject.startswith("leaf2"))
    assert (two.first.number, two.last.number) == (2, 6)


def test_nothing_recorded_is_said() -> None:
    with pytest.raises(UsageError, match="no run"):
        compare([], {}, [])


def test_a_choice_keeps_only_what_fits() -> None:
    change = compare(*play(TABLE), since=2)
    assert statuses(select(change, devices=["LEAF3"])) == {3: Status.NEW}
    assert statuses(select(change, statuses=[Status.GONE])).keys() == {2, 5}
    assert len(select(change, devices=["spine1"]).standings) == 6
    assert select(change, devices=["spine10"]).standings == ()


def _brute(rows: list[dict[int, bool | None]], since: int, number: int) -> Status | None:
    """Status of one finding straight from the definition, run by run."""
    open_now, ever, went, there_since, back = False, False, 0, 0, False
    for index, row in enumerate(rows, 1):
        seen = row[number]
        if seen:
            if not open_now:
                back, there_since = ever, index
            open_now = ever = True
        elif seen is False and open_now:
            open_now, went = False, index
    if not ever:
        return None
    if not open_now:
        return Status.GONE if went > since else None
    if not rows[-1][number]:
        return Status.NOT_LOOKED_AT
    if there_since <= since:
        return Status.OPEN
    return Status.RETURNED if back else Status.NEW


ROW = st.fixed_dictionaries({n: st.sampled_from([True, False, None]) for n in range(1, 5)})


@settings(max_examples=200, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=8), st.integers(0, 8))
def test_any_history_against_brute_force(rows: list[dict[int, bool | None]], since: int) -> None:
    since = min(since, len(rows))
    expected = {n: _brute(rows, since, n) for n in range(1, 5)}
    assert statuses(compare(*play(rows), since=since)) == {n: s for n, s in expected.items() if s is not None}
