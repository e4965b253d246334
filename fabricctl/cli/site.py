"""``fabricctl site``: is the site file right, what does it say, which keys are there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.errors import EXIT_FINDINGS, EXIT_USAGE

if TYPE_CHECKING:
    from fabricctl.plan.model import Plan
    from fabricctl.site.schema import Site

DEFAULT_FILE = "inventory/site.yaml"

app = typer.Typer(help="Check, show and explain the site file.", no_args_is_help=True)

# hidden: the list of arguments would say no more than "FILE <str>"; each command's text explains it
SiteFile = Annotated[str, typer.Argument(metavar="FILE", hidden=True)]


@app.command(short_help="Check a site file in itself and against its plans.")
def check(file: SiteFile = DEFAULT_FILE) -> None:
    """Check a site file in itself and against its fabrics' plans. Exit 1 with findings, 2 if unusable.

    FILE is the site file, inventory/site.yaml unless given; - reads standard input.
    """
    from fabricctl.cli.console import out_console
    from fabricctl.hostset import fold
    from fabricctl.plan.port_numbers import require_clear
    from fabricctl.site.check import check_site
    from fabricctl.site.load import SiteErrors
    from fabricctl.site.summary import site_line
    from fabricctl.words import many
    from fabricctl.workflows.load_plan import plan_of_fabric
    from fabricctl.workflows.named_files import file_findings

    try:
        site = _read(file)
    except SiteErrors as exc:
        for error in exc.errors:
            typer.echo(f"fabricctl: {error}", err=True)
        raise typer.Exit(EXIT_USAGE) from exc
    plans = {name: require_clear(plan_of_fabric(site, name)) for name in site.fabrics}
    findings = check_site(site, plans, file_findings(site))
    console = out_console()
    console.print(site_line(site), markup=False, soft_wrap=True)
    for line in _plan_lines(site, plans):
        console.print(line, markup=False, soft_wrap=True)
    for finding in findings:
        console.print(f"{file}:{finding.line}: {finding}", markup=False, highlight=False, soft_wrap=True)
    if findings:
        rules = fold({str(finding.rule) for finding in findings})
        console.print(f"{many(len(findings), 'finding')} ({rules})", markup=False, soft_wrap=True)
        raise typer.Exit(EXIT_FINDINGS)
    console.print("ok: the site file is right in itself, and its plans fit it", markup=False, soft_wrap=True)


@app.command(short_help="Show what a site file says.")
def show(file: SiteFile = DEFAULT_FILE) -> None:
    """Show what a site file says: groups, places, fabrics, reservations, maintenance.

    FILE is the site file, inventory/site.yaml unless given; - reads standard input.
    """
    from rich.table import Table

    from fabricctl.cli.console import out_console
    from fabricctl.site.summary import site_line, site_tables

    site = _read(file)
    console = out_console()
    console.print(site_line(site), markup=False, soft_wrap=True)
    for title, columns, rows in site_tables(site):
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(_literal(cell) for cell in row))
        console.print()
        console.print(table)


@app.command(short_help="Print the JSON schema of the site file.")
def schema() -> None:
    """Print the JSON schema of the site file: every key with its type, default and meaning."""
    import json

    from fabricctl.site.schema import Site

    typer.echo(json.dumps(Site.model_json_schema(by_alias=True), indent=2))


def _literal(cell: str) -> str:
    """``gpu[001-511]`` is a host set, not a style."""
    from rich.markup import escape

    return escape(cell)


def _read(file: str) -> Site:
    from fabricctl.adapters.files import decode, read_input
    from fabricctl.site.load import load_site
    from fabricctl.site.yaml_lines import MAX_CHARS

    return load_site(decode(read_input(file, limit_bytes=4 * MAX_CHARS), file), file)


def _plan_lines(site: Site, plans: dict[str, Plan]) -> Iterator[str]:
    from fabricctl.site.summary import plan_line

    for name, plan in plans.items():
        yield plan_line(site, name, plan)
        yield from (f"  note: {note}" for note in plan.notes)
    if plans:
        for what, groups in (("hosts", site.nodes), ("switches", site.switches)):
            if not groups:
                yield f"  note: the site file names no {what}: those of the plans are taken as they are"
