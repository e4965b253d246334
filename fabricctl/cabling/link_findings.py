"""From judged links to findings: each said once, both ends, expected and found, and what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from fabricctl.cabling.absent import Absence
from fabricctl.cabling.binding import Binding
from fabricctl.cabling.classify import SUPPORTED, Classified, impossible_port
from fabricctl.cabling.ends import Ends
from fabricctl.cabling.model import Cable, End, Finding, FindingKind, Judged, LinkClass
from fabricctl.cabling.tiers import TIER_WORDS, Tiers
from fabricctl.discovery.names import name_key
from fabricctl.fabric import Fabric, NodeKind, Port, PortState
from fabricctl.hostset import fold, natural_key
from fabricctl.words import many


class LinkFindings:
    """Builds the findings about planned links."""

    def __init__(self, binding: Binding, seen: Fabric, tiers: Tiers, ends: Ends) -> None:
        self.binding, self.seen, self.tiers, self.ends = binding, seen, tiers, ends

    def all(self, classified: Classified) -> Iterator[Finding]:
        """Every finding about a planned link, in no particular order."""
        by_class: dict[LinkClass, list[Judged]] = defaultdict(list)
        for judged in classified.judged:
            by_class[judged.cls].append(judged)
        yield from self.swapped(by_class[LinkClass.SWAPPED])
        yield from (self.miswired(judged) for judged in by_class[LinkClass.MISWIRED])
        yield from self.absent(classified.absent, [j for j in by_class[LinkClass.MISSING] if j.absent])
        yield from (self.missing(judged) for judged in by_class[LinkClass.MISSING] if not judged.absent)
        yield from (self.degraded(judged) for judged in by_class[LinkClass.DEGRADED])

    # -- swapped ------------------------------------------------------------------------------------------

    def swapped(self, judged: list[Judged]) -> Iterator[Finding]:
        """One finding for the two links."""
        done = set()
        for one in judged:
            if one.link.a in done or one.partner is None:
                continue
            done |= {one.link.a, one.partner.a}
            yield self._swap(one)

    def _swap(self, judged: Judged) -> Finding:
        link, partner = judged.link, judged.partner
        assert partner is not None
        assert judged.found_a is not None
        assert judged.found_b is not None
        a, b = self.ends.planned(link.a), self.ends.planned(link.b)
        far_a, far_b = self.ends.discovered(judged.found_a), self.ends.discovered(judged.found_b)
        # far_a and far_b are the two ends of the partner: a - far_a and far_b - b are what is there
        first, second = sorted(((a, b, far_a), (far_b, far_a, b)), key=lambda t: natural_key(str(t[0])))
        tiers = self.tiers.pair(link)
        cables = (
            Cable(first[0], first[1], first[2], tiers, link.line),
            Cable(second[0], second[1], second[2], self.tiers.pair(partner), partner.line),
        )
        return Finding(
            FindingKind.SWAPPED,
            f"{first[0]} and {second[0]}",
            f"{first[0]} and {second[0]} are exchanged ({tiers})",
            expected=f"{first[0]} - {first[1]} and {second[0]} - {second[1]}",
            found=f"{first[0]} - {first[2]} and {second[0]} - {second[2]}",
            fix=f"exchange the plugs at {first[1].full} and {second[1].full}, or at {first[0].full} and "
            f"{second[0].full}: not both",
            devices=_devices(first[0], first[1], second[0], second[1]),
            cables=cables,
            group=tiers,
        )

    # -- miswired -----------------------------------------------------------------------------------------

    def miswired(self, judged: Judged) -> Finding:
        """A planned cable one or both of whose ports carry another one."""
        link = judged.link
        a, b = self.ends.planned(link.a), self.ends.planned(link.b)
        cables, found, whys = [], [], []
        impossible = impossible_port(judged, self.binding, self.seen)
        for own, want, far in ((link.a, link.b, judged.found_a), (link.b, link.a, judged.found_b)):
            if far is None:
                continue
            here, there = self.ends.planned(own), self.ends.discovered(far)
            why = impossible or self._why(own, want, far)
            cables.append(Cable(here, self.ends.planned(want), there, self.tiers.pair(link), link.line, why))
            found.append(f"{here} - {there.full}")
            whys.append(why)
        for end, port, state in ((a, judged.seen_a, judged.state_a), (b, judged.seen_b, judged.state_b)):
            if state is not None:
                found.append(f"{end} is {state}")
            elif port is None:
                found.append(f"{end.device} is not seen")
        tiers = self.tiers.pair(link)
        return Finding(
            FindingKind.MISWIRED,
            f"{a} - {b}",
            f"{a} - {b} ({tiers}): {'; '.join(dict.fromkeys(whys))}",
            expected=f"{a.full} - {b.full}",
            found=", ".join(found),
            fix="correct the plan" if impossible else self._miswired_fix(judged, a, b),
            devices=_devices(a, b),
            cables=tuple(cables),
            group=f"{tiers}: {min(whys, key=_worst)}",
        )

    def _miswired_fix(self, judged: Judged, a: End, b: End) -> str:
        """A stranger in the place of an unseen device may be that device under another name."""
        for want, port, far in ((b, judged.seen_b, judged.found_a), (a, judged.seen_a, judged.found_b)):
            if port is None and far is not None and far.node not in self.binding.plan_of:
                there = self.ends.discovered(far)
                same = f"if {there.device} is {want.device} under another name, correct its node description or declare"
                return f"{same} GUID {there.guid}; else connect {a.full} to {b.full}"
        return f"connect {a.full} to {b.full}"

    def _why(self, own: Port, want: Port, far: Port) -> str:
        """What is wrong with where a planned port's cable goes, in one word group."""
        own_seen = self.binding.seen_of.get(own.node)
        planned_far = self.binding.plan_of.get(far.node)
        if far.node == own_seen:
            return "loops back to the same device"
        if planned_far == want.node:
            return "wrong port of the right device"
        if far.node in self.binding.undecided:
            return "reaches a device whose identity is open, and none of those it could be is wanted there"
        if planned_far is None:
            return "reaches a device that is not in the plan"
        wanted, found = self.binding.plan.fabric.nodes[want.node], self.binding.plan.fabric.nodes[planned_far]
        if (
            wanted.kind is NodeKind.HCA
            and found.kind is NodeKind.HCA
            and wanted.host
            and wanted.host == found.host
        ):
            return "wrong HCA of the right host"
        tier, other = self.tiers.plan.get(want.node), self.tiers.plan.get(planned_far)
        if tier is not None and other is not None and tier != other:
            return f"wrong tier ({_tier(other)} instead of {_tier(tier)})"
        if wanted.rail is not None and found.rail is not None and wanted.rail != found.rail:
            return f"wrong rail (rail {found.rail} instead of rail {wanted.rail})"
        return f"wrong {_tier(tier) if tier is not None else 'device'}"

    # -- missing ------------------------------------------------------------------------------------------

    def missing(self, judged: Judged) -> Finding:
        """A planned cable that is not there: a seen port of it is down."""
        link = judged.link
        a, b = self.ends.planned(link.a), self.ends.planned(link.b)
        found = [
            f"{end} is {state}" if port is not None else f"{end.device} is not seen"
            for end, port, state in ((a, judged.seen_a, judged.state_a), (b, judged.seen_b, judged.state_b))
        ]
        if judged.state_a == judged.state_b and judged.state_a is not None:
            found = [f"both ports are {judged.state_a}"]
        tiers = self.tiers.pair(link)
        disabled = [
            end for end, state in ((a, judged.state_a), (b, judged.state_b)) if state is PortState.DISABLED
        ]
        fix = (
            f"{' and '.join(map(str, disabled))} was disabled by somebody: find out why before enabling"
            if disabled
            else f"plug in, reseat or replace the cable {a.full} - {b.full}"
        )
        return Finding(
            FindingKind.MISSING,
            f"{a} - {b}",
            f"{a} - {b} ({tiers}): no link",
            expected=f"{a.full} - {b.full}",
            found=", ".join(found),
            fix=fix,
            devices=_devices(a, b),
            cables=(Cable(a, b, None, tiers, link.line, found[0]),),
            group=tiers + (" disabled" if disabled else ""),
        )

    def absent(self, absent: dict[str, Absence], judged: list[Judged]) -> Iterator[Finding]:
        """Absent devices with everything folded under them; HCAs of one host that are all absent are one."""
        under: dict[str, list[Judged]] = defaultdict(list)
        for one in judged:
            assert one.absent is not None
            under[one.absent].append(one)
        hosts: dict[str, list[str]] = defaultdict(list)
        for key in under:
            node = self.binding.plan.fabric.nodes[key]
            if node.kind is NodeKind.HCA and node.host:
                hosts[node.host].append(key)
            else:
                yield self._absent_device([key], node.name, under[key], absent[key])
        up = {self.binding.plan.fabric.nodes[key].host for key in self.binding.seen_of}
        planned = self._planned_hcas(hosts)
        for host, keys in hosts.items():
            if host not in up and planned[host] > 1:
                links = [one for key in keys for one in under[key]]
                facing = sum(absent[key].facing for key in keys)
                yield self._absent_device(keys, host, links, Absence(None, len(links), facing))
            else:
                for key in keys:
                    name = self.binding.plan.fabric.nodes[key].name
                    shown = host if host in up else None
                    yield self._absent_device([key], name, under[key], absent[key], shown)

    def _planned_hcas(self, hosts: Iterable[str]) -> dict[str, int]:
        counts = dict.fromkeys(hosts, 0)
        for node in self.binding.plan.fabric.nodes.values():
            if node.kind is NodeKind.HCA and node.host in counts:
                counts[node.host] += 1
        return counts

    def _absent_device(
        self, keys: list[str], name: str, judged: list[Judged], absence: Absence, host: str | None = None
    ) -> Finding:
        """One finding for absent nodes. :param host: of an HCA, its host when other cards of it are seen."""
        gone = set(keys)
        cables, far, disabled = [], [], []
        for one in judged:
            swap = one.link.a.node not in gone
            own, want, state = (
                (one.link.b, one.link.a, one.state_a) if swap else (one.link.a, one.link.b, one.state_b)
            )
            here, there = self.ends.planned(own), self.ends.planned(want)
            cables.append(Cable(here, there, None, self.tiers.pair(one.link), one.link.line))
            far.append(there)
            if state is PortState.DISABLED:
                disabled.append(there)
        node = self.binding.plan.fabric.nodes[keys[0]]
        word = self._device_word(node.kind, keys)
        place = cables[0].a.place if cables[0].a.device == name or node.host else ""
        facing, total = absence.facing, len(judged)
        if facing == 1:
            seen = f"{far[0] if total == 1 else 'the one seen port that should face it'} is "
        else:
            seen = f"all {facing:,} seen ports that should face it are "
        return Finding(
            FindingKind.ABSENT_DEVICE,
            name,
            f"{word} {name}{f' at {place}' if place else ''} is absent: {many(total, 'cable')} missing with it",
            expected=f"{name} - {far[0]}" if total == 1 else f"{many(total, 'cable')} to {_folded(far)}",
            found="not discovered, and " + seen + ("disabled" if len(disabled) == max(1, facing) else "down"),
            fix=self._absent_fix(word, host, disabled, facing, total),
            devices=(
                name,
                *dict.fromkeys(self.binding.plan.fabric.nodes[k].name for k in keys if len(keys) > 1),
            ),
            cables=tuple(cables),
            group=word,
            where=(name_key(name) if len(keys) > 1 else self.ends.key(keys[0]),),
        )

    def _device_word(self, kind: NodeKind, keys: list[str]) -> str:
        if kind is NodeKind.HCA:
            return "host" if len(keys) > 1 else "HCA"
        return _tier(self.tiers.plan.get(keys[0])) if keys[0] in self.tiers.plan else "device"

    @staticmethod
    def _absent_fix(word: str, host: str | None, disabled: list[End], facing: int, total: int) -> str:
        if disabled:
            ports = fold(str(end) for end in disabled[:8])
            return (
                f"{ports} {'was' if len(disabled) == 1 else 'were'} disabled by somebody: find out why first"
            )
        if word == "HCA":
            if host is None:
                return "is its host powered on, and its InfiniBand driver loaded? else check card, cable and port"
            return f"{host} shows other HCAs: check this card, its cable and its port"
        if word == "host":
            return "is it powered on, and is its InfiniBand driver loaded?"
        fix = "is it powered? if powered and cabled but not discovered, check its ASIC and its subnet manager view"
        if facing < total:
            fix += f"; only {facing:,} of its {total:,} cables could be seen from here: those may be unplugged instead"
        return fix

    # -- degraded -----------------------------------------------------------------------------------------

    def degraded(self, judged: Judged) -> Finding:
        """Right ports, too narrow or too slow."""
        link = judged.link
        a, b = self.ends.planned(link.a), self.ends.planned(link.b)
        rate, want = judged.rate, judged.expected_rate
        assert rate is not None
        assert want is not None
        narrow = rate.width < want.width
        tiers = self.tiers.pair(link)
        because = f" ({judged.reason})" if judged.reason else ""
        than = {"": "planned", SUPPORTED: "both ends support"}.get(judged.reason, "its like")
        return Finding(
            FindingKind.DEGRADED,
            f"{a} - {b}",
            f"{a} - {b} ({tiers}): {'narrower' if narrow else 'slower'} than {than}",
            expected=f"{want}{because}",
            found=str(rate),
            fix=f"clean and reseat both ends, then replace the cable: {a.full} - {b.full}",
            devices=_devices(a, b),
            cables=(Cable(a, b, b, tiers, link.line, f"{rate} instead of {want}"),),
            group=f"{tiers}: {rate} instead of {want}",
        )


_SEVERITY = ("reaches a device", "wrong tier", "wrong rail", "wrong HCA", "wrong port", "loops back")


def _worst(why: str) -> int:
    """Rank of a reason: a cable that ends at a wrong device outranks one in a wrong port of the right one."""
    return next((rank for rank, start in enumerate(_SEVERITY) if why.startswith(start)), 3)


def _tier(tier: int | None) -> str:
    return "device" if tier is None else TIER_WORDS.get(tier, f"tier-{tier} device")


def _devices(*ends: End) -> tuple[str, ...]:
    return tuple(dict.fromkeys(end.device for end in ends))


def _folded(ends: list[End]) -> str:
    text = fold(end.device for end in ends)
    return text if len(text) <= 90 else f"{len({end.device for end in ends}):,} devices"
