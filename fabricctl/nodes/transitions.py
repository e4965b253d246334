"""Which state may follow which, and what nobody may do to a node in service.

======================  =====================================================================================
from                    may become
======================  =====================================================================================
planned                 provisioning, repair, quarantined
provisioning            ready, repair, quarantined, planned
ready                   in service, provisioning, repair, quarantined, planned
in service              draining; by force also ready, provisioning, repair, quarantined
draining                in service (the drain is called off), ready, provisioning, repair, quarantined
repair                  provisioning, ready, quarantined, planned
quarantined             provisioning, ready, repair, planned
======================  =====================================================================================

Nothing enters service but from ready or a drain that is called off, and nothing leaves it but by a drain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fabricctl.errors import InServiceError, TransitionError
from fabricctl.hostset import fold
from fabricctl.nodes.model import NodeState

_S = NodeState

ALLOWED: Mapping[NodeState, tuple[NodeState, ...]] = {
    _S.PLANNED: (_S.PROVISIONING, _S.REPAIR, _S.QUARANTINED),
    _S.PROVISIONING: (_S.READY, _S.REPAIR, _S.QUARANTINED, _S.PLANNED),
    _S.READY: (_S.IN_SERVICE, _S.PROVISIONING, _S.REPAIR, _S.QUARANTINED, _S.PLANNED),
    _S.IN_SERVICE: (_S.DRAINING,),
    _S.DRAINING: (_S.IN_SERVICE, _S.READY, _S.PROVISIONING, _S.REPAIR, _S.QUARANTINED),
    _S.REPAIR: (_S.PROVISIONING, _S.READY, _S.QUARANTINED, _S.PLANNED),
    _S.QUARANTINED: (_S.PROVISIONING, _S.READY, _S.REPAIR, _S.PLANNED),
}
"""The table above."""

BY_FORCE: Mapping[NodeState, tuple[NodeState, ...]] = {
    _S.IN_SERVICE: (_S.READY, _S.PROVISIONING, _S.REPAIR, _S.QUARANTINED),
}
"""What ``--force-in-service`` adds."""

OCCUPIED = frozenset({_S.IN_SERVICE, _S.DRAINING})
"""States in which jobs may run: a drain is not over until somebody says so by the next state."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One node's change of state as asked for. :param version: of the record it was decided on (0: none stored)."""

    name: str
    before: NodeState
    after: NodeState
    version: int
    forced: bool = False


def plan_transitions(
    nodes: Mapping[str, tuple[NodeState, int]], to: NodeState, *, force: bool = False
) -> list[Transition]:
    """Transitions that bring every node to a state; those that are there already need none.

    :param nodes: name -> state and version of its record; :param force: ``--force-in-service``.
    :raises InServiceError: a node is in service, the state needs a drain first, and nobody forces it.
    :raises TransitionError: the table does not have it, for one or more nodes.
    """
    made, refused, in_service = [], dict[NodeState, list[str]](), []
    for name, (state, version) in nodes.items():
        if state is to and version:
            continue
        forced = to in BY_FORCE.get(state, ())
        if state is to or to in ALLOWED[state] or (forced and force):
            made.append(Transition(name, state, to, version, forced))
        elif forced:
            in_service.append(name)
        else:
            refused.setdefault(state, []).append(name)
    if refused:
        raise TransitionError(_refusal(refused, to))
    if in_service:
        raise InServiceError(
            f"{fold(in_service)} {_is(in_service)} in service and cannot become {to.words} without a drain",
            hosts=tuple(in_service),
            hint="node set --to draining first, or --force-in-service",
        )
    return made


def guard(states: Mapping[str, NodeState], action: str, *, force: bool = False) -> None:
    """Refuse what would disturb a node that jobs may run on: in service, or draining.

    :param states: host -> state; a host without a record counts as planned, so need not be in it.
    :param action: in words that follow "would", such as ``power-cycle it``; :param force: ``--force-in-service``.
    :raises InServiceError: naming the hosts.
    """
    if force:
        return
    hosts = [host for host, state in states.items() if state in OCCUPIED]
    if not hosts:
        return
    if len(hosts) > 1:
        action = re.sub(r"\bits next boot\b", "their next boots", re.sub(r"\bit\b", "them", action))
    words = " or ".join(sorted({states[host].words for host in hosts}, reverse=True))
    raise InServiceError(
        f"{fold(hosts)} {_is(hosts)} {words}, and this would {action}",
        hosts=tuple(hosts),
        hint="drain first and set the node to repair, or give --force-in-service",
    )


def _refusal(refused: Mapping[NodeState, list[str]], to: NodeState) -> str:
    parts = []
    for state, names in refused.items():
        allowed = ", ".join(after.words for after in (*ALLOWED[state], *BY_FORCE.get(state, ())))
        parts.append(
            f"{fold(names)} {_is(names)} {state.words} and cannot become {to.words}; from there: {allowed}"
        )
    return "; ".join(parts)


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
