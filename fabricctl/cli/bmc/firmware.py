"""``fabricctl bmc firmware``: what runs on the parts of nodes, and whether it is what the site wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.changing import Hosts
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from fabricctl.cli.bmc.common import Desk

app = typer.Typer(
    help="Firmware of nodes: list it, compare it with the site's baseline.",
    short_help="Firmware: list, compare with the baseline.",
    no_args_is_help=True,
)


def register(group: typer.Typer) -> None:
    """Add the commands to the group."""
    group.add_typer(app, name="firmware")


@app.command("list", short_help="Versions of every part, and who differs from most.")
def list_firmware(
    hosts: Hosts = "all",
    everything: Annotated[
        bool, typer.Option("--all", help="Every component of every node, with copies kept for a rollback.")
    ] = False,
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """List firmware. Of one node: its components; of several: version by version who has it, odd ones marked.

    HOSTS is a host set such as gpu[001-032], or all, also when left out.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.bmc.firmware import spreads
    from provision.report.firmware_report import firmware_report
    from provision.workflows.firmware import read_firmware

    desk = open_desk(hosts, site, state)
    asked = ask_all(desk, read_firmware, "reading firmware")
    firmware = {host: found.components for host, found in asked.values.items()}
    rows = spreads(firmware, {target.host: target.model for target in desk.targets})
    doubts = [
        (host, "its firmware was read in part") for host, found in asked.values.items() if not found.whole
    ]
    report = firmware_report(firmware, rows, asked.outcomes, doubts, everything=everything)
    finish(report, format, interrupted=asked.interrupted)


@app.command("diff", short_help="Compare with the baseline of the site.")
def diff_firmware(
    hosts: Hosts = "all",
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Compare what runs with node_models.MODEL.firmware of the site file.

    HOSTS is a host set such as gpu[001-032], or all, also when left out. Every part that a line of the
    baseline names must have its version; a line that names no part of a node is "could not tell".
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.bmc.firmware import firmware_findings, judge
    from provision.report.firmware_report import diff_report
    from provision.workflows.firmware import read_firmware

    desk = open_desk(hosts, site, state)
    baselines = _baselines(desk)
    asked = ask_all(desk, read_firmware, "reading firmware", hosts=list(baselines))
    judged = [
        line
        for host, found in asked.values.items()
        for line in judge(host, found.components, baselines[host])
    ]
    without = [host for host in desk.hosts if host not in baselines]
    doubts = [(host, "the site has no firmware baseline for its model") for host in without]
    report = diff_report(judged, asked.outcomes, firmware_findings(judged), doubts)
    untold = any(line.relation is None for line in judged)
    finish(report, format, interrupted=asked.interrupted, untold=untold)


def _baselines(desk: Desk) -> dict[str, Mapping[str, str]]:
    from fabricctl.errors import UsageError

    models = desk.site.node_models
    found: dict[str, Mapping[str, str]]
    found = {
        target.host: models[target.model].firmware
        for target in desk.targets
        if target.model in models and models[target.model].firmware
    }
    if not found:
        raise UsageError(
            f"{desk.site.path} has no firmware baseline for these nodes",
            hint="write node_models.MODEL.firmware, for example BIOS: 2.4.4; bmc firmware list shows what there is",
        )
    return found
