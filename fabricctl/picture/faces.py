"""Port panels and identities of a picture, each face once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from fabricctl.cabling.ends import Ends
from fabricctl.cabling.numbering import Profile
from fabricctl.fabric import NodeKind
from fabricctl.identity.model import Identification
from fabricctl.models import SwitchModel
from fabricctl.panels import Panel
from fabricctl.picture.devices import Devices
from fabricctl.words import printable

_CAGE = re.compile(r"([0-9]+)/([0-9]+)\Z")


def panels_json(devices: Devices) -> dict[str, Any]:
    """Faces, and which device number has which; ports under the numbers the device itself shows.

    A switch in another profile than its like has a face of its own, and so has one of whose ports both halves are
    used: there each half is a port. Switches without a panel get the face their model's labels tell: cages by number,
    places unknown, and said so.
    """
    faces: list[dict[str, Any]] = []
    known: dict[object, int] = {}
    of: dict[str, int] = {}
    ends = devices.comparison.ends
    model_of = ends.knowledge.model_of
    halved = _halved(devices)

    def face_of(kind: object, key: str, make: Callable[[], dict[str, Any]]) -> int:
        which = (id(kind), ends.profile(key), key in halved)
        if which not in known:
            known[which] = len(faces)
            faces.append(make())
            faces[-1]["ports"] = list(_own_rows(faces[-1]["ports"], key, ends, halves=key in halved))
        return known[which]

    for key, node in devices.nodes.items():
        panel = devices.extras.panels.get(key)
        if panel is not None:
            face = face_of(panel, key, partial(_panel, panel))
        elif node.kind is NodeKind.HCA or model_of is None:
            continue
        else:
            seen = devices.seen_node(key)
            model = model_of(node.name, node.model or (seen.model if seen else ""))
            if model is None or not model.shown:
                continue
            face = face_of(model, key, partial(_labelled, model))
        of[str(devices.numbers[key])] = face
    return {"faces": faces, "of": of}


def _halved(devices: Devices) -> set[str]:
    """Keys of switches of which the second half of a port is used, by plan or discovery."""
    comparison, normal = devices.comparison, devices.comparison.ends.normal
    if comparison.numbering.counted is Profile.NORMAL:
        return set()
    used = (*comparison.intended, *comparison.actual)
    nodes = {port.node for port in used if len(normal(port)) > 1}
    return {key for key in nodes if comparison.ends.profile(key) is Profile.SPLIT_READY}


def _own_rows(rows: Iterable[list[Any]], key: str, ends: Ends, *, halves: bool) -> Iterator[list[Any]]:
    """Rows with the device's own port numbers; with ``halves`` the second halves follow, a 2 at their end."""
    for row in rows:
        number, is_host = row[2], bool(row[6])
        first = ends.at_normal(key, (number,)) if number and not is_host else None
        yield [*row[:2], ends.own_number(first), *row[3:]] if first is not None else row
        second = ends.at_normal(key, (number, 2)) if halves and first is not None else None
        if second is not None:
            label = {"panel": f"{row[7].get('panel', row[0])}/2"}
            yield [*row[:2], ends.own_number(second), *row[3:7], label, 2]


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "name": printable(panel.name),
        "side": panel.side,
        "cage": panel.cage_type,
        "status": dict(panel.status),
        "sources": dict(panel.sources),
        "ports": [
            [p.cage, p.port, p.number, str(p.row), p.column, p.lanes, p.hca, dict(p.labels)]
            for p in panel.ports
        ],
    }


def _labelled(model: SwitchModel) -> dict[str, Any]:
    rows = []
    for number, label in sorted(model.shown.items()):
        match = _CAGE.match(label)
        cage, port = (match[1], int(match[2])) if match else (label, 1)
        rows.append([cage, port, number, "", 0, "", "", {"panel": label} if label != str(number) else {}])
    status = {"labels": model.status, "number": model.status, "rows": "unknown", "side": "unknown"}
    return {
        "name": printable(model.name),
        "side": "",
        "cage": "",
        "status": status,
        "sources": {"number": model.source},
        "ports": rows,
    }


def identities_json(identification: Identification, devices: Devices) -> dict[str, Any]:
    """What identity inference said, under device numbers."""
    number, plan_of = devices.numbers, devices.binding.plan_of

    def named(key: str | None) -> str:
        node = devices.nodes.get(key or "") or devices.seen.nodes.get(key or "")
        return printable(node.name if node else key or "")

    votes = {}
    for one in identification.assignments:
        key = one.planned if one.planned in number else plan_of.get(one.seen, one.seen)
        if key in number:
            votes[str(number[key])] = {
                "source": one.source.value,
                "for": one.votes_for,
                "against": one.votes_against,
                "margin": one.margin,
                "second": named(one.runner_up),
                "described": printable(one.described),
            }
    return {
        "votes": votes,
        "ambiguities": [
            {
                "devices": [number[k] for d in one.devices if (k := plan_of.get(d, d)) in number],
                "hypotheses": [[printable(h.words), h.moves, h.renames] for h in one.hypotheses],
                "decide": [printable(text) for text in one.decide_by],
            }
            for one in identification.ambiguities
        ],
        "contradictions": [
            f"{named(one.seen)} is declared to be {named(one.declared)}, but its cables say {named(one.by_votes)}: "
            f"{one.votes_for:,} against {one.votes_against:,}"
            for one in identification.contradictions
        ],
        "refusal": [printable(text) for text in identification.refusal.evidence]
        if identification.refusal
        else [],
        "unplaced": [named(key) for key in identification.unplaced],
        "unfilled": [named(key) for key in identification.unfilled],
        "notes": [printable(text) for text in identification.notes],
    }
