"""State of nodes for people and machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from fabricctl.report.lines import BAD, DOUBT, GOOD, PLAIN
from provision.bmc.outcome import BmcFinding, Outcome
from provision.bmc.sensors import Temperature
from provision.bmc.status import NodeStatus, untold
from provision.report.common import Table
from provision.report.fleet import Report
from provision.report.schema_parts import NUMBER, TEXT, either, listed, mapped, row, texts

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


def status_report(
    statuses: Sequence[NodeStatus],
    outcomes: Sequence[Outcome[Any]],
    findings: Sequence[BmcFinding],
    *,
    each: bool = False,
) -> Report:
    """Everything that was read. :param each: a line a node on the screen."""
    table = status_table(statuses)
    doubts = [(one.host, text) for one in statuses for text in untold(one)]
    doubts += [(one.host, f"skipped {text}") for one in statuses for text in one.skipped]
    return Report(
        SCHEMA,
        outcomes,
        content=lambda: {"nodes": _nodes(statuses)},
        lines=lambda width: table.lines(width, each=each),
        table=lambda: table,
        findings=findings,
        doubts=doubts,
        good="everything is healthy by what the BMCs say",
        noted=False,
    )


def status_table(statuses: Sequence[NodeStatus]) -> Table:
    """One row per node."""
    return Table(
        COLUMNS,
        [_row(status) for status in statuses],
        [PLAIN if status.health == "OK" else _STYLE.get(status.health, DOUBT) for status in statuses],
        tuple(name for name in COLUMNS if name not in ("host", "tag")),
        {"hottest": [_degrees(status.hottest) for status in statuses]},
    )


def _degrees(sensor: Temperature | None) -> str:
    """Without the sensor's name: it is another one on every node."""
    return f"{sensor.reading:g} °C" if sensor is not None and sensor.reading is not None else "not told"


def content_schema() -> dict[str, Any]:
    """Of the nodes."""
    health = {"health": either(TEXT)}
    amount = either(NUMBER)
    lists = {
        "temperatures": {"name": TEXT, "celsius": amount, "limit": amount, **health},
        "fans": {"name": TEXT, "rpm": amount, "percent": amount, **health},
        "power_supplies": {"name": TEXT, **health, "state": either(TEXT), "watts": amount},
        "redundancy": {"name": TEXT, **health},
    }
    node = {
        **texts(("host", "power", "health", "post", "model", "service_tag", "bios", "bmc_version")),
        "rollups": mapped(TEXT, "subsystem -> health"),
        **{name: listed(row(one)) for name, one in lists.items()},
        "not_told": listed(TEXT),
        "skipped": listed(TEXT, "resources that did not answer"),
    }
    return {"nodes": listed(row(node))}


def _nodes(statuses: Sequence[NodeStatus]) -> list[dict[str, Any]]:
    return [
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
