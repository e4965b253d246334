"""An earlier run, read back from its JSON report or from its HTML page, and what changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabricctl.cabling.finding_id import Where, finding_id, where_of
from fabricctl.cabling.model import Cable, End, Finding, FindingKind, Spot
from fabricctl.discovery.names import name_key
from fabricctl.errors import InputError, UsageError
from fabricctl.history.model import Known
from fabricctl.hostset import expand
from fabricctl.jsontext import json_of
from fabricctl.words import printable

DATA_OPEN = '<script type="application/json" id="data">'
"""How the data begins in a page; :mod:`fabricctl.picture.page` writes it."""
_KEPT = ("id", "kind", "headline", "expected", "found", "fix")
SAME_FABRIC = 0.2
"""Two runs are of one fabric when at least this share of the switches of the smaller one is in both."""

LookedAt = Callable[[Known], bool]
"""Whether a run would have shown a finding of an earlier one if it were still there."""


@dataclass(frozen=True)
class Former:
    """An earlier run.

    :param label: the file it was read from; :param made: when it was judged, may be empty.
    :param headline: its verdict in one sentence, may be empty.
    :param findings: texts by ``id``, ``kind``, ``headline``, ``expected``, ``found``, ``fix``; those that were open
        before it and that it did not look at are among them.
    :param past: ids of findings that were known before it and gone by then.
    :param where: id of a finding -> its place, where the report tells it.
    :param switches: names of the switches it knew, planned and seen; empty when it names none.
    """

    label: str
    made: str
    headline: str
    findings: tuple[dict[str, str], ...]
    past: frozenset[str] = frozenset()
    where: Mapping[str, Where] = field(default_factory=dict)
    switches: frozenset[str] = frozenset()


def read_former(text: str, path: str) -> Former:
    """Read ``--format json`` or the page of an earlier run.

    :raises InputError: neither of the two, or of a version without ids of findings.
    """
    start = text.find(DATA_OPEN)
    if start >= 0:
        begin = start + len(DATA_OPEN)
        text = text[begin : text.find("</script>", begin)]
    try:
        data = json_of(text, path)
    except InputError as exc:
        raise InputError(
            f"expected the JSON or the HTML report of an earlier run, found {_shown(text)}", path=path
        ) from exc
    try:
        return _former(data, path)
    except (KeyError, TypeError, AttributeError) as exc:
        raise InputError(
            "expected the report of an earlier verify-cabling run: findings with ids are not in it", path=path
        ) from exc


def _former(data: dict[str, Any], path: str) -> Former:
    report = data.get("report", data)
    change = data.get("compare") or {}
    past = {*change.get("past", ()), *(finding["id"] for finding in change.get("gone", ()))}
    findings = [*data["findings"], *change.get("unlooked", ())]
    placed = ((str(one["id"]), _where(one)) for one in findings)
    return Former(
        label=path.rpartition("/")[2],
        made=str(data.get("made") or ""),
        headline=str(report.get("headline") or report.get("answer") or ""),
        findings=tuple(
            {key: str(one.get(key, "")) for key in _KEPT} | {"id": str(one["id"])} for one in findings
        ),
        past=frozenset(map(str, past)),
        where={id: where for id, where in placed if where is not None},
        switches=frozenset(map(name_key, _switches(data))),
    )


def _shown(text: str) -> str:
    first = text.lstrip()[:40].split("\n", 1)[0]
    return repr(first) if first else "an empty file"


# -- places -------------------------------------------------------------------------------------------------


def where_json(where: Where) -> list[Any]:
    """A place as the page holds it: links of spots, then keys of devices."""
    links = [[[printable(key), *port] for key, *port in link] for link in where.links]
    return [links, list(map(printable, where.devices))]


def _spot(key: object, *port: int) -> Spot:
    return (str(key), *map(int, port))


def _where(one: Mapping[str, Any]) -> Where | None:
    """The place of a finding: as a page tells it, else worked out from its cables and devices.

    What was worked out counts only if it leads to the finding's own id.
    """
    if "w" in one:
        links, devices = one["w"]
        spots = tuple(tuple(_spot(*spot) for spot in link) for link in links)
        return Where(spots, tuple(map(str, devices)))
    try:
        kind = FindingKind(one["kind"])
        cables = tuple(map(_cable, one.get("cables", ())))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    names = tuple(map(str, one.get("devices", ())))
    subject = str(one.get("subject", ""))
    for keys in ((), tuple(map(name_key, names)), (name_key(subject),)):
        finding = Finding(kind, subject, "", devices=names, cables=cables, where=keys)
        if finding_id(finding) == one["id"]:
            return where_of(finding)
    return None


def _cable(told: Mapping[str, Any]) -> Cable:
    a, expected, found = (_end(told.get(key)) for key in ("a", "expected", "found"))
    if a is None:
        raise ValueError("a cable without an end")
    return Cable(a, expected, found, str(told.get("tiers", "")))


def _end(told: Mapping[str, Any] | None) -> End | None:
    if told is None:
        return None
    return End(str(told["device"]), int(told["port"]), is_hca=bool(told.get("is_hca")))


def _switches(data: Mapping[str, Any]) -> Iterable[str]:
    """Names of switches: of a page its own list, of a JSON report those of its islands."""
    if "nodes" in data:
        return map(str, data["nodes"]["switches"]["name"])
    islands = data.get("islands")
    if not isinstance(islands, dict):
        return ()
    texts = [island["switch_set"] for part in ("planned", "seen") for island in islands.get(part, ())]
    try:
        return [name for text in texts for name in expand(text)]
    except UsageError:  # shortened, or names that no host set holds: then nothing can be said
        return ()


# -- comparing ----------------------------------------------------------------------------------------------


def other_fabric(former: Former, switches: Iterable[str]) -> str:
    """Why a report cannot be compared with, in words; empty when it is of this fabric.

    :param switches: names of the switches of this run, planned and seen.
    """
    now = set(map(name_key, switches))
    smaller = min(len(now), len(former.switches))
    both = len(now & former.switches)
    if not smaller or both >= SAME_FABRIC * smaller:
        return ""
    return (
        f"expected a report of this fabric or plan, found one of another: {both:,} of its "
        f"{len(former.switches):,} switches are among the {len(now):,} of this run"
    )


def compared(former: Former, ids: Sequence[str], looked: LookedAt | None = None) -> dict[str, Any]:
    """What changed: ``status`` of every finding in the order of ``ids``, and what became of the others.

    Status: 0 still there, 1 new, 2 returned (it was gone in the earlier run, and is back). Of the earlier findings
    that are not there now, those this run would have shown are ``gone``, the others ``unlooked``: nothing is known.

    :param looked: whether this run would have shown a finding; without it every one counts as looked for.
    """
    before = {finding["id"] for finding in former.findings}
    now = set(ids)
    off = [finding for finding in former.findings if finding["id"] not in now]
    unlooked = [one for one in off if looked is not None and not _looked_at(former, one, looked)]
    unseen = {one["id"] for one in unlooked}
    return {
        "label": former.label,
        "made": former.made,
        "headline": former.headline,
        "status": [0 if one in before else 2 if one in former.past else 1 for one in ids],
        "gone": [finding for finding in off if finding["id"] not in unseen],
        "unlooked": [
            {**one, "w": where_json(former.where[one["id"]])} if one["id"] in former.where else one
            for one in unlooked
        ],
        "past": sorted(former.past - now),
    }


def _looked_at(former: Former, one: Mapping[str, str], looked: LookedAt) -> bool:
    where = former.where.get(one["id"])
    try:
        kind = FindingKind(one["kind"])
    except ValueError:
        return False
    if where is None:
        return False
    return looked(Known(one["id"], kind, "", one["headline"], where=where))
