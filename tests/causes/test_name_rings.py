"""Names of hosts permuted: every one of them is said with the place it belongs to."""

from __future__ import annotations

import re

import pytest

from fabricctl.cabling.verify import verify
from fabricctl.causes.explain import explain
from fabricctl.causes.model import CauseKind
from tests.cabling.fabrics import Cable, plan, seen


@pytest.mark.parametrize("ring", [3, 9, 20])
def test_a_ring_of_renamed_hosts_is_told_in_full(ring: int) -> None:
    def cables(name: dict[int, int]) -> list[Cable]:
        return [
            (f"g{name.get(host, host):02} mlx5_{n}", 1, f"leaf{n}", host)
            for host in range(1, 31)
            for n in range(4)
        ]

    # the host in the place of g01 calls itself g02, and so on round
    name = {host: host % ring + 1 for host in range(1, ring + 1)}
    comparison = verify(plan(cables({})), seen(cables(name))).comparison
    assert comparison is not None
    (cause,) = explain(comparison).systematic
    assert cause.kind is CauseKind.WRONG_RACK
    if ring <= 8:
        assert "g01, g02, g03 (each with the next)" in cause.headline
        return
    told = dict(re.findall(r"(g\d\d) is (g\d\d)", cause.fix))
    assert told == {f"g{named:02}": f"g{place:02}" for place, named in name.items()}
