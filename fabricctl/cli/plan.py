"""``fabricctl plan``: what a plan says, and the same plan as CSV."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.intent_options import not_an_input
from fabricctl.errors import EXIT_FINDINGS
from fabricctl.plan.model import PortNumbers

if TYPE_CHECKING:
    from fabricctl.plan.model import Plan

app = typer.Typer(help="Show and convert cabling plans.", no_args_is_help=True)

# hidden: the list of arguments would say no more than "FILE <str>"; each command's text explains it
PlanFile = Annotated[str, typer.Argument(metavar="FILE", hidden=True)]
SiteOption = Annotated[
    str, typer.Option("--site", metavar="FILE", help="Site file that explains labels and places.")
]
FabricOption = Annotated[str, typer.Option("--fabric", metavar="NAME", help="Which fabric of a site file.")]


class ExportFormat(StrEnum):
    """What a plan is exported to."""

    CSV = "csv"


PortNumbersOption = Annotated[
    PortNumbers | None,
    typer.Option(
        "--port-numbers",
        help="What plain port numbers of a table are where cages hold several ports.",
    ),
]


@app.command(short_help="Show a plan's counts, tiers, rails and lengths.")
def show(
    file: PlanFile,
    site: SiteOption = "",
    fabric: FabricOption = "",
    port_numbers: PortNumbersOption = None,
) -> None:
    """Show a plan: counts per tier, oversubscription, rails, islands, cable lengths. Exit 1 with findings.

    FILE is a plan of any format; - reads standard input.
    """
    from fabricctl.cli.console import print_lines
    from fabricctl.plan.checks import check_plan
    from fabricctl.plan.summary import summarise
    from fabricctl.report.plan_screen import render
    from fabricctl.workflows.load_plan import estimate_lengths

    plan = _load(file, site, fabric, port_numbers)
    findings = check_plan(plan)
    print_lines(render(summarise(plan), findings, estimate_lengths(plan, file, site)))
    if any(finding.severity != "note" for finding in findings):
        raise typer.Exit(EXIT_FINDINGS)


@app.command(short_help="Write a plan of any format as a point-to-point CSV.")
def export(
    file: PlanFile,
    site: SiteOption = "",
    fabric: FabricOption = "",
    port_numbers: PortNumbersOption = None,
    format: Annotated[
        ExportFormat, typer.Option("--format", "-f", help="Format to write.")
    ] = ExportFormat.CSV,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File to write; default is standard output.")
    ] = "",
) -> None:
    """Write a plan of any format as a point-to-point CSV.

    FILE is the plan; - reads standard input.
    """
    from fabricctl.adapters.files import write_atomic
    from fabricctl.cli.console import print_text
    from fabricctl.plan.export import to_csv

    not_an_input([output], [file, site])
    assert format is ExportFormat.CSV
    text = to_csv(_load(file, site, fabric, port_numbers))
    if output:
        write_atomic(output, text)
    else:
        print_text(text)


def _load(file: str, site_file: str, fabric: str, port_numbers: PortNumbers | None) -> Plan:
    from fabricctl.plan.port_numbers import require_clear
    from fabricctl.workflows.load_plan import load_named_plan

    return require_clear(load_named_plan(file, site_file, fabric, port_numbers))
