"""511 hosts, a tenth of them with something wrong: good ones do not wait, bad ones are named, nothing is twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from fabricctl.nodes.model import NodeState
from provision.install.outcome import End, NodeResult, Told
from tests.provision.install.flow_kit import Client
from tests.provision.install.install_fleet import TIGHT, VERBS, Fleet, fleet_of


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_of(tmp_path_factory.mktemp("fleet"), broken=True) as fleet:
        yield fleet


@pytest.mark.slow
def test_every_good_host_is_installed(fleet: Fleet) -> None:
    good = [host for host in fleet.hosts if host not in fleet.words]
    ends = fleet.kit.ends()
    assert len(good) == 460
    assert [host for host in good if ends[host] != ("Deployed", False)] == []
    told = Counter(
        (fleet.verbs["deploy"].results[host].outcome, fleet.verbs["deploy"].results[host].end)
        for host in good
    )
    assert told == {(Told.OK, End.DEPLOYED): 460}


@pytest.mark.slow
def test_every_bad_host_is_in_a_named_state_with_maas_reason_and_not_in_the_pool(fleet: Fleet) -> None:
    ends = fleet.kit.ends()
    for host, said in fleet.words.items():
        told = [fleet.verbs[verb].results[host] for verb in ("commission", "deploy")]
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
    good = [fleet.verbs["deploy"].results[host].seconds for host in fleet.hosts if host not in fleet.words]
    assert max(good) < 60 * 60
    stuck = [
        fleet.verbs["deploy"].results[host].seconds for host, said in fleet.words.items() if "50 min" in said
    ]
    assert min(stuck) > 50 * 60


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_requests_stay_within_the_bound_which_is_tight(fleet: Fleet, verb: str) -> None:
    needed, bound = fleet.verbs[verb].requests, fleet.bound(verb)
    assert needed <= bound <= needed * TIGHT


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
