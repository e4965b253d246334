"""``fabricctl node``: who a node is and what state it is in; ``fabricctl events``: what was changed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli import node_confirm
from fabricctl.cli.state_options import (
    Format,
    FormatOption,
    SiteOption,
    StateOption,
    here,
    parse_since,
    read_site,
)
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fabricctl.nodes.model import Fact
    from fabricctl.workflows.nodes import Nodes

app = typer.Typer(
    help="Node records: identities and states, with who changed them, when and why.",
    short_help="Identities and states of nodes.",
    no_args_is_help=True,
)

# hidden: the list of arguments would say no more than "HOSTS <str>"; each command's text explains it
Hosts = Annotated[str, typer.Argument(metavar="HOSTS", hidden=True)]
Force = Annotated[bool, typer.Option("--force-in-service", help="Take nodes out of service without a drain.")]


def register(root: typer.Typer) -> None:
    """Add the commands to the tree."""
    node_confirm.register(app)
    root.add_typer(app, name="node")
    root.command("events", short_help="What was changed: who, when, why, before, after.")(events)


@app.command("list", short_help="Nodes with their states.")
def list_nodes(
    hosts: Hosts = "",
    site: SiteOption = "",
    state: StateOption = "",
    state_is: Annotated[
        list[str], typer.Option("--state-is", metavar="STATE", help="Only nodes in this state. Repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    format: FormatOption = Format.TEXT,
) -> None:
    """List nodes with their states. Nodes of the site file that nothing is recorded of are planned.

    HOSTS is a host set such as gpu[001-032]; all nodes when left out.
    """
    from fabricctl.cli.console import print_lines, print_text
    from fabricctl.nodes.model import parse_state
    from fabricctl.report import node_report

    states = [parse_state(text) for text in state_is]
    records = _nodes(site, state).records(_expanded(hosts) if hosts else None)
    chosen = [record for record in records.values() if not states or record.state in states]
    if format is Format.TEXT:
        print_lines(node_report.node_lines(chosen, here()))
    elif format is Format.JSON:
        print_text(node_report.nodes_json(chosen))
    elif format is Format.CSV:
        print_text(node_report.nodes_csv(chosen))
    else:
        print_text(node_report.nodes_markdown(chosen))


@app.command(short_help="All that is known of a node.")
def show(
    host: Annotated[str, typer.Argument(metavar="HOST", hidden=True)],
    site: SiteOption = "",
    state: StateOption = "",
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show one node: state, identities with their sources and times, and what happened to it.

    HOST is its name; a host set shows one after the other.
    """
    from fabricctl.cli.console import print_lines, print_text
    from fabricctl.report import node_report

    nodes = _nodes(site, state)
    names = _expanded(host)
    records = nodes.records(names)
    events_of = {
        name: [event for event in nodes.events(subjects=names) if event.subject == name] for name in records
    }
    if json:
        print_text(node_report.nodes_json(records.values(), events_of))
        return
    for name, record in records.items():
        print_lines(node_report.node_page(record, events_of[name], here()))


@app.command("set", short_help="Change a node's state or identities.")
def set_nodes(
    hosts: Hosts,
    to: Annotated[str, typer.Option("--to", metavar="STATE", help="New state, such as draining.")] = "",
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with the change.")] = "",
    service_tag: Annotated[str, typer.Option(metavar="TAG", help="Service tag of the chassis.")] = "",
    serial: Annotated[
        list[str],
        typer.Option(metavar="[PART=]SERIAL", help="Serial number, of a part (mlx5_0=...) or the chassis."),
    ] = [],  # noqa: B006 - typer copies it
    mac: Annotated[
        list[str], typer.Option(metavar="[PART=]MAC", help="Ethernet address, in any common spelling.")
    ] = [],  # noqa: B006 - typer copies it
    guid: Annotated[
        list[str], typer.Option(metavar="[PART=]GUID", help="InfiniBand GUID, in any common spelling.")
    ] = [],  # noqa: B006 - typer copies it
    retire: Annotated[
        list[str],
        typer.Option(metavar="VALUE", help="An identity that no longer holds; it stays in the history."),
    ] = [],  # noqa: B006 - typer copies it
    move: Annotated[bool, typer.Option("--move", help="Take an identity that another node has.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
    force: Force = False,
    site: SiteOption = "",
    state: StateOption = "",
) -> None:
    """Change the state of nodes, or the identities of one. The plan is shown first; every change is an event.

    HOSTS is a host set such as gpu[001-032]. States: planned, provisioning, ready, in service, draining, repair,
    quarantined. Nothing leaves service but by draining.
    """
    nodes, names = _nodes(site, state), _expanded(hosts)
    facts, retired = _facts(service_tag, serial, mac, guid), [_retired(text) for text in retire]
    if not reason.isprintable():
        raise UsageError("--reason: expected one line of text, without control characters")
    if to and (facts or retired):
        raise UsageError(
            "change the state (--to) and identities one after the other, so that each has its reason"
        )
    if to:
        _set_state(nodes, names, to, reason, yes=yes, force=force)
    elif facts or retired:
        if len(names) != 1:
            raise UsageError(f"identities belong to one node; {hosts!r} names {len(names)}")
        _set_identity(nodes, names[0], facts, retired, reason or "told by the operator", move=move)
    else:
        raise UsageError(
            "nothing to change: give --to STATE, or --service-tag, --serial, --mac, --guid, --retire"
        )


def events(
    since: Annotated[str, typer.Option(metavar="DATE", help="From this date or moment on.")] = "",
    subject: Annotated[str, typer.Option(metavar="HOSTS", help="Only of these nodes.")] = "",
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="At most the latest N.")] = 200,
    site: SiteOption = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """List changes, oldest first: who, when, why, before and after."""
    from fabricctl.cli.console import print_lines, print_text, say
    from fabricctl.report import node_report

    moment: datetime | None = None
    if since:
        told = parse_since(since, runs=False)
        assert not isinstance(told, int)
        moment = told
    found, total = _nodes(site, state).latest_events(
        since=moment, subjects=_expanded(subject) if subject else None, limit=limit
    )
    cut = node_report.cut_words(len(found), total)
    if format is Format.TEXT:
        print_lines(node_report.event_lines(found, here()))
    elif format is Format.JSON:
        print_text(node_report.events_json(found, total))
    elif format is Format.CSV:
        print_text(node_report.events_csv(found))
    else:
        print_text(node_report.events_markdown(found))
    if cut:
        say(cut)


def _nodes(site_file: str, state: str) -> Nodes:
    from fabricctl.workflows.nodes import Nodes
    from fabricctl.workflows.state_place import locate

    site = read_site(site_file)
    return Nodes(locate(site, state), site)


def _expanded(hosts: str) -> list[str]:
    from fabricctl.hostset import expand

    return expand(hosts)


def _set_state(nodes: Nodes, names: Sequence[str], to: str, reason: str, *, yes: bool, force: bool) -> None:
    from fabricctl.cli.console import print_lines
    from fabricctl.nodes.model import parse_state
    from fabricctl.report.node_report import plan_lines

    state = parse_state(to)
    if not reason.strip():
        raise UsageError("say why: --reason TEXT is kept with the change")
    transitions, records = nodes.plan(names, state, force=force)
    print_lines(plan_lines(transitions, records, state, reason.strip()))
    if not transitions:
        return
    if not yes:
        _confirm(len(transitions))
    nodes.change(transitions, reason.strip())
    print_lines([((f"done: {len(transitions):,} changed", "good"),)])


def _confirm(number: int) -> None:
    """A typed number: it is not typed by accident."""
    sys.stdout.flush()
    if not sys.stdin.isatty():
        raise UsageError("nothing was changed: confirm with --yes")
    if typer.prompt(f"Type {number} to change them", default="", show_default=False).strip() != str(number):
        raise UsageError("nothing was changed")


def _facts(service_tag: str, serial: list[str], mac: list[str], guid: list[str]) -> list[Fact]:
    from fabricctl.nodes.model import IdentityKind, make_fact

    told = [(IdentityKind.SERVICE_TAG, [service_tag] if service_tag else [])]
    told += [(IdentityKind.SERIAL, serial), (IdentityKind.MAC, mac), (IdentityKind.GUID, guid)]
    return [make_fact(kind, text) for kind, texts in told for text in texts]


def _retired(text: str) -> str:
    """A value as it is stored: MAC and GUID in their canonical form, labels in upper case."""
    from fabricctl.guid import parse_guid
    from fabricctl.mac import parse_mac

    value = text.strip()
    if mac := parse_mac(value):
        return mac
    grouped = value.lower().startswith("0x") or any(char in value for char in ":.-")
    guid = parse_guid(value) if grouped or len(value) == 16 else None
    return guid or value.upper()


def _set_identity(
    nodes: Nodes, name: str, facts: Sequence[Fact], retired: Sequence[str], reason: str, *, move: bool
) -> None:
    from fabricctl.cli.console import print_lines
    from fabricctl.report.node_report import node_page

    record = nodes.tell(name, facts, retired, reason, move=move)
    print_lines(node_page(record, (), here()))
