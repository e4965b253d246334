"""The main job: intent, observation, verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from fabricctl.adapters.files import decode, read_input
from fabricctl.cabling.ends import Knowledge
from fabricctl.cabling.serials import with_serials
from fabricctl.cabling.verdict import Options, Verdict
from fabricctl.cabling.verify import verify
from fabricctl.digest import digest
from fabricctl.discovery.merge import merge
from fabricctl.discovery.model import Observation, Problem, ProblemKind, Source, SubnetManager
from fabricctl.discovery.noise import complaint, is_noise
from fabricctl.discovery.recognise import parse_any
from fabricctl.errors import DiscoveryError, SiteError, UsageError
from fabricctl.fabric import Fabric
from fabricctl.model_tables import find_model
from fabricctl.models import SwitchModel
from fabricctl.panel_tables import panel_of_model
from fabricctl.panels import Panel
from fabricctl.plan.model import Plan, PortNumbers
from fabricctl.workflows.deepen import deepen
from fabricctl.workflows.load_plan import (
    choose_fabric,
    complete_plan,
    is_site_text,
    load_plan_file,
    plan_of_fabric,
)

if TYPE_CHECKING:
    from fabricctl.site.schema import Site
    from fabricctl.workflows.discover import Capture

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What the operator asked for; fields are the command's options."""

    plan: str = ""
    site: str = ""
    fabric: str = ""
    discovered: Sequence[str] = ()
    viewers: Sequence[str] = ()
    node_name_map: str = ""
    hca_guids: str = ""
    switch_serials: str = ""
    identify: bool = False
    assume: Sequence[tuple[int, int]] = ()
    only: str = ""
    strict: bool = False
    check_rails: bool = False
    gate: float | None = None
    save: str = ""
    deadline_s: float = 120.0
    known_hosts: Sequence[str] = ()
    key_files: Sequence[str] = ()
    state: str = ""
    record: bool = True
    today: date = field(default_factory=date.today)
    port_numbers: PortNumbers | None = None
    hca_slots: str = ""


@dataclass(frozen=True)
class Intent:
    """The plan and what the site says; loaded once, used for every pass of ``--watch``.

    :param site: the site file itself, None when none was given.
    :param harvested: HCA GUID -> ``host hca``; :param serials: switch GUID -> serial number.
    :param identify: identify the switches first.
    :param assume: (ambiguity, hypothesis) pairs taken as fact.
    """

    plan: Plan | None
    options: Options
    viewers: tuple[str, ...] = ()
    site: Site | None = None
    fabric: str = ""
    """Of the site, when the plan is that fabric's; empty when a plan file was given."""
    harvested: Mapping[str, str] = field(default_factory=dict)
    identify: bool = False
    assume: tuple[tuple[int, int], ...] = ()
    serials: Mapping[str, str] = field(default_factory=dict)


def load_intent(request: Request, progress: Progress) -> Intent:
    """Read site file, plan and node-name-map.

    :raises UsageError: options that do not go together. :raises InputError: a file that cannot be used.
    """
    site, fabric = _site(request)
    plan: Plan | None = None
    judged = ""
    if request.plan and request.plan != (site.path if site else None):
        progress(f"reading the plan {request.plan}")
        plan = load_plan_file(request.plan, site, request.port_numbers)
        if site is not None:
            plan = complete_plan(plan, site)
    elif site is not None and site.fabrics:
        fabric = choose_fabric(site, request.fabric)
        progress(f"building the plan of fabric {fabric}")
        plan = plan_of_fabric(site, fabric, request.port_numbers)
        judged = fabric
        _known_identities(site, {fabric: plan})
    mapped: dict[str, str] = {}
    if request.node_name_map:
        from fabricctl.discovery.namemap import parse

        mapped = parse(
            decode(read_input(request.node_name_map), request.node_name_map), request.node_name_map
        )
    if site is None:
        options = Options(knowledge=Knowledge(model_of=_builtin_model, panel_of=_builtin_panel))
        options = replace(options, names=replace(options.names, mapped=mapped))
        viewers: tuple[str, ...] = ()
    else:
        from fabricctl.workflows.site_context import SiteContext  # pydantic and YAML: only with a site file

        options = SiteContext(site).options(fabric or None, mapped, request.today)
        viewers = tuple(site.fabrics[fabric].viewers) if fabric in site.fabrics else ()
    if plan is None and request.only:
        raise UsageError("--only needs a plan: give --plan or --site")
    if request.hca_slots:
        from fabricctl.cabling.slot_inventory import parse_slots

        progress(f"reading the HCA slots {request.hca_slots}")
        text = decode(read_input(request.hca_slots), request.hca_slots)
        options = replace(options, hca_slots=parse_slots(text, request.hca_slots))
    options = replace(
        options,
        only=request.only,
        strict=request.strict,
        check_rails=request.check_rails,
        gate=options.gate if request.gate is None else request.gate,
    )
    harvested: Mapping[str, str] = {}
    if request.hca_guids:
        from fabricctl.workflows.identify import read_hca_guids

        harvested = read_hca_guids(request.hca_guids)
    serials = _switch_serials(request.switch_serials) if request.switch_serials else {}
    assume = tuple(request.assume)
    return Intent(plan, options, viewers, site, judged, harvested, request.identify, assume, serials)


def _switch_serials(path: str) -> dict[str, str]:
    """Switch GUID -> serial number. :raises InputError: the file cannot be used."""
    from fabricctl.discovery.switch_serials import parse

    return parse(decode(read_input(path), path), path)


def use_serials(intent: Intent, observation: Observation) -> tuple[Intent, list[str]]:
    """The intent with identities by serial number turned into GUIDs, and notes on those that say nothing."""
    names, notes = with_serials(intent.options.names, observation.fabric, intent.serials)
    if names is intent.options.names:
        return intent, notes
    return replace(intent, options=replace(intent.options, names=names)), notes


def _builtin_model(_device: str, model: str) -> SwitchModel | None:
    """Without a site file: the model a node description or a plan names."""
    return find_model(model) if model else None


def _builtin_panel(_device: str, model: str) -> Panel | None:
    """Without a site file: the panel of the model a node description or a plan names."""
    return panel_of_model(model) if model else None


def _site(request: Request) -> tuple[Site | None, str]:
    """The site file of ``--site``, or the plan itself when that is a site file; and the fabric's name."""
    path = request.site
    if not path and request.plan and request.plan != "-" and is_site_text(request.plan):
        path = request.plan
    if not path:
        if request.fabric:
            raise UsageError("--fabric names a fabric of a site file: give --site too")
        return None, ""
    from fabricctl.site.load import load_site

    site = load_site(decode(read_input(path), path), path)
    fabric = choose_fabric(site, request.fabric) if request.fabric or len(site.fabrics) == 1 else ""
    return site, fabric


def _known_identities(site: Site, plans: Mapping[str, Plan]) -> None:
    """:raises SiteError: an identity of a device that neither the site nor a plan has, where all plans are known."""
    from fabricctl.site.check_identities import strange_identities

    strange = list(strange_identities(site, plans))
    if strange:
        more = len(strange) - 1
        hint = f"and {more} more; fabricctl site check {site.path} lists them" if more else ""
        text = f"identities.{strange[0].key}: {strange[0].text}"
        raise SiteError(text, path=site.path, line=strange[0].line, hint=hint)


def observe(
    request: Request, viewers: Sequence[str], progress: Progress, *, site: Site | None = None
) -> Observation:
    """Read every discovery file, ask every viewer, merge.

    :param viewers: the site's viewers, used when neither files nor viewers are given.
    :param site: whose hosts' keys, recorded when they were installed, are known as well.
    :raises UsageError: nothing to look at. :raises InputError: a file that cannot be used.
    """
    asked = list(request.viewers) or ([] if request.discovered else list(viewers))
    if not asked and not request.discovered:
        raise UsageError(
            "nothing to compare with: give --discovered FILE, or --from local or ssh://user@host"
        )
    observations = []
    for path in request.discovered:
        progress(f"reading {'standard input' if path == '-' else path}")
        data = read_input(path)
        observations.append(_with_digest(parse_any(decode(data, path), path), data))
    if asked:
        observations += _live(request, asked, progress, site)
    progress("comparing")
    return merge(observations)


def _live(request: Request, asked: Sequence[str], progress: Progress, site: Site | None) -> list[Observation]:
    from fabricctl.adapters.known_hosts import site_file
    from fabricctl.adapters.ssh_config import SshOptions
    from fabricctl.workflows.discover import collect, parse_viewers, ssh_runner

    viewers = [viewer for text in asked for viewer in parse_viewers(text)]
    recorded = () if site is None else (site_file(site.name),)
    options = SshOptions(
        known_hosts=tuple(request.known_hosts), key_files=tuple(request.key_files), recorded=recorded
    )
    runner = ssh_runner(options, read=any(viewer.host for viewer in viewers))
    progress(f"asking {len(viewers)} viewer{'s' if len(viewers) != 1 else ''}")

    def told(capture: Capture, done: int, of: int) -> None:
        progress(f"asked {done} of {of}: {capture.label}")

    captures = collect(
        viewers, deadline_s=request.deadline_s, save_dir=request.save or None, progress=told, runner=runner
    )
    return [observation for capture in captures for observation in _observations(capture)]


def _with_digest(observation: Observation, data: bytes) -> Observation:
    """The observation with the digest of what was read, by which the history knows a second look at the same."""
    told = digest(data)
    observation.sources = [replace(source, digest=told) for source in observation.sources]
    return observation


def _observations(capture: Capture) -> list[Observation]:
    """What one viewer saw; a failed one is a source that says why, never an empty fabric."""
    failed = str(capture.error) if capture.error is not None else ""
    if not capture.text:
        reason = failed.removeprefix(f"{capture.label}: ") or "the tool printed nothing"
        return [Observation(Fabric(origin=capture.label), [Source(capture.label, None, failed=reason)])]
    try:
        text = capture.text
        observation = _with_digest(parse_any(text, capture.label), text.encode("utf-8", "surrogateescape"))
    except DiscoveryError as exc:
        return [Observation(Fabric(origin=capture.label), [Source(capture.label, None, failed=str(exc))])]
    if failed:
        observation.problems.append(Problem(ProblemKind.TIMEOUT, f"the tool ended with an error: {failed}"))
    said = [
        complaint(line, number)
        for number, line in enumerate(capture.stderr.splitlines(), 1)
        if is_noise(line)
    ]
    observation.problems += [problem for problem in said if problem is not None]
    observation.problems += [Problem(ProblemKind.VIEWER_NOTE, note) for note in capture.notes]
    if capture.sminfo:
        observation.subnet_managers += _managers(capture)
    return [observation]


def _managers(capture: Capture) -> list[SubnetManager]:
    """Who the subnet manager is was a bonus question: no answer is no doubt about cables."""
    try:
        return parse_any(capture.sminfo, f"{capture.label} sminfo").subnet_managers
    except DiscoveryError:
        return []


def judge(intent: Intent, observation: Observation) -> Verdict:
    """The verdict, with causes and the fewest moves; with ``--identify`` the switches are identified first."""
    intent, notes = use_serials(intent, observation)
    verdict = _verdict(intent, observation)
    verdict.notes += notes
    found = verdict.identification
    if found is not None and found.refusal is not None:
        return verdict  # nothing is known of who is who: no cable could be explained or moved
    return deepen(verdict, intent.options, intent.site)


def _verdict(intent: Intent, observation: Observation) -> Verdict:
    if intent.identify:
        from fabricctl.workflows.identify import judge_identified

        return judge_identified(intent, observation)
    options = intent.options
    if not intent.harvested:
        return verify(intent.plan, observation, options)
    from fabricctl.workflows.identify import add_contradictions, believed_harvest

    harvested, contradictions = believed_harvest(intent, observation)
    declared = {**harvested, **options.names.declared}
    verdict = verify(
        intent.plan, observation, replace(options, names=replace(options.names, declared=declared))
    )
    add_contradictions(verdict, contradictions)
    return verdict
