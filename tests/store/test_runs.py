"""Runs and findings in the store, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.store import open_store
from fabricctl.cabling.finding_id import Where
from fabricctl.history.compare import Status, compare
from tests.store.stores import dump, finding, known, run


def everywhere(_: object) -> bool:
    return True


def nowhere(_: object) -> bool:
    return False


def test_what_is_kept_comes_back_as_it_was(location: Location) -> None:
    made, told = run(0, [1, 2]), known([1, 2])
    with open_store(location) as store:
        recorded = store.runs.record(made, told, everywhere)
        runs, back, episodes = store.runs.history("fabric compute")
    assert runs == [replace(made, number=recorded.number)]
    assert back == told
    assert [(e.finding, e.opened, e.last, e.gone) for e in episodes] == [
        (id, recorded.number, recorded.number, None) for id in told
    ]


def test_the_same_run_again_changes_nothing_at_all(location: Location) -> None:
    with open_store(location) as store:
        store.runs.record(run(0, [1, 2]), known([1, 2]), everywhere)
        before = dump(location)
        later = replace(run(0, [1, 2]), made=run(5).made, who="ben@ufm2")
        again = store.runs.record(later, known([1, 2]), everywhere)
    assert not again.new
    assert dump(location) == before


def test_the_same_run_that_closes_something_is_kept(location: Location) -> None:
    with open_store(location) as store:
        store.runs.record(run(0, [1, 2]), known([1, 2]), everywhere)
        store.runs.record(run(1, [2]), known([2]), nowhere)
        recorded = store.runs.record(run(1, [2]), known([2]), everywhere)
        assert (recorded.new, recorded.step.gone) == (True, (finding(1).id,))
        assert not store.runs.record(run(1, [2]), known([2]), everywhere).new


def test_a_run_that_equals_an_older_one_but_not_the_last_is_a_new_look(location: Location) -> None:
    with open_store(location) as store:
        numbers = [store.runs.record(made, known(n), everywhere).number for made, n in STORY]
    assert len(set(numbers)) == 3


STORY = [(run(0, [1]), [1]), (run(1, []), []), (run(0, [1]), [1])]


def test_gone_and_returned_over_four_runs(location: Location) -> None:
    with open_store(location) as store:
        for hours, numbers in enumerate(([1, 2], [2, 3], [1, 2, 3], [2])):
            last = store.runs.record(run(hours, numbers), known(numbers), everywhere)
        change = compare(*store.runs.history("fabric compute"), since=2)
    assert {s.known.id[-1]: (s.status, s.came_back) for s in change.standings} == {
        "1": (Status.GONE, 1),
        "2": (Status.OPEN, 0),
        "3": (Status.GONE, 0),
    }
    assert (len(last.step.still), len(last.step.gone)) == (1, 2)


def test_a_run_that_did_not_look_leaves_old_findings_open(location: Location) -> None:
    with open_store(location) as store:
        store.runs.record(run(0, [1, 2]), known([1, 2]), everywhere)
        step = store.runs.record(run(1, [2]), known([2]), nowhere).step
        change = compare(*store.runs.history("fabric compute"))
    assert (step.gone, step.not_looked) == ((), (finding(1).id,))
    assert {s.known.id[-1]: s.status for s in change.standings} == {
        "1": Status.NOT_LOOKED_AT,
        "2": Status.OPEN,
    }


def test_thousands_that_nobody_looked_at_keep_the_run_that_saw_them_last(location: Location) -> None:
    numbers = range(1, 1201)
    with open_store(location) as store:
        first = store.runs.record(run(0, numbers), known(numbers), everywhere).number
        second = store.runs.record(run(1, [1, 2]), known([1, 2]), nowhere).number
        last = {e.finding: e.last for e in store.runs.history("fabric compute")[2]}
    assert {id for id, number in last.items() if number == second} == set(known([1, 2]))
    assert list(last.values()).count(first) == 1198


def test_the_latest_words_of_a_finding_are_kept(location: Location) -> None:
    other = finding(1, found="disabled")
    with open_store(location) as store:
        store.runs.record(run(0, [1]), known([1]), everywhere)
        store.runs.record(run(1, [1]), {other.id: other}, everywhere)
        assert store.runs.history("fabric compute")[1] == {other.id: other}


def test_series_do_not_touch_each_other(location: Location) -> None:
    with open_store(location) as store:
        store.runs.record(run(0, [1], series="fabric a"), known([1]), everywhere)
        store.runs.record(run(1, [], series="fabric b"), {}, everywhere)
        assert store.runs.series() == ["fabric a", "fabric b"]
        assert store.runs.history("fabric a")[2][0].gone is None


def test_a_finding_is_found_by_the_beginning_of_its_id(location: Location) -> None:
    with open_store(location) as store:
        store.runs.record(run(0, [1, 0x0F1]), known([1, 0x0F1]), everywhere)
        assert store.runs.find("F-0000000000f") == [("fabric compute", "F-0000000000f1")]
        assert len(store.runs.find("F-00")) == 2
        assert store.runs.find("F-f") == []


def test_runs_recorded_at_once_are_all_kept_and_open_a_finding_once(location: Location) -> None:
    barrier = Barrier(6)

    def record(hours: int) -> None:
        with open_store(location) as store:
            barrier.wait()
            store.runs.record(run(hours, [1, 2, 3]), known([1, 2, 3]), everywhere)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(record, range(6)))
    with open_store(location) as store:
        runs, _, episodes = store.runs.history("fabric compute")
    assert len(runs) == 6
    assert len(episodes) == 3
    assert {e.last for e in episodes} == {runs[-1].number}


def test_names_with_undecodable_bytes_and_quotes_survive(location: Location) -> None:
    odd = replace(finding(1), devices=("gpu\udcff'; DROP TABLE runs; --", "\u00e9\u4e2d"))
    with open_store(location) as store:
        store.runs.record(run(0, [1]), {odd.id: odd}, everywhere)
        assert store.runs.history("fabric compute")[1] == {odd.id: odd}


def test_a_place_at_a_second_half_of_a_port_is_kept(location: Location) -> None:
    where = Where(((("leaf1", 27, 2), ("spine1", 3)), (("leaf1", 27), ("spine1", 4))))
    told = {finding(1).id: replace(finding(1), where=where)}
    with open_store(location) as store:
        store.runs.record(run(0, [1]), told, everywhere)
        _, back, _ = store.runs.history("fabric compute")
    assert back == told
    assert str(where) == "leaf1/27/2 - spine1/3 and leaf1/27 - spine1/4"
