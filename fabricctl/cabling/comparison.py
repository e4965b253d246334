"""What a verdict rests on: plan and discovery laid over each other, for those who ask further questions.

Causes, repair, picture and work orders all start from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fabricctl.cabling.binding import Binding
from fabricctl.cabling.classify import Classified
from fabricctl.cabling.ends import Ends
from fabricctl.cabling.numbering import Numbering
from fabricctl.cabling.tiers import Tiers
from fabricctl.fabric import Fabric, Port


@dataclass(frozen=True)
class Comparison:
    """Plan and discovery with everything that was decided about them.

    :param binding: which discovered node is which planned one; ``binding.plan`` is the plan that was used.
    :param seen: the discovery (keys are GUIDs); :param classified: every planned link that is not ok.
    :param ends: makes printable ``End`` values of ports (name, panel label, rack place, GUID).
    :param reserved: reserved ports, in plan keys -> who may be there.
    :param numbering: in which profile port numbers are counted here; what to print, ``ends`` knows.
    """

    binding: Binding
    seen: Fabric
    classified: Classified
    tiers: Tiers
    ends: Ends
    numbering: Numbering = field(default_factory=Numbering)
    reserved: Mapping[Port, str] = field(default_factory=dict)

    def in_plan(self, port: Port) -> Port:
        """A discovered port under its planned node's key; a device outside the plan keeps its own key."""
        key = self.binding.plan_of.get(port.node)
        return port if key is None else Port(key, port.number)

    @cached_property
    def actual(self) -> dict[Port, Port]:
        """Port -> port at the other end of the cable that is really there, both as ``in_plan`` names them."""
        return {self.in_plan(port): self.in_plan(link.other(port)) for port, link in self.seen.links.items()}

    @cached_property
    def intended(self) -> dict[Port, Port]:
        """Planned port -> planned port at the other end."""
        return {port: link.other(port) for port, link in self.binding.plan.fabric.links.items()}
