"""The report formats by name and by file name; a writer is imported only when it is used."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from fabricctl.cabling.verify import Verdict


class ReportFormat(StrEnum):
    """Formats of a whole report; metrics for Prometheus are beside it, see ``to_prometheus``."""

    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    HTML = "html"


SUFFIXES: dict[str, ReportFormat] = {
    ".json": ReportFormat.JSON,
    ".csv": ReportFormat.CSV,
    ".md": ReportFormat.MARKDOWN,
    ".markdown": ReportFormat.MARKDOWN,
    ".xml": ReportFormat.JUNIT,
    ".html": ReportFormat.HTML,
    ".htm": ReportFormat.HTML,
}
"""End of a file's name, in lower case -> the format written there."""


def format_of(path: str) -> ReportFormat | None:
    """The format a file's name asks for, None when its end says nothing."""
    name = path.lower()
    return next((found for suffix, found in SUFFIXES.items() if name.endswith(suffix)), None)


def render_report(verdict: Verdict, report_format: ReportFormat, *, made: datetime | None = None) -> str:
    """The verdict in one of the formats, UTF-8 safe, ending in a newline.

    :param made: when the fabric was judged, for the formats that say so (all but CSV).
    """
    match report_format:
        case ReportFormat.JSON:
            from fabricctl.report.json_report import to_json

            return to_json(verdict, made=made)
        case ReportFormat.CSV:
            from fabricctl.report.csv_report import to_csv

            return to_csv(verdict)
        case ReportFormat.MARKDOWN:
            from fabricctl.report.markdown import to_markdown

            return to_markdown(verdict, made=made)
        case ReportFormat.JUNIT:
            from fabricctl.report.junit import to_junit

            return to_junit(verdict, made=made)
        case ReportFormat.HTML:
            from fabricctl.report.html import to_html

            return to_html(verdict, made=made)
