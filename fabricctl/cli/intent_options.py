"""Options of every command that lays a plan beside a discovery, and what is checked of them together."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from fabricctl.errors import UsageError
from fabricctl.plan.model import PortNumbers

if TYPE_CHECKING:
    from fabricctl.workflows.verify_cabling import Request

PlanFile = Annotated[
    str,
    typer.Option(
        "--plan",
        metavar="FILE",
        help="Intended cabling: CSV or XLSX point-to-point list, UFM NDT list, YAML plan, site file, or a saved "
        "discovery as the reference. Recognised from content; .gz and - accepted.",
    ),
]
Discovered = Annotated[
    list[str],
    typer.Option(
        "--discovered",
        metavar="FILE",
        help="Discovery: ibnetdiscover (also -p), iblinkinfo (also -l), OpenSM subnet.lst, ibdiagnet2, UFM links. "
        "Repeat to merge several views. .gz and - accepted.",
    ),
]
Viewers = Annotated[
    list[str],
    typer.Option(
        "--from",
        metavar="WHERE",
        help="Discover now: local, or ssh://user@host[,host...][?hca=mlx5_0&port=1]. Repeat to merge.",
    ),
]
SiteFile = Annotated[
    str,
    typer.Option("--site", metavar="FILE", help="Site file: plans, places, models, identities, racks."),
]
FabricName = Annotated[str, typer.Option("--fabric", metavar="NAME", help="Which fabric of the site file.")]
PortNumbersOption = Annotated[
    PortNumbers | None,
    typer.Option(
        "--port-numbers",
        help="What plain port numbers of the plan's table are where cages hold several ports.",
    ),
]
NodeNameMap = Annotated[
    str,
    typer.Option("--node-name-map", metavar="FILE", help="ib-node-name-map: GUID to name of switches."),
]
HcaGuids = Annotated[
    str,
    typer.Option(
        "--hca-guids",
        metavar="FILE",
        help="HCA GUIDs read off the hosts, one a line: gpu001 mlx5_0 946d:ae03:0012:3456.",
    ),
]
SwitchSerials = Annotated[
    str,
    typer.Option(
        "--switch-serials",
        metavar="FILE",
        help="Serial numbers read off the switches: output of ibswinfo, or lines (CSV) of GUID and serial. "
        "Identities by serial number in the site file need it.",
    ),
]
Identify = Annotated[
    bool,
    typer.Option(
        "--identify",
        help="Find out who is who first (fabricctl identify); switch names count for nothing, and the cables of "
        "switches that could be several are left alone.",
    ),
]
Assume = Annotated[
    list[str],
    typer.Option(
        "--assume",
        metavar="N.M",
        help="Of identify: take hypothesis M of ambiguity N as fact for this run. Repeatable.",
    ),
]
Save = Annotated[
    str,
    typer.Option("--save", metavar="DIR", help="Keep the raw output of live discovery for a later replay."),
]
Deadline = Annotated[
    float,
    typer.Option("--deadline", metavar="SECONDS", min=1.0, help="Longest time one viewer may take."),
]
KnownHosts = Annotated[
    list[str],
    typer.Option("--known-hosts", metavar="FILE", help="Recorded host keys, in place of ~/.ssh/known_hosts."),
]
IdentityFile = Annotated[
    list[str], typer.Option("--identity", metavar="FILE", help="Private key to log in with.")
]

_Format = TypeVar("_Format")
_ASSUME = re.compile(r"([0-9]{1,6})\.([0-9]{1,3})\Z")


def checked(request: Request, assume: list[str], *, identify: bool) -> Request:
    """A request with ``--assume`` read into it.

    :param identify: whether switches are identified at all.
    :raises UsageError: ``--assume`` is not understood or settles nothing, or standard input is to be read twice.
    """
    once_stdin(inputs_of(request))
    return replace(request, assume=_assumed(assume, identify=identify))


def inputs_of(request: Request) -> list[str]:
    """Every file a request reads, empty where not given."""
    files = (request.plan, request.site, request.node_name_map, request.hca_guids, request.hca_slots)
    return [*files, request.switch_serials, *request.discovered]


def format_of(option: str, path: str, formats: Mapping[str, _Format]) -> _Format:
    """The format a file's ending names. :raises UsageError: it names none."""
    ending = path[path.rfind(".") :].lower() if "." in path else ""
    if ending not in formats:
        raise UsageError(f"{option} {path}: the ending names the format; expected one of {' '.join(formats)}")
    return formats[ending]


def _assumed(texts: list[str], *, identify: bool) -> tuple[tuple[int, int], ...]:
    """``2.1`` -> (2, 1), of every ``--assume``.

    :raises UsageError: not of that form, or nothing is identified.
    """
    if texts and not identify:
        raise UsageError("--assume settles what --identify leaves open: give --identify too")
    pairs = []
    for text in texts:
        match = _ASSUME.match(text)
        if match is None:
            raise UsageError(f"--assume {text}: expected AMBIGUITY.HYPOTHESIS, for example 1.2")
        pairs.append((int(match[1]), int(match[2])))
    return tuple(pairs)


def once_stdin(inputs: list[str]) -> None:
    """:raises UsageError: standard input is to be read twice."""
    if inputs.count("-") > 1:
        raise UsageError("standard input can be read only once: give - to one option")


def not_an_input(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """:raises UsageError: a file is to be written that is read, too."""
    read = {os.path.realpath(path) for path in inputs if path and path != "-"}
    for path in outputs:
        if path and os.path.realpath(path) in read:
            raise UsageError(
                f"{path} is read by this command: writing it would destroy it; name another file"
            )
