"""Do a file's plain port numbers mean InfiniBand ports or cages? Where the file leaves it open, the discovery is asked.

Both readings are tried on the cables of switches that are seen under their planned names: which of them finds the
planned device at the other end more often. Without such switches the port numbers in use decide. When neither reading
fits better the operator must say (``fabricctl/plan/port_numbers.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from fabricctl.discovery.names import name_key, short_key
from fabricctl.errors import PlanError
from fabricctl.fabric import Fabric, Node, NodeKind, Port
from fabricctl.models import SwitchModel
from fabricctl.plan.model import Plan, PlanFormat, PortNumbers, UnclearNumbers
from fabricctl.plan.port_numbers import unclear_error

_TABLES = (PlanFormat.CSV, PlanFormat.XLSX, PlanFormat.NDT)

ModelOf = Callable[[str, str], SwitchModel | None]


class Fit(NamedTuple):
    """How many planned cables each reading finds in the discovery."""

    infiniband: int
    cage: int


def settle_port_numbers(
    plan: Plan, seen: Fabric, model_of: ModelOf, named: Mapping[str, str]
) -> tuple[str, ...]:
    """Make sure that the plan's numbers are what they were read as; returns notes.

    :param named: name (as ``name_key``) -> key of the discovered switch; :param seen: in the normal profile.
    :raises PlanError: they may be cages, and neither the file nor the discovery shows it.
    """
    if plan.format not in _TABLES or plan.port_numbers is PortNumbers.INFINIBAND:
        return ()
    several = _several(plan, seen, model_of, named)
    if not several:
        return ()
    if plan.port_numbers is PortNumbers.CAGE:
        _known_when_read(plan, several)
        return ()
    if _shown_by_file(plan, several):
        return ()
    first = plan.unclear or _first(plan, several)
    if first is None:
        return ()
    fit = _fit(plan, seen, several, named)
    if fit.infiniband <= fit.cage:
        raise unclear_error(first, f"the discovery fits {fit.infiniband:,} ports and {fit.cage:,} cages")
    if not fit.cage:
        return ()
    return (
        "plain port numbers of the plan are read as InfiniBand ports: "
        f"{fit.infiniband:,} of them fit the discovery so, {fit.cage:,} as cages",
    )


def _several(plan: Plan, seen: Fabric, model_of: ModelOf, named: Mapping[str, str]) -> dict[str, SwitchModel]:
    """Planned switches whose cages hold several ports, by site, plan or the namesake's node description."""
    asked: dict[tuple[str, str], SwitchModel | None] = {}
    found = {}
    for key, node in plan.fabric.nodes.items():
        if node.kind is NodeKind.HCA or node.host is not None:
            continue
        twin = seen.nodes.get(named.get(name_key(node.name), ""))
        words = (node.name, node.model or (twin.model if twin is not None else ""))
        if words not in asked:
            asked[words] = model_of(*words)
        model = asked[words]
        if model is not None and model.ports_per_cage > 1:
            found[key] = model
    return found


def _known_when_read(plan: Plan, several: Mapping[str, SwitchModel]) -> None:
    """Cages could be told from ports only where the model was known while the file was read."""
    for key, model in several.items():
        if not plan.fabric.nodes[key].model:
            raise PlanError(
                f"{key} is a {model.name} by the discovery, but the plan did not tell its model when cages were read",
                path=plan.path,
                hint="add columns a_type,z_type (QM9700), or name the model in the site file",
            )


def _shown_by_file(plan: Plan, several: Mapping[str, SwitchModel]) -> bool:
    """A number above the cages, or a front-panel label, shows what the plain numbers are."""
    for (key, number), link in plan.fabric.links.items():
        model = several.get(key)
        if model is None:
            continue
        if number > model.cages:
            return True
        if link.detail is not None:
            label = link.detail.labels[0 if link.a == (key, number) else 1]
            if "/" in label or "." in label or label.lower().startswith("sw"):
                return True
    return False


def _first(plan: Plan, several: Mapping[str, SwitchModel]) -> UnclearNumbers | None:
    uses = [(link.line, key) for (key, _), link in plan.fabric.links.items() if key in several]
    if not uses:
        return None
    line, key = min(uses)
    model = several[key]
    return UnclearNumbers(plan.fabric.nodes[key].name, model.name, model.cages, plan.path, line)


def _fit(plan: Plan, seen: Fabric, several: Mapping[str, SwitchModel], named: Mapping[str, str]) -> Fit:
    nodes = plan.fabric.nodes
    twins = {key: named[name] for key in several if (name := name_key(nodes[key].name)) in named}
    if not twins:
        return _by_numbers(plan, seen, several)
    ports = cages = 0
    for port, link in plan.fabric.links.items():
        twin = twins.get(port.node)
        if twin is None:
            continue
        per, wanted = several[port.node].ports_per_cage, _who(nodes[link.other(port).node])
        ports += _leads(seen, Port(twin, port.number), wanted)
        of_cage = range(per * (port.number - 1) + 1, per * port.number + 1)
        cages += any(_leads(seen, Port(twin, number), wanted) for number in of_cage)
    return Fit(ports, cages)


def _by_numbers(plan: Plan, seen: Fabric, several: Mapping[str, SwitchModel]) -> Fit:
    switches = {node.key for node in seen.switches()}
    used = Counter(number for key, number in seen.links if key in switches)
    ports = cages = 0
    for key, number in plan.fabric.links:
        model = several.get(key)
        if model is not None:
            per = model.ports_per_cage
            ports += used[number]
            cages += max(used[n] for n in range(per * (number - 1) + 1, per * number + 1))
    return Fit(ports, cages)


def _leads(seen: Fabric, port: Port, wanted: str) -> bool:
    peer = seen.peer(port)
    return peer is not None and _who(seen.nodes[peer.node]) == wanted


def _who(node: Node) -> str:
    return short_key(node.host or node.name)
