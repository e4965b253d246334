"""What every report about BMCs has: tables in four forms, BMCs that could not tell, and how far answers are trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricctl import __version__
from fabricctl.errors import BmcError
from fabricctl.hostset import fold
from fabricctl.report.screen import BAD, BOLD, DIM, DOUBT, PLAIN, Line
from fabricctl.report.tables import csv_table, markdown_table, text_table
from provision.bmc.outcome import Outcome
from provision.bmc.target import Target, Verify


@dataclass(frozen=True)
class Table:
    """Rows of one kind, as text, JSON, CSV or markdown.

    :param schema: name and version of the JSON document; :param key: its list. :param columns: as machines name them.
    :param rows: one cell a column, as text; :param objects: one JSON object a row, the cells by column when None.
    """

    schema: str
    key: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    objects: Sequence[Mapping[str, Any]] | None = None
    styles: Sequence[str] = ()

    def lines(self) -> list[Line]:
        """For the terminal. :param styles: one a row, plain when there are none."""
        if not self.rows:
            return []
        header, *body = text_table([name.replace("_", " ") for name in self.columns], self.rows)
        styles = self.styles or [PLAIN] * len(body)
        return [((header, DIM),), *(((text, style),) for text, style in zip(body, styles, strict=True))]

    def csv(self) -> str:
        """With a header row."""
        return csv_table(self.columns, self.rows)

    def markdown(self) -> str:
        """For a ticket."""
        return markdown_table(self.columns, self.rows)

    def json(self, **more: Any) -> str:
        """The document. :param more: beside the rows, such as what could not be read."""
        rows = (
            self.objects
            if self.objects is not None
            else [dict(zip(self.columns, r, strict=True)) for r in self.rows]
        )
        document = {
            "schema": self.schema,
            "generator": f"fabricctl {__version__}",
            self.key: list(rows),
            **more,
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def table_schema(table: Table) -> dict[str, Any]:
    """JSON schema of a table whose objects are its cells."""
    text = {"type": "string"}
    failure = dict.fromkeys(("host", "address", "error", "reason"), text)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": table.schema,
        "type": "object",
        "required": ["schema", "generator", table.key, "could_not_tell"],
        "properties": {
            "schema": {"const": table.schema},
            "generator": text,
            table.key: {"type": "array", "items": _row(dict.fromkeys(table.columns, text))},
            "could_not_tell": {
                "type": "array",
                "items": _row(failure),
                "description": "BMCs that could not be asked, and why",
            },
        },
        "additionalProperties": False,
    }


def _row(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(properties),
        "properties": dict(properties),
        "additionalProperties": False,
    }


def failure_lines(outcomes: Iterable[Outcome[Any]]) -> list[Line]:
    """BMCs that could not tell, one line for all that failed for the same reason; nothing when all told."""
    reasons: dict[str, list[str]] = {}
    total = 0
    for outcome in outcomes:
        if outcome.error is not None:
            total += 1
            reasons.setdefault(reason(outcome.error, outcome.target), []).append(outcome.target.host)
    if not reasons:
        return []
    head: Line = ((f"could not tell: {total:,} BMC{'' if total == 1 else 's'}", DOUBT),)
    return [head, *(((f"  {fold(hosts)}", BOLD), (f"  {text}", PLAIN)) for text, hosts in reasons.items())]


def failures_json(outcomes: Iterable[Outcome[Any]]) -> list[dict[str, str]]:
    """The same for a document: host, address, reason, and the error's class."""
    return [
        {
            "host": outcome.target.host,
            "address": outcome.target.address,
            "error": type(outcome.error).__name__.removesuffix("Error"),
            "reason": reason(outcome.error, outcome.target),
        }
        for outcome in outcomes
        if outcome.error is not None
    ]


def reason(error: BmcError, target: Target) -> str:
    """An error without the BMC's name and address, so that equal ones fold; advice names HOSTS instead."""
    text = str(error).removeprefix(f"{error.bmc}: ").replace(str(target), "it")
    return re.sub(rf"(fabricctl bmc [a-z ]+) {re.escape(target.host)}(?![\w-])", r"\1 HOSTS", text)


def exposure_lines(targets: Iterable[Target]) -> list[Line]:
    """BMCs whose answers could be somebody else's: said in every report, never only at the first time."""
    kinds: dict[str, list[str]] = {}
    for target in targets:
        for text in exposures(target):
            kinds.setdefault(text, []).append(target.host)
    return [((f"{fold(hosts)}: {text}", BAD),) for text, hosts in kinds.items()]


def exposures(target: Target) -> list[str]:
    """How one BMC is trusted less than it could be."""
    said = []
    if target.trust.verify is Verify.OFF:
        said.append("the certificate is not checked (verify: off)")
    if target.trust.tls_floor in ("1.0", "1.1"):
        said.append(f"TLS {target.trust.tls_floor} is accepted")
    if target.basic:
        said.append("user and password go with every request (basic)")
    return said
