"""State of one node as its BMC tells it, and what about it cannot be right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from provision.bmc.json_bodies import Body, inner
from provision.bmc.outcome import BmcFinding
from provision.bmc.sensors import Fan, PowerSupply, Redundancy, Temperature, health_of
from provision.bmc.service_root import service_tag_of

FAN_FULL = 95.0
"""Percent of full speed from which a fan counts as running at full."""
COOL_INLET = 30.0
"""Degrees Celsius of the air that comes in below which fans have no reason to run at full: well inside ASHRAE A2
(10 to 35 °C), the class these servers state."""
COOL_MARGIN = 20.0
"""Degrees below its first upper threshold at which a part is cool."""
COOL_PART = 60.0
"""For parts without thresholds: degrees Celsius below which none of a server's parts is hot."""
COLDER = 8.0
"""Degrees below the coldest inlet at which nothing inside a running server can be: it is that air that cools it."""
UNKNOWN = "unknown"


@dataclass(frozen=True)
class NodeStatus:
    """What a BMC says of its node.

    :param health: rollup, ``OK``, ``Warning``, ``Critical`` or ``unknown``; a missing one is never healthy.
    :param power: ``On``, ``Off``, …; :param post: how far the boot is, ``unknown`` where the BMC does not tell.
    :param rollups: subsystem -> health, of those that are told; :param skipped: resources that did not answer.
    """

    host: str
    health: str = UNKNOWN
    power: str = UNKNOWN
    post: str = UNKNOWN
    model: str = ""
    service_tag: str = ""
    bios: str = ""
    bmc_version: str = ""
    rollups: Mapping[str, str] = field(default_factory=dict)
    temperatures: tuple[Temperature, ...] = ()
    fans: tuple[Fan, ...] = ()
    supplies: tuple[PowerSupply, ...] = ()
    redundancy: tuple[Redundancy, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def hottest(self) -> Temperature | None:
        """The part nearest to (or furthest over) its limit; the highest reading where no limits are told.

        The air that comes in is always near its limit of some 38 °C: it counts only when no part is told.
        """
        told = [t for t in self.temperatures if t.reading is not None and not t.margin and not t.impossible]
        told = [sensor for sensor in told if not sensor.inlet] or told
        limited = [t for t in told if t.upper is not None]
        if limited:
            return min(limited, key=lambda t: (t.upper or 0) - (t.reading or 0))
        return max(told, key=lambda t: t.reading or 0, default=None)


def read_system(host: str, root: Body, system: Body, manager: Body) -> NodeStatus:
    """What service root, system and manager tell; sensors are added by whoever reads them."""
    return NodeStatus(
        host=host,
        health=_rollup(system),
        power=str(system.get("PowerState") or UNKNOWN),
        post=str(inner(system, "BootProgress").get("LastState") or UNKNOWN),
        model=str(system.get("Model") or ""),
        service_tag=service_tag_of(root, system),
        bios=str(system.get("BiosVersion") or ""),
        bmc_version=str(manager.get("FirmwareVersion") or ""),
        rollups=_rollups(system),
    )


def _rollup(body: Body) -> str:
    """The worse of Health and HealthRollup: one alone may be null while the other tells."""
    status = inner(body, "Status")
    told = [str(status.get(name) or "") for name in ("Health", "HealthRollup")]
    return next((word for word in ("Critical", "Warning", "OK") if word in told), UNKNOWN)


def _rollups(system: Body) -> dict[str, str]:
    found = {
        name.removesuffix("RollupStatus"): str(value)
        for name, value in inner(system, "Oem", "Dell", "DellSystem").items()
        if name.endswith("RollupStatus") and value
    }
    for name in ("ProcessorSummary", "MemorySummary"):
        health = health_of(inner(system, name))
        if not found and health:
            found[name.removesuffix("Summary")] = health
    return found


def status_findings(status: NodeStatus) -> list[BmcFinding]:
    """All that is wrong by what the BMC says, and all that it says that cannot be."""
    return [
        *_health_findings(status),
        *_temperature_findings(status),
        *_fan_findings(status),
        *_power_findings(status),
    ]


def _health_findings(status: NodeStatus) -> Iterator[BmcFinding]:
    bad = [f"{name} {health}" for name, health in status.rollups.items() if health in ("Warning", "Critical")]
    bad += [f"{name} {health}" for name, health in status.rollups.items() if health in ("Degraded", "Error")]
    if status.health in ("Warning", "Critical"):
        detail = f": {', '.join(bad)}" if bad else ""
        yield _finding(status, "health", f"health is {status.health}{detail}", found=status.health)
    elif bad:
        yield _finding(
            status, "health", f"health is {status.health}, yet: {', '.join(bad)}", found=", ".join(bad)
        )


def _temperature_findings(status: NodeStatus) -> Iterator[BmcFinding]:
    inlets = [
        t.reading for t in status.temperatures if t.inlet and t.reading is not None and not t.impossible
    ]
    for sensor in status.temperatures:
        if status.power == "Off" and sensor.reading == 0:
            continue  # without power nothing is measured, and nothing is written down as 0
        if sensor.impossible:
            text = (
                f"temperature sensor {sensor.name} {sensor.impossible}: it is wrong, and fans may follow it"
            )
            yield _finding(status, "sensor-impossible", text, sensor.name, found=sensor.impossible)
        elif status.power == "On" and inlets and _too_cold(sensor, min(inlets)):
            text = (
                f"temperature sensor {sensor.name} reads {sensor.reading:g} °C, colder than the air that cools it "
                f"({min(inlets):g} °C): it is wrong"
            )
            yield _finding(status, "sensor-impossible", text, sensor.name, found=f"{sensor.reading:g} °C")
        elif sensor.health in ("Warning", "Critical") and not sensor.absent:
            text = f"{sensor.name} is {sensor.health}: {_degrees(sensor)}"
            yield _finding(status, "temperature", text, sensor.name, found=sensor.health)


def _too_cold(sensor: Temperature, air: float) -> bool:
    told = sensor.reading is not None and not (sensor.absent or sensor.inlet or sensor.margin)
    return told and (sensor.reading or 0.0) < air - COLDER


def _degrees(sensor: Temperature) -> str:
    limit = f", limit {sensor.upper:g} °C" if sensor.upper is not None else ""
    return f"{sensor.reading:g} °C{limit}" if sensor.reading is not None else "no reading"


def _fan_findings(status: NodeStatus) -> Iterator[BmcFinding]:
    for fan in status.fans:
        if fan.health in ("Warning", "Critical") and not fan.absent:
            yield _finding(status, "fan", f"fan {fan.name} is {fan.health}", fan.name, found=fan.health)
    full = [fan for fan in status.fans if fan.percent is not None and fan.percent >= FAN_FULL]
    if not full:
        return
    hot = [sensor for sensor in status.temperatures if is_hot(sensor)]
    inlets = [t for t in status.temperatures if t.inlet and t.reading is not None and not t.impossible]
    if hot or any((t.reading or 0) >= COOL_INLET for t in inlets):
        return
    where = f"inlet {max(t.reading or 0 for t in inlets):g} °C" if inlets else "no inlet reading"
    text = (
        f"{len(full)} of {len(status.fans)} fans run at {FAN_FULL:g} % or more while nothing is hot ({where}): "
        "wrong temperature sensor?"
    )
    yield _finding(status, "fans-full-while-cool", text, full[0].name, found=f"{full[0].percent:.0f} %")


def is_hot(sensor: Temperature) -> bool:
    """Whether a believable reading gives fans a reason to run."""
    if sensor.reading is None or sensor.impossible or sensor.absent or sensor.inlet:
        return False
    if sensor.margin:
        return sensor.reading < COOL_MARGIN
    if sensor.upper is not None:
        return sensor.reading > sensor.upper - COOL_MARGIN
    return sensor.reading >= COOL_PART


def _power_findings(status: NodeStatus) -> Iterator[BmcFinding]:
    for supply in status.supplies:
        failed = supply.health in ("Warning", "Critical") or supply.state in (
            "UnavailableOffline",
            "Disabled",
        )
        if failed and not supply.absent:
            words = supply.health if supply.health in ("Warning", "Critical") else supply.state
            text = f"power supply {supply.name} is {words}"
            yield _finding(status, "power-supply", text, supply.name, found=words)
    for group in status.redundancy:
        if group.lost:
            text = f"{group.name}: lost or reduced ({group.health})"
            yield _finding(status, "redundancy", text, group.name, "OK", group.health)


def _finding(
    status: NodeStatus, kind: str, text: str, part: str = "", expected: str = "", found: str = ""
) -> BmcFinding:
    return BmcFinding(status.host, kind, f"{status.host}: {text}", part, expected, found)


def untold(status: NodeStatus) -> list[str]:
    """What should have been told and was not: each makes the verdict "could not tell"."""
    found = []
    if status.health == UNKNOWN:
        found.append(
            "health is not told; where it stays so, the BMC may need a restart, which nobody does for you"
        )
    if not any(t.reading is not None for t in status.temperatures):
        found.append("no temperature is told")
    unknown = [one.name for one in status.supplies if not one.absent and not one.health]
    if unknown and not any(group.health for group in status.redundancy):
        found.append(f"health is not told of the power supplies {', '.join(unknown)}")
    return found


FLEET = 4
"""Nodes of one model from which "usual" means something."""
LOUD = 1.5
"""Times the usual speed from which fans are loud."""
WARMER = 2.0
"""Degrees an inlet may be above the usual one and still give fans no reason."""


def fan_outliers(statuses: Sequence[NodeStatus]) -> list[BmcFinding]:
    """Nodes of one model whose fans turn much faster than the others' while nothing is hot and the inlet is usual.

    For BMCs that tell turns a minute and no percent (an R750, iDRAC9 6.00.30): only the fleet tells what is usual.
    """
    speeds = {status.host: speed for status in statuses if (speed := _slowest_rpm(status)) is not None}
    inlets = {status.host: inlet for status in statuses if (inlet := _inlet(status)) is not None}
    if len(speeds) < FLEET:
        return []
    usual, air = median(speeds.values()), median(inlets.values()) if inlets else None
    return [
        _finding(
            status,
            "fans-fast-while-cool",
            f"fans turn at {speeds[status.host]:,.0f} rpm, those of the other {len(speeds) - 1} at about "
            f"{usual:,.0f} rpm, while nothing is hot: wrong temperature sensor?",
            "fans",
            f"{usual:.0f} rpm",
            f"{speeds[status.host]:.0f} rpm",
        )
        for status in statuses
        if speeds.get(status.host, 0) > LOUD * usual > 0
        and not any(is_hot(sensor) for sensor in status.temperatures)
        and (air is None or inlets.get(status.host, air) <= air + WARMER)
    ]


def _slowest_rpm(status: NodeStatus) -> float | None:
    """Of the fans that turn and tell no percent, where every one is fast the slowest is."""
    told = [fan.rpm for fan in status.fans if fan.rpm and fan.percent is None and not fan.absent]
    return min(told, default=None)


def _inlet(status: NodeStatus) -> float | None:
    told = [t.reading for t in status.temperatures if t.inlet and t.reading is not None and not t.impossible]
    return max(told, default=None)


def by_model(statuses: Sequence[NodeStatus]) -> dict[str, list[NodeStatus]]:
    """Nodes of one model together: what is usual is a matter of the model."""
    found: dict[str, list[NodeStatus]] = {}
    for status in statuses:
        found.setdefault(status.model, []).append(status)
    return found
