"""What was read off one BMC, before anybody makes sense of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from provision.bmc.inventory import Depth, Gap
from provision.bmc.json_bodies import Body
from provision.bmc.outcome import Note
from provision.bmc.service_root import is_dell


@dataclass
class Bodies:
    """Resources of one machine, in any order.

    :param system: and ``chassis``: empty when they were not asked; :param interfaces: of the host.
    :param functions: and ``ports``: path of the adapter -> its members; a path that is absent was not asked.
    :param attributes: path of a function -> its DellNetworkAttributes; :param manager: attributes of the iDRAC.
    """

    depth: Depth
    root: Body = field(default_factory=dict)
    system_path: str = ""
    system: Body = field(default_factory=dict)
    interfaces: list[Body] = field(default_factory=list)
    bmc_interfaces: list[Body] = field(default_factory=list)
    adapters: list[Body] = field(default_factory=list)
    functions: dict[str, list[Body]] = field(default_factory=dict)
    ports: dict[str, list[Body]] = field(default_factory=dict)
    attributes: dict[str, Body] = field(default_factory=dict)
    manager: Body = field(default_factory=dict)
    processors: list[Body] = field(default_factory=list)
    drives: list[Body] = field(default_factory=list)
    psus: list[Body] = field(default_factory=list)
    dimms: list[Body] = field(default_factory=list)
    firmware: list[Body] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def dell(self) -> bool:
        """Whether this is a Dell, by its service root or its system."""
        return is_dell(self.root, self.system)
