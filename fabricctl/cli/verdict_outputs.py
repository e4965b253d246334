"""Where a verdict goes: the screen, report files, pictures, metrics."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from fabricctl.cli.intent_options import format_of
from fabricctl.words import clean

if TYPE_CHECKING:
    from datetime import datetime

    from fabricctl.cabling.verdict import Verdict
    from fabricctl.cli.pictures import Pictures
    from fabricctl.discovery.model import Observation
    from fabricctl.workflows.verify_cabling import Intent


class Format(StrEnum):
    """How the verdict is written."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    HTML = "html"


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


class Outputs:
    """Where a verdict goes."""

    def __init__(
        self, form: Format, reports: list[str], prometheus: str, everything: bool, pictures: Pictures
    ) -> None:
        self.format, self.prometheus, self.everything, self.pictures = form, prometheus, everything, pictures
        self.reports = [(path, format_of("--report", path, _SUFFIXES)) for path in reports]

    @property
    def pages(self) -> bool:
        """Whether an HTML page is written or printed."""
        return bool(self.pictures.html) or Format.HTML in (self.format, *(form for _, form in self.reports))

    def files(self, intent: Intent, observation: Observation, verdict: Verdict) -> None:
        """Write the report files, pictures and metrics."""
        from fabricctl.adapters.files import write_atomic

        self.pictures.take(intent, observation, verdict, _now())
        for path, form in self.reports:
            write_atomic(path, self.document(verdict, form))
        for path, text in self.pictures.documents():
            write_atomic(path, text)
        if self.prometheus:
            import time

            from fabricctl.report.prometheus import render

            write_atomic(self.prometheus, clean(render(verdict, time.time())))

    def document(self, verdict: Verdict, form: Format) -> str:
        """The verdict in one format."""
        if form is Format.HTML:
            return self.pictures.page()
        return clean(_document(verdict, form, self.everything))

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
    from fabricctl.cli.console import plain
    from fabricctl.report.screen import render

    return plain(render(verdict, everything=everything))


def _now() -> datetime:
    from datetime import UTC, datetime

    return datetime.now(UTC)
