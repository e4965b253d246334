"""``fabricctl work-order``: what to do in the hall, and what of it is done."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.intent_options import (
    Assume,
    Deadline,
    Discovered,
    FabricName,
    HcaGuids,
    Identify,
    IdentityFile,
    KnownHosts,
    NodeNameMap,
    PlanFile,
    PortNumbersOption,
    Save,
    SiteFile,
    SwitchSerials,
    Viewers,
    checked,
    format_of,
    inputs_of,
    not_an_input,
    once_stdin,
)
from fabricctl.cli.state_options import StateOption
from fabricctl.errors import UsageError
from fabricctl.words import clean

if TYPE_CHECKING:
    from fabricctl.repair.order_model import WorkOrder

app = typer.Typer(no_args_is_help=True, help="What to do in the hall, on paper, and what of it is done.")


class Format(StrEnum):
    """How a work order is written."""

    TEXT = "text"
    HTML = "html"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"


class CheckFormat(StrEnum):
    """How the check is written."""

    TEXT = "text"
    JSON = "json"


class PaperName(StrEnum):
    """What the HTML is printed on."""

    ANY = "any"
    A4 = "a4"
    LETTER = "letter"


_SUFFIXES = {
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".csv": Format.CSV,
    ".json": Format.JSON,
    ".txt": Format.TEXT,
}

OrderFile = Annotated[str, typer.Argument(metavar="WO", help="The work order: its .json or .html file.")]


@app.command("make", no_args_is_help=True, short_help="Write down the fewest moves that repair the cabling.")
def make(
    plan: PlanFile = "",
    discovered: Discovered = [],  # noqa: B006 - typer copies it
    viewer: Viewers = [],  # noqa: B006 - typer copies it
    site: SiteFile = "",
    fabric: FabricName = "",
    node_name_map: NodeNameMap = "",
    port_numbers: PortNumbersOption = None,
    identify: Identify = False,
    hca_guids: HcaGuids = "",
    switch_serials: SwitchSerials = "",
    assume: Assume = [],  # noqa: B006 - typer copies it
    device: Annotated[
        str, typer.Option(metavar="NAME", help="Only groups of steps that touch this switch or host, whole.")
    ] = "",
    rack: Annotated[
        str, typer.Option(metavar="NAME", help="Only groups of steps that touch this rack, whole.")
    ] = "",
    split: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=999, help="Share the work among N people; no group is torn."),
    ] = 1,
    format: Annotated[Format, typer.Option("--format", "-f", help="How to print the order.")] = Format.TEXT,
    output: Annotated[
        list[str],
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write it to FILE instead; the format follows the ending: .html .md .csv .json .txt. Repeatable. With "
            "--split the share's number goes before the ending.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    state: StateOption = "",
    paper: Annotated[
        PaperName, typer.Option(help="Paper of the HTML; any: as the printer has it.")
    ] = PaperName.ANY,
    save: Save = "",
    deadline: Deadline = 120.0,
    known_hosts: KnownHosts = [],  # noqa: B006 - typer copies it
    identity: IdentityFile = [],  # noqa: B006 - typer copies it
) -> None:
    """Write the work order that repairs the cabling with the fewest moves.

    Steps in the order of a walk along the racks, each with both ends, labels, sign of success, hosts it disconnects,
    time, and the way back; separate orders for missing and dead parts. Where the site's state store or --state is at
    hand, hosts in service or draining are named. Exit 0: nothing to do; 1: something to do;
    3: something could not be told, and the order says what it does not cover.
    """
    from datetime import datetime

    from fabricctl.cli.progress import progress
    from fabricctl.workflows.verify_cabling import Request
    from fabricctl.workflows.work_order import Piece
    from fabricctl.workflows.work_order import make as make_orders

    targets = [(path, format_of("--output", path, _SUFFIXES)) for path in output]
    if split > 1 and not output and format not in (Format.TEXT, Format.MARKDOWN):
        raise UsageError(f"--split with {format.value}: give --output FILE, one file is written per person")
    request = Request(
        plan=plan,
        site=site,
        fabric=fabric,
        discovered=discovered,
        viewers=viewer,
        node_name_map=node_name_map,
        hca_guids=hca_guids,
        switch_serials=switch_serials,
        identify=identify,
        port_numbers=port_numbers,
        state=state,
        save=save,
        deadline_s=deadline,
        known_hosts=known_hosts,
        key_files=identity,
    )
    request = checked(request, assume, identify=identify)
    not_an_input(output, inputs_of(request))
    with progress() as tell:
        made = make_orders(request, Piece(device, rack, split), datetime.now().astimezone(), tell)
        tell("writing")
        written = [
            name
            for path, form in targets
            for order in made.orders
            for name in _write(order, path, form, paper)
        ]
    if made.refused:
        from fabricctl.cli.console import say

        for reason in made.refused:
            say(reason)
    elif not targets:
        for order in made.orders:
            _print(order, format, paper)
    else:
        _said(made.orders, written)
    raise typer.Exit(made.exit_code)


def _document(order: WorkOrder, form: Format, paper: PaperName) -> str:
    if form is Format.JSON:
        from fabricctl.report.work_order_json import to_json

        return to_json(order)
    if form is Format.CSV:
        from fabricctl.report import work_order_csv

        return work_order_csv.render(order)
    if form is Format.MARKDOWN:
        from fabricctl.report import work_order_markdown

        return work_order_markdown.render(order)
    if form is Format.HTML:
        from fabricctl.report import work_order_html
        from fabricctl.report.work_order_style import Paper

        return work_order_html.render(order, paper=Paper[paper.name])
    from fabricctl.cli.console import plain
    from fabricctl.report.work_order_screen import render

    return plain(render(order))


def _write(order: WorkOrder, path: str, form: Format, paper: PaperName) -> list[str]:
    from fabricctl.adapters.files import write_atomic

    stem, ending = path[: path.rfind(".")], path[path.rfind(".") :]
    name = path if order.of_parts == 1 else f"{stem}-{order.part}{ending}"
    text = _document(order, form, paper)
    write_atomic(name, clean(text))
    return [name]


def _print(order: WorkOrder, form: Format, paper: PaperName) -> None:
    from fabricctl.cli.console import print_lines, print_text

    if form is not Format.TEXT:
        print_text(_document(order, form, paper))
        return
    from fabricctl.report.work_order_screen import render

    print_lines(render(order, width=_width()))


def _width() -> int:
    import shutil

    return min(shutil.get_terminal_size((100, 40)).columns, 120)


def _said(orders: list[WorkOrder], written: list[str]) -> None:
    """What was written, with one line per order."""
    from fabricctl.cli.console import print_lines
    from fabricctl.report.work_order_words import summary, title

    for order in orders:
        print_lines([((f"{title(order)}: ", "bold"), (summary(order), ""))])
    for text in orders[0].not_covered:
        print_lines([(("not covered  ", "doubt"), (text, ""))])
    for name in written:
        print_lines([((f"written: {name}", "dim"),)])


@app.command("show", no_args_is_help=True, short_help="Print steps by number, label or place.")
def show(
    order: OrderFile,
    step: Annotated[str, typer.Option(metavar="N", help="Number or id of a step.")] = "",
    label: Annotated[
        str, typer.Option(metavar="TEXT", help="What stands on a label, or a part of it, or a serial number.")
    ] = "",
    place: Annotated[
        str, typer.Option(metavar="TEXT", help="Rack, unit, device, cage: 'B07 U31', 'ibl-p01-r1 cage 14'.")
    ] = "",
) -> None:
    """Print a work order, or everything about the steps that a label, a place or a number names."""
    from fabricctl.cli.console import print_lines
    from fabricctl.repair.order_pieces import find_steps
    from fabricctl.report import work_order_screen as screen
    from fabricctl.workflows.work_order import load_order

    found = load_order(order)
    if not (step or label or place):
        print_lines(screen.render(found, width=_width()))
        return
    steps = find_steps(found, step=step, label=label, place=place)
    if not steps:
        asked = ", ".join(text for text in (step and f"step {step}", label, place) if text)
        raise UsageError(f"no step of {order} has {asked!r}")
    for index, one in enumerate(steps):
        if index:
            print_lines([()])
        print_lines(screen.show(one, width=_width()))


@app.command("check", no_args_is_help=True, short_help="Which steps are done, wrong or open.")
def check(
    order: OrderFile,
    discovered: Discovered = [],  # noqa: B006 - typer copies it
    viewer: Viewers = [],  # noqa: B006 - typer copies it
    device: Annotated[
        str, typer.Option(metavar="NAME", help="Only steps that touch this switch or host.")
    ] = "",
    format: Annotated[
        CheckFormat, typer.Option("--format", "-f", help="How to print the answer.")
    ] = CheckFormat.TEXT,
    everything: Annotated[bool, typer.Option("--all", help="List the steps that are done, too.")] = False,
    save: Save = "",
    deadline: Deadline = 120.0,
    known_hosts: KnownHosts = [],  # noqa: B006 - typer copies it
    identity: IdentityFile = [],  # noqa: B006 - typer copies it
) -> None:
    """Tell which steps of a work order are done, from what the fabric shows now; plan and site are not needed.

    Exit 0: all done; 1: some are open or wrong; 3: some could not be told (a device unseen, a plug that hangs).
    """
    from fabricctl.cli.console import print_lines, print_text
    from fabricctl.cli.progress import progress
    from fabricctl.report.work_order_screen import check as lines_of
    from fabricctl.workflows.verify_cabling import Request
    from fabricctl.workflows.work_order import check_order

    once_stdin([order, *discovered])
    request = Request(
        discovered=discovered,
        viewers=viewer,
        save=save,
        deadline_s=deadline,
        known_hosts=known_hosts,
        key_files=identity,
    )
    with progress() as tell:
        result = check_order(order, request, device, tell)
    if format is CheckFormat.JSON:
        from fabricctl.report.work_order_json import check_to_json

        print_text(check_to_json(result))
    else:
        print_lines(lines_of(result, width=_width(), everything=everything))
    raise typer.Exit(result.exit_code)
