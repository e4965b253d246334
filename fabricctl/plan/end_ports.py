"""From a port label to an HCA or a port number, once it is known what the device is."""

from __future__ import annotations

import difflib
import re

from fabricctl.errors import PlanError
from fabricctl.models import NodeModel, SwitchModel
from fabricctl.plan.cells import shown
from fabricctl.plan.labels import ACCEPTED, Label, Shape, label_advice

_RUNNING = re.compile(r"[0-9]{1,9}\Z")
_NAME_AND_PORT = re.compile(r"(\S+?)(?:/([1-9][0-9]?))?\Z")


def host_end(
    host: str, model: NodeModel | None, label: Label, *, declared: bool, path: str, line: int
) -> tuple[str, int]:
    """HCA name and port number of a host's end.

    A running number is the host's n-th HCA port in rail order (rail 1 is 1); without a node model the
    number itself stands for the HCA until something tells its name.

    :param declared: the table or the site file says that it is a host, so any word names an HCA of it.
    :raises PlanError: when the label names no HCA.
    """
    if label.shape is Shape.HCA:
        if model is not None and label.hca.isdecimal():
            if _RUNNING.match(label.hca):
                return _nth_hca(host, model, int(label.hca), path=path, line=line)[0], label.number
            return _known_hca(host, model, label.hca, path=path, line=line), label.number
        return label.hca, label.number
    if label.shape is Shape.NUMBER and label.told and not label.told.lower().startswith("port"):
        named = label.told  # a host's ib3 or s1 is an interface or slot, not the third or first HCA
        return (_known_hca(host, model, named, path=path, line=line) if model is not None else named), 1
    if label.shape in (Shape.NUMBER, Shape.RUNNING):
        if model is None:
            return str(label.number), 1
        return _nth_hca(host, model, label.number, path=path, line=line)
    match = _NAME_AND_PORT.match(label.text)
    if match is not None and model is not None:
        return _known_hca(host, model, match[1], path=path, line=line), int(match[2] or 1)
    if match is not None and declared:
        return match[1], int(match[2] or 1)
    raise PlanError(
        f"port {shown(label.text)} of host {shown(host)} is no HCA; expected mlx5_0, HCA-1, ibp11s0f0, "
        "'IB Port 3' or a number",
        path=path,
        line=line,
        hint=label_advice(label.text),
    )


def _known_hca(host: str, model: NodeModel, text: str, *, path: str, line: int) -> str:
    by_name = {hca.lower(): hca for hca in model.hcas}
    if text.lower() in by_name:
        return by_name[text.lower()]
    close = difflib.get_close_matches(text.lower(), by_name, n=1)
    raise PlanError(
        f"port {shown(text)} of host {shown(host)}: a {model.name} has {', '.join(model.hcas) or 'no HCA'}",
        path=path,
        line=line,
        hint=f"did you mean {by_name[close[0]]}?" if close else label_advice(text),
    )


def _nth_hca(host: str, model: NodeModel, number: int, *, path: str, line: int) -> tuple[str, int]:
    index, port = divmod(number - 1, max(1, model.ports_per_hca))
    if not 0 <= index < len(model.hcas):
        raise PlanError(
            f"port {number} of host {shown(host)}: a {model.name} has only "
            f"{len(model.hcas) * model.ports_per_hca} ports, on {', '.join(model.hcas) or 'no HCA'}",
            path=path,
            line=line,
        )
    return model.hcas[index], port + 1


def switch_port(
    switch: str, model: SwitchModel | None, label: Label, *, split: bool = False, path: str, line: int
) -> int:
    """InfiniBand port number of a switch's end.

    :param split: the switch is written in the split-ready profile: plain numbers and the result are of that one.
    :raises PlanError: when the label is none of the model's, or needs a model and there is none.
    """
    if label.shape is Shape.BLADE:
        return label.number
    if model is not None:
        number = model.split_port_of(label.text) if split else model.port_of(label.text)
        limit = model.ports * (2 if split else 1)
        if number is None and label.shape is Shape.NUMBER and label.number <= limit:
            number = label.number
        if number is not None:
            return number
        raise PlanError(
            f"port {shown(label.text)} of {shown(switch)}: a {model.name} has no such port; expected 1 to "
            f"{limit} or a label such as {', '.join(list(model.shown.values())[-2:]) or '1'}",
            path=path,
            line=line,
            hint=label_advice(label.text),
        )
    if label.shape is Shape.NUMBER:
        return label.number
    if label.shape is Shape.PANEL:
        raise PlanError(
            f"port {shown(label.text)} of {shown(switch)} is a front-panel label, its switch model is not told "
            "and the built-in models do not agree on it",
            path=path,
            line=line,
            hint="add columns a_type,z_type (QM9700), name the model in the site file, or use port numbers",
        )
    raise PlanError(
        f"port {shown(label.text)} of {shown(switch)} is not understood; expected {ACCEPTED}",
        path=path,
        line=line,
        hint=label_advice(label.text),
    )
