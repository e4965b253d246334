"""``fabricctl findings``: what is new, still open, gone, back again."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from fabricctl.cli.state_options import (
    Format,
    FormatOption,
    SiteOption,
    StateOption,
    here,
    parse_since,
    read_site,
)
from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_OK, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabricctl.adapters.store.location import Location
    from fabricctl.history.compare import Change

Word = TypeVar("Word", bound=StrEnum)

app = typer.Typer(
    help="Findings of recorded runs: new, still open, gone, returned; repeat offenders first.\n\n"
    "verify-cabling records a run whenever a site file or --state is given. Exit 0: nothing open; 1: open findings; "
    "3: the last run could not tell.",
    short_help="What is new, still open, gone or back since a run.",
    invoke_without_command=True,
)


@app.callback()
def findings(
    context: typer.Context,
    site: SiteOption = "",
    state: StateOption = "",
    fabric: Annotated[str, typer.Option(metavar="NAME", help="Only this fabric of the site.")] = "",
    since: Annotated[
        str,
        typer.Option(
            metavar="WHEN",
            help="Compare with the run before the latest (last), with run N, or with the last run before a date.",
        ),
    ] = "last",
    status: Annotated[
        list[str],
        typer.Option(
            metavar="STATUS", help="Only new, open, returned, gone or not-looked-at findings. Repeatable."
        ),
    ] = [],  # noqa: B006 - typer copies it
    device: Annotated[
        str, typer.Option(metavar="HOSTS", help="Only findings of these hosts or switches (gpu[001-032]).")
    ] = "",
    kind: Annotated[
        list[str],
        typer.Option(metavar="KIND", help="Only findings of this kind, such as missing. Repeatable."),
    ] = [],  # noqa: B006 - typer copies it
    everything: Annotated[bool, typer.Option("--all", help="Fold nothing.")] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """List findings by what became of them since a run or date."""
    if context.invoked_subcommand is not None:
        context.obj = (site, state)
        return
    from fabricctl.cabling.model import FindingKind  # late, as all here: help should not wait for it
    from fabricctl.history.compare import Status
    from fabricctl.history.select import select
    from fabricctl.hostset import expand
    from fabricctl.workflows.history import changes

    kinds, statuses = _words(FindingKind, kind, "--kind"), _words(Status, status, "--status")
    location, name = _place(site, state)
    found = changes(location, site=name, since=parse_since(since), fabric=fabric)
    if not found:
        raise _nothing(location)
    devices = expand(device) if device else []
    if devices and site:
        _check_devices(site, devices)
    found = [select(change, devices=devices, kinds=kinds) for change in found]
    code = _exit_code(found)
    _print([select(change, statuses=statuses) for change in found], format, code, everything=everything)
    raise typer.Exit(code)


def _check_devices(site_file: str, devices: Sequence[str]) -> None:
    """:raises UsageError: the site has no such host or switch."""
    from difflib import get_close_matches

    from fabricctl.site.use import all_hosts, all_switches

    site = read_site(site_file)
    if site is None or not site.nodes or not site.switches:
        return  # names that only the plan has cannot be told from misspelt ones
    known = {name.lower() for name in (*all_hosts(site), *all_switches(site))}
    unknown = next((name for name in devices if name.split(" ")[0].lower() not in known), None)
    if unknown is not None:
        near = get_close_matches(unknown.lower(), sorted(known), n=1)
        raise UsageError(
            f"--device {unknown}: the site has no such host or switch",
            hint=f"did you mean {near[0]}?" if near else "",
        )


@app.command(short_help="The history of one finding.")
def show(
    context: typer.Context,
    finding: Annotated[str, typer.Argument(metavar="F-...", hidden=True)],
    site: SiteOption = "",
    state: StateOption = "",
) -> None:
    """Show one finding: what and where it is, and every time it was there.

    F-... is its id, or the beginning of it.
    """
    from fabricctl.cli.console import print_lines
    from fabricctl.report.findings_report import history_lines
    from fabricctl.workflows.history import finding_histories

    location, name = _place(*_options(context, site, state))
    open_now = False
    for history in finding_histories(location, finding, site=name):
        print_lines(
            history_lines(
                history.series,
                history.known,
                history.times,
                history.runs,
                here(),
                looked_at=history.looked_at,
            )
        )
        open_now = open_now or history.times[-1].gone is None
    raise typer.Exit(EXIT_FINDINGS if open_now else EXIT_OK)


@app.command(short_help="Recorded runs.")
def runs(
    context: typer.Context, site: SiteOption = "", state: StateOption = "", format: FormatOption = Format.TEXT
) -> None:
    """List recorded runs: when, who, what was read, what came out."""
    from fabricctl.cli.console import print_text
    from fabricctl.report.runs_report import render
    from fabricctl.workflows.history import all_runs

    location, name = _place(*_options(context, site, state))
    found = all_runs(location, site=name)
    if not found:
        raise _nothing(location)
    print_text(render(found, format.value, here()))


def _words(words: type[Word], texts: list[str], option: str) -> list[Word]:
    """Members of an enumeration by their words, with dashes or underscores."""
    by_word = {member.value: member for member in words}
    asked = [text.strip().lower().replace("-", "_").replace(" ", "_") for text in texts]
    for text, word in zip(texts, asked, strict=True):
        if word not in by_word:
            raise UsageError(f"{option} {text}: expected one of {', '.join(by_word)}")
    return [by_word[word] for word in asked]


def _options(context: typer.Context, site: str, state: str) -> tuple[str, str]:
    """Options may stand before or after the command's name."""
    before = context.obj or ("", "")
    return site or before[0], state or before[1]


def _place(site_file: str, state: str) -> tuple[Location, str]:
    from fabricctl.workflows.state_place import locate

    site = read_site(site_file)
    return locate(site, state), site.name if site is not None else ""


def _nothing(location: Location) -> UsageError:
    return UsageError(
        f"no run is recorded in {location.place}", hint="verify-cabling with --site or --state records one"
    )


def _exit_code(found: Sequence[Change]) -> int:
    from fabricctl.cabling.verdict import VerdictWord
    from fabricctl.history.compare import OPEN_STATUSES

    if any(change.latest.word is VerdictWord.COULD_NOT_TELL for change in found):
        return EXIT_COULD_NOT_TELL
    is_open = any(standing.status in OPEN_STATUSES for change in found for standing in change.standings)
    return EXIT_FINDINGS if is_open else EXIT_OK


def _print(found: Sequence[Change], form: Format, code: int, *, everything: bool) -> None:
    from fabricctl.cli.console import print_lines, print_text
    from fabricctl.report import findings_report

    if form is Format.JSON:
        from fabricctl.report.findings_json import to_json

        print_text(to_json(found, code))
    elif form is Format.CSV:
        print_text(findings_report.to_csv(found))
    elif form is Format.MARKDOWN:
        print_text(findings_report.to_markdown(found, here()))
    else:
        print_lines(findings_report.screen(found, here(), everything=everything))
