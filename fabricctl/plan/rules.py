"""``rules``: cabling written as loops, name templates and integer arithmetic.

::

    rules:
      rails: true                # rail-optimised, so rail checks are findings (default false)
      non-blocking: true         # every leaf has as much up as down (default false)
      values: {...}              # see rules_values
      devices:                   # optional; when given, every switch of a link must be declared
        - name: ibl-p{su:02}-r{rail}
          tier: leaf             # leaf, spine, core or a number
          ports: 64
          rail: rail             # rail, unit: expressions
          unit: su
          model: QM9700
          rack: R{su:02}         # rack, u: templates
          u: U{40 - rail}
        - name: gpu{host:03}     # with hca: an HCA
          hca: mlx5_{rail - 1}
          rail: rail
      links:
        - from: ibl-p{su:02}-r{rail}
          from-port: place
          to: gpu{32 * (su - 1) + place:03}
          to-hca: mlx5_{rail - 1}      # with from-hca / to-hca that end is an HCA; its port defaults to 1
          where: 32 * (su - 1) + place <= 511
          rate: 4xNDR
          class: compute
          cable: MCP4Y10-N001          # template
          length-m: 3
          values: {...}                # of this rule alone
      reserved:
        - device: ibl-p16-r{rail}
          port: 32
          for: ufm
          where: rail > 2

Device and port texts are templates (``{expression:02}``), ports and the rest of the numbers expressions;
the grammar stands in ``fabricctl.plan.expr``. Ports are InfiniBand port numbers. Every error is a
``PlanError`` with the line of the entry.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabricctl.errors import PlanError
from fabricctl.fabric import Fabric, Link, LinkDetail, Node, NodeKind, Place, Port
from fabricctl.near import did_you_mean
from fabricctl.plan.clash import connect, port_text
from fabricctl.plan.expr import Expression
from fabricctl.plan.expr_template import Template
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.plan.rules_syntax import DeviceRule, EndRule, LinkRule, Loop, ReservedRule, read_rules
from fabricctl.plan.rules_values import assignments
from fabricctl.plan.yaml_section import Section

MAX_ROUNDS = 5_000_000
"""Rounds of all loops of one plan together."""
MAX_PORT = 254
"""A port number is eight bits and 255 is not a port (InfiniBand Architecture Specification, vol. 1)."""


def build_rules(section: Section) -> Plan:
    """The plan of a ``rules`` section.

    :raises PlanError: syntax, an unknown name, a bad port, a port used twice, an undeclared switch, no cable.
    """
    rules = read_rules(section)
    plan = Plan(Fabric(), PlanFormat.RULES, declares_rails=rules.rails, non_blocking=rules.non_blocking)
    builder = _Builder(plan, strict=bool(rules.devices))
    for device in rules.devices:
        builder.declare(device)
    for link in rules.links:
        builder.cable(link)
    for reserved in rules.reserved:
        builder.reserve(reserved)
    if not plan.fabric.links:
        raise section.error("the rules give no cable at all", "links")
    return plan


class _Builder:
    """Runs the rules. :param strict: the plan declares its devices, so an undeclared switch is an error."""

    def __init__(self, plan: Plan, strict: bool) -> None:
        self.plan, self.strict = plan, strict
        self.fabric = plan.fabric
        self.rounds = 0

    def _each(self, loop: Loop) -> Iterator[dict[str, int]]:
        """Every assignment for which the rule's condition holds."""
        used = 0
        where = loop.where
        for values in assignments(loop.steps, {}):
            self.rounds += 1
            if self.rounds > MAX_ROUNDS:
                raise PlanError(
                    f"{loop.label}: the plan loops more than {MAX_ROUNDS:,} times", line=loop.line
                )
            if where is None or where.value(values):
                used += 1
                yield values
        if not used:
            self.plan.notes.append(
                f"{loop.label} (line {loop.line}) applies to nothing: its condition never holds."
            )

    def declare(self, rule: DeviceRule) -> None:
        nodes = self.fabric.nodes
        for values in self._each(rule.loop):
            host = rule.name.render(values)
            hca = rule.hca.render(values) if rule.hca else None
            key = f"{host} {hca}" if hca else host
            if key in nodes:
                raise PlanError(f"{rule.loop.label}: device {key!r} is declared twice", line=rule.loop.line)
            nodes[key] = Node(
                key,
                rule.kind,
                key,
                ports=_number(rule.ports, values) or 0,
                host=host if hca else None,
                hca=hca,
                tier=rule.tier,
                rail=_number(rule.rail, values),
                unit=_number(rule.unit, values),
                place=_place(rule.rack, rule.u, values),
                model=rule.model,
            )

    def cable(self, rule: LinkRule) -> None:
        line, rate = rule.loop.line, rule.rate
        same = LinkDetail(None, rule.link_class, "", rule.length_m)
        plain = not (rule.link_class or rule.length_m)
        for values in self._each(rule.loop):
            a, z = self._end(rule.a, values, line), self._end(rule.z, values, line)
            if a == z:
                raise PlanError(
                    f"{rule.loop.label}: both ends are port {port_text(self.fabric, a)}{_at(values)}",
                    line=line,
                )
            detail = None if plain else same
            if rule.cable is not None:
                detail = same._replace(cable=rule.cable.render(values))
            connect(self.fabric, Link(a, z, rate, line, detail=detail))

    def _end(self, end: EndRule, values: dict[str, int], line: int) -> Port:
        device = end.device.render(values)
        key = device if end.hca is None else f"{device} {end.hca.render(values)}"
        node = self.fabric.nodes.get(key) or self._undeclared(key, device, end, line)
        number = end.port.value(values)
        top = node.ports or MAX_PORT
        if not 1 <= number <= top:
            raise PlanError(
                f"{end.port.text!r} gives port {number} of {key}{_at(values)}; expected 1 to {top}",
                line=end.port.line or line,
            )
        return Port(key, number)

    def _undeclared(self, key: str, device: str, end: EndRule, line: int) -> Node:
        if end.hca is not None:
            hca = key[len(device) + 1 :]
            node = Node(key, NodeKind.HCA, key, host=device, hca=hca, tier=0)
        elif self.strict:
            raise PlanError(
                f"{end.device.text!r} gives {key!r}, which is not among the declared devices",
                line=end.device.line or line,
                hint=did_you_mean(key, self.fabric.nodes),
            )
        else:
            node = Node(key, NodeKind.SWITCH, key)
        self.fabric.nodes[key] = node
        return node

    def reserve(self, rule: ReservedRule) -> None:
        for values in self._each(rule.loop):
            device, number = rule.device.render(values), rule.port.value(values)
            node = self.fabric.nodes.get(device)
            port, line = Port(device, number), rule.loop.line
            if node is None or not 1 <= number <= (node.ports or MAX_PORT):
                raise PlanError(f"{rule.loop.label}: the plan has no port {device}/{number}", line=line)
            if port in self.fabric.links:
                peer = port_text(self.fabric, self.fabric.links[port].other(port))
                raise PlanError(
                    f"{rule.loop.label}: port {device}/{number} is not free, it is cabled to {peer}",
                    line=line,
                )
            self.plan.reserved[port] = rule.holder


def _number(expression: Expression | None, values: dict[str, int]) -> int | None:
    return None if expression is None else expression.value(values)


def _place(rack: Template | None, unit: Template | None, values: dict[str, int]) -> Place | None:
    if rack is None:
        return None
    return Place(rack.render(values), unit.render(values) if unit else "")


def _at(values: dict[str, int]) -> str:
    return f" where {', '.join(f'{name}={number}' for name, number in values.items())}" if values else ""
