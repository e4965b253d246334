"""Each planned link gets exactly one class.

Plan and discovery are two matchings of ports; a link is ok when both agree on its two ports. The rest follows
from what its two ports carry instead. Order of the rules is the order of ``LinkClass``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from fabricctl.cabling.absent import Absence, find_absent
from fabricctl.cabling.binding import Binding
from fabricctl.cabling.model import Judged, LinkClass
from fabricctl.fabric import Fabric, Link, Port, PortState
from fabricctl.rates import Rate

MIN_SIBLINGS = 8
SIBLING_SHARE = 0.9
"""Without a planned rate, a link slower than 90 % of at least eight like it is degraded: storage fabrics hold
whole device classes at a lower speed legitimately, so "like it" means same tiers and same device types."""

SUPPORTED = "both ends support it"
"""Reason of a degraded link that is judged by the capabilities of its own two ends."""


@dataclass(frozen=True)
class Expectations:
    """What the site and the operator say beside the plan.

    :param rate_of: planned link without a rate of its own -> its class's rate, or None.
    :param absent: plan node key -> why it may be absent; :param absent_ports: the same for ports.
    :param disputed: discovered ports about which the sources contradict each other.
    :param in_scope: which links are judged at all (``--only``); None judges all.
    """

    rate_of: Callable[[Link], Rate | None] | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    absent_ports: Mapping[Port, str] = field(default_factory=dict)
    in_scope: Callable[[Link], bool] | None = None
    disputed: Collection[Port] = ()


@dataclass
class Classified:
    """The result: links that are not ok, and the counts of all.

    :param planned_at: discovered port -> the planned link that wants it.
    :param as_planned: planned links whose two ports are joined (ok or degraded), in scope or not.
    :param capable_of_more: links that could be wider or faster by their capabilities, as nearly all of their kind.
    :param rate_untold: links joined as planned whose rate the source does not tell though one is expected.
    """

    judged: list[Judged] = field(default_factory=list)
    counts: dict[LinkClass, int] = field(default_factory=lambda: dict.fromkeys(LinkClass, 0))
    by_tier: dict[str, dict[LinkClass, int]] = field(default_factory=dict)
    planned_at: dict[Port, Link] = field(default_factory=dict)
    absent: dict[str, Absence] = field(default_factory=dict)
    as_planned: int = 0
    rate_untold: int = 0
    capable_of_more: int = 0


def classify(
    binding: Binding, seen: Fabric, tier_pair: Callable[[Link], str], expect: Expectations | None = None
) -> Classified:
    """Judge every planned link in scope.

    :param tier_pair: names the tiers a planned link joins (``leaf-spine``), for the counts.
    """
    return _Classifier(binding, seen, tier_pair, expect or Expectations()).run()


class _Classifier:
    def __init__(
        self, binding: Binding, seen: Fabric, tier_pair: Callable[[Link], str], expect: Expectations
    ) -> None:
        self.binding, self.seen, self.tier_pair, self.expect = binding, seen, tier_pair, expect
        self.result = Classified()
        self.claimants = binding.claimants
        self.undecided = {key: u.why for u in binding.undecided.values() for key in u.planned}
        self.disputed = expect.disputed
        self.pending: list[tuple[Link, Port | None, Port | None]] = []
        self.siblings: dict[tuple[object, ...], list[tuple[Link, Link, bool]]] = defaultdict(list)

    def run(self) -> Classified:
        self.match()
        self.compare_siblings()
        plan = self.binding.plan.fabric
        self.result.absent = find_absent(plan, self.binding, self.seen)
        in_scope = self.expect.in_scope
        for link, a, b in self.pending:
            if in_scope is None or in_scope(link):
                self.count(self.excuse(self.judge(link, a, b)))
        return self.result

    def match(self) -> None:
        """Join what is as planned; put the rest aside."""
        seen_of, seen_links = self.binding.seen_of, self.seen.links
        planned_at, in_scope = self.result.planned_at, self.expect.in_scope
        for link in self.binding.plan.fabric.each_link():
            a_key, b_key = seen_of.get(link.a.node), seen_of.get(link.b.node)
            a = b = None
            if a_key is not None:
                a = Port(a_key, link.a.number)
                planned_at[a] = link
            if b_key is not None:
                b = Port(b_key, link.b.number)
                planned_at[b] = link
            cable = seen_links.get(a) if a is not None and b is not None else None
            if (
                cable is None
                or b is None
                or not ((cable.b == b and cable.a == a) or (cable.a == b and cable.b == a))
            ):
                self.pending.append((link, a, b))
                continue
            self.result.as_planned += 1
            self.joined(link, cable, judged=in_scope is None or in_scope(link))

    def joined(self, link: Link, cable: Link, *, judged: bool) -> None:
        """Right ports: is it as wide and fast as it should be? :param judged: False out of ``--only``'s scope."""
        expected = link.rate
        if expected is None and self.expect.rate_of is not None:
            expected = self.expect.rate_of(link)
        if cable.rate is not None and expected is None:
            nodes = self.seen.nodes
            devices = frozenset((nodes[cable.a.node].device_id, nodes[cable.b.node].device_id))
            self.siblings[(self.tier_pair(link), devices)].append((link, cable, judged))
        elif not judged:
            return
        elif cable.rate is None or expected is None:
            self.result.rate_untold += expected is not None
            self.count_ok(link)
        elif cable.rate.below(expected):
            self.degraded(link, cable, expected, "")
        else:
            self.count_ok(link)

    def compare_siblings(self) -> None:
        """Links without an expectation: against what both ends support, else against their like.

        Where nine in ten links of a kind run alike and could all be more by their capabilities, that is how the
        hardware is (a simulator, ports capped on purpose), no fault of a cable: they are counted, and said.
        """
        for group in self.siblings.values():
            kinds = Counter((cable.rate, _could_be(cable)) for _, cable, _ in group)
            (usual, could), count = kinds.most_common(1)[0]
            firm = len(group) >= MIN_SIBLINGS and count >= SIBLING_SHARE * len(group)
            for link, cable, judged in group:
                if not judged:
                    continue
                best, rate = _could_be(cable), cable.rate
                assert rate is not None
                if firm and usual is not None and rate.below(usual):
                    self.degraded(link, cable, usual, f"as {count:,} of {len(group):,} links like it")
                elif firm and (rate, best) == (usual, could):
                    self.result.capable_of_more += best is not None and rate.below(best)
                    self.count_ok(link)
                elif best is not None and rate.below(best):
                    self.degraded(link, cable, best, SUPPORTED)
                else:
                    self.count_ok(link)

    def degraded(self, link: Link, cable: Link, expected: Rate, reason: str) -> None:
        a, b = self.seen_ports(link)
        self.count(
            Judged(link, LinkClass.DEGRADED, a, b, rate=cable.rate, expected_rate=expected, reason=reason)
        )

    def seen_ports(self, link: Link) -> tuple[Port | None, Port | None]:
        a, b = self.binding.seen_of.get(link.a.node), self.binding.seen_of.get(link.b.node)
        return (Port(a, link.a.number) if a else None, Port(b, link.b.number) if b else None)

    def judge(self, link: Link, a: Port | None, b: Port | None) -> Judged:
        """A planned link whose ports are not joined to each other."""
        seen, planned_at = self.seen, self.result.planned_at
        found_a = seen.peer(a) if a is not None else None
        found_b = seen.peer(b) if b is not None else None
        judged = Judged(
            link,
            LinkClass.NOT_JUDGED,
            a,
            b,
            found_a,
            found_b,
            seen.state(a) if a is not None else None,
            seen.state(b) if b is not None else None,
        )
        partner = planned_at.get(found_a) if found_a is not None and found_b is not None else None
        if (
            partner is not None
            and found_b is not None
            and found_a != found_b  # a planned loopback in one port has one neighbour, not two
            and partner is planned_at.get(found_b)
            and partner is not link
        ):
            return replace(judged, cls=LinkClass.SWAPPED, partner=partner)
        perhaps = self.may_be_right(link, found_a, found_b)
        if perhaps:
            return replace(judged, reason=perhaps)
        if found_a is not None or found_b is not None:
            return replace(judged, cls=LinkClass.MISWIRED)
        impossible = impossible_port(judged, self.binding, self.seen)
        if impossible:
            return replace(judged, reason=impossible)
        absent = self.absent_device(link)
        if absent is not None:
            return replace(judged, cls=LinkClass.MISSING, absent=absent)
        down = (PortState.DOWN, PortState.DISABLED)
        if judged.state_a in down or judged.state_b in down:
            return replace(judged, cls=LinkClass.MISSING)
        return replace(judged, reason=self.why_unknown(judged))

    def may_be_right(self, link: Link, found_a: Port | None, found_b: Port | None) -> str:
        """Why a cable to a device that may be the wanted one is not judged; empty when no such cable is there.

        The wanted device's own name may be the one claimed twice, or it may be one of those that claim another's;
        or the device found could be the wanted one or another (identity).
        """
        if not self.claimants:
            return ""
        for planned, found in ((link.b, found_a), (link.a, found_b)):
            if found is None or found.node not in self.claimants or planned.node in self.binding.seen_of:
                continue
            undecided = self.binding.undecided.get(found.node)
            if undecided is None:
                return "its device's name is claimed by several devices"
            if not undecided.planned or planned.node in undecided.planned:
                return undecided.why
        return ""

    def why_unknown(self, judged: Judged) -> str:
        ports = [port for port in (judged.seen_a, judged.seen_b) if port is not None]
        if any(port in self.disputed for port in ports):
            return "the sources contradict each other about its ports"
        for end in (judged.link.a, judged.link.b):
            if end.node in self.undecided:
                return self.undecided[end.node]
        unread = PortState.UNKNOWN in (judged.state_a, judged.state_b)
        return "the source does not tell its port's state" if unread else "neither end was seen"

    def absent_device(self, link: Link) -> str | None:
        """The absent device a cable is folded under; of two, the one that loses more cables."""
        ends = [n for n in (link.a.node, link.b.node) if n in self.result.absent]
        if not ends:
            return None
        under = {self.result.absent[n].under or n for n in ends}
        return max(sorted(under), key=lambda n: self.result.absent[n].cables)

    def excuse(self, judged: Judged) -> Judged:
        """Planned maintenance: a missing or unseen link of a device or port expected absent does not count."""
        if judged.cls not in (LinkClass.MISSING, LinkClass.NOT_JUDGED):
            return judged
        link, absent, ports = judged.link, self.expect.absent, self.expect.absent_ports
        for end in (link.a, link.b):
            folded = self.result.absent.get(end.node)
            above = absent.get(folded.under) if folded is not None and folded.under else None
            why = absent.get(end.node) or ports.get(end) or above
            if why:
                return replace(
                    judged,
                    cls=LinkClass.NOT_JUDGED,
                    excused=why,
                    absent=None,
                    reason=f"expected absent: {why}",
                )
        return judged

    def count(self, judged: Judged) -> None:
        self.result.judged.append(judged)
        self.add(judged.link, judged.cls)

    def count_ok(self, link: Link) -> None:
        self.add(link, LinkClass.OK)

    def add(self, link: Link, cls: LinkClass) -> None:
        self.result.counts[cls] += 1
        pair = self.tier_pair(link)
        row = self.result.by_tier.get(pair)
        if row is None:
            row = self.result.by_tier[pair] = dict.fromkeys(LinkClass, 0)
        row[cls] += 1


def _could_be(cable: Link) -> Rate | None:
    return cable.detail.could_be if cable.detail is not None else None


def impossible_port(judged: Judged, binding: Binding, seen: Fabric) -> str:
    """Why a planned port cannot exist on the device that was found, empty when it can."""
    for planned, port in ((judged.link.a, judged.seen_a), (judged.link.b, judged.seen_b)):
        node = seen.nodes[port.node] if port is not None else None
        if port is not None and node is not None and node.listed and 0 < node.ports < port.number:
            name = binding.plan.fabric.nodes[planned.node].name
            return f"the plan names port {port.number} of {name}, which has {node.ports}"
    return ""


def unexplained(classified: Classified, binding: Binding, seen: Fabric) -> Collection[Link]:
    """Seen cables neither of whose ports belongs to a planned link; what a claimed name hides is not counted."""
    planned_at = classified.planned_at
    claimants = binding.claimants
    return [
        link
        for link in seen.each_link()
        if link.a not in planned_at
        and link.b not in planned_at
        and link.a.node not in claimants
        and link.b.node not in claimants
    ]
