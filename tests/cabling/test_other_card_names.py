"""Hosts whose HCAs have other names than the plan: never a fault by itself, and never a cover for one."""

from __future__ import annotations

import pytest

from fabricctl.cabling.binding import Names
from fabricctl.cabling.verdict import Options, VerdictWord
from fabricctl.cabling.verify import verify
from fabricctl.models import NodeModel
from tests.cabling.fabrics import Cable, classes, plan, seen


def names(*numbers: int) -> list[str]:
    return [f"mlx5_{n}" for n in numbers]


HGX = names(0, 1, 2, 3, 4, 5, 6, 7)
DGX = names(0, 3, 4, 5, 6, 9, 10, 11)  # compute cards of a DGX H100 (its user guide, tables 5 and 6)


def cables(words: list[str], hosts: int = 6, crossed: tuple[int, ...] = (), first: int = 1) -> list[Cable]:
    """Host h's n-th card in port h of leaf n; on crossed hosts the second and third are exchanged."""
    found: list[Cable] = []
    for host in range(first, first + hosts):
        order = [words[0], words[2], words[1], *words[3:]] if host in crossed else words
        found += [(f"g{host} {w}", 1, f"leaf{n}", host) for n, w in enumerate(order, 1)]
    return found


@pytest.mark.parametrize(
    ("planned", "shown"),
    [
        (HGX, DGX),
        (DGX, HGX),
        (HGX, names(1, 2, 3, 4, 5, 6, 7, 8)),
        (HGX, names(0, 1, 2, 3, 8, 9, 10, 11)),
        (names(2, 3, 4, 5), names(4, 5, 6, 7)),
        (["mlx5_0", "ib1", "ib2", "ib3"], names(0, 1, 2, 3)),
        (HGX, [f"mlx5_{n}" for n in (7, 6, 5, 4, 3, 2, 1, 8)]),
    ],
)
def test_other_names_are_no_fault_and_a_crossed_host_stays_one(planned: list[str], shown: list[str]) -> None:
    healthy = verify(plan(cables(planned)), seen(cables(shown)))
    assert (classes(healthy), healthy.findings) == ({"ok": 6 * len(planned)}, [])
    assert any("the plan's HCA words were matched" in note for note in healthy.notes)
    crossed = verify(plan(cables(planned)), seen(cables(shown, crossed=(2,))))
    assert classes(crossed) == {"ok": 6 * len(planned) - 2, "swapped": 2}


def test_two_readings_that_fit_equally_well_give_no_finding() -> None:
    # two of four hosts one way, two the other: in order fits 4 cables, by equal name and the rest fits 4
    found: list[Cable] = []
    for host in range(1, 5):
        a, b = ("mlx5_1", "mlx5_2") if host < 3 else ("mlx5_2", "mlx5_1")
        found += [(f"g{host} {a}", 1, "leaf1", host), (f"g{host} {b}", 1, "leaf2", host)]
    verdict = verify(plan(_two(4)), seen(found))
    assert (verdict.word, verdict.findings) == (VerdictWord.COULD_NOT_TELL, [])
    assert any("no reading of the plan's words" in doubt for doubt in verdict.doubts)


def _two(hosts: int) -> list[Cable]:
    return [(f"g{h} mlx5_{n}", 1, f"leaf{n + 1}", h) for h in range(1, hosts + 1) for n in (0, 1)]


def test_a_card_more_or_a_dead_one_changes_nothing_of_equal_names() -> None:
    planned = plan(cables(HGX))
    everyone = tuple(range(1, 7))
    more: list[Cable] = [(f"g{h} mlx5_8", 1, "storage", h) for h in everyone]
    verdict = verify(planned, seen(cables(HGX, crossed=everyone) + more))
    assert classes(verdict) == {"ok": 36, "swapped": 12}  # exchanged on every host is still exchanged
    dead = [cable for cable in cables(HGX, crossed=(2,)) if cable[0] != "g2 mlx5_7"]
    assert classes(verify(planned, seen(dead))) == {"ok": 45, "swapped": 2, "missing": 1}


def test_storage_cards_in_the_same_fabric_do_not_hide_which_cards_are_meant() -> None:
    more: list[Cable] = [(f"g{h} mlx5_{n}", 1, f"storage{n}", h) for h in range(1, 7) for n in (1, 2, 7, 8)]
    assert classes(verify(plan(cables(HGX)), seen(cables(DGX) + more))) == {"ok": 48}


def test_one_host_with_dead_cards_is_read_as_the_many_are() -> None:
    alive = [c for c in cables(DGX) if not (c[0].startswith("g4 ") and c[0][3:] in DGX[5:])]
    assert classes(verify(plan(cables(HGX)), seen(alive))) == {"ok": 45, "missing": 3}


def test_two_kinds_of_hosts_under_one_plan() -> None:
    planned = plan(cables(HGX, 4) + cables(HGX, 4, first=5))
    assert classes(verify(planned, seen(cables(HGX, 4) + cables(DGX, 4, first=5)))) == {"ok": 64}


def test_a_model_that_lists_cards_nobody_has_is_said() -> None:
    model = NodeModel("hgx-h100", tuple(HGX))
    options = Options(names=Names(node_model={f"g{h}": model for h in range(1, 7)}))
    manager: Cable = ("ufm1 mlx5_0", 1, "leaf1", 60)  # a host whose only card both call the same
    verdict = verify(plan([*cables(HGX), manager]), seen([*cables(DGX), manager]), options)
    assert classes(verdict) == {"ok": 49}
    assert any(
        "the site's model hgx-h100 lists mlx5_1, mlx5_2, mlx5_7, which no host shows" in n
        for n in verdict.notes
    )
    numbers = verify(plan(cables([str(n) for n in range(1, 9)])), seen(cables(DGX)), options)
    assert classes(numbers) == {"ok": 48}
