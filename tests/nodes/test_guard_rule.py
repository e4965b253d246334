"""The rule for whatever changes hardware: ask ``guard`` first, and touch nothing when it refuses.

Nothing outside ``fabricctl/nodes`` changes hardware yet. Whoever adds such an action does as ``reboot`` here: states
come from the node record, the guard stands before the first change, and only ``--force-in-service`` opens it. What
only writes paper (``work-order make``) names the hosts instead (``fabricctl/workflows/in_service.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fabricctl.errors import InServiceError
from fabricctl.nodes.model import NodeState
from fabricctl.nodes.transitions import OCCUPIED, guard


def reboot(
    hosts: list[str], record: Mapping[str, NodeState], done: list[str], *, force: bool = False
) -> None:
    """An action as it must be written. :param done: what was rebooted."""
    guard({host: record[host] for host in hosts if host in record}, "reboot it", force=force)
    done += hosts


@pytest.mark.parametrize("state", list(NodeState))
def test_one_occupied_host_of_many_stops_the_whole_action_before_it_begins(state: NodeState) -> None:
    done: list[str] = []
    record = {"gpu001": NodeState.REPAIR, "gpu002": state}
    hosts = ["gpu001", "gpu002", "gpu003"]  # the last one has no record: it counts as planned
    if state in (NodeState.IN_SERVICE, NodeState.DRAINING):
        with pytest.raises(InServiceError) as caught:
            reboot(hosts, record, done)
        assert (caught.value.hosts, done) == (("gpu002",), [])
        reboot(hosts, record, done, force=True)
    else:
        reboot(hosts, record, done)
    assert done == hosts


def test_exactly_the_states_in_which_jobs_may_run_are_guarded() -> None:
    assert {state.value for state in OCCUPIED} == {"in_service", "draining"}
