"""Who has a password, and what a vendor's list brings; never a password."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from fabricctl.hostset import fold
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.words import many
from provision.bmc.outcome import Outcome
from provision.bmc.password_lists import Holding, Import
from provision.report.common import Table
from provision.report.fleet import Report
from provision.report.schema_parts import TEXT, listed, row, texts

SCHEMA = "fabricctl.bmc-credentials/1"
COLUMNS = ("host", "service_tag", "user", "kept_under", "state", "since", "age", "source", "trouble")
_STYLES = {"factory": DOUBT, "pending": BAD, "current": GOOD}
_FEW = 12


def holding_report(
    holdings: Sequence[Holding],
    now: datetime,
    place: str,
    known: Sequence[Outcome[None]],
    *,
    each: bool = False,
) -> Report:
    """A row a BMC, and one a machine the site does not know. :param known: the BMCs; nobody was asked."""
    table = holding_table(holdings, now)
    return Report(
        SCHEMA,
        known,
        content=lambda: {"credentials": table.objects(), "kept_in": place},
        lines=lambda width: [*table.lines(width, each=each), ((f"kept in {place}", DIM),)],
        table=lambda: table,
    )


def content_schema() -> dict[str, Any]:
    """Of the list."""
    states = ["factory", "current", "pending", "reference", "none"]
    return {"credentials": listed(row({**texts(COLUMNS), "state": {"enum": states}})), "kept_in": TEXT}


def holding_table(holdings: Sequence[Holding], now: datetime) -> Table:
    """One row a BMC, and one a machine the site does not know."""
    rows = [
        (
            one.host,
            one.service_tag,
            one.user,
            one.kept,
            one.state or "none",
            one.since.isoformat(timespec="seconds") if one.since is not None else "",
            age(now - one.since) if one.since is not None else "",
            one.source,
            one.trouble,
        )
        for one in holdings
    ]
    styles = [BAD if one.trouble else _STYLES.get(one.state, PLAIN) for one in holdings]
    keys = [one.kept.replace(one.service_tag, "").replace(one.host, "").strip() for one in holdings]
    brief = ("state", "user", "age", "kept_under", "source", "trouble")
    return Table(COLUMNS, rows, styles, brief, {"kept_under": keys})


def age(passed: timedelta) -> str:
    """``3 days``, ``5 hours``, ``less than an hour``."""
    if passed.days:
        return many(passed.days, "day")
    hours = int(passed.total_seconds() // 3600)
    return many(hours, "hour") if hours > 0 else "less than an hour"


def import_lines(found: Import, path: str, place: str, *, dry: bool) -> list[Line]:
    """What a list brings and what it lacks."""
    number = len(found.new) + len(found.replaced) + len(found.same) + len(found.rotated)
    lines: list[Line] = [((f"{many(number, 'password')} in {path}", BOLD),)]
    verb = "would be kept" if dry else "kept"
    if found.entries:
        replaced = f", {len(found.replaced):,} of them in place of others" if found.replaced else ""
        lines.append(((f"  {verb}: {len(found.entries):,}{replaced}, in {place}", GOOD),))
    if found.same:
        lines.append(((f"  kept already: {len(found.same):,}", DIM),))
    if found.rotated:
        text = f"  left alone, changed since or being changed: {_few(found.rotated)}; --replace takes the list's word"
        lines.append(((text, DOUBT),))
    lines += _hosts(found)
    return lines


def _hosts(found: Import) -> Iterable[Line]:
    if found.hosts:
        yield ((f"  of the site: {len(found.hosts):,}  ", PLAIN), (fold(found.hosts.values()), PLAIN))
    if found.strangers:
        yield ((f"  service tags the site does not have: {_few(found.strangers)}", DOUBT),)
    if found.bare:
        yield ((f"  without a password: {fold(found.bare)}", BAD),)
    if found.tagless:
        text = f"  service tag not known: {fold(found.tagless)}; fabricctl bmc scan --record finds them"
        yield ((text, DOUBT),)


def _few(words: Sequence[str]) -> str:
    shown = ", ".join(words[:_FEW])
    return shown if len(words) <= _FEW else f"{shown} and {len(words) - _FEW:,} more"
