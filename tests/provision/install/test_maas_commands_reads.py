"""What commands themselves read of MAAS before they begin, beside what the workflows read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.provision.install.maas_hall import MaasHall, enrolled, ready

Start = Callable[..., MaasHall]
LARGEST = 40_000
"""Bytes of one machine with nine disks in MAAS's answers: 32 KB were measured of MAAS 3.7.3."""


def before(hall: MaasHall, first: str, *words: str) -> Counter[str]:
    """What a command asked before it asked for the first change."""
    hall.maas.double.requests.clear()
    hall.do(*words, "--yes")
    asked = [one.op for one in hall.maas.double.requests]
    return Counter(asked[: asked.index(first)])


@pytest.mark.parametrize("verb", ["commission", "deploy"])
def test_a_command_reads_each_machine_in_full_for_its_plan_for_its_run_and_right_before_it_begins(
    hall_of: Start, verb: str
) -> None:
    hall = ready(hall_of(3)) if verb == "deploy" else enrolled(hall_of(3))
    asked = before(hall, verb, verb, "all")
    assert asked["list"] == 3
    small = {
        "users.whoami": 2,
        "events.query": 1,
        "version.read": 3,
        "devices.read": 3 if verb == "deploy" else 0,
    }
    assert asked - Counter({"list": 3, **small}) == Counter(), "clocks; GPUs of hosts to be installed"
    double = hall.maas.double
    sizes = [len(one.json(double.around)) for one in double.machines.values()]
    assert max(sizes) <= LARGEST


def test_a_command_that_has_nothing_to_do_reads_each_machine_once(hall_of: Start) -> None:
    hall = ready(hall_of(3))
    hall.maas.double.requests.clear()
    hall.do("commission", "all", "--yes")
    asked = Counter(one.op for one in hall.maas.double.requests)
    assert asked == {"list": 1, "users.whoami": 1}
