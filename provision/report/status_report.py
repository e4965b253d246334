"""State of nodes for people and machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from fabricctl.report.screen import BAD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.report.tables import csv_table, markdown_table, text_table
from provision.bmc.outcome import BmcFinding, Outcome
from provision.bmc.sensors import Temperature
from provision.bmc.status import NodeStatus, untold
from provision.report.fleet import document

SCHEMA = "fabricctl.bmc-status/1"
COLUMNS = (
    "host",
    "power",
    "health",
    "post",
    "hottest",
    "fans",
    "supplies",
    "bios",
    "bmc_version",
    "model",
    "tag",
)
_STYLE = {"OK": GOOD, "Warning": DOUBT, "Critical": BAD}


def status_lines(statuses: Sequence[NodeStatus]) -> list[Line]:
    """One line per node."""
    if not statuses:
        return []
    rows = [_row(status) for status in statuses]
    header, *body = text_table(tuple(name.replace("_", " ") for name in COLUMNS), rows)
    lines: list[Line] = [((header, DIM),)]
    lines += [
        ((text, PLAIN if status.health == "OK" else _STYLE.get(status.health, DOUBT)),)
        for text, status in zip(body, statuses, strict=True)
    ]
    return lines


def doubt_lines(statuses: Sequence[NodeStatus]) -> list[Line]:
    """What should have been told and was not, and what was skipped."""
    lines: list[Line] = []
    for status in statuses:
        lines += [((f"{status.host}: {text}", DOUBT),) for text in untold(status)]
        lines += [((f"{status.host}: skipped {text}", DIM),) for text in status.skipped]
    return lines


def _row(status: NodeStatus) -> list[str]:
    return [
        status.host,
        status.power,
        status.health,
        status.post,
        hottest_words(status.hottest),
        fan_words(status),
        supply_words(status),
        status.bios,
        status.bmc_version,
        status.model,
        status.service_tag,
    ]


def hottest_words(sensor: Temperature | None) -> str:
    """``CPU2 Temp 39/99 °C``."""
    if sensor is None or sensor.reading is None:
        return "not told"
    limit = f"/{sensor.upper:g}" if sensor.upper is not None else ""
    return f"{sensor.name} {sensor.reading:g}{limit} °C"


def supply_words(status: NodeStatus) -> str:
    """``2/2 OK``, ``1/2 OK, 1 Critical``, ``6 not told``."""
    supplies = [one for one in status.supplies if not one.absent]
    counts = Counter(one.health or "not told" for one in supplies)
    if not supplies:
        return "not told"
    good = [f"{counts['OK']}/{len(supplies)} OK"] if counts["OK"] else []
    return ", ".join(good + [f"{number} {word}" for word, number in counts.items() if word != "OK"])


def fan_words(status: NodeStatus) -> str:
    """``30 %`` at most, or turns a minute where no percent is told."""
    fans = [fan for fan in status.fans if not fan.absent]
    percents = [fan.percent for fan in fans if fan.percent is not None]
    if percents:
        return f"{max(percents):.0f} %"
    turns = [fan.rpm for fan in fans if fan.rpm is not None]
    return f"{max(turns):.0f} rpm" if turns else "not told"


def status_csv(statuses: Sequence[NodeStatus]) -> str:
    """One row per node."""
    return csv_table(COLUMNS, [_row(status) for status in statuses])


def status_markdown(statuses: Sequence[NodeStatus]) -> str:
    """The same for a ticket."""
    return markdown_table(COLUMNS, [_row(status) for status in statuses])


def status_json(
    statuses: Sequence[NodeStatus], outcomes: Sequence[Outcome[Any]], findings: Sequence[BmcFinding]
) -> str:
    """Everything that was read."""
    nodes = [
        {
            "host": status.host,
            "power": status.power,
            "health": status.health,
            "post": status.post,
            "model": status.model,
            "service_tag": status.service_tag,
            "bios": status.bios,
            "bmc_version": status.bmc_version,
            "rollups": dict(status.rollups),
            "temperatures": [
                {"name": t.name, "celsius": t.reading, "limit": t.upper, "health": t.health or None}
                for t in status.temperatures
                if not t.absent
            ],
            "fans": [
                {"name": fan.name, "rpm": fan.rpm, "percent": fan.percent, "health": fan.health or None}
                for fan in status.fans
                if not fan.absent
            ],
            "power_supplies": [
                {
                    "name": one.name,
                    "health": one.health or None,
                    "state": one.state or None,
                    "watts": one.watts,
                }
                for one in status.supplies
            ],
            "redundancy": [{"name": one.name, "health": one.health or None} for one in status.redundancy],
            "not_told": untold(status),
            "skipped": list(status.skipped),
        }
        for status in statuses
    ]
    return document(SCHEMA, {"nodes": nodes}, outcomes, findings)
