"""A verdict as metrics for the textfile collector of the Prometheus node exporter.

Names follow https://prometheus.io/docs/practices/naming/: a unit or ``_ratio`` at the end, base units, no
``_total`` on gauges. The file's form is the text exposition format 0.0.4.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import Verdict, VerdictWord
from fabricctl.causes.model import CauseKind
from fabricctl.errors import UsageError
from fabricctl.report.causes_words import kinds
from fabricctl.report.words import CLASSES
from fabricctl.words import clean

Sample = tuple[Mapping[str, str], float]
_PREFIX = "fabricctl_cabling"
_LABEL_NAME = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*\Z")
_OWN_LABELS = {"class", "tiers", "verdict", "side", "kind"}


def render(verdict: Verdict, timestamp_s: float, *, labels: Mapping[str, str] | None = None) -> str:
    """All metrics of one run. Metrics that compare with a plan are left out when no plan was given.

    :param timestamp_s: when the fabric was judged, seconds since 1970.
    :param labels: put on every sample, ``{"fabric": "compute"}``: needed where files of several fabrics
        lie in one collector folder.
    :raises UsageError: a label's name is not a label name or one of this module's own.
    """
    common = dict(labels or {})
    for name in common:
        if not _LABEL_NAME.match(name) or name in _OWN_LABELS:
            raise UsageError(f"{name!r} cannot be a label: expected letters, digits, _, and not one in use")
    metrics = [*_always(verdict, timestamp_s), *(_against_plan(verdict) if verdict.plan_format else [])]
    return "".join(_metric(name, text, samples, common) for name, text, samples in metrics)


def _always(verdict: Verdict, timestamp_s: float) -> list[tuple[str, str, list[Sample]]]:
    number = Counter(finding.kind for finding in verdict.findings)
    return [
        (
            "verdict",
            "1 for the verdict of the last run, 0 for the other two.",
            [({"verdict": word.value}, float(word is verdict.word)) for word in VerdictWord],
        ),
        (
            "findings",
            "Findings of the last run by kind.",
            [({"kind": kind.value}, number[kind]) for kind in FindingKind],
        ),
        ("doubts", "Reasons why something could not be told.", [({}, len(verdict.doubts))]),
        ("islands", "Connected components of the fabric.", _islands(verdict)),
        ("seen_switches", "Switches discovered.", [({}, verdict.switches_seen)]),
        ("seen_hcas", "HCAs discovered.", [({}, verdict.hcas_seen)]),
        ("last_run_timestamp_seconds", "When the fabric was last judged.", [({}, timestamp_s)]),
    ]


def _islands(verdict: Verdict) -> list[Sample]:
    seen: Sample = ({"side": "seen"}, len(verdict.islands.seen))
    return [({"side": "planned"}, len(verdict.islands.planned)), seen] if verdict.plan_format else [seen]


def _against_plan(verdict: Verdict) -> list[tuple[str, str, list[Sample]]]:
    counts = verdict.counts
    links: list[Sample] = [
        ({"class": cls.value, "tiers": tiers}, row[cls.value])
        for tiers, row in counts.by_tier.items()
        for cls in CLASSES
    ]
    return [
        ("links", "Planned links by class and tiers; each is counted once.", links),
        ("intended_links", "Planned links.", [({}, counts.intended)]),
        ("bad_link_ratio", "Share of judged links that are bad, 0 to 1.", [({}, counts.bad_share)]),
        ("gate_ratio", "Share of bad links that is a finding by itself.", [({}, verdict.gate)]),
        ("unexpected_cables", "Cables on ports the plan leaves empty.", [({}, counts.unexpected)]),
        ("outside_plan_cables", "Cables to devices that are not planned.", [({}, counts.outside_plan)]),
        ("differing_cables", "Seen cables in contradiction to the plan.", [({}, counts.cables_differ)]),
        ("absent_devices", "Planned devices that are gone.", [({}, counts.absent_devices)]),
        ("unknown_devices", "Discovered devices that are not planned.", [({}, counts.unknown_devices)]),
        ("unseen_switches", "Planned switches not discovered.", [({}, verdict.islands.unseen_switches)]),
        ("unseen_hcas", "Planned HCAs not discovered.", [({}, verdict.islands.unseen_hcas)]),
        *_why(verdict),
    ]


def _why(verdict: Verdict) -> Iterator[tuple[str, str, list[Sample]]]:
    if verdict.explanation is not None:
        found = {kind: (number, links) for kind, number, links in kinds(verdict.explanation)}
        causes: list[Sample] = [({"kind": k.value}, found.get(k.value, (0, 0))[0]) for k in CauseKind]
        links: list[Sample] = [({"kind": k.value}, found.get(k.value, (0, 0))[1]) for k in CauseKind]
        yield "causes", "Explanations of wrong links by kind.", causes
        yield "explained_links", "Wrong links by the kind of cause that explains them.", links
    if verdict.repair is not None:
        yield "repair_moves", "Plugs to move to reach the plan.", [({}, verdict.repair.plugs_moved)]


def _metric(name: str, text: str, samples: Iterable[Sample], common: Mapping[str, str]) -> str:
    full = f"{_PREFIX}_{name}"
    lines = [f"# HELP {full} {text}", f"# TYPE {full} gauge"]
    for labels, value in samples:
        pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in {**common, **labels}.items())
        lines.append(f"{full}{{{pairs}}} {_number(value)}" if pairs else f"{full} {_number(value)}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return clean(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
