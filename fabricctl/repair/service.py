"""Which hosts of a work order jobs may run on, by the node record: a paper says so and refuses nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fabricctl.discovery.names import name_key, short_key
from fabricctl.hostset import natural_key
from fabricctl.nodes.model import NodeState


class Service:
    """The node record as far as work in the hall is concerned. :param states: host -> state; others are not known."""

    def __init__(self, states: Mapping[str, NodeState]) -> None:
        self.states = {name_key(name): state for name, state in states.items()}

    def in_service(self, hosts: Iterable[str]) -> tuple[str, ...]:
        """Those of the hosts that are in service, in natural order."""
        return self._those(hosts, NodeState.IN_SERVICE)

    def draining(self, hosts: Iterable[str]) -> tuple[str, ...]:
        """Those that are draining: jobs may still run."""
        return self._those(hosts, NodeState.DRAINING)

    def _those(self, hosts: Iterable[str], wanted: NodeState) -> tuple[str, ...]:
        if not self.states:
            return ()
        return tuple(sorted((host for host in hosts if self._state(host) is wanted), key=natural_key))

    def _state(self, host: str) -> NodeState | None:
        return self.states.get(name_key(host)) or self.states.get(short_key(host))
