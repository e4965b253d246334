"""``fabricctl bmc scan``: who answers at which BMC address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import SiteFile
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import ALL, Yes
from fabricctl.cli.state_options import Format, FormatOption, StateOption, read_site
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabricctl.site.schema import Site
    from provision.workflows.scan import Question


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("scan", short_help="Who answers at which BMC address.")(scan)


def scan(
    hosts: Annotated[str, typer.Argument(metavar="HOSTS|NETWORK", hidden=True)] = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
    write_tags: Annotated[
        str,
        typer.Option(
            "--write-tags",
            metavar="FILE",
            help="Write the tags the site lacks as YAML for it; - prints them.",
        ),
    ] = "",
    record: Annotated[
        bool,
        typer.Option(
            "--record", help="Record the tags that neither site nor node record has, as a plan first."
        ),
    ] = False,
    yes: Yes = False,
    port: Annotated[
        int,
        typer.Option(
            "--port", metavar="PORT", min=1, max=65535, help="TCP port of addresses the site does not name."
        ),
    ] = 443,
    max_addresses: Annotated[
        int, typer.Option("--max-addresses", metavar="N", min=1, help="Most addresses of a network.")
    ] = 4096,
) -> None:
    """Ask every BMC address once, without a login, who is there: service tag, product and MAC of
    the BMC.

    HOSTS is a host set such as gpu[001-032], or all, also when left out; or a network such as 192.0.2.0/24.
    What answers is compared with service_tags of the site file and with the node records: crossed BMC cables, machines
    nobody knows, addresses where nobody answers.
    """
    from fabricctl.cli.bmc.reading import exit_with, show
    from fabricctl.cli.bmc.scan_record import record_learned
    from fabricctl.cli.progress import progress
    from provision.report.scan_report import scan_report
    from provision.workflows import scan as workflow

    if not hosts.strip():
        raise UsageError("which BMCs? name them, or a network, or say all")
    read = read_site(site)
    if record and read is None:
        raise UsageError("whose node records? --record wants --site FILE")
    questions, owners = _questions(hosts, read, state, port, max_addresses)
    if not questions:
        raise UsageError("nothing to ask: the site gives no BMC addresses", hint="management.bmc_addresses")
    at_once = read.management.bmc_limits.fleet if read is not None else workflow.AT_ONCE
    with progress() as tell:
        seen = workflow.scan(
            questions,
            owners,
            at_once=max(at_once, 1),
            done=lambda asked, found: tell(
                f"{asked:,} of {len(questions):,} addresses asked, {found:,} BMCs"
            ),
        )
    report = scan_report(seen, each=each)
    show(report, format)
    if write_tags or not record:
        _tags(seen.learned, write_tags, format, site, each=each)
    if record and read is not None:
        record_learned(seen.learned, read, state, format, yes=yes, each=each)
        report = scan_report(workflow.with_tags(seen, owners), each=each)
    exit_with(report)


def _questions(
    hosts: str, site: Site | None, state: str, port: int, most: int
) -> tuple[list[Question], Mapping[str, str]]:
    from fabricctl.hostset import expand
    from provision.workflows import scan as workflow

    network = workflow.parse_network(hosts) if hosts.strip() != ALL else None
    if site is None:
        if network is None:
            raise UsageError("which BMCs? give --site FILE, or a network such as 192.0.2.0/24")
        return workflow.network_questions(network, (), {}, port=port, most=most), {}
    from fabricctl.workflows.state_place import locate
    from provision.workflows.desk import read_desk, read_macs

    location = locate(site, state)
    everyone, _ = read_desk(site, location)
    macs = read_macs(site, location)
    owners = {target.service_tag: target.host for target in everyone if target.service_tag}
    if network is not None:
        return workflow.network_questions(network, everyone, macs, port=port, most=most), owners
    names = None if hosts.strip() == ALL else expand(hosts)
    targets = everyone if names is None else read_desk(site, location, names)[0]
    return [workflow.Question(target, macs.get(target.host, "")) for target in targets], owners


def _tags(learned: Mapping[str, str], place: str, format: Format, site: str, *, each: bool) -> None:
    """Tags the site lacks: into the file that was named, else below the report for people."""
    from fabricctl.adapters.files import write_atomic
    from fabricctl.cli.console import print_text, say
    from provision.report.common import SHOWN
    from provision.workflows.scan import tag_lines

    if not learned:
        if place:
            say("no service tag to write: the site has them all, or none was told")
        return
    text = "".join(f"{line}\n" for line in tag_lines(learned))
    if place not in ("", "-"):
        write_atomic(place, text)
        say(f"{len(learned):,} service tags written to {place}: put them under management: of {site}")
    elif not place and format is Format.TEXT and len(learned) > SHOWN and not each:
        say(
            f"the site lacks {len(learned):,} service tags: --record keeps them in the node records, --write-tags FILE "
            "writes them as YAML for the site file"
        )
    elif place or format is Format.TEXT:
        print_text(f"\n# for management: of {site}; check the labels of some machines first\n{text}")
