"""Switch and HCA models: port counts and what is printed beside a port.

A label table maps what a panel, an operating system or a spreadsheet calls a port to its InfiniBand port
number and back. Built-in models and their sources stand in ``fabricctl/model_tables.py``; a site file may
override or add models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_HALF = re.compile(r"(.+?)(/|s)([12])\Z")


@dataclass(frozen=True)
class SwitchModel:
    """One switch model.

    :param name: ``QM9700``; :param aliases: ``MQM9700``, ``QM9790``, as node descriptions spell it.
    :param ports: number of InfiniBand ports without aggregation-node ports.
    :param labels: label in lower case -> InfiniBand port number; several schemes side by side.
    :param shown: InfiniBand port number -> the label to print (the one on the front panel).
    :param status: ``confirmed``, ``inferred`` or ``usual``; ``usual`` is printed as such.
    :param source: the document that says so.
    :param split_ready: normal port number -> number of the port's first half in the split-ready profile, the second
        half is one more; empty when the model has no such profile.
    :param cages: number of cages, 0 when unknown.
    """

    name: str
    ports: int
    aliases: tuple[str, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    shown: Mapping[int, str] = field(default_factory=dict)
    status: str = "usual"
    source: str = ""
    split_ready: Mapping[int, int] = field(default_factory=dict)
    cages: int = 0

    @property
    def ports_per_cage(self) -> int:
        """Ports in a cage; 1 when the cages are not known."""
        return self.ports // self.cages if self.cages else 1

    def port_of(self, label: str) -> int | None:
        """InfiniBand port number of a label, None when the model has no such label."""
        return self.labels.get(label.strip().lower())

    def split_port_of(self, label: str) -> int | None:
        """Port number of a label in the split-ready profile (``1/14/1/2``, ``sw14p1s2``, ``14/1``), None when none.

        A plain number is no label here. What reads as a whole label of the normal profile is that one: MLNX-OS puts
        the half behind the longest label only (``1/14/1/2``).
        """
        text = label.strip().lower()
        if text.isdigit() or (text.startswith("port ") and text[5:].isdigit()):
            return None
        whole = self.split_ready.get(self.labels.get(text, 0))
        if whole is not None:
            return whole
        match = _HALF.match(text)
        first = self.split_ready.get(self.labels.get(match[1], 0)) if match is not None else None
        if match is None or first is None:
            return None
        longest = max(known.count("/") for known in self.labels)
        if match[2] == "/" and match[1].count("/") < longest:
            return None
        return first + int(match[3]) - 1


@dataclass(frozen=True)
class NodeModel:
    """One host model.

    :param hcas: HCA names in rail order: rail 1 first (``("mlx5_0", "mlx5_3", ...)``).
    :param gpus: number of GPUs; :param ports_per_hca: InfiniBand ports used per HCA.
    """

    name: str
    hcas: tuple[str, ...]
    gpus: int = 0
    ports_per_hca: int = 1
