"""Plan and discovery in one numbering: switches in the profile ``ib split-ready`` count every port anew.

A switch so configured (QM9700: cage 14 port 1 is 53 instead of 27) looks wholly miscabled to a plan made for the other
profile. So before names are bound, each side's profile is told per switch and the numbers are translated:

* of a discovered switch by its port count (128 or 129 where the model has 64), else by a used port above the model's
  count; where the source tells neither, the rest of the fabric decides, and that is said to be assumed;
* of a planned switch by which reading of its numbers fits the discovered switch of its name better; where both fit
  alike, or none of its name is seen, by a number above the model's count, else as most other planned switches, else by
  what fits the discovered switches of its kind together.

What is translated loses nothing: while no second half of a port is used anywhere, everything is counted in the normal
profile; else everything in the split-ready one. Models come from the site file, the node description or the plan; a
switch that names none is known by its chip where the discovery tells it; else nothing is translated, and where its port
count looks split that is a doubt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from fabricctl.cabling.binding import Names
from fabricctl.cabling.numbering import Halves, Numbering, Profile, halves_of
from fabricctl.cabling.port_numbers import settle_port_numbers
from fabricctl.cabling.profile_notes import notes, unknown_doubt
from fabricctl.cabling.renumber import renumber_observation, renumber_plan
from fabricctl.discovery.model import Observation
from fabricctl.discovery.names import describe, name_key
from fabricctl.fabric import Fabric, Node, NodeKind
from fabricctl.model_tables import find_model
from fabricctl.models import SwitchModel
from fabricctl.plan.model import Plan

ModelOf = Callable[[str, str], SwitchModel | None]
"""Device name and model word (of the plan or the node description) -> model."""

CHIPS = {0xD2F0: "QM8700", 0xD2F2: "QM9700"}
"""PCI device ID of a switch chip -> a model whose ports are the chip's own (Quantum: 40, Quantum-2: 64)."""

SPLIT_COUNTS = frozenset((80, 81, 128, 129))
"""Port counts, with and without the aggregation node's, that only the split-ready profile of those chips shows."""


@dataclass(frozen=True, slots=True)
class SwitchProfile:
    """What was told of one discovered switch.

    :param key: its key; :param planned: of the planned switch of the same name, the profile the plan counts it in.
    :param sure: its port count or a used port tells; else assumed from the rest of the fabric.
    :param by_chip: its model is not told, its chip is.
    """

    key: str
    name: str
    seen: Profile
    planned: Profile | None = None
    sure: bool = True
    by_chip: bool = False


@dataclass(frozen=True)
class Normalised:
    """Plan and observation whose port numbers mean the same.

    :param plan: None when none was given; unchanged objects are the ones given.
    :param numbering: what the numbers mean now and how to print them.
    :param switches: discovered switches in the split-ready profile, or planned in another one than they are in.
    :param notes: what was found and translated, one sentence each; :param doubts: where it could not be told.
    """

    plan: Plan | None
    observation: Observation
    numbering: Numbering = field(default_factory=Numbering)
    switches: tuple[SwitchProfile, ...] = ()
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def normalise(
    plan: Plan | None, observation: Observation, model_of: ModelOf | None, names: Names | None = None
) -> Normalised:
    """Bring plan and observation into one numbering.

    Call it with what was read, once, before names are bound; the result must not be normalised again.

    :param model_of: None translates nothing; :param names: declared and mapped names of discovered nodes.
    :raises PlanError: the plan's plain port numbers may be cages, and nothing shows it.
    """
    if model_of is None:
        return Normalised(plan, observation)
    return _Normaliser(plan, observation, model_of, names or Names()).run()


class _Normaliser:
    def __init__(self, plan: Plan | None, observation: Observation, model_of: ModelOf, names: Names) -> None:
        self.plan, self.observation, self.model_of = plan, observation, model_of
        self.names = names
        self.seen_nodes = {key: node for key, node in observation.fabric.nodes.items() if _may_switch(node)}
        planned = plan.fabric.nodes.items() if plan is not None else ()
        self.plan_nodes = {key: node for key, node in planned if _may_switch(node)}
        self.kinds: dict[str, Halves | None] = {}
        self.by_chip: set[str] = set()
        self.halves: dict[str, Halves] = {}
        self.taken = 0
        """Planned switches taken as the only kind seen."""

    def run(self) -> Normalised:
        self.name_of = {key: self.effective_name(node) for key, node in self.seen_nodes.items()}
        self.named = {name_key(name): key for key, name in self.name_of.items()}
        result = self.translated() if self.anything_split() else Normalised(self.plan, self.observation)
        if result.plan is None or result.numbering.counted is Profile.SPLIT_READY:
            return result
        said = settle_port_numbers(result.plan, result.observation.fabric, self.model_of, self.named)
        return replace(result, notes=(*said, *result.notes))

    def translated(self) -> Normalised:
        """Plan and observation in one profile, when any switch may be in the split-ready one."""
        self.know_models()
        self.used_seen = _used(self.observation.fabric, self.halves)
        self.used_plan = _used(self.plan.fabric, self.halves) if self.plan is not None else {}
        seen, assumed = self.seen_profiles()
        planned = self.plan_profiles(seen)
        doubt = unknown_doubt(self.unknown(), planned_ports=self.highest_planned())
        doubts = (doubt,) if doubt else ()
        if Profile.SPLIT_READY not in {*seen.values(), *planned.values()}:
            return Normalised(self.plan, self.observation, doubts=doubts)
        counted = Profile.SPLIT_READY if self.second_halves(seen, planned) else Profile.NORMAL
        numbering = Numbering(counted, self.halves, seen, planned)
        switches = self.told(seen, planned, assumed)
        said = notes(switches, self.halves, self.lost(planned, seen), self.taken)
        plan, observation = self.plan, self.observation
        if any(profile is not counted for profile in planned.values()) or counted is Profile.SPLIT_READY:
            plan = renumber_plan(plan, numbering) if plan is not None else None
        if any(profile is not counted for profile in seen.values()):
            observation = renumber_observation(observation, numbering)
        return Normalised(plan, observation, numbering, switches, said, doubts)

    # -- is there anything to do --------------------------------------------------------------------------

    def anything_split(self) -> bool:
        """Whether any switch, planned or seen, may count in the split-ready profile: cheap, and mostly False."""
        nodes = (*self.seen_nodes.values(), *self.plan_nodes.values())
        if any(node.ports in SPLIT_COUNTS for node in nodes):
            return True
        least = min(len(model.first) for model in map(halves_of, map(find_model, CHIPS.values())) if model)
        fabrics = [self.observation.fabric, *([self.plan.fabric] if self.plan is not None else [])]
        beyond: dict[str, int] = {}
        for fabric in fabrics:
            for key, number in fabric.links:
                if number > least and number > beyond.get(key, 0):
                    beyond[key] = number
        if not beyond:
            return False
        for key, number in beyond.items():
            node = self.seen_nodes.get(key) or self.plan_nodes.get(key)
            halves = self.kind_of(node) if node is not None else None
            if halves is not None and number > halves.ports + 1:
                return True
            if node is not None and halves is None and number > 2 * least:
                return True  # more than any model's normal count: what it is will be asked by name
        return False

    # -- models -------------------------------------------------------------------------------------------

    def kind_of(self, node: Node) -> Halves | None:
        """Both numberings of a node by its own name and model words."""
        word = f"{node.name}\0{node.model}"
        if word not in self.kinds:
            self.kinds[word] = halves_of(self.model_of(node.name, node.model))
        return self.kinds[word]

    def effective_name(self, node: Node) -> str:
        given = self.names.declared.get(node.key) or self.names.mapped.get(node.key)
        return describe(node.kind, given).name if given else node.name

    def know_models(self) -> None:
        """Models of all switches: their own word, their namesake's on the other side, the chip, the only one seen."""
        shared: dict[tuple[str, str], Halves | None] = {}
        for key, node in self.seen_nodes.items():
            asked = (self.name_of[key], node.model)
            if asked not in shared:
                shared[asked] = halves_of(self.model_of(*asked))
            found = shared[asked]
            if found is not None:
                self.halves[key] = found
        left = []
        for key, node in self.plan_nodes.items():
            found = self.kind_of(node)
            twin = self.named.get(name_key(node.name)) or (key if key in self.seen_nodes else None)
            if found is None and twin is not None and self.silent(node):
                found = self.halves.get(twin)
            elif found is not None and twin is not None and not self.seen_nodes[twin].model:
                self.halves.setdefault(twin, found)
            if found is not None:
                self.halves[key] = found
            elif twin is None and node.kind is NodeKind.SWITCH and self.silent(node):
                left.append(key)  # an undecided device without a namesake may be a host
        for key, node in self.seen_nodes.items():
            chip = CHIPS.get(node.device_id or 0)
            if key not in self.halves and chip is not None and not node.model:
                found = halves_of(find_model(chip))
                if found is not None:
                    self.halves[key] = found
                    self.by_chip.add(key)
        kinds = {id(kind.first): kind for kind in self.halves.values()}
        if len({kind.ports for kind in kinds.values()}) == 1 and not self.unknown():
            self.halves.update(dict.fromkeys(left, next(iter(kinds.values()))))
            self.taken = len(left)

    def silent(self, node: Node) -> bool:
        """Whether nothing names the node's model; a model that is named but has one profile only is no silence."""
        return (
            not node.model and self.model_of(node.name, node.model) is None and node.kind is not NodeKind.HCA
        )

    def unknown(self) -> list[Node]:
        """Discovered switches of no known model whose port count looks split."""
        return [
            node
            for key, node in self.seen_nodes.items()
            if key not in self.halves and node.kind is NodeKind.SWITCH and node.ports in SPLIT_COUNTS
            if self.model_of(self.name_of[key], node.model) is None
        ]

    def highest_planned(self) -> int:
        if self.plan is None:
            return 0
        hosts = {key for key, node in self.plan.fabric.nodes.items() if node.kind is NodeKind.HCA}
        return max((number for key, number in self.plan.fabric.links if key not in hosts), default=0)

    # -- profiles -----------------------------------------------------------------------------------------

    def seen_profiles(self) -> tuple[dict[str, Profile], set[str]]:
        """Profile of each discovered switch of a known model, and those that are only assumed."""
        found: dict[str, Profile] = {}
        unsure = []
        for key, node in self.seen_nodes.items():
            halves = self.halves.get(key)
            if halves is None:
                continue
            most = max(self.used_seen.get(key, ()), default=0)
            if node.ports in (2 * halves.ports, 2 * halves.ports + 1) or most > halves.ports + 1:
                found[key] = Profile.SPLIT_READY
            elif node.ports:
                found[key] = Profile.NORMAL
            else:
                unsure.append(key)
        split = Profile.SPLIT_READY in found.values()
        assumed = set()
        for key in unsure:
            used = self.used_seen.get(key, set())
            odd = bool(used) and used <= self.halves[key].firsts
            found[key] = Profile.SPLIT_READY if split and odd else Profile.NORMAL
            if split:
                assumed.add(key)
        return found, assumed

    def plan_profiles(self, seen: Mapping[str, Profile]) -> dict[str, Profile]:
        """Profile each planned switch of a known model is written in."""
        everywhere: Counter[int] = Counter()
        per_switch: dict[str, Counter[int]] = {}
        for key, profile in seen.items():
            halves = self.halves[key]
            numbers = self.used_seen.get(key, set())
            split = numbers if profile is Profile.SPLIT_READY else map(halves.to_split, numbers)
            per_switch[key] = Counter(split)
            everywhere.update(per_switch[key])
        found: dict[str, Profile] = {}
        open_: list[str] = []
        for key, node in self.plan_nodes.items():
            if key not in self.halves:
                continue
            halves = self.halves[key]
            if node.ports in (2 * halves.ports, 2 * halves.ports + 1):
                found[key] = Profile.SPLIT_READY
                continue
            if node.listed and node.ports in (halves.ports, halves.ports + 1) and self.by_guid:
                found[key] = Profile.NORMAL
                continue
            own = _better(
                self.used_plan.get(key, set()), halves, per_switch.get(self.twin(key) or "", Counter())
            )
            if own is None:
                open_.append(key)
            else:
                found[key] = own
        found.update(self.undecided(open_, found, everywhere))
        return found

    def undecided(
        self, keys: Iterable[str], found: Mapping[str, Profile], everywhere: Counter[int]
    ) -> dict[str, Profile]:
        """Planned switches whose own ports fit both readings: as most others, else what fits all, else by number."""
        votes = Counter(found.values()).most_common(2)
        usual = votes[0][0] if votes and (len(votes) == 1 or votes[0][1] > votes[1][1]) else None
        decided = {}
        for key in keys:
            used, halves = self.used_plan.get(key, set()), self.halves[key]
            beyond = max(used, default=0) > halves.ports
            by_number = Profile.SPLIT_READY if beyond else Profile.NORMAL
            decided[key] = by_number if beyond else usual or _better(used, halves, everywhere) or by_number
        return decided

    @property
    def by_guid(self) -> bool:
        return self.plan is not None and self.plan.keyed_by_guid

    def twin(self, key: str) -> str | None:
        """The discovered switch of a planned one's GUID or name."""
        if key in self.seen_nodes:
            return key
        return self.named.get(name_key(self.plan_nodes[key].name))

    def second_halves(self, seen: Mapping[str, Profile], planned: Mapping[str, Profile]) -> bool:
        """Whether a second half is used anywhere: then only the split-ready numbering loses nothing."""
        disputed: dict[str, set[int]] = {}
        for key, number in self.observation.disputed:
            disputed.setdefault(key, set()).add(number)
        for used, profiles in ((self.used_seen, seen), (disputed, seen), (self.used_plan, planned)):
            for key, profile in profiles.items():
                if profile is Profile.SPLIT_READY:
                    halves = self.halves[key]
                    if any(n <= 2 * halves.ports and n not in halves.firsts for n in used.get(key, ())):
                        return True
        return False

    # -- what to tell -------------------------------------------------------------------------------------

    def told(
        self, seen: Mapping[str, Profile], planned: Mapping[str, Profile], assumed: set[str]
    ) -> tuple[SwitchProfile, ...]:
        of_twin = {twin: planned[key] for key in planned if (twin := self.twin(key)) is not None}
        return tuple(
            SwitchProfile(
                key, self.name_of[key], profile, of_twin.get(key), key not in assumed, key in self.by_chip
            )
            for key, profile in seen.items()
            if profile is Profile.SPLIT_READY or of_twin.get(key, profile) is not profile
        )

    def lost(self, planned: Mapping[str, Profile], seen: Mapping[str, Profile]) -> dict[str, int]:
        """Discovered switch in the normal profile -> planned second halves it does not have."""
        lost = {}
        for key, profile in planned.items():
            twin = self.twin(key)
            if profile is Profile.SPLIT_READY and twin is not None and seen.get(twin) is Profile.NORMAL:
                firsts = self.halves[key].firsts
                lost[twin] = sum(number not in firsts for number in self.used_plan.get(key, ()))
        return lost


def _may_switch(node: Node) -> bool:
    return node.kind is NodeKind.SWITCH or (node.kind is NodeKind.UNKNOWN and node.host is None)


def _used(fabric: Fabric, halves: Mapping[str, Halves]) -> dict[str, set[int]]:
    used: dict[str, set[int]] = {key: set() for key in halves}
    for key, number in fabric.links:
        numbers = used.get(key)
        if numbers is not None:
            numbers.add(number)
    return used


def _better(used: Collection[int], halves: Halves, counts: Counter[int]) -> Profile | None:
    """The profile in which a planned switch's numbers meet more of the discovered ones; None when both do alike.

    :param counts: discovered split-ready number -> how many ports have it.
    """
    as_split = sum(counts[number] for number in used)
    as_normal = sum(counts[halves.first[number]] for number in used if number in halves.first)
    if as_split == as_normal:
        return None
    return Profile.SPLIT_READY if as_split > as_normal else Profile.NORMAL
