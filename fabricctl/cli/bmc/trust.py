"""``fabricctl bmc trust``: record the certificates of BMCs at first contact, and notice when one changes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import Desk, SiteFile, open_desk
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Hosts, Reason, Yes, consent
from fabricctl.cli.state_options import Format, FormatOption, StateOption
from fabricctl.errors import UsageError
from fabricctl.words import many

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provision.bmc.certificates import Expected, Recorded
    from provision.workflows.trust import FirstContact


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("trust", short_help="Record the certificates of BMCs, and notice when one changes.")(trust)


def trust(
    hosts: Hosts = "all",
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
    each: Each = False,
    yes: Yes = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Record changed certificates in place of the old ones.")
    ] = False,
    reason: Reason = "",
    expect: Annotated[
        str,
        typer.Option(
            "--expect",
            metavar="FILE",
            help="Fingerprints somebody vouches for, a line each: [host|address|tag] SHA-256. Others are not recorded.",
        ),
    ] = "",
) -> None:
    """Fetch the certificates of BMCs, without any password, and record those seen for the first time.

    HOSTS is a host set such as gpu[001-032], or all, also when left out. From then on a BMC gets a password
    only where it shows the recorded certificate. One that changed is a finding; --replace with --reason records it.
    """
    from fabricctl.cli.bmc.reading import exit_with, show
    from fabricctl.workflows.state_place import operator
    from provision.bmc.certificates import findings_of
    from provision.report.trust_report import trust_report
    from provision.workflows import trust as workflow

    if replace and not reason.strip():
        raise UsageError("say why they changed: --replace wants --reason TEXT, which is kept with the change")
    desk = open_desk(hosts, site, state)
    found = _look(desk, expect)
    wanted = workflow.to_record(found.judged, replace=replace)
    findings = findings_of(found.judged, datetime.now(UTC), replace=replace)
    report = trust_report(found.judged, findings, found.unread, each=each)
    show(report, format)
    if wanted:
        _ask(len(wanted), format, yes=yes)
        workflow.record(
            desk.location,
            desk.site.name,
            wanted,
            who=operator(),
            reason=reason.strip() or ("expected" if expect else "first contact"),
            now=datetime.now(UTC),
        )
        _told(format, f"{many(len(wanted), 'certificate')} recorded")
    elif not found.unread and not findings:
        _told(format, "nothing to do: every certificate is the recorded one")
    exit_with(report)


def _look(desk: Desk, expect: str) -> FirstContact:
    from fabricctl.cli.progress import progress
    from provision.workflows import trust as workflow

    with progress() as tell:
        return workflow.look(
            desk.targets,
            _recorded(desk),
            _expected(expect),
            at_once=desk.site.management.bmc_limits.fleet,
            done=lambda asked: tell(f"{asked:,} of {len(desk.targets):,} BMCs"),
        )


def _recorded(desk: Desk) -> Mapping[str, Recorded]:
    from provision.workflows.trust import recorded_pins

    return recorded_pins(desk.location, desk.site.name)


def _expected(path: str) -> Expected | None:
    from fabricctl.adapters.files import decode, read_input
    from provision.bmc.certificates import read_expected

    return read_expected(decode(read_input(path, limit_bytes=16 << 20), path), path) if path else None


def _ask(number: int, format: Format, *, yes: bool) -> None:
    """Look at the fingerprints before they are believed from now on."""
    if not yes:
        _told(
            format,
            f"record {many(number, 'certificate')}? compare some with what the BMCs' own consoles show",
        )
    consent(number, yes=yes)


def _told(format: Format, text: str) -> None:
    from fabricctl.cli.console import print_lines, say

    if format is Format.TEXT:
        print_lines([(), ((text, ""),)])
    else:
        say(text)
