"""Built-in switch models: how many InfiniBand ports, and what each port is called by whom.

Port numbers and labels are those of the switch's normal profile. With the profile ``ib split-ready`` a
switch renumbers every port (unsplit ones too: cage 14 port 1 of a QM9700 moves from 27 to 53) and its
labels get one more part (``1/14/1/2``, ``sw14p1s2``); those labels are not in these tables, so they are
"no such label" instead of a wrong port.

A label has one meaning inside one model. Where two schemes collide the MLNX-OS reading is taken, because
that is what the switch's own CLI and port list print:

* one port per cage (QM8700, SB7800, SX6036): ``1/5`` is ASIC 1, cage 5, so port 5. mlxlink's
  ``cage/split`` would read it as the fifth part of cage 1; split labels are not in the table.
* two ports per cage (QM9700): ``1/1/2`` is ASIC 1, cage 1, port 2, so port 2. mlxlink's
  ``cage/port/split`` would read it as a split of cage 1 port 1.
* a plain number is always the InfiniBand port number, never the cage. Sheets that count cages need a
  ``switch_models`` entry of the site file.

Sources:

* QM9700, QM8700 numbering: github.com/Mellanox/mstflint @b9d9e844
  ``mlxlink/modules/mlxlink_commander.cpp`` (``calculatePanelPort``, ``labelToIBLocalPort``).
* MLNX-OS labels: docs.nvidia.com/networking/display/nvidiamlnxosusermanualv3112016/infiniband+interface
* NVOS labels: docs.nvidia.com/networking/display/cablevalidationtool171/p2p+file
* NetBox names: github.com/netbox-community/devicetype-library (QM9700 ``P0.0``, 0-based; QM8700, SB7800,
  SX6036 ``IB1/1``; QM8790 ``swp1``). Its QM9700 lists 62 of the 64 ports, so no count comes from there.
* MQM9701: an ibnetdiscover of a DGX NDR fabric, 65 ports with the aggregation node's.

The Q3400 is left out: its labels are published, but no source gives the InfiniBand port numbers on its
four ASICs. Directors (CS7500, CS8500) are left out too: each of their ASICs is a switch of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fabricctl.models import SwitchModel

_MSTFLINT = "github.com/Mellanox/mstflint @b9d9e844 mlxlink_commander.cpp calculatePanelPort"
_NETBOX = "github.com/netbox-community/devicetype-library device-types/Mellanox"
_SB77X0 = "docs.nvidia.com/networking/display/sb77x0edr/specifications; " + _NETBOX
_MODEL_WORD = re.compile(r"M?((?:QM|SB|SX)\d{4})[FT]?(?:[-_/].*)?\Z")


def twin_port_labels(cages: int) -> tuple[dict[str, int], dict[int, str]]:
    """Labels of a switch whose cages hold two InfiniBand ports each: port = 2 x cage + lane - 2.

    :returns: label in lower case -> port number, and port number -> front-panel label (``14/1``).
    """
    labels: dict[str, int] = {}
    shown: dict[int, str] = {}
    for cage in range(1, cages + 1):
        for lane in (1, 2):
            port = 2 * cage + lane - 2
            shown[port] = f"{cage}/{lane}"
            spellings = (
                str(port),
                f"port {port}",
                f"{cage}/{lane}",
                f"1/{cage}/{lane}",
                f"ib1/{cage}/{lane}",
                f"ib 1/{cage}/{lane}",
                f"port 1/{cage}/{lane}",
                f"sw{cage}p{lane}",
                f"p{cage - 1}.{lane - 1}",
            )
            labels.update(dict.fromkeys(spellings, port))
    return labels, shown


def single_port_labels(ports: int, *, swp: bool = False) -> tuple[dict[str, int], dict[int, str]]:
    """Labels of a switch whose cages hold one InfiniBand port each: port = cage.

    :param swp: the model's ports are also called ``swp5``.
    :returns: label in lower case -> port number, and port number -> front-panel label (``5``).
    """
    labels: dict[str, int] = {}
    for port in range(1, ports + 1):
        spellings = [str(port), f"port {port}", f"1/{port}", f"ib1/{port}", f"ib 1/{port}"]
        if swp:
            spellings.append(f"swp{port}")
        labels.update(dict.fromkeys(spellings, port))
    return labels, {port: str(port) for port in range(1, ports + 1)}


def _models() -> dict[str, SwitchModel]:
    ndr, hdr, edr = twin_port_labels(32), single_port_labels(40, swp=True), single_port_labels(36)
    rows = (
        ("QM9700", 64, ndr, "confirmed", _MSTFLINT),
        ("QM9790", 64, ndr, "confirmed", _MSTFLINT),
        ("QM9701", 64, ndr, "inferred", "ibnetdiscover of a DGX NDR fabric; numbering as QM9700"),
        ("QM8700", 40, hdr, "confirmed", _MSTFLINT),
        ("QM8790", 40, hdr, "confirmed", _MSTFLINT),
        ("SB7700", 36, edr, "inferred", _SB77X0),
        ("SB7790", 36, edr, "inferred", _SB77X0),
        ("SB7800", 36, edr, "inferred", _SB77X0),
        ("SB7890", 36, edr, "inferred", _SB77X0),
        ("SX6036", 36, edr, "usual", _NETBOX),
    )
    return {
        name: SwitchModel(name, ports, ("M" + name,), labels, shown, status, source)
        for name, ports, (labels, shown), status, source in rows
    }


BUILTIN: Mapping[str, SwitchModel] = _models()
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
