"""Entries as a document, and back: the same content in every place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from fabricctl.errors import SecretError
from provision.bmc.credential import Entry, Key, KeyKind
from provision.bmc.secret import Secret

SCHEMA = "fabricctl.secrets/1"
_GROUPS = {KeyKind.HOST: "hosts", KeyKind.TAG: "service_tags"}


def to_document(entries: Iterable[Entry], site: str) -> dict[str, Any]:
    """Plain data, passwords in the clear: for a protected place only."""
    document: dict[str, Any] = {"schema": SCHEMA, "site": site, "hosts": {}, "service_tags": {}}
    for entry in sorted(entries, key=lambda entry: entry.key):
        row: dict[str, Any] = {"user": entry.user}
        if entry.password is not None:
            row["password"] = entry.password.reveal()
        row |= {
            "factory": entry.factory,
            "since": entry.since.isoformat(timespec="seconds"),
            "source": entry.source,
        }
        if entry.pending is not None and entry.pending_since is not None:
            row["pending"] = entry.pending.reveal()
            row["pending_since"] = entry.pending_since.isoformat(timespec="seconds")
        document[_GROUPS[entry.key.kind]][entry.key.name] = row
    return document


def from_document(document: Any, site: str, reference: str) -> dict[Key, Entry]:
    """Entries by key.

    :param site: whose document it must be.
    :raises SecretError: it is none of ours; the message tells where, never what stands there.
    """
    if not isinstance(document, Mapping) or not str(document.get("schema", "")).startswith(
        "fabricctl.secrets/"
    ):
        raise SecretError("is no file of passwords written by fabricctl", reference=reference)
    if document["schema"] != SCHEMA:
        raise SecretError(f"was written by a newer fabricctl ({document['schema']})", reference=reference)
    if document.get("site") not in (site, "", None):
        raise SecretError(
            f"holds the passwords of site {document['site']!r}, not of {site!r}",
            reference=reference,
            hint="name another place under management.secrets",
        )
    entries: dict[Key, Entry] = {}
    for kind, group in _GROUPS.items():
        rows = document.get(group)
        rows = {} if rows is None else rows
        if not isinstance(rows, Mapping):
            raise _damaged(group, reference)
        for name, row in rows.items():
            key = Key(kind, str(name))
            entries[key] = _entry(key, row, f"{group}.{name}", reference)
    return entries


def _entry(key: Key, row: Any, where: str, reference: str) -> Entry:
    try:
        password, pending = row.get("password"), row.get("pending")
        return Entry(
            key,
            str(row.get("user") or ""),
            Secret(str(password)) if password else None,
            _moment(row["since"]),
            str(row.get("source") or ""),
            bool(row.get("factory")),
            Secret(str(pending)) if pending else None,
            _moment(row["pending_since"]) if pending else None,
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _damaged(where, reference) from None  # the cause may quote a password


def _moment(value: Any) -> datetime:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    if moment.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    return moment


def _damaged(where: str, reference: str) -> SecretError:
    return SecretError(
        f"cannot be read at {where}", reference=reference, hint="was it changed by hand? restore a backup"
    )
