"""``fabricctl verify-cabling``: the main job."""

from __future__ import annotations

import sys
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
    inputs_of,
    not_an_input,
)
from fabricctl.cli.verdict_outputs import Format, Outputs
from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_OK, InputError, UsageError

if TYPE_CHECKING:
    from fabricctl.cabling.verdict import Verdict
    from fabricctl.discovery.model import Observation
    from fabricctl.workflows.verify_cabling import Intent, Request


class Check(StrEnum):
    """Checks that are notes unless asked for."""

    RAILS = "rails"


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "verify-cabling", no_args_is_help=True, short_help="The planned cabling against what is there."
    )(verify_cabling)


def verify_cabling(
    plan: PlanFile = "",
    discovered: Discovered = [],  # noqa: B006 - typer copies it
    viewer: Viewers = [],  # noqa: B006 - typer copies it
    site: SiteFile = "",
    fabric: FabricName = "",
    port_numbers: PortNumbersOption = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Judge only these: hosts or switches (gpu[001-032]), rack:B07, rail:3 or su:2; joined by commas.",
        ),
    ] = None,
    node_name_map: NodeNameMap = "",
    identify: Identify = False,
    hca_guids: HcaGuids = "",
    switch_serials: SwitchSerials = "",
    assume: Assume = [],  # noqa: B006 - typer copies it
    hca_slots: Annotated[
        str,
        typer.Option(
            "--hca-slots",
            metavar="FILE",
            help="Inventory of HCA slots (CSV or JSON: host, model, slot, hca, pci, guid): a card in another slot than "
            "in most hosts of its model is a finding.",
        ),
    ] = "",
    check: Annotated[
        list[Check],
        typer.Option(metavar="rails", help="Make the plan-free rail checks findings instead of notes."),
    ] = [],  # noqa: B006 - typer copies it
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Devices and cables outside the plan are findings."),
    ] = False,
    gate: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="Share of bad cables that is a finding by itself (default: the site's, else 0.10).",
        ),
    ] = None,
    format: Annotated[Format, typer.Option("--format", "-f", help="How to write the verdict.")] = Format.TEXT,
    report: Annotated[
        list[str],
        typer.Option(
            metavar="FILE",
            help="Also write it to FILE; the format follows the ending: .html .md .json .csv .xml .txt. Repeatable.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    html: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Write the picture: one page with map, matrix, racks and panels, findings. Opens without a network.",
        ),
    ] = "",
    svg: Annotated[
        str, typer.Option(metavar="FILE", help="Write a static picture of the fabric, for chats and tickets.")
    ] = "",
    compare: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="An earlier JSON or HTML report: the picture shows what is new, gone and returned since.",
        ),
    ] = "",
    prometheus: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Write metrics for the node exporter's textfile collector.",
        ),
    ] = "",
    everything: Annotated[
        bool,
        typer.Option("--all", help="Fold nothing: every finding, every cable outside the plan."),
    ] = False,
    state: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="Record the run in this store: a file, postgresql://user@host/database, or env:NAME. With --site "
            "it is recorded anyway, in the site's store.",
        ),
    ] = "",
    record: Annotated[
        bool, typer.Option("--record/--no-record", help="Keep the findings for 'fabricctl findings'.")
    ] = True,
    watch: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=1.0,
            help="Discover again and again; show what changed since the last pass.",
        ),
    ] = None,
    save: Save = "",
    deadline: Deadline = 120.0,
    known_hosts: KnownHosts = [],  # noqa: B006 - typer copies it
    identity: IdentityFile = [],  # noqa: B006 - typer copies it
) -> None:
    """Compare the intended InfiniBand cabling with what is really there.

    Says what is wrong, where, what was expected and found, and what to do; islands first, worst first.
    Without a plan only the checks that need none are run. Exit 0: every planned cable is as planned;
    1: findings; 3: something could not be told; 2: wrong usage or input.
    """
    import gc

    from fabricctl.cli.pictures import Pictures
    from fabricctl.workflows.verify_cabling import Request

    gc.disable()  # half a million small values, no cycles: the collector would only walk them again and again
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
        only=_only(only),
        strict=strict,
        check_rails=Check.RAILS in check,
        gate=gate,
        save=save,
        deadline_s=deadline,
        known_hosts=known_hosts,
        key_files=identity,
        port_numbers=port_numbers,
        hca_slots=hca_slots,
        state=state,
        record=record,
    )
    request = checked(request, assume, identify=identify)
    outputs = Outputs(format, report, prometheus, everything, Pictures(html, svg, compare))
    _check_usage(request, watch, [*report, html, svg, prometheus])
    if compare and not outputs.pages:
        raise UsageError("--compare shows its changes in a page: give --html FILE or --report FILE.html too")
    code = _watch(request, outputs, watch) if watch is not None else _once(request, outputs)
    raise typer.Exit(code)


def _only(text: str | None) -> str:
    if text is not None and not text.strip():
        raise UsageError(
            "--only is empty (an unset shell variable?); expected hosts, switches, rack:NAME, rail:N or su:N"
        )
    return text or ""


def _check_usage(request: Request, watch: float | None, written: list[str]) -> None:
    inputs = inputs_of(request)
    not_an_input(written, inputs)
    if watch is not None and "-" in inputs:
        raise UsageError("--watch reads its input again and again: standard input cannot be read twice")
    if request.save and not request.viewers and request.discovered:
        raise UsageError("--save keeps what --from discovers; with --discovered there is nothing to save")


def _once(request: Request, outputs: Outputs) -> int:
    from fabricctl.cli.progress import progress
    from fabricctl.workflows.verify_cabling import judge, load_intent, observe

    with progress() as tell:
        intent = load_intent(request, tell)
        observation = observe(request, intent.viewers, tell, site=intent.site)
        verdict = judge(intent, observation)
        outputs.files(intent, observation, verdict)
    outputs.screen(verdict)
    return _recorded(request, intent, observation, verdict, quiet=outputs.format is not Format.TEXT)


def _recorded(
    request: Request, intent: Intent, observation: Observation, verdict: Verdict, *, quiet: bool
) -> int:
    """Keep the verdict where there is a store; the exit code.

    It is the verdict's. Only where somebody named the store (``--state``, FABRICCTL_STATE, the site file) and all else
    is right, a run that could not be kept is "could not tell": what was asked for was not done.
    """
    import os

    named = request.state or os.environ.get("FABRICCTL_STATE")
    if not request.record or (intent.site is None and not named):
        return verdict.exit_code
    from fabricctl.cli.console import print_lines, say
    from fabricctl.report.recorded import recorded_words
    from fabricctl.workflows.history import NotRecorded, record_verdict

    result = record_verdict(intent, observation, verdict, state=request.state)
    if isinstance(result, NotRecorded):
        say(f"the run was not recorded: {result.error}")
        return verdict.exit_code or (EXIT_COULD_NOT_TELL if result.asked else EXIT_OK)
    if not quiet:
        print_lines([((recorded_words(result.number, result.step, result.returned, new=result.new), "dim"),)])
    return verdict.exit_code


def _watch(request: Request, outputs: Outputs, seconds: float) -> int:
    """Passes until interrupted; the exit code of Ctrl-C is 130, what was seen is already said and saved."""
    import gc
    import time

    from fabricctl.cli.console import print_lines, say
    from fabricctl.cli.progress import progress
    from fabricctl.report.changes import changes, news
    from fabricctl.workflows.verify_cabling import judge, load_intent, observe

    with progress() as tell:
        intent: Intent = load_intent(request, tell)
    last: Verdict | None = None
    while True:
        try:
            with progress() as tell:
                observation = observe(request, intent.viewers, tell, site=intent.site)
                verdict = judge(intent, observation)
                outputs.files(intent, observation, verdict)
        except InputError as exc:
            if last is None:
                raise
            say(f"{time.strftime('%H:%M:%S')}  this pass read nothing: {exc}")  # a file being written, mostly
        else:
            if last is None:
                outputs.screen(verdict)
            else:
                print_lines(changes(last, verdict, time.strftime("%H:%M:%S")))
            if last is None or news(
                last, verdict
            ):  # a pass that shows what the last one showed is no run of its own
                _recorded(request, intent, observation, verdict, quiet=True)
            last = verdict
        sys.stdout.flush()
        gc.collect()
        time.sleep(seconds)
