"""``fabricctl node confirm-guids``: GUIDs that were derived from MACs, against those that were seen."""

from __future__ import annotations

from typing import Annotated

import typer

from fabricctl.cli.state_options import Format, FormatOption, SiteOption, StateOption, read_site
from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_OK, UsageError


def register(app: typer.Typer) -> None:
    """Add the command to the group ``node``."""
    app.command("confirm-guids", short_help="Confirm derived GUIDs from the fabric or from ibstat.")(
        confirm_guids
    )


def confirm_guids(
    hosts: Annotated[str, typer.Argument(metavar="HOSTS", hidden=True)] = "",
    discovered: Annotated[
        list[str],
        typer.Option(
            "--discovered", metavar="FILE", help="A fabric discovery (ibnetdiscover, ...). Repeatable."
        ),
    ] = [],  # noqa: B006 - typer copies it
    hca_guids: Annotated[
        str,
        typer.Option(
            "--hca-guids", metavar="FILE", help="Lines of host, HCA and GUID, as ibstat tells them."
        ),
    ] = "",
    site: SiteOption = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Lay GUIDs that a harvest derived from MACs beside those that were really seen, and keep which are right.

    HOSTS is a host set such as gpu[001-032]; all nodes when left out. A derived GUID is confirmed when the fabric or
    the host shows it, and contradicted when another host does, or when its host shows all its HCAs without it.

    Exit code 1: contradictions; 3: some were not seen (contradictions are shown too).
    """
    from fabricctl.cli.console import print_lines, print_text
    from fabricctl.hostset import expand
    from fabricctl.nodes.confirm import Verdict
    from fabricctl.report import confirm_report
    from fabricctl.workflows.confirm_guids import confirm_guids as run
    from fabricctl.workflows.state_place import locate

    known = read_site(site)
    if known is None:
        raise UsageError("whose GUIDs? give --site FILE")
    if not discovered and not hca_guids:
        raise UsageError("against what? give --discovered FILE or --hca-guids FILE")
    names = expand(hosts) if hosts else None
    judged = run(known, locate(known, state), discovered=discovered, harvested=hca_guids, names=names)
    if format is Format.TEXT:
        print_lines(confirm_report.lines(judged))
    elif format is Format.JSON:
        print_text(confirm_report.to_json(judged))
    elif format is Format.CSV:
        print_text(confirm_report.to_csv(judged))
    else:
        print_text(confirm_report.to_markdown(judged))
    verdicts = {one.verdict for one in judged}
    if Verdict.NOT_SEEN in verdicts:
        raise typer.Exit(EXIT_COULD_NOT_TELL)
    raise typer.Exit(EXIT_FINDINGS if Verdict.CONTRADICTED in verdicts else EXIT_OK)
