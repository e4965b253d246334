"""Built-in switch models: how many InfiniBand ports, and what each port is called by whom.

Everything here is read off the panels of ``fabricctl/tables/`` (``panel_tables.py``), which name their sources. Port
numbers and labels are those of the switch's normal profile. With the profile ``ib split-ready`` a switch renumbers
every port (unsplit ones too: cage 14 port 1 of a QM9700 moves from 27 to 53) and its labels get one more part
(``1/14/1/2``, ``sw14p1s2``); those labels are not in these tables, so they are "no such label" instead of a wrong port.

A label has one meaning inside one model. Where two schemes collide the MLNX-OS reading is taken, because
that is what the switch's own CLI and port list print:

* one port per cage (QM8700, SB7800, SX6036): ``1/5`` is ASIC 1, cage 5, so port 5. mlxlink's
  ``cage/split`` would read it as the fifth part of cage 1; split labels are not in the table.
* two ports per cage (QM9700): ``1/1/2`` is ASIC 1, cage 1, port 2, so port 2. mlxlink's
  ``cage/port/split`` would read it as a split of cage 1 port 1.
* a plain number is always the InfiniBand port number, never the cage. A file that counts cages says so
  (``--port-numbers cage``).

Models without InfiniBand port numbers in their table (Q3400) are left out. Directors (CS7500, CS8500) are left out too:
each of their ASICs is a switch of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from fabricctl.models import SwitchModel
from fabricctl.panel_tables import builtin_panels
from fabricctl.panels import Panel

_MODEL_WORD = re.compile(r"M?((?:QM|SB|SX)\d{4})[FT]?(?:[-_/].*)?\Z")


def model_of_panel(panel: Panel, aliases: tuple[str, ...] = ()) -> SwitchModel:
    """The switch model a panel describes: the same numbers and labels, from port to label and back.

    Labels are also understood with the words people and tools put before them: ``port 27``, ``ib 1/14/1``.
    """
    labels: dict[str, int] = {}
    shown: dict[int, str] = {}
    split: dict[int, int] = {}
    for port in panel.ports:
        if not port.number:
            continue
        shown[port.number] = port.label
        if port.split_ready is not None:
            split[port.number] = port.split_ready
        labels.update(dict.fromkeys((str(port.number), f"port {port.number}"), port.number))
        own = port.labels.get("MLNX-OS", "")
        if own:
            labels.update(dict.fromkeys((f"ib{own}", f"ib {own}", f"port {own}"), port.number))
        labels.update((label.lower(), port.number) for label in port.labels.values() if not label.isdigit())
    status, source = panel.status.get("number", "usual"), panel.sources.get("number", "")
    cages = len(panel.cages)
    return SwitchModel(panel.name, len(shown), aliases, labels, shown, status, source, split, cages)


@cache
def _models() -> dict[str, SwitchModel]:
    return {
        name: model_of_panel(panel, (f"M{name}",))
        for name, panel in builtin_panels().items()
        if panel.kind == "switch" and any(port.number for port in panel.ports)
    }


class _Builtin(Mapping[str, SwitchModel]):
    """The models, read when first looked at: most commands never do."""

    def __getitem__(self, name: str) -> SwitchModel:
        return _models()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_models())

    def __len__(self) -> int:
        return len(_models())


BUILTIN: Mapping[str, SwitchModel] = _Builtin()
"""Model name as on the data sheet (``QM9700``) -> model."""


def find_model(text: str, models: Mapping[str, SwitchModel] = BUILTIN) -> SwitchModel | None:
    """The model a text names: ``MQM9700``, ``QM9700-NS2F``, ``NVIDIA MSB7800-ES2F``; None when it names none.

    Node descriptions, order numbers and inventories put an ``M`` before the name and an airflow and
    management code behind it. An exact name or alias in ``models`` comes first, then the built-in spelling.
    """
    wanted = text.strip().upper()
    for model in models.values():
        if wanted == model.name.upper() or wanted in (alias.upper() for alias in model.aliases):
            return model
    for word in re.split(r"[\s,;()]+", wanted):
        match = _MODEL_WORD.match(word)
        if match is not None and match[1] in models:
            return models[match[1]]
    return None
