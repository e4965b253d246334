"""Node records and events for people and machines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from fabricctl import __version__
from fabricctl.hostset import fold
from fabricctl.nodes.model import Event, EventKind, Identity, IdentityKind, NodeRecord, NodeState
from fabricctl.nodes.transitions import OCCUPIED, Transition
from fabricctl.report.findings_report import clock
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.report.tables import csv_table, markdown_table, text_table

NODES_SCHEMA = "fabricctl.nodes/1"
EVENTS_SCHEMA = "fabricctl.events/1"

_STYLES = {
    NodeState.READY: GOOD,
    NodeState.IN_SERVICE: GOOD,
    NodeState.DRAINING: DOUBT,
    NodeState.REPAIR: BAD,
    NodeState.QUARANTINED: BAD,
}
NODE_COLUMNS = ("node", "state", "since", "who", "reason", *(kind.value for kind in IdentityKind))
EVENT_COLUMNS = ("at", "subject", "what", "before", "after", "who", "reason")


def node_lines(records: Iterable[NodeRecord], zone: tzinfo | None) -> list[Line]:
    """Counts per state with folded names, then a line for every node that has more to tell than its plan."""
    of: dict[NodeState, list[str]] = {}
    told = []
    for record in records:
        of.setdefault(record.state, []).append(record.name)
        told += [record] if record.version else []
    if not of:
        return [(("no node is planned or recorded", DIM),)]
    lines: list[Line] = [
        (
            (f"{state.words:<13}", _STYLES.get(state, PLAIN)),
            (f"{len(of[state]):>6,}  ", BOLD),
            (fold(of[state]), PLAIN),
        )
        for state in NodeState
        if state in of
    ]
    if told:
        rows = [_node_row(record, zone) for record in told]
        header, *body = text_table(("node", "state", "since", "service tag", "who and why"), rows)
        lines += [(), ((header, DIM),), *(((text, PLAIN),) for text in body)]
    return lines


def _node_row(record: NodeRecord, zone: tzinfo | None) -> list[str]:
    tag = ", ".join(i.fact.value for i in record.current(IdentityKind.SERVICE_TAG) if not i.fact.part)
    since = clock(record.since, zone) if record.since is not None else ""
    return [record.name, record.state.words, since, tag, f"{record.who}: {record.reason}"]


def nodes_csv(records: Iterable[NodeRecord]) -> str:
    """One row per node; several values of one kind are joined by blanks."""
    return csv_table(NODE_COLUMNS, [_node_cells(record) for record in records])


def nodes_markdown(records: Iterable[NodeRecord]) -> str:
    """The same as a table for a ticket."""
    return markdown_table(NODE_COLUMNS, [_node_cells(record) for record in records])


def _node_cells(record: NodeRecord) -> list[str]:
    since = record.since.isoformat(timespec="seconds") if record.since is not None else ""
    values = [" ".join(_part_value(i) for i in record.current(kind)) for kind in IdentityKind]
    return [record.name, record.state.value, since, record.who, record.reason, *values]


def _part_value(identity: Identity) -> str:
    fact = identity.fact
    return f"{fact.part}={fact.value}" if fact.part else fact.value


def nodes_json(records: Iterable[NodeRecord], events: Mapping[str, Sequence[Event]] | None = None) -> str:
    """Records with all their identities. :param events: node -> its events, where they are asked for."""
    rows = []
    for record in records:
        row: dict[str, Any] = {
            "name": record.name,
            "state": record.state.value,
            "stored": record.version > 0,
            "since": record.since.isoformat(timespec="seconds") if record.since is not None else None,
            "who": record.who,
            "reason": record.reason,
            "identities": [_identity(identity) for identity in record.identities],
        }
        if events is not None:
            row["events"] = [_event(event) for event in events.get(record.name, ())]
        rows.append(row)
    return _document(NODES_SCHEMA, "nodes", rows)


def _identity(identity: Identity) -> dict[str, Any]:
    fact = identity.fact
    return {
        "kind": fact.kind.value,
        "value": fact.value,
        "part": fact.part,
        "source": fact.source,
        "since": identity.since.isoformat(timespec="seconds"),
        "confirmed": identity.confirmed.isoformat(timespec="seconds"),
        "until": identity.until.isoformat(timespec="seconds") if identity.until is not None else None,
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "number": event.number,
        "at": event.at.isoformat(timespec="seconds"),
        "kind": event.kind.value,
        "subject": event.subject,
        "before": event.before,
        "after": event.after,
        "who": event.who,
        "reason": event.reason,
        "forced": event.forced,
    }


def _document(name: str, key: str, rows: list[dict[str, Any]], **more: int) -> str:
    document = {"schema": name, "generator": f"fabricctl {__version__}", **more, key: rows}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def node_page(record: NodeRecord, events: Sequence[Event], zone: tzinfo | None) -> list[Line]:
    """All of one node: state, identities that hold and held with their sources, what happened."""
    lines: list[Line] = [((record.name, BOLD), (f"  {record.state.words}", _STYLES.get(record.state, PLAIN)))]
    if record.since is None:
        lines.append((("  planned in the site file; nothing is recorded of it", DIM),))
        return lines
    lines.append(((f"  since {clock(record.since, zone)}, by {record.who}: {record.reason}", PLAIN),))
    for identity in sorted(record.identities, key=lambda i: i.until is not None):
        fact = identity.fact
        part = f" of {fact.part}" if fact.part else ""
        times = f"{fact.source}, {clock(identity.since, zone)}"
        if identity.until is not None:
            times += f" until {clock(identity.until, zone)}"
        elif identity.confirmed != identity.since:
            times += f", confirmed {clock(identity.confirmed, zone)}"
        style = PLAIN if identity.until is None else DIM
        lines.append(((f"  {fact.kind.words + part:<22} {fact.value}", style), (f"  ({times})", DIM)))
    lines += [(), *event_lines(events, zone, subject=False)] if events else []
    return lines


def event_lines(events: Sequence[Event], zone: tzinfo | None, *, subject: bool = True) -> list[Line]:
    """Events, oldest first. :param subject: name whose they are."""
    if not events:
        return [(("no event is recorded", DIM),)]
    rows = [
        [
            clock(event.at, zone),
            *([event.subject] if subject else []),
            event_words(event),
            f"{event.who}: {event.reason}",
        ]
        for event in events
    ]
    columns = ["when", *(["node"] if subject else []), "what", "who and why"]
    header, *body = text_table(columns, rows)
    return [((header, DIM),), *(((text, PLAIN),) for text in body)]


def event_words(event: Event) -> str:
    """``ready -> in service``, ``mlx5_0 GUID A -> B``, with what was overridden."""
    before, after = event.before, event.after
    if event.kind is EventKind.NODE_STATE:
        before, after = before.replace("_", " "), after.replace("_", " ")
    text = f"{before or '(nothing)'} -> {after or '(nothing)'}"
    return f"{text}, forced" if event.forced else text


def events_csv(events: Iterable[Event]) -> str:
    """One row per event."""
    return csv_table(EVENT_COLUMNS, _event_rows(events))


def events_markdown(events: Iterable[Event]) -> str:
    """The same as a table for a ticket."""
    return markdown_table(EVENT_COLUMNS, _event_rows(events))


def _event_rows(events: Iterable[Event]) -> list[list[str]]:
    return [
        [e.at.isoformat(timespec="seconds"), e.subject, e.kind.value, e.before, e.after, e.who, e.reason]
        for e in events
    ]


def events_json(events: Iterable[Event], total: int) -> str:
    """Events in the published form. :param total: how many there are without the limit."""
    return _document(EVENTS_SCHEMA, "events", [_event(event) for event in events], total=total)


def cut_words(shown: int, total: int) -> str:
    """That only the latest are shown, empty when all are."""
    return f"the latest {shown:,} of {total:,} events; --limit {total} shows all" if shown < total else ""


def plan_lines(
    transitions: Sequence[Transition], records: Mapping[str, NodeRecord], to: NodeState, reason: str
) -> list[Line]:
    """What a change of state would do, before it is done."""
    groups: dict[tuple[NodeState, bool, bool], list[str]] = {}
    for change in transitions:
        groups.setdefault((change.before, change.forced, change.version == 0), []).append(change.name)
    lines: list[Line] = []
    for (before, forced, new), names in groups.items():
        was = "no record" if new and before is to else before.words
        warning = "  FORCED: jobs may be running there" if forced and before in OCCUPIED else ""
        lines.append(((fold(names), BOLD), (f"  {was} -> {to.words}", PLAIN), (warning, BAD)))
    touched = {change.name for change in transitions}
    same = [name for name in records if name not in touched]
    if same:
        lines.append(((fold(same), BOLD), (f"  {to.words} already", DIM)))
    lines.append(((f"{len(transitions):,} of {len(records):,} nodes; reason: {reason}", PLAIN),))
    return lines


def nodes_schema() -> dict[str, Any]:
    """JSON schema of ``node list`` and ``node show``."""
    moment = {"type": "string", "format": "date-time"}
    maybe = {"anyOf": [moment, {"type": "null"}]}
    text = {"type": "string"}
    identity = {
        "kind": {"enum": [kind.value for kind in IdentityKind]},
        "value": {"type": "string", "description": "canonical"},
        "part": {"type": "string", "description": "mlx5_0, bmc, ...; empty for the chassis or when unknown"},
        "source": {"type": "string", "description": "who told it: operator, redfish, ..."},
        "since": moment,
        "confirmed": {**moment, "description": "told last"},
        "until": {**maybe, "description": "when another took its place; null while it holds"},
    }
    node = {
        "name": text,
        "state": {"enum": [state.value for state in NodeState]},
        "stored": {"type": "boolean", "description": "false: only planned in the site file"},
        "since": maybe,
        "who": text,
        "reason": text,
        "identities": {"type": "array", "items": _object(identity)},
    }
    optional = {"events": {"type": "array", "items": _object(_event_properties())}}
    return _schema(NODES_SCHEMA, "nodes", _object(node, optional))


def events_schema() -> dict[str, Any]:
    """JSON schema of ``events``."""
    total = {"type": "integer", "description": "events there are; more than are listed: the latest are"}
    return _schema(EVENTS_SCHEMA, "events", _object(_event_properties()), {"total": total})


def _event_properties() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "number": {"type": "integer"},
        "at": {"type": "string", "format": "date-time"},
        "kind": {"enum": [kind.value for kind in EventKind]},
        "subject": {"type": "string", "description": "name of the node"},
        "before": {"type": "string", "description": "empty: there was nothing"},
        "after": {"type": "string", "description": "empty: nothing took its place"},
        "who": text,
        "reason": text,
        "forced": {"type": "boolean", "description": "a guard was overridden"},
    }


def _object(properties: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }


def _schema(
    name: str, key: str, item: dict[str, Any], more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    body = {"schema": {"const": name}, "generator": {"type": "string"}, key: {"type": "array", "items": item}}
    body |= more or {}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:fabricctl:{key}:1",
        "title": name,
        **_object(body),
    }
