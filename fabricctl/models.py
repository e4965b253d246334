"""Switch and HCA models: port counts and what is printed beside a port.

A label table maps what a panel, an operating system or a spreadsheet calls a port to its InfiniBand port
number and back. Built-in models and their sources stand in ``fabricctl/model_tables.py``; a site file may
override or add models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
