"""A saved discovery taken as the plan: the "golden snapshot", keyed by GUID."""

from __future__ import annotations

from fabricctl.discovery.model import Observation
from fabricctl.errors import PlanError
from fabricctl.plan.model import Plan, PlanFormat


def plan_from_observation(observation: Observation, path: str = "") -> Plan:
    """Every cable the discovery saw, at the rate it saw, becomes a planned cable.

    Nodes stay keyed by GUID; a net file with free ids has none and is keyed by those names.

    :raises PlanError: the discovery holds no cable.
    """
    fabric = observation.fabric
    if not fabric.links:
        raise PlanError("this discovery has no cable in it, so it cannot serve as a plan", path=path)
    keyed = all(node.guid is not None for node in fabric.nodes.values())
    plan = Plan(fabric, PlanFormat.SNAPSHOT, path, keyed_by_guid=keyed)
    if observation.problems:
        first = observation.problems[0].text
        plan.notes.append(f"the snapshot itself has {len(observation.problems)} doubts, the first: {first}")
    return plan
