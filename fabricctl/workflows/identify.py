"""Identity: intent, observation, who is who; and the verdict that rests on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import unified_diff

from fabricctl.adapters.files import decode, read_input, write_atomic
from fabricctl.cabling.binding import Names, Undecided
from fabricctl.cabling.directory import NameIndex
from fabricctl.cabling.model import Finding, FindingKind
from fabricctl.cabling.profiles import normalise
from fabricctl.cabling.verdict import Verdict, VerdictWord
from fabricctl.cabling.verify import verify
from fabricctl.discovery import hca_guids
from fabricctl.discovery.model import Observation
from fabricctl.discovery.names import name_key
from fabricctl.errors import UsageError
from fabricctl.fabric import Fabric, NodeKind, Port
from fabricctl.hostset import fold, natural_key
from fabricctl.identity.evidence import Evidence
from fabricctl.identity.identify import identify
from fabricctl.identity.model import Contradiction, Identification, RefusalKind, Said
from fabricctl.identity.nameless import nameless_hcas
from fabricctl.site.write import add_identities
from fabricctl.workflows.verify_cabling import Intent

_NAMELESS = "an HCA there says no name that tells it from others (harvest HCA GUIDs: --hca-guids)"


def read_hca_guids(path: str) -> dict[str, str]:
    """Harvested HCAs: GUID -> ``host hca``. :raises InputError: the file cannot be used."""
    return hca_guids.parse(decode(read_input(path), path), path)


def run_identify(intent: Intent, observation: Observation) -> Identification:
    """Give every discovered switch its place.

    :raises UsageError: there is no plan, or ``--assume`` names what there is not.
    """
    if intent.plan is None:
        raise UsageError("identity needs a plan: give --plan, or --site with a fabric")
    names = intent.options.names
    evidence = Evidence(
        declared=names.declared,
        mapped=names.mapped,
        harvested=intent.harvested,
        node_models=names.node_model,
        place_of=intent.options.knowledge.place_of,
    )
    # A switch in the split-ready profile counts its ports anew: one numbering before anybody votes.
    normal = normalise(intent.plan, observation, intent.options.knowledge.model_of, names)
    assert normal.plan is not None
    result = identify(normal.plan, normal.observation, evidence, intent.assume)
    result.notes[:0] = [*normal.notes, *normal.doubts]
    return result


def names_for(intent: Intent, observation: Observation) -> tuple[Names, Identification]:
    """Names that bind the plan to the discovery: the site's own, below them harvest and identity.

    Switches that are not certain are ``undecided``, or bound to nothing; so that a description does not bind them
    after all, judge with ``without_descriptions`` of the observation.
    """
    found = run_identify(intent, observation)
    names = intent.options.names
    harvested = harvested_names(intent, observation)
    for item in found.contradictions:
        if item.said is Said.HARVESTED:
            harvested.pop(item.seen, None)  # its description and its cable agree against it
    declared = {**harvested, **found.names, **names.declared}
    undecided = _undecided(found)
    assert intent.plan is not None
    for key in nameless_hcas(observation.fabric, intent.plan, {*declared, *names.mapped}):
        undecided[key] = Undecided(_NAMELESS)
    return replace(names, declared=declared, undecided=undecided), found


def harvested_names(intent: Intent, observation: Observation) -> dict[str, str]:
    """Discovered HCA -> ``host hca``; a harvested port GUID is turned into its node's."""
    nodes = observation.fabric.nodes
    if not intent.harvested:
        return {}
    ports = {guid: key for key, node in nodes.items() for _, guid in node.port_guids}
    return {ports.get(guid, guid) if guid not in nodes else guid: n for guid, n in intent.harvested.items()}


def believed_harvest(intent: Intent, observation: Observation) -> tuple[dict[str, str], list[Contradiction]]:
    """Harvested names without those that description and cabling of the HCA contradict, where switches go by name."""
    names = harvested_names(intent, observation)
    wrong: list[Contradiction] = []
    if intent.plan is None:
        return names, wrong
    plan, seen = intent.plan.fabric, observation.fabric
    planned = NameIndex()
    for node in plan.nodes.values():
        planned.add(node.name, node.key)
    own = {*intent.options.names.declared, *intent.options.names.mapped}
    cabled: dict[str, list[Port]] = {}
    for port in seen.links:
        if port[0] in names:
            cabled.setdefault(port[0], []).append(port)
    for key, harvested in names.items():
        hca = seen.nodes.get(key)
        if hca is None or key in own or name_key(hca.name) == name_key(harvested):
            continue
        described = planned.get(hca.name)
        if len(described) == 1 and _is_there(plan, seen, described[0], cabled.get(key, []), planned):
            wrong.append(Contradiction(key, harvested, described[0], 2, 0, Said.HARVESTED))
    return {key: n for key, n in names.items() if key not in {c.seen for c in wrong}}, wrong


def _is_there(plan: Fabric, seen: Fabric, planned: str, ports: list[Port], index: NameIndex) -> bool:
    """Whether a cable of these ports leads to the switch and port that the plan gives a device."""
    for port in ports:
        far, wanted = seen.peer(port), plan.peer(Port(planned, port.number))
        if far is None or wanted is None or far.number != wanted.number:
            continue
        if index.get(seen.nodes[far.node].name) == [wanted.node]:
            return True
    return False


def add_contradictions(verdict: Verdict, contradictions: list[Contradiction]) -> None:
    """Findings about harvested names that were not believed."""
    if contradictions:
        found = Identification(contradictions=contradictions)
        verdict.findings[:0] = [_finding(found, index) for index in range(len(contradictions))]
        if verdict.word is VerdictWord.OK:
            verdict.word = VerdictWord.FINDINGS


def _undecided(found: Identification) -> dict[str, Undecided]:
    if found.refusal is not None:
        why = f"identity: {found.refusal.evidence[0]}"
        return {key: Undecided(why) for key in found.unplaced}
    undecided: dict[str, Undecided] = {}
    for number, ambiguity in enumerate(found.ambiguities, 1):
        per_device: dict[str, list[str]] = {}
        for hypothesis in ambiguity.hypotheses:
            for key, planned in hypothesis.names:
                per_device.setdefault(key, []).append(planned)
        every = sorted(
            {found.name(planned) for plans in per_device.values() for planned in plans}, key=natural_key
        )
        shown = " or ".join(every) if len(every) <= 2 else f"one of {fold(every)}"
        why = f"a switch there could be {shown} (see fabricctl identify, ambiguity {number})"
        for key, plans in per_device.items():
            undecided[key] = Undecided(why, tuple(dict.fromkeys(plans)))
    return undecided


def without_descriptions(observation: Observation, certain: Mapping[str, str]) -> Observation:
    """The observation in which switches that are not certain go by their GUID: their descriptions bind nothing."""
    nodes = observation.fabric.nodes
    plain = {
        key: replace(node, name=key)
        for key, node in nodes.items()
        if node.kind is NodeKind.SWITCH and key not in certain and node.name != key
    }
    if not plain:
        return observation
    seen = observation.fabric
    fabric = Fabric({**nodes, **plain}, seen.links, seen.states, seen.origin)
    return replace(observation, fabric=fabric)


def judge_identified(intent: Intent, observation: Observation) -> Verdict:
    """The verdict, with the switches identified first.

    A refusal is a verdict that could not be told, with the evidence.
    """
    if intent.plan is None:
        raise UsageError("--identify needs a plan: give --plan, or --site with a fabric")
    if intent.plan.keyed_by_guid:
        verdict = verify(intent.plan, observation, intent.options)
        verdict.notes.append("--identify changes nothing: the plan is a snapshot, its GUIDs say who is who")
        return verdict
    names, found = names_for(intent, observation)
    muted = without_descriptions(observation, names.declared)
    verdict = verify(intent.plan, muted, replace(intent.options, names=names))
    verdict.identification = found
    _add_remarks(verdict, found)
    return verdict


def _add_remarks(verdict: Verdict, found: Identification) -> None:
    if found.refusal is not None:
        verdict.word = VerdictWord.COULD_NOT_TELL
        verdict.doubts[:0] = list(found.refusal.evidence)
        if found.refusal.kind is RefusalKind.WRONG_FABRIC:
            verdict.findings.clear()  # what they say of this plan means nothing
        return
    by_votes = len(found.names)
    verdict.notes.insert(
        0, f"identity: {by_votes:,} of {len(found.assignments):,} discovered switches are certain"
    )
    verdict.notes += [f"assumed: {text}" for text in found.assumed]
    for number, ambiguity in enumerate(found.ambiguities, 1):
        options = "; or ".join(h.words for h in ambiguity.hypotheses)
        verdict.notes.insert(number, f"ambiguity {number}: {options}")
    if found.ambiguities:
        verdict.word = VerdictWord.COULD_NOT_TELL
        if not verdict.doubts:
            verdict.doubts.append(
                f"{len(found.ambiguous):,} switches cannot be told apart (fabricctl identify)"
            )
    if found.contradictions:
        verdict.findings[:0] = [_finding(found, index) for index in range(len(found.contradictions))]
        if verdict.word is VerdictWord.OK:
            verdict.word = VerdictWord.FINDINGS


def _finding(found: Identification, index: int) -> Finding:
    item = found.contradictions[index]
    declared, voted = found.name(item.declared), found.name(item.by_votes)
    if item.said is Said.HARVESTED:
        return Finding(
            FindingKind.IDENTITY,
            declared,
            f"{item.seen} is harvested as {declared}, but describes itself as {voted} and is cabled as {voted}",
            expected=declared,
            found=voted,
            fix=f"read the GUID of {declared} again: this line of the list (--hca-guids) was not believed",
            devices=(declared, voted),
        )
    return Finding(
        FindingKind.IDENTITY,
        declared,
        f"{item.seen} is declared as {declared}, but its cables say {voted}",
        expected=f"{declared}: {item.votes_against:,} votes",
        found=f"{voted}: {item.votes_for:,} votes",
        fix=f"read the label of {declared}: either the declared identity is wrong, or its cables belong to {voted}",
        devices=(declared, voted),
    )


@dataclass(frozen=True)
class SiteChange:
    """What writing identities into a site file would do.

    :param diff: unified, empty when there is nothing to write; :param added: number of identities.
    """

    path: str
    text: str
    diff: str
    added: int

    def write(self) -> None:
        """Replace the file. :raises InputError: it cannot be written."""
        if self.diff:
            write_atomic(self.path, self.text)


def site_change(path: str, identities: Mapping[str, str]) -> SiteChange:
    """The site file with identities added, checked by reading it back.

    :raises UsageError: standard input. :raises InputError: the file, as it is or as it would be, is no site file.
    """
    from fabricctl.site.load import load_site

    if path == "-":
        raise UsageError("--write changes the site file: standard input cannot be written")
    old = decode(read_input(path), path)
    new = add_identities(old, path, identities)
    if new != old:
        load_site(new, path)
    lines = list(
        unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), path, f"{path} (new)", n=2)
    )
    added = sum(line.startswith("+") and not line.startswith("+++") and ":" in line for line in lines)
    opened = any(line.rstrip() == "+identities:" for line in lines)
    text = "".join(line if line.endswith("\n") else line + "\n" for line in lines)
    return SiteChange(path, new, text, added - opened)
