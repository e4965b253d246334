"""A verdict as the data of a picture: JSON that the page's script, the paper and the static SVG draw from.

The form is internal to one version of fabricctl, except for what :mod:`fabricctl.picture.former` reads back.
Numbers are those of the JSON report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabricctl import __version__
from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.finding_id import finding_id, where_of
from fabricctl.cabling.islands import Islands, device_words, rail_words
from fabricctl.cabling.model import Counts, Finding, Island
from fabricctl.cabling.verdict import Verdict, VerdictWord
from fabricctl.causes.model import Cause, CauseKind, Explanation
from fabricctl.fabric import Port
from fabricctl.hostset import natural_key
from fabricctl.identity.model import Ambiguity, Identification
from fabricctl.picture.devices import Devices
from fabricctl.picture.extras import Extras, Step
from fabricctl.picture.faces import identities_json, panels_json
from fabricctl.picture.former import compared, where_json
from fabricctl.picture.links import Links, bad_numbers, class_words
from fabricctl.report.causes_words import summary
from fabricctl.report.screen import headline, island_lines
from fabricctl.report.words import (
    CLASSES,
    KIND_TITLES,
    beside,
    can_i_train,
    class_of,
    listed_cables,
    plan_words,
    title_of,
)
from fabricctl.words import printable

SCHEMA = "fabricctl.picture/1"

PictureData = dict[str, Any]
"""JSON-able; keys as ``picture_data`` writes them."""

_STEP_NUMBERS = ("devices", "ports")


def picture_data(verdict: Verdict, extras: Extras | None = None) -> PictureData:
    """Everything a picture shows.

    :param extras: what was worked out beside the verdict.
    """
    extras = extras or Extras()
    comparison = verdict.comparison
    planned = verdict.plan_format is not None
    ids = [finding_id(finding) for finding in verdict.findings]
    data: PictureData = {
        "schema": SCHEMA,
        "generator": f"fabricctl {__version__}",
        "made": extras.made,
        "site": printable(extras.site),
        "planned": planned,
        "report": report_json(verdict),
        "classes": class_words(),
        "bad": bad_numbers(),
        "kinds": {kind.value: [title, _class_number(kind)] for kind, title in KIND_TITLES.items()},
        "moves": extras.moves,
    }
    if comparison is None:
        data["findings"] = [
            _finding(finding, one) for finding, one in zip(verdict.findings, ids, strict=True)
        ]
        data |= {"causes": [], "why": "", "steps": None, "identity": None}
    else:
        data |= _fabric(verdict, comparison, extras, ids)
    data["compare"] = compared(extras.former, ids, extras.looked) if extras.former is not None else None
    return data


def _class_number(kind: Any) -> int:
    cls = class_of(kind)
    return CLASSES.index(cls) if cls is not None else -1


# -- the report's part ----------------------------------------------------------------------------------------


def report_json(verdict: Verdict) -> dict[str, Any]:
    """What the JSON report says of the whole fabric, and its sentences."""
    counts = verdict.counts
    return {
        "verdict": verdict.word.value,
        "exit_code": verdict.exit_code,
        "title": _title(verdict),
        "answer": printable(can_i_train(verdict)),
        "headline": printable(headline(verdict)),
        "islands_said": [printable(line) for line in island_lines(verdict)],
        "counts": _counts(counts, verdict.gate),
        "beside": [[words, number] for words, number in beside(verdict) if number],
        "islands": [_island(island) for island in verdict.islands.seen],
        "planned_islands": sum(1 for island in verdict.islands.planned if island.switches),
        "unseen": _unseen(verdict.islands),
        "seen": {"switches": verdict.switches_seen, "hcas": verdict.hcas_seen},
        "sources": [
            [printable(s.label), str(s.format or ""), s.nodes, s.links, printable(s.failed)]
            for s in verdict.sources
        ],
        "doubts": [printable(text) for text in verdict.doubts],
        "notes": [printable(text) for text in verdict.notes],
        "plan": printable(plan_words(verdict)),
        "only": printable(verdict.only),
    }


def _title(verdict: Verdict) -> str:
    """Without a plan nobody can say that something is not as planned."""
    if verdict.plan_format is None and verdict.word is VerdictWord.FINDINGS:
        return "Findings"
    return title_of(verdict)


def _counts(counts: Counts, gate: float) -> dict[str, Any]:
    names = ("intended", "judged", "bad", "excused", "unexpected", "outside_plan", "absent_devices")
    more = ("unknown_devices", "cables_seen", "cables_as_planned", "cables_differ")
    return {
        **{cls.value: getattr(counts, cls.value) for cls in CLASSES},
        **{name: getattr(counts, name) for name in (*names, *more)},
        "bad_share": round(counts.bad_share, 6),
        "gate": gate,
        "by_tier": {
            tiers: {cls.value: row[cls.value] for cls in CLASSES} for tiers, row in counts.by_tier.items()
        },
    }


def _island(island: Island) -> dict[str, Any]:
    return {
        "switches": island.switches,
        "hcas": island.hcas,
        "rails": printable(rail_words(island.rails)),
        "set": printable(island.switch_set),
        "strangers": island.strangers,
        "sources": [printable(label) for label in island.sources],
    }


def _unseen(islands: Islands) -> dict[str, Any]:
    words = ""
    if islands.unseen_switches or islands.unseen_hcas:
        words = device_words(islands.unseen_switches, islands.unseen_hcas, islands.unseen_rails)
    return {"words": printable(words.removesuffix(", no HCA")), "set": printable(islands.unseen_switch_set)}


# -- findings -------------------------------------------------------------------------------------------------


def _finding(
    finding: Finding, one: str, devices: Devices | None = None, links: Links | None = None
) -> dict[str, Any]:
    """A finding; empty texts are left out."""
    entry: dict[str, Any] = {"id": one, "kind": finding.kind.value, "headline": printable(finding.headline)}
    texts = {
        "subject": finding.subject,
        "group": finding.group,
        "expected": finding.expected,
        "found": finding.found,
        "fix": finding.fix,
    }
    entry.update((key, printable(text)) for key, text in texts.items() if text)
    tiers = sorted({cable.tiers for cable in finding.cables if cable.tiers})
    if tiers:
        entry["tiers"] = tiers
    entry["w"] = where_json(where_of(finding))
    if devices is None or links is None:
        entry["cables"] = [printable(line) for line in listed_cables(finding)]
        entry["devices"] = list(map(printable, finding.devices))
        return entry
    found, strays = links.of_cables(finding.cables)
    named = [devices.by_name[name] for name in finding.devices if name in devices.by_name]
    entry["d"] = named
    entry["l"] = found
    if strays:
        entry["s"] = strays
    if len(finding.cables) > len(found) + len(strays) or len(finding.cables) > 2:
        entry["cables"] = [printable(line) for line in listed_cables(finding)]
    return entry


# -- the fabric -----------------------------------------------------------------------------------------------


def _fabric(verdict: Verdict, comparison: Comparison, extras: Extras, ids: list[str]) -> dict[str, Any]:
    devices = Devices(comparison, extras)
    causes = verdict.explanation.causes if verdict.explanation is not None else ()
    known = verdict.identification
    unsure = known.ambiguous if known is not None else ()
    planned = verdict.plan_format is not None
    links = Links(comparison, devices, only=verdict.only, planned=planned, unsure=unsure)
    nodes = devices.nodes_json(_islands(verdict, comparison))
    return {
        "map": devices.groups_json(),
        "nodes": nodes,
        "racks": devices.places_json(),
        "models": devices.models.texts,
        "cards": devices.cards.texts,
        "links": links.json(),
        "panels": panels_json(devices),
        "findings": [
            _finding(finding, one, devices, links) for finding, one in zip(verdict.findings, ids, strict=True)
        ],
        "causes": [_cause(cause, links, devices) for cause in causes],
        "why": printable(_why(verdict.explanation, causes)),
        "steps": None if extras.steps is None else [_step(step, devices) for step in extras.steps],
        "identity": None if known is None else _identity(known, devices),
    }


def _islands(verdict: Verdict, comparison: Comparison) -> dict[str, int]:
    """Discovered key -> number of its island as the report lists them; empty when there is one."""
    if len(verdict.islands.seen) < 2:
        return {}
    planned = comparison.binding.plan_of
    parts = [part for part in comparison.seen.islands() if not part.isdisjoint(planned)]
    if len(parts) != len(verdict.islands.seen):
        return {}  # contradictory sources: which side a device is on is not told
    return {key: number for number, part in enumerate(parts) for key in part}


def _identity(known: Identification, devices: Devices) -> dict[str, Any]:
    told = identities_json(known, devices)
    for entry, one in zip(told["ambiguities"], known.ambiguities, strict=True):
        entry["title"] = _places(one, devices)
        places = {place for way in one.hypotheses for _, place in way.names}
        entry["places"] = sorted(devices.numbers[key] for key in places if key in devices.numbers)
    return told


def _places(one: Ambiguity, devices: Devices) -> str:
    """The places in question: ``ibl-p03-r2 or ibl-p03-r3``; the devices where no hypothesis names one."""
    keys = {place for way in one.hypotheses for _, place in way.names} or set(one.devices)
    nodes = devices.nodes
    names = sorted({nodes[key].name if key in nodes else key for key in keys}, key=natural_key)
    more = f" and {len(names) - 6:,} more" if len(names) > 6 else ""
    return printable((" or " if len(names) == 2 else ", ").join(names[:6]) + more)


def _why(told: Explanation | None, causes: Sequence[Cause]) -> str:
    """One sentence: how much is explained by causes, how much are plain exchanges, as the screen says it."""
    if not causes:
        return ""
    if told is None or causes is not told.causes:
        told = Explanation(tuple(causes), wrong=sum(cause.links for cause in causes))
    return summary(told)


def _cause(cause: Cause, links: Links, devices: Devices) -> dict[str, Any]:
    def numbers(ports: tuple[Port, ...]) -> list[int]:
        return [links.at[port] for port in ports if port in links.at]

    return {
        "kind": cause.kind.value.replace("_", " "),
        "swap": cause.kind is CauseKind.SWAPPED,
        "subject": printable(cause.subject),
        "headline": printable(cause.headline),
        "links": cause.links,
        "evidence": printable(cause.evidence),
        "confidence": cause.confidence.value,
        "fix": printable(cause.fix),
        "l": numbers(cause.explains),
        "d": [devices.by_name[name] for name in cause.devices if name in devices.by_name],
    }


def _step(step: Step, devices: Devices) -> dict[str, Any]:
    """A step with its devices and ports under their numbers; every other value as text."""
    entry: dict[str, Any] = {
        key: value if isinstance(value, int) else printable(_text(value))
        for key, value in step.items()
        if key not in _STEP_NUMBERS and value not in (None, "", (), [])
    }
    entry["d"] = [devices.numbers[key] for key in step.get("devices", ()) if key in devices.numbers]
    entry["p"] = [list(devices.end(Port(*p))) for p in step.get("ports", ()) if p[0] in devices.numbers]
    return entry


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
