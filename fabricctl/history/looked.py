"""Where a run looked: an old finding is gone only when the run would have shown it.

A device that was not seen, a cable outside ``--only``, a check that was not asked for, a rate no source told: each
leaves an old finding of that place as it was. So does a cable folded under an absent device: nobody knows how
it is while its device is dead; a device that the plan does not have (another plan under the same name, a device
with a new name); and all of it when the discovery is not of the planned fabric.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.finding_id import PLANNED_LINK
from fabricctl.cabling.model import FindingKind, Judged, LinkClass, Spot
from fabricctl.cabling.scope import Scope, make_scope
from fabricctl.cabling.verdict import Options, Verdict
from fabricctl.discovery.model import DiscoveryFormat, Observation
from fabricctl.discovery.names import name_key
from fabricctl.fabric import Link, Port
from fabricctl.history.beside import cables_told, certain, slots_compared
from fabricctl.history.model import Known

_TELLS_ACTIVE = frozenset(
    {DiscoveryFormat.IBLINKINFO, DiscoveryFormat.IBLINKINFO_LINES, DiscoveryFormat.SUBNET_LST}
)
"""Formats whose lines tell whether a port that is up is Active."""


class Looked:
    """Answers for one verdict.

    :param options: and ``observation``: what the verdict was made of.
    """

    def __init__(self, verdict: Verdict, observation: Observation, options: Options) -> None:
        assert verdict.comparison is not None
        self.verdict, self.observation, self.options = verdict, observation, options
        self.of: Comparison = verdict.comparison
        self.plan = self.of.binding.plan
        self.planned = verdict.plan_format is not None
        self.failed = any(source.failed or source.format is None for source in observation.sources)
        found = verdict.identification
        self.refused = found is not None and found.refusal is not None
        self.complete = not verdict.doubts and not verdict.only and not self.failed

    def at(self, known: Known) -> bool:
        """Whether this run would have shown the finding if it were still there."""
        kind, where = known.kind, known.where
        if self.refused or not self._asked(kind):
            return False
        if kind in PLANNED_LINK and where.links:
            return all(self._planned_link(kind, link) for link in where.links)
        if kind is FindingKind.ABSENT_DEVICE:
            return self._absent(where.devices)
        if where.links:
            return self._seen_cable(where.links)
        if not self.planned and kind is FindingKind.SUBNET_MANAGER:
            return self._other(kind, ()) and all(self._read(name_key(name)) for name in known.devices)
        if kind is FindingKind.CABLE_TYPE:
            return self._cables_told({self._device_of(spot) for spot in where.devices})
        return self._other(kind, where.devices)

    def _asked(self, kind: FindingKind) -> bool:
        """Whether the run made the check at all."""
        if kind in (FindingKind.OUTSIDE_PLAN, FindingKind.UNKNOWN_DEVICE):
            return self.options.strict
        if kind is FindingKind.RAIL:
            return self.options.check_rails or (self.planned and self.plan.declares_rails)
        if kind is FindingKind.SUBNET_MANAGER:
            return any(manager.state == "master" for manager in self.observation.subnet_managers)
        if kind is FindingKind.INACTIVE:
            return any(source.format in _TELLS_ACTIVE for source in self.observation.sources)
        return self._asked_beside(kind)

    def _asked_beside(self, kind: FindingKind) -> bool:
        """Checks that other inputs or options bring."""
        if kind is FindingKind.CARD_SLOT:
            return bool(self.options.hca_slots)
        if kind is FindingKind.IDENTITY:
            return self.verdict.identification is not None
        return kind is not FindingKind.CABLE_TYPE or self.verdict.repair is not None

    # -- planned links ------------------------------------------------------------------------------------

    def _planned_link(self, kind: FindingKind, spots: tuple[Spot, ...]) -> bool:
        link = self._link_at(spots)
        if link is None and not self.planned:  # the cable is out, if its devices were read
            return any(self._read(key) for key, *_ in spots)
        if link is None:  # the plan has the devices and wants it no more
            return all(key in self._keys for key, *_ in spots) and self._known(spots)
        if self._scope is not None and not self._scope.holds(link):
            return False
        judged = self._judged.get(link.a)
        if judged is None:
            return kind is not FindingKind.DEGRADED or self._rate_told(link)
        if judged.cls is LinkClass.NOT_JUDGED or judged.absent is not None:
            return False
        return kind is not FindingKind.DEGRADED or judged.rate is not None

    def _link_at(self, spots: tuple[Spot, ...]) -> Link | None:
        links = self.plan.fabric.links
        far = spots[-1] if len(spots) > 1 else None
        for key in self._keys.get(spots[0][0], ()):
            own = self.of.ends.at_normal(key, spots[0][1:])
            link = links.get(own) if own is not None else None
            if own is None or link is None:
                continue
            other = link.other(own)
            if far is None or (
                self.of.ends.normal(other) == far[1:] and other.node in self._keys.get(far[0], ())
            ):
                return link
        return None

    def _known(self, spots: Iterable[Spot]) -> bool:
        """A link that left the plan says nothing under ``--only`` unless its device is chosen."""
        return self._scope is None or self._chosen([key for key, *_ in spots])

    def _rate_told(self, link: Link) -> bool:
        seen_of = self.of.binding.seen_of
        for end in (link.a, link.b):
            key = seen_of.get(end.node)
            cable = self.of.seen.links.get(Port(key, end.number)) if key is not None else None
            if cable is not None:
                return cable.rate is not None
        return False

    # -- devices and other cables -------------------------------------------------------------------------

    def _absent(self, devices: tuple[str, ...]) -> bool:
        """A device is back when it is seen, or when something else is cabled where it belongs.

        Cables of it that are merely dark say nothing: a run that saw fewer of its neighbours lists them singly.
        """
        if self._scope is not None and not self._chosen(devices):
            return False
        keys = {key for name in devices for key in self._keys.get(name, ())}
        if not keys:
            return False
        if any(key in self.of.binding.seen_of for key in keys):
            return True
        own = [judged for key in keys for judged in self._judged_of.get(key, ())]
        return any(j.cls in (LinkClass.MISWIRED, LinkClass.SWAPPED) for j in own)

    def _seen_cable(self, links: Iterable[tuple[Spot, ...]]) -> bool:
        """A cable that was seen is out when one of its ports was read, or when nothing of the plan was missed."""
        devices = [key for link in links for key, *_ in link]
        if self._scope is not None and not self._chosen(devices):
            return False
        if any(self._read(key) for key in devices):
            return True
        return self.planned and self.complete and all(key in self._keys or _is_guid(key) for key in devices)

    def _other(self, kind: FindingKind, devices: tuple[str, ...]) -> bool:
        verdict, counts = self.verdict, self.verdict.counts
        if kind is FindingKind.SPLIT_FABRIC:
            whole = not self.failed and verdict.islands.unseen_switches == 0
            return self.planned and not verdict.only and (self.complete or whole)
        if kind is FindingKind.BAD_LINK_SHARE:
            return self.planned and not verdict.only and 2 * counts.judged >= counts.intended
        if kind in (FindingKind.INACTIVE, FindingKind.SUBNET_MANAGER):
            return not verdict.only and not self.failed
        if self._scope is not None and not self._chosen(devices):
            return False
        if kind is FindingKind.UNKNOWN_DEVICE:
            return self.complete or any(self._read(key) for key in devices)
        if kind in (FindingKind.DUPLICATE_NAME, FindingKind.DUPLICATE_GUID, FindingKind.REPLACED_PART):
            return not self.failed and all(self._read(key) for key in devices)
        if kind is FindingKind.CARD_SLOT:
            return all(key in self._slots for key in devices)
        if kind is FindingKind.IDENTITY:
            return all(key in self._certain for key in devices)
        return all(self._read(key) for key in devices)

    def _cables_told(self, devices: Iterable[str]) -> bool:
        """Kinds of cables are looked at where the device was read, and plan or discovery tell kinds there."""
        names = list(devices)
        if self._scope is not None and not self._chosen(names):
            return False
        return all(self._read(name) and not self._told.isdisjoint(self._every_key(name)) for name in names)

    def _device_of(self, spot: str) -> str:
        """Key of the device of ``leaf1/27``, or of the second half ``leaf1/27/2``."""
        name = spot.rpartition("/")[0]
        shorter = name.rpartition("/")[0]
        known = shorter in self._keys or shorter in self.of.seen.nodes
        return shorter if known and name not in self._keys else name

    def _every_key(self, name: str) -> list[str]:
        planned = self._keys.get(name, [])
        return [name, *planned, *(self.of.binding.seen_of.get(key, key) for key in planned)]

    def _read(self, name: str) -> bool:
        """Whether a device's own ports were read. :param name: as ``End.key``."""
        seen = self.of.seen.nodes
        keys = [self.of.binding.seen_of.get(key, "") for key in self._keys.get(name, ())]
        return any(key in seen and seen[key].listed for key in [*keys, name])

    def _chosen(self, names: Iterable[str]) -> bool:
        scope = self._scope
        keys = {key for name in names for key in self._keys.get(name, ())}
        return scope is None or not scope.nodes.isdisjoint(keys) or scope.names_any(names)

    @cached_property
    def _keys(self) -> dict[str, list[str]]:
        """``End.key``, and name of a host, -> plan keys."""
        found: dict[str, list[str]] = {}
        for key, node in self.plan.fabric.nodes.items():
            found.setdefault(self.of.ends.key(key), []).append(key)
            if node.host:
                found.setdefault(name_key(node.host), []).append(key)
        return found

    @cached_property
    def _slots(self) -> frozenset[str]:
        return slots_compared(self.options, self.of)

    @cached_property
    def _certain(self) -> frozenset[str]:
        return certain(self.verdict.identification)

    @cached_property
    def _told(self) -> frozenset[str]:
        return cables_told(self.of)

    @cached_property
    def _judged(self) -> dict[Port, Judged]:
        return {judged.link.a: judged for judged in self.of.classified.judged}

    @cached_property
    def _judged_of(self) -> dict[str, list[Judged]]:
        """Plan key -> what is not ok at it."""
        found: dict[str, list[Judged]] = {}
        for judged in self._judged.values():
            for end in (judged.link.a, judged.link.b):
                found.setdefault(end.node, []).append(judged)
        return found

    @cached_property
    def _scope(self) -> Scope | None:
        if not self.verdict.only:
            return None
        return make_scope(self.verdict.only, self.plan, self.of.ends.knowledge.place_of)


def _is_guid(key: str) -> bool:
    """A device nobody planned is told by its GUID, which no other plan gives another meaning."""
    return key.startswith("0x")
