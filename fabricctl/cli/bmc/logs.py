"""``fabricctl bmc logs``: SEL and Lifecycle log of nodes, and what of it is serious."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.changing import Hosts
from fabricctl.cli.state_options import Format, FormatOption, StateOption, here, parse_since

if TYPE_CHECKING:
    from fabricctl.cli.bmc.reading import Asked
    from fabricctl.site.schema import Site
    from provision.bmc.logs import Ignore, LogEntry, Severity
    from provision.redfish.bmc import Bmc
    from provision.report.fleet import Report
    from provision.workflows.logs import BmcLogs, LogQuery


class Level(StrEnum):
    """From which severity entries are shown."""

    OK = "ok"
    WARNING = "warning"
    CRITICAL = "critical"


class Which(StrEnum):
    """Which log."""

    ALL = "all"
    SEL = "sel"
    LIFECYCLE = "lifecycle"
    EVENTS = "events"


LIMIT = 50
"""Entries shown below their groups; the rest is counted."""


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("logs", short_help="SEL and Lifecycle log: what is serious, since when, on whom.")(logs)


def logs(
    hosts: Hosts = "all",
    since: Annotated[
        str,
        typer.Option("--since", metavar="TIME", help="7d, 12h, or a moment such as 2026-03-01T08:00."),
    ] = "7d",
    severity: Annotated[Level, typer.Option("--severity", help="This severity and worse.")] = Level.WARNING,
    log: Annotated[Which, typer.Option("--log", help="Which log.")] = Which.ALL,
    everything: Annotated[
        bool, typer.Option("--all", help="Every entry, also those that are not serious.")
    ] = False,
    new: Annotated[
        bool, typer.Option("--new", help="Only what came since the last time --new was given.")
    ] = False,
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Read the logs of BMCs, all pages back to a time; 7 days when none is given, "all" for everything.

    HOSTS is a host set such as gpu[001-032], or all, also when left out. Entries of at least a warning
    that neither management.log_ignore nor the built-in list calls harmless are findings. Entries whose clock was not
    set are kept and marked with "?". With --new, what was shown by the last run with --new is left out.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.bmc.logs import Severity
    from provision.workflows.log_marks import keep_marks, read_marks
    from provision.workflows.logs import read_logs

    ignore = _ignore(site)
    query = _query(since, log)
    desk = open_desk(hosts, site, state)
    marks = read_marks(desk.location, desk.site.name, desk.hosts) if new else {}

    async def read(bmc: Bmc) -> BmcLogs:
        return await read_logs(bmc, replace(query, marks=marks.get(bmc.target.host, {})))

    asked = ask_all(desk, read, "reading logs")
    report, serious = _judge(
        asked, ignore, Severity[severity.name], everything=everything, single=len(desk.targets) == 1
    )
    if new and not asked.interrupted:
        # of a log that was cut, what lies between the old mark and a new one would never be read
        whole = [entry for entry in serious if entry.log not in asked.values[entry.host].cut]
        keep_marks(desk.location, desk.site.name, whole, query.now)
    finish(report, format, interrupted=asked.interrupted)


def _judge(
    asked: Asked[BmcLogs], ignore: Ignore, level: Severity, *, everything: bool, single: bool
) -> tuple[Report, list[LogEntry]]:
    """What of the entries is serious, and the report about it.

    :param single: of one node, whose entries are listed; of many their groups say it in few lines.
    """
    from provision.bmc.logs import Severity, group, log_findings, without_doubles
    from provision.report.logs_report import Screen, count_lines, in_time, logs_report

    entries = [entry for found in asked.values.values() for entry in found.entries]
    judged = in_time([(entry, ignore(entry)) for entry in entries])
    wanted = [(entry, why) for entry, why in judged if entry.severity >= level]
    serious = [entry for entry, why in wanted if not why]
    once = without_doubles(serious)
    counts = count_lines(len(entries), len(serious), len(wanted) - len(serious), level)
    report = logs_report(
        judged if everything else [(entry, why) for entry, why in wanted if not why],
        group(once),
        asked.values,
        asked.outcomes,
        log_findings(group(entry for entry in once if entry.severity >= Severity.WARNING)),
        Screen(here(), everything or single, None if everything else LIMIT, counts),
    )
    return report, serious


def _query(since: str, log: Which) -> LogQuery:
    from provision.bmc.times import parse_span
    from provision.workflows.logs import READ_KINDS, LogQuery

    kinds = READ_KINDS if log is Which.ALL else (log.value,)
    now = datetime.now(UTC)
    if since.strip().lower() in ("", "all"):
        return LogQuery(now, kinds=kinds)
    span = parse_span(since)
    if span is not None:
        return LogQuery(now, span=span, kinds=kinds)
    moment = parse_since(since, runs=False, also="7d, 12h, all, or ")
    assert isinstance(moment, datetime)
    return LogQuery(now, since=moment, kinds=kinds)


def _ignore(site_file: str) -> Ignore:
    from fabricctl.cli.state_options import read_site
    from fabricctl.errors import UsageError
    from provision.bmc.log_noise import ignore_of, site_rules

    site: Site | None = read_site(site_file)
    try:
        return ignore_of(site_rules(site.management.log_ignore if site is not None else ()))
    except ValueError as exc:
        raise UsageError(f"{site_file}: management.log_ignore: {exc}") from exc
