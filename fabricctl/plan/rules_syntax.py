"""The keys of a ``rules`` plan, read strictly; the language itself is described in ``fabricctl.plan.rules``."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from fabricctl.fabric import NodeKind
from fabricctl.plan.expr import Expression, parse_expression
from fabricctl.plan.expr_template import Template
from fabricctl.plan.rules_values import Scope, Value
from fabricctl.plan.yaml_section import Section
from fabricctl.rates import Rate

TIERS = {"leaf": 1, "spine": 2, "core": 3}
KINDS = {"switch": NodeKind.SWITCH, "router": NodeKind.ROUTER}


@dataclass(frozen=True)
class Loop:
    """What every rule has: the values it runs over, its condition and its line."""

    steps: tuple[Value, ...]
    where: Expression | None
    line: int
    label: str


@dataclass(frozen=True)
class EndRule:
    """One end of a cable. :param hca: set on a host end; then ``device`` names the host."""

    device: Template
    hca: Template | None
    port: Expression


@dataclass(frozen=True)
class LinkRule:
    """Cables. :param length_m: metres."""

    loop: Loop
    a: EndRule
    z: EndRule
    rate: Rate | None
    link_class: str
    cable: Template | None
    length_m: float | None


@dataclass(frozen=True)
class DeviceRule:
    """Devices. :param hca: set for an HCA; then ``name`` names the host."""

    loop: Loop
    name: Template
    hca: Template | None
    kind: NodeKind
    tier: int | None
    ports: Expression | None
    rail: Expression | None
    unit: Expression | None
    model: str
    rack: Template | None
    u: Template | None


@dataclass(frozen=True)
class ReservedRule:
    """Ports kept free. :param holder: for whom."""

    loop: Loop
    device: Template
    port: Expression
    holder: str


@dataclass(frozen=True)
class RuleSet:
    """A whole ``rules`` plan."""

    rails: bool
    non_blocking: bool
    devices: tuple[DeviceRule, ...]
    links: tuple[LinkRule, ...]
    reserved: tuple[ReservedRule, ...]


def read_rules(section: Section) -> RuleSet:
    """Read every key. :raises PlanError: with line, key, expected, found and the nearest known word."""
    section.allow("rails", "non-blocking", "values", "devices", "links", "reserved")
    scope = Scope(section.section("values"))
    section.require("links")
    return RuleSet(
        section.flag("rails", False),
        section.flag("non-blocking", False),
        tuple(_device(entry, scope) for entry in section.sections("devices")),
        tuple(_link(entry, scope) for entry in section.sections("links")),
        tuple(_reserved(entry, scope) for entry in section.sections("reserved")),
    )


def _link(entry: Section, scope: Scope) -> LinkRule:
    entry.allow(
        "from", "from-port", "from-hca", "to", "to-port", "to-hca",
        "where", "values", "rate", "class", "cable", "length-m",
    )  # fmt: skip
    a, z = _end(entry, "from"), _end(entry, "to")
    cable = _template(entry, "cable")
    texts = [a.device, a.hca, a.port, z.device, z.hca, z.port, cable]
    return LinkRule(
        _loop(entry, scope, texts), a, z, entry.rate("rate"), entry.text("class"), cable, _length(entry)
    )


def _end(entry: Section, side: str) -> EndRule:
    entry.require(side)
    hca = _template(entry, f"{side}-hca")
    port = _expression(entry, f"{side}-port")
    if port is None:
        if hca is None:
            entry.require(f"{side}-port")
        port = parse_expression("1")
    return EndRule(entry.template(side), hca, port)


def _device(entry: Section, scope: Scope) -> DeviceRule:
    entry.allow(
        "name", "hca", "kind", "tier", "ports", "rail", "unit", "model", "rack", "u", "where", "values"
    )
    entry.require("name")
    name, hca = entry.template("name"), _template(entry, "hca")
    ports, rail, unit = (_expression(entry, key) for key in ("ports", "rail", "unit"))
    rack, u = _template(entry, "rack"), _template(entry, "u")
    loop = _loop(entry, scope, [name, hca, ports, rail, unit, rack, u])
    kind = NodeKind.HCA if hca else _kind(entry)
    return DeviceRule(
        loop, name, hca, kind, _tier(entry, kind), ports, rail, unit, entry.text("model"), rack, u
    )


def _kind(entry: Section) -> NodeKind:
    word = entry.text("kind", "switch")
    if word not in KINDS:
        raise _unknown_word(entry, "kind", word, list(KINDS))
    return KINDS[word]


def _tier(entry: Section, kind: NodeKind) -> int | None:
    if kind is NodeKind.HCA:
        return 0
    raw = entry.get("tier")
    if raw is None or isinstance(raw, int):
        return entry.whole("tier", 0, 1, 9) or None
    word = entry.text("tier")
    if word not in TIERS:
        raise _unknown_word(entry, "tier", word, list(TIERS))
    return TIERS[word]


def _unknown_word(entry: Section, key: str, word: str, known: list[str]) -> Exception:
    near = get_close_matches(word, known, 1)
    hint = f"did you mean {near[0]}?" if near else ""
    return entry.error(f"{key}: expected {' or '.join(known)}, found {word!r}", key, hint)


def _reserved(entry: Section, scope: Scope) -> ReservedRule:
    entry.allow("device", "port", "for", "where", "values")
    entry.require("device", "port", "for")
    device = entry.template("device")
    port = parse_expression(entry.text("port"), entry.line("port"))
    return ReservedRule(_loop(entry, scope, [device, port]), device, port, entry.text("for"))


def _loop(entry: Section, scope: Scope, texts: list[Template | Expression | None]) -> Loop:
    where = _expression(entry, "where")
    own = Scope(entry.section("values"), scope)
    steps = own.steps(text for text in [*texts, where] if text is not None)
    return Loop(steps, where, entry.line(), entry.where)


def _template(entry: Section, key: str) -> Template | None:
    return entry.template(key) if key in entry else None


def _expression(entry: Section, key: str) -> Expression | None:
    return parse_expression(entry.text(key), entry.line(key)) if key in entry else None


def _length(entry: Section) -> float | None:
    raw = entry.get("length-m")
    if raw is None:
        return None
    if isinstance(raw, bool) or not isinstance(raw, (int, float)) or not 0 < raw <= 10_000:
        raise entry.wrong("length-m", "a number of metres above 0")
    return float(raw)
