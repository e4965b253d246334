"""511 hosts, a tenth of them with something wrong: good ones do not wait, bad ones are named, nothing is twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from fabricctl.nodes.model import NodeState
from provision.install.deadlines import Deadlines
from provision.install.outcome import End, NodeResult, Told
from provision.install.waves import READ_AT_ONCE
from tests.provision.install.flow_kit import (
    REQUESTS_PER_FAILURE,
    REQUESTS_PER_NODE,
    REQUESTS_PER_TICK,
    Client,
    Kit,
    by_host,
    flow_kit,
    hosts_of,
)

NUMBER = 511
ALWAYS = None
RECOVERS: list[tuple[str, str, dict[str, Any]]] = [
    ("503-after-commit", "create", {}),
    ("504-continues", "create", {"later": 25}),
    ("drop-after", "create", {}),
    ("conflict", "create", {"count": 2}),
    ("503-after-commit", "commission", {}),
    ("504-continues", "commission", {"later": 25}),
    ("conflict", "deploy", {"count": 2}),
    ("503-after-commit", "deploy", {}),
    ("504-continues", "deploy", {"later": 25}),
    ("drop-after", "deploy", {}),
    ("reorder-disks", "commission", {}),
    ("drop-after", "set_storage_layout", {}),
]
"""Faults nobody should notice."""
FAILS: list[tuple[str, str, dict[str, Any], str]] = [
    ("fail", "commission", {"text": "lost its network"}, "failed"),
    ("no-disks", "commission", {}, "no disk at all"),
    ("missing-disk", "commission", {}, "is missing"),
    ("missing-nic", "commission", {}, "is missing"),
    ("missing-memory", "commission", {}, "of memory"),
    ("missing-gpu", "commission", {}, "expected 8 GPUs, found 7"),
    ("stuck", "commission", {}, "timed out after 30 minutes"),
    ("stuck-forever", "commission", {}, "commission took longer than 45 min"),
    ("fail", "deploy", {"text": "curtin: no space left"}, "curtin: no space left"),
    ("stuck", "deploy", {}, "timed out after 30 minutes"),
    ("stuck-forever", "deploy", {}, "deploy took longer than 50 min"),
    ("no-rack", "deploy", {"count": ALWAYS}, "BMC"),
]
"""Faults that end a host's way, with words that its reason holds."""


@dataclass
class Fleet:
    """What came of it."""

    kit: Kit
    hosts: list[str]
    words: dict[str, str]
    results: dict[str, dict[str, NodeResult]]
    requests: dict[str, int]
    ticks: dict[str, int]
    looks: dict[str, list[tuple[float, str, int]]]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with flow_kit(tmp_path_factory.mktemp("fleet")) as kit:
        kit.deadlines = Deadlines(deploy_s=3000, settle_s=60)
        hosts = hosts_of(NUMBER)
        every_tenth = hosts[4::10]
        words: dict[str, str] = {}
        for at, host in enumerate(every_tenth):
            kind, op, more, said = FAILS[at % len(FAILS)]
            kit.maas.double.faults.add(kind, host, op, **more)
            words[host] = said
        for at, host in enumerate(hosts[7::20]):
            kind, op, more = RECOVERS[at % len(RECOVERS)]
            kit.maas.double.faults.add(kind, host, op, **more)
        results, requests, ticks, looks = {}, {}, {}, {}
        for verb in ("enrol", "commission", "deploy"):
            before = kit.maas.double.time.now()
            results[verb] = by_host(kit.run(lambda client, verb=verb: getattr(client, verb)(hosts)))  # type: ignore[misc]
            requests[verb] = kit.requests
            ticks[verb] = round((kit.maas.double.time.now() - before) / 10) + 1
            looks[verb] = kit.looks
        yield Fleet(kit, hosts, words, results, requests, ticks, looks)


@pytest.mark.slow
def test_every_good_host_is_installed(fleet: Fleet) -> None:
    good = [host for host in fleet.hosts if host not in fleet.words]
    ends = fleet.kit.ends()
    assert len(good) == 460
    assert [host for host in good if ends[host] != ("Deployed", False)] == []
    told = Counter(
        (fleet.results["deploy"][host].outcome, fleet.results["deploy"][host].end) for host in good
    )
    assert told == {(Told.OK, End.DEPLOYED): 460}


@pytest.mark.slow
def test_every_bad_host_is_in_a_named_state_with_maas_reason_and_not_in_the_pool(fleet: Fleet) -> None:
    ends = fleet.kit.ends()
    for host, said in fleet.words.items():
        told = [fleet.results[verb][host] for verb in ("commission", "deploy")]
        first = next(one for one in told if one.outcome is not Told.OK)
        assert said in first.reason, (host, first)
        assert told[-1].end in (End.QUARANTINED, End.NOT_STARTED), (host, told[-1])
        if "BMC" not in said:
            # an aborted commissioning leaves a New machine nobody owns and nobody can be given: the tag is enough
            assert ends[host] == ("New" if "commission took" in said else "Broken", True), host


@pytest.mark.slow
def test_no_machine_is_there_twice(fleet: Fleet) -> None:
    names = Counter(one.hostname for one in fleet.kit.maas.double.machines.values())
    assert names == dict.fromkeys(fleet.hosts, 1)


@pytest.mark.slow
def test_good_hosts_do_not_wait_for_bad_ones(fleet: Fleet) -> None:
    """Four times 128 hosts of 10 to 15 min each are done within the hour, ten minutes after the first deadline."""
    good = [fleet.results["deploy"][host].seconds for host in fleet.hosts if host not in fleet.words]
    assert max(good) < 60 * 60
    stuck = [fleet.results["deploy"][host].seconds for host, said in fleet.words.items() if "50 min" in said]
    assert min(stuck) > 50 * 60


@pytest.mark.slow
def test_requests_stay_within_the_stated_bounds(fleet: Fleet) -> None:
    failed = len(fleet.words)
    for verb in ("enrol", "commission", "deploy"):
        bound = (
            REQUESTS_PER_NODE * NUMBER + REQUESTS_PER_FAILURE * failed + REQUESTS_PER_TICK * fleet.ticks[verb]
        )
        assert fleet.requests[verb] <= bound, (verb, fleet.requests[verb], bound)


@pytest.mark.slow
def test_at_each_tick_there_is_one_question_and_one_bulk_read_of_a_few(fleet: Fleet) -> None:
    for verb in ("commission", "deploy"):
        asked = Counter((at, what) for at, what, _ in fleet.looks[verb])
        assert set(asked.values()) == {1}, verb
        sizes = [number for _, what, number in fleet.looks[verb] if what == "read"]
        assert 0 < max(sizes) <= READ_AT_ONCE == 64
        assert sum(sizes) < 8 * NUMBER, "a host is read when something happens to it, not at every tick"


@pytest.mark.slow
def test_node_records_say_who_is_in_quarantine(fleet: Fleet) -> None:
    states = fleet.kit.states(fleet.hosts)
    tagged = {host for host, (_, tagged) in fleet.kit.ends().items() if tagged}
    assert {host for host, state in states.items() if state is NodeState.QUARANTINED} == tagged


@pytest.mark.slow
def test_a_second_run_changes_nothing(fleet: Fleet) -> None:
    before = fleet.kit.ends()

    async def again(client: Client) -> list[NodeResult]:
        good = [host for host in fleet.hosts if host not in fleet.words]
        return await client.bring_up(good)

    results = fleet.kit.run(again)
    assert {one.end for one in results} == {End.UNCHANGED}
    assert fleet.kit.ends() == before
