"""Findings that are not about a planned link: cables nobody planned, devices, names, managers, rails, bundles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from fabricctl.cabling.binding import Binding
from fabricctl.cabling.bundles import find_gaps
from fabricctl.cabling.classify import Classified
from fabricctl.cabling.directory import Directory
from fabricctl.cabling.ends import Ends
from fabricctl.cabling.model import Cable, Finding, FindingKind
from fabricctl.cabling.rails import Deviation, RailCheck
from fabricctl.cabling.tiers import Tiers
from fabricctl.discovery.model import Observation, Problem, ProblemKind
from fabricctl.fabric import Fabric, Link, NodeKind, Port
from fabricctl.hostset import expand, fold


class OtherFindings:
    """Builds them; every method yields findings of one kind."""

    def __init__(
        self, binding: Binding, observation: Observation, directory: Directory, tiers: Tiers, ends: Ends
    ) -> None:
        self.binding, self.observation, self.directory = binding, observation, directory
        self.tiers, self.ends = tiers, ends
        self.seen: Fabric = observation.fabric

    def unplanned(self, cables: Collection[Link], *, strict: bool) -> Iterator[Finding]:
        """Seen cables neither of whose ports the plan knows."""
        for link in cables:
            kind = self.kind_of(link)
            if kind is FindingKind.OUTSIDE_PLAN and not strict:
                continue
            a, b = self.ends.discovered(link.a), self.ends.discovered(link.b)
            tiers = self.tiers.seen_pair(link)
            headline = {
                FindingKind.SELF_LOOP: f"{a} is looped back to {b}",
                FindingKind.UNEXPECTED: f"{a} - {b} ({tiers}): a cable between two ports the plan leaves empty",
            }.get(kind, f"{a} - {b} ({tiers}): a device outside the plan")
            fix = {
                FindingKind.SELF_LOOP: f"take the loopback plug or cable out: {a.full}",
                FindingKind.UNEXPECTED: f"unplug it, or add it to the plan: {a.full} - {b.full}",
            }.get(kind, "add the device to the plan, or unplug it")
            devices = tuple(dict.fromkeys((a.device, b.device)))
            cable = Cable(a, None, b, tiers)
            yield Finding(
                kind, f"{a} - {b}", headline, "nothing", f"{a} - {b}", fix, devices, (cable,), tiers
            )

    def kind_of(self, link: Link) -> FindingKind:
        """Self loop, unexpected (both devices planned) or outside the plan."""
        if link.a.node == link.b.node:
            return FindingKind.SELF_LOOP
        planned = self.binding.plan_of
        both = link.a.node in planned and link.b.node in planned
        return FindingKind.UNEXPECTED if both else FindingKind.OUTSIDE_PLAN

    def reserved(self, reserved: Mapping[Port, str]) -> Iterator[Finding]:
        """A reserved port (plan key) that somebody else uses."""
        for port, who in reserved.items():
            key = self.binding.seen_of.get(port.node)
            peer = self.seen.peer(Port(key, port.number)) if key is not None else None
            if peer is None:
                continue
            if self.directory.answers_to(peer.node, expand(who)):
                continue
            here, there = self.ends.planned(port), self.ends.discovered(peer)
            yield Finding(
                FindingKind.RESERVED_PORT,
                str(here),
                f"{here} is reserved for {who}, but {there} is plugged in",
                expected=f"{who} or nothing",
                found=str(there),
                fix=f"move {there} to its planned port; {here.full} belongs to {who}",
                devices=(here.device, there.device),
                cables=(Cable(here, None, there, "host-leaf"),),
            )

    def unknown_devices(self, unknown: Collection[str]) -> Iterator[Finding]:
        """With ``--strict``: every discovered device the plan does not have."""
        for key in unknown:
            node = self.seen.nodes[key]
            name = f"{node.name} ({node.guid or key})" if node.name != key else key
            what = (
                "switch" if node.kind is NodeKind.SWITCH else "HCA" if node.kind is NodeKind.HCA else "device"
            )
            yield Finding(
                FindingKind.UNKNOWN_DEVICE,
                node.name,
                f"{what} {name} is not in the plan",
                fix="add it to the plan, or find out who plugged it in",
                devices=(node.name,),
                group=what,
                where=(key,),
            )

    def names(self) -> Iterator[Finding]:
        """Names claimed twice, GUIDs claimed twice, parts replaced."""
        for clash in self.binding.clashes:
            names = " and ".join(clash.names)
            several = len(clash.seen) > 1
            yield Finding(
                FindingKind.DUPLICATE_NAME,
                names,
                f"{names} is claimed by {len(clash.seen)} devices: who is who cannot be told"
                if several
                else f"{names} are two planned names of one device",
                expected="one device of that name" if several else "one name per device",
                found=", ".join(clash.seen),
                fix="give one of them its own node description, or declare their GUIDs (site file, node-name-map)"
                if several
                else "correct the plan",
                devices=clash.names,
            )
        for part in self.binding.replaced:
            yield Finding(
                FindingKind.REPLACED_PART,
                part.name,
                f"{part.name} has another GUID than in the snapshot: a replaced part",
                expected=part.planned,
                found=part.seen,
                fix="if it was replaced on purpose, take a new snapshot",
                devices=(part.name,),
                where=(self.ends.key(part.planned),),
            )
        yield from self._problems()

    def _problems(self) -> Iterator[Finding]:
        """What several sources say of one fault is one finding."""
        of: dict[tuple[ProblemKind, str], list[Problem]] = {}
        for problem in self.observation.problems:
            about = ""
            if problem.kind is ProblemKind.DUPLICATE_GUID:
                about = problem.nodes[0] if problem.nodes else problem.text
            of.setdefault((problem.kind, about), []).append(problem)
        for problems in of.values():
            problem = problems[0]
            more = f" (and {len(problems) - 1} more like it)" if len(problems) > 1 else ""
            if problem.kind is ProblemKind.INACTIVE:
                yield Finding(
                    FindingKind.INACTIVE,
                    "inactive ports",
                    problem.text + more,
                    expected="Active",
                    fix="start a subnet manager, or see its log: cables may be right, but nothing can use these links",
                )
            elif problem.kind is ProblemKind.DUPLICATE_GUID:
                yield Finding(
                    FindingKind.DUPLICATE_GUID,
                    problem.nodes[0] if problem.nodes else "",
                    problem.text + more,
                    expected="one node per GUID",
                    fix="two parts with one GUID cannot live in one fabric: re-flash or replace one",
                    devices=tuple(self.binding.plan_of.get(key, key) for key in problem.nodes),
                    where=problem.nodes[:1] or (problem.text,),
                )

    def managers(self, allowed: str) -> Iterator[Finding]:
        """Two master subnet managers, or a master off its reserved place."""
        masters = {
            self._manager_node(m.guid): None for m in self.observation.subnet_managers if m.state == "master"
        }
        named = {key: self.seen.nodes[key].name if key in self.seen.nodes else key for key in masters}
        if len(masters) > 1:
            shown = ", ".join(named.values())
            yield Finding(
                FindingKind.SUBNET_MANAGER,
                shown,
                f"{len(masters)} master subnet managers: {shown}",
                expected="one master",
                found=shown,
                fix="either the fabric is split, or two managers have not found each other: see the islands",
                devices=tuple(named.values()),
                where=("several masters",),
            )
        for key, name in named.items():
            known = (
                key in self.seen.nodes and self.directory.answers_to(key, expand(allowed))
                if allowed
                else True
            )
            if not known:
                yield Finding(
                    FindingKind.SUBNET_MANAGER,
                    name,
                    f"the master subnet manager runs on {name}, not on {allowed}",
                    expected=allowed,
                    found=name,
                    fix="stop the subnet manager there, or give it a lower priority",
                    devices=(name,),
                    where=(self.ends.seen_key(key),),
                )

    def _manager_node(self, guid: str) -> str:
        """Key of the node a manager sits on; some tools name it by node GUID, some by port GUID."""
        if guid in self.seen.nodes:
            return guid
        for key, node in self.seen.nodes.items():
            if any(own == guid for _, own in node.port_guids):
                return key
        return guid

    def rails(self, check: RailCheck, covered: Collection[Port]) -> Iterator[Finding]:
        """Rail deviations not already covered by another finding."""
        for deviation in check.misaligned:
            if deviation.port not in covered:
                yield self._rail(deviation, "on a leaf of another rail", "leaf")
        misaligned = {deviation.hca for deviation in check.misaligned}
        for deviation in check.other_port:
            if deviation.port not in covered and deviation.hca not in misaligned:
                yield self._rail(deviation, "on another port than its host's other HCAs", "port")

    def _rail(self, deviation: Deviation, what: str, aspect: str) -> Finding:
        hca, leaf = self.ends.discovered(deviation.hca), self.ends.discovered(deviation.port)
        return Finding(
            FindingKind.RAIL,
            str(hca),
            f"{hca} is {what}: {leaf}",
            expected=deviation.expected,
            found=deviation.found,
            fix=f"check the cable {hca.full} - {leaf.full}",
            devices=(hca.device, leaf.device),
            cables=(Cable(hca, None, leaf, "host-leaf"),),
            group=what,
            where=(aspect,),
        )

    def bundle_gaps(self) -> Iterator[Finding]:
        """Without a plan: ports down beside the cables of a bundle that has fewer than its like."""
        for gap in find_gaps(self.seen, self.tiers.seen):
            a = [str(self.ends.discovered(Port(gap.a, n))) for n in gap.down_a]
            b = [str(self.ends.discovered(Port(gap.b, n))) for n in gap.down_b]
            names = (self.seen.nodes[gap.a].name, self.seen.nodes[gap.b].name)
            yield Finding(
                FindingKind.BUNDLE_GAP,
                " - ".join(names),
                f"{names[0]} - {names[1]}: {gap.have} of {gap.usual} parallel cables are up",
                expected=f"{gap.usual} cables, "
                + (
                    "as the ports beside the gap run to the same switch"
                    if gap.hole
                    else "as most bundles of both switches"
                ),
                found=f"down: {_few(a)} and {_few(b)}",
                fix=f"plug in, reseat or replace the cable between {_few(a)} and {_few(b)}",
                devices=names,
                group="with fewer parallel cables than their like",
                where=tuple(self.ends.seen_key(key) for key in (gap.a, gap.b)),
            )


def unknown_keys(binding: Binding, seen: Fabric) -> list[str]:
    """Discovered nodes that no planned node is; claimants of a planned name are not unknown."""
    return [key for key in seen.nodes if key not in binding.plan_of and key not in binding.claimants]


def covered_ports(classified: Classified) -> set[Port]:
    """Discovered ports that a finding about a planned link already talks about."""
    ports: set[Port] = set()
    for judged in classified.judged:
        ports.update(
            p for p in (judged.seen_a, judged.seen_b, judged.found_a, judged.found_b) if p is not None
        )
    return ports


def _few(ports: list[str]) -> str:
    text = fold(ports)
    return text if len(text) <= 60 else f"{ports[0]} and {len(ports) - 1} other ports"
