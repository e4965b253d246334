"""``fabricctl verify-cabling``: the main job."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_OK, InputError, UsageError
from fabricctl.plan.model import PortNumbers

if TYPE_CHECKING:
    from datetime import datetime

    from fabricctl.cabling.verdict import Verdict
    from fabricctl.cli.pictures import Pictures
    from fabricctl.discovery.model import Observation
    from fabricctl.workflows.verify_cabling import Intent, Request


class Format(StrEnum):
    """How the verdict is written."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    HTML = "html"


class Check(StrEnum):
    """Checks that are notes unless asked for."""

    RAILS = "rails"


_SUFFIXES = {
    ".json": Format.JSON,
    ".csv": Format.CSV,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".xml": Format.JUNIT,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".txt": Format.TEXT,
}


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "verify-cabling", no_args_is_help=True, short_help="The planned cabling against what is there."
    )(verify_cabling)


def verify_cabling(
    plan: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Intended cabling: CSV or XLSX point-to-point list, UFM NDT list, YAML plan, site file, or a saved "
            "discovery as the reference. Recognised from content; .gz and - accepted.",
        ),
    ] = "",
    discovered: Annotated[
        list[str],
        typer.Option(
            metavar="FILE",
            help="Discovery: ibnetdiscover (also -p), iblinkinfo (also -l), OpenSM subnet.lst, ibdiagnet2, UFM links. "
            "Repeat to merge several views. .gz and - accepted.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    viewer: Annotated[
        list[str],
        typer.Option(
            "--from",
            metavar="WHERE",
            help="Discover now: local, or ssh://user@host[,host...][?hca=mlx5_0&port=1]. Repeat to merge.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    site: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Site file: plans, places, identities, reservations.",
        ),
    ] = "",
    fabric: Annotated[str, typer.Option(metavar="NAME", help="Which fabric of the site file.")] = "",
    port_numbers: Annotated[
        PortNumbers | None,
        typer.Option(
            "--port-numbers",
            help="What plain port numbers of the plan's table are where cages hold several ports.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Judge only these: hosts or switches (gpu[001-032]), rack:B07, rail:3 or su:2; joined by commas.",
        ),
    ] = None,
    node_name_map: Annotated[
        str,
        typer.Option(metavar="FILE", help="ib-node-name-map: GUID to name of switches."),
    ] = "",
    identify: Annotated[
        bool,
        typer.Option(
            "--identify",
            help="Find out who is who first (fabricctl identify); switch names count for nothing.",
        ),
    ] = False,
    hca_guids: Annotated[
        str,
        typer.Option(metavar="FILE", help="HCA GUIDs read off the hosts: gpu001 mlx5_0 946d:ae03:0012:3456."),
    ] = "",
    assume: Annotated[
        list[str],
        typer.Option(
            metavar="N.M", help="With --identify: take hypothesis M of ambiguity N as fact. Repeatable."
        ),
    ] = [],  # noqa: B006 - typer copies it
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
    save: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            help="Keep the raw output of live discovery for a later replay.",
        ),
    ] = "",
    deadline: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=1.0, help="Longest time one viewer may take."),
    ] = 120.0,
    known_hosts: Annotated[
        list[str],
        typer.Option(metavar="FILE", help="Recorded host keys, in place of ~/.ssh/known_hosts."),
    ] = [],  # noqa: B006 - typer copies it
    identity: Annotated[list[str], typer.Option(metavar="FILE", help="Private key to log in with.")] = [],  # noqa: B006 - typer copies it
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
        identify=identify,
        assume=_assumed(assume, identify=identify),
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
    outputs = _Outputs(format, report, prometheus, everything, Pictures(html, svg, compare))
    _check_usage(request, watch)
    if compare and not outputs.pages:
        raise UsageError("--compare shows its changes in a page: give --html FILE or --report FILE.html too")
    code = _watch(request, outputs, watch) if watch is not None else _once(request, outputs)
    raise typer.Exit(code)


def _assumed(texts: list[str], *, identify: bool) -> tuple[tuple[int, int], ...]:
    if not texts:
        return ()
    if not identify:
        raise UsageError("--assume settles what --identify leaves open: give --identify too")
    from fabricctl.cli.identify import choices

    return choices(texts)


def _only(text: str | None) -> str:
    if text is not None and not text.strip():
        raise UsageError(
            "--only is empty (an unset shell variable?); expected hosts, switches, rack:NAME, rail:N or su:N"
        )
    return text or ""


def _check_usage(request: Request, watch: float | None) -> None:
    inputs = [
        *(request.plan, request.site, request.node_name_map, request.hca_guids, request.hca_slots),
        *request.discovered,
    ]
    if inputs.count("-") > 1:
        raise UsageError("standard input can be read only once: give - to one option")
    if watch is not None and "-" in inputs:
        raise UsageError("--watch reads its input again and again: standard input cannot be read twice")
    if request.save and not request.viewers and request.discovered:
        raise UsageError("--save keeps what --from discovers; with --discovered there is nothing to save")


class _Outputs:
    """Where a verdict goes."""

    def __init__(
        self, form: Format, reports: list[str], prometheus: str, everything: bool, pictures: Pictures
    ) -> None:
        self.format, self.prometheus, self.everything, self.pictures = form, prometheus, everything, pictures
        self.reports = [(path, _format_of(path)) for path in reports]

    @property
    def pages(self) -> bool:
        """Whether an HTML page is written or printed."""
        return bool(self.pictures.html) or Format.HTML in (self.format, *(form for _, form in self.reports))

    def files(self, intent: Intent, verdict: Verdict) -> None:
        """Write the report files, pictures and metrics."""
        from fabricctl.adapters.files import write_atomic

        self.pictures.take(intent, verdict, _now())
        for path, form in self.reports:
            write_atomic(path, self.document(verdict, form))
        for path, text in self.pictures.documents():
            write_atomic(path, text)
        if self.prometheus:
            import time

            from fabricctl.report.prometheus import render

            write_atomic(self.prometheus, _clean(render(verdict, time.time())))

    def document(self, verdict: Verdict, form: Format) -> str:
        """The verdict in one format."""
        if form is Format.HTML:
            return self.pictures.page()
        return _clean(_document(verdict, form, self.everything))

    def screen(self, verdict: Verdict) -> None:
        """Print it."""
        if self.format is not Format.TEXT:
            from fabricctl.cli.console import print_text

            print_text(self.document(verdict, self.format))
            return
        import shutil

        from fabricctl.cli.console import print_lines
        from fabricctl.report.screen import render

        size = shutil.get_terminal_size((100, 40))
        lines = render(verdict, width=min(size.columns, 120), height=size.lines, everything=self.everything)
        print_lines(lines)
        for path in [*(path for path, _ in self.reports), *self.pictures.paths]:
            print_lines([((f"report: {path}", "dim"),)])


def _format_of(path: str) -> Format:
    ending = path[path.rfind(".") :].lower() if "." in path else ""
    if ending not in _SUFFIXES:
        raise UsageError(
            f"--report {path}: the ending names the format; expected one of {' '.join(_SUFFIXES)}"
        )
    return _SUFFIXES[ending]


def _document(verdict: Verdict, form: Format, everything: bool) -> str:
    if form is Format.JSON:
        from fabricctl.report.json_report import to_json

        return to_json(verdict, made=_now())
    if form is Format.CSV:
        from fabricctl.report import csv_report

        return csv_report.render(verdict)
    if form is Format.MARKDOWN:
        from fabricctl.report import markdown

        return markdown.render(verdict, made=_now())
    if form is Format.JUNIT:
        from fabricctl.report import junit

        return junit.render(verdict, made=_now())
    from fabricctl.cli.console import safe
    from fabricctl.report.screen import render

    lines = render(verdict, everything=everything)
    return "\n".join(safe("".join(text for text, _ in line)).rstrip() for line in lines) + "\n"


def _now() -> datetime:
    from datetime import UTC, datetime

    return datetime.now(UTC)


def _clean(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _once(request: Request, outputs: _Outputs) -> int:
    from fabricctl.cli.progress import progress
    from fabricctl.workflows.verify_cabling import judge, load_intent, observe

    with progress() as tell:
        intent = load_intent(request, tell)
        observation = observe(request, intent.viewers, tell)
        verdict = judge(intent, observation)
        outputs.files(intent, verdict)
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


def _watch(request: Request, outputs: _Outputs, seconds: float) -> int:
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
                observation = observe(request, intent.viewers, tell)
                verdict = judge(intent, observation)
                outputs.files(intent, verdict)
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
