"""Identity: intent, observation, who is who; and the verdict that rests on it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import unified_diff

from fabricctl.adapters.files import decode, read_input, write_atomic
from fabricctl.cabling.binding import Names, Undecided, by_node
from fabricctl.cabling.directory import NameIndex, plan_index
from fabricctl.cabling.model import Finding, FindingKind
from fabricctl.cabling.profiles import normalise
from fabricctl.cabling.serials import serials_of
from fabricctl.cabling.verdict import Verdict, VerdictWord
from fabricctl.cabling.verify import verify
from fabricctl.discovery import hca_guids
from fabricctl.discovery.model import Observation
from fabricctl.discovery.names import name_key
from fabricctl.errors import InputError, SiteError, UsageError
from fabricctl.fabric import Fabric, NodeKind, Port
from fabricctl.hostset import fold, natural_key
from fabricctl.identity.evidence import Evidence
from fabricctl.identity.identify import identify
from fabricctl.identity.model import Ambiguity, Contradiction, Identification, RefusalKind, Said
from fabricctl.identity.nameless import nameless_hcas
from fabricctl.plan.model import Plan
from fabricctl.site.write import add_identities, missing_identities
from fabricctl.workflows.verify_cabling import Intent

_NAMELESS = "an HCA there says no name that tells it from others (harvest HCA GUIDs: --hca-guids)"


def read_hca_guids(path: str) -> dict[str, str]:
    """Harvested HCAs: GUID -> ``host hca``. :raises InputError: the file cannot be used."""
    return hca_guids.parse(decode(read_input(path), path), path)


def run_identify(intent: Intent, observation: Observation) -> Identification:
    """Give every discovered switch its place.

    :param intent: with identities by serial number already turned into GUIDs (``use_serials``).
    :raises UsageError: there is no plan, or ``--assume`` names what there is not.
    """
    if intent.plan is None:
        raise UsageError("identity needs a plan: give --plan, or --site with a fabric")
    names = intent.options.names.of_nodes(observation.fabric)
    evidence = Evidence(
        declared=names.declared,
        mapped=names.mapped,
        harvested=intent.harvested,
        node_models=names.node_model,
        serials=serials_of(observation.fabric, intent.serials),
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
    names = intent.options.names.of_nodes(observation.fabric)
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
    if not intent.harvested:
        return {}
    return by_node(observation.fabric, intent.harvested)[0]


def identities_to_write(
    intent: Intent, observation: Observation, found: Identification, *, hcas: bool
) -> tuple[dict[str, str], list[str]]:
    """GUID -> name as ``--write`` adds them, and harvested hosts that are left out: the plan does not have them.

    Certain switches, none that rests on ``--assume``; and with ``hcas`` what was harvested and nothing contradicts, a
    port GUID as its node's where the discovery tells that, so that each HCA is written once.
    """
    certain = {key: name for key, name in found.names.items() if key not in found.assumed_keys}
    if not hcas:
        return certain, []
    wrong = {item.seen for item in found.contradictions if item.said is Said.HARVESTED}
    assert intent.plan is not None
    nodes, planned = observation.fabric.nodes, plan_index(intent.plan.fabric.nodes.values())
    told: dict[str, str] = {}
    left: dict[str, None] = {}
    for key, name in harvested_names(intent, observation).items():
        host = name.partition(" ")[0]
        if key in wrong:
            continue
        if planned.get(host):
            told[(nodes[key].guid if key in nodes else None) or key] = name
        else:
            left[host] = None
    return {**told, **certain}, sorted(left, key=natural_key)


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
    found = Identification(contradictions=contradictions)
    verdict.add(_finding(found, item) for item in contradictions)


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
    open_here = [(n, a) for n, a in enumerate(found.ambiguities, 1) if _concerns(verdict, found, a)]
    for at, (number, ambiguity) in enumerate(open_here, 1):
        options = "; or ".join(h.words for h in ambiguity.hypotheses)
        verdict.notes.insert(at, f"ambiguity {number}: {options}")
    if open_here:
        verdict.word = VerdictWord.COULD_NOT_TELL
        if not verdict.doubts:
            verdict.doubts.append(
                f"{len(found.ambiguous):,} switches cannot be told apart (fabricctl identify)"
            )
    verdict.add(_finding(found, item) for item in found.contradictions)


def _concerns(verdict: Verdict, found: Identification, ambiguity: Ambiguity) -> bool:
    """Whether one of the places that are open was chosen with ``--only``.

    Where a chosen device only has a cable to such a place, the cable is not judged, which is a doubt of its own.
    """
    planned = (place for hypothesis in ambiguity.hypotheses for _, place in hypothesis.names)
    return verdict.scope is None or verdict.scope.names_any(map(found.name, planned))


def _finding(found: Identification, item: Contradiction) -> Finding:
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


def plans_of_site(intent: Intent) -> dict[str, Plan]:
    """Plans of the site's fabrics by name; those whose files cannot be read are left out."""
    from fabricctl.workflows.load_plan import plan_of_fabric

    plans: dict[str, Plan] = {}
    for name in intent.site.fabrics if intent.site is not None else ():
        if name == intent.fabric and intent.plan is not None:
            plans[name] = intent.plan
            continue
        assert intent.site is not None
        with suppress(InputError):  # what is missing there does not make a certain identity wrong
            plans[name] = plan_of_fabric(intent.site, name)
    return plans


def site_change(path: str, identities: Mapping[str, str], plans: Mapping[str, Plan]) -> SiteChange:
    """The site file with identities added, checked by reading it back.

    :param plans: fabric name -> plan, of the site's fabrics; where all are known, each name must be of one or the site.
    :raises UsageError: standard input, or names the site file would not take. :raises InputError: it is no site file.
    """
    if path == "-":
        raise UsageError("--write changes the site file: standard input cannot be written")
    old = decode(read_input(path), path)
    new = add_identities(old, path, identities)
    if new != old:
        _check_new(new, path, plans)
    lines = list(
        unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), path, f"{path} (new)", n=2)
    )
    text = "".join(line if line.endswith("\n") else line + "\n" for line in lines)
    return SiteChange(path, new, text, len(missing_identities(old, path, identities)))


def _check_new(text: str, path: str, plans: Mapping[str, Plan]) -> None:
    """:raises UsageError: the first thing wrong with the text that would be written; its lines nobody can look at."""
    from fabricctl.site.check_identities import strange_identities
    from fabricctl.site.load import load_site

    try:
        wrong = [one.text for one in strange_identities(load_site(text, path), plans)]
    except SiteError as exc:
        wrong = [exc.message]
    if wrong:
        raise UsageError(f"{path} would not take these identities: {wrong[0]}; nothing written")
