"""The built-in list of log entries that are not serious: ``tables/log_noise.csv``, with a source in every line."""

from __future__ import annotations

import csv
import pkgutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from provision.bmc.logs import Ignore, IgnoreRule, LogEntry, Severity, ignore_by, parse_rule


@dataclass(frozen=True, slots=True)
class Noise:
    """One line of the table. :param level: entries more severe than that are serious all the same."""

    rule: IgnoreRule
    level: Severity
    source: str


def read_noise(text: str) -> list[Noise]:
    """Read a table: ``#`` lines are remarks, then a header and the lines.

    :raises KeyError: a column or a severity that is not known; :raises ValueError: a message pattern that is none.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [
        Noise(parse_rule(row["message"], row["why"]), Severity[row["level"].upper()], row["source"])
        for row in csv.DictReader(lines)
    ]


@cache
def builtin_noise() -> tuple[Noise, ...]:
    """The packaged table."""
    data = pkgutil.get_data("provision.bmc", "tables/log_noise.csv")
    assert data is not None, "the package lost its table"
    return tuple(read_noise(data.decode("utf-8")))


def site_rules(texts: Iterable[str]) -> list[IgnoreRule]:
    """Rules of a site's ``log_ignore``. :raises ValueError: one that cannot be read."""
    return [parse_rule(text) for text in texts]


def ignore_of(rules: Sequence[IgnoreRule], noise: Sequence[Noise] | None = None) -> Ignore:
    """What the site ignores, and the built-in list."""
    own = ignore_by(rules)
    table = builtin_noise() if noise is None else noise

    def ignore(entry: LogEntry) -> str:
        return own(entry) or next(
            (one.rule.reason for one in table if entry.severity <= one.level and one.rule.takes(entry)), ""
        )

    return ignore
