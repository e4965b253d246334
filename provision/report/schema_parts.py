"""Parts of JSON schemas that every document about nodes is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
MOMENT: Schema = {"type": "string", "format": "date-time"}
SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def row(properties: Schema) -> dict[str, Any]:
    """An object that has all of these and nothing else."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def texts(names: tuple[str, ...]) -> dict[str, Any]:
    """Properties that are all text."""
    return dict.fromkeys(names, TEXT)


def listed(item: Schema, why: str = "") -> dict[str, Any]:
    """A list of these. :param why: what it is, where its name does not say it."""
    return {"type": "array", "items": dict(item), **({"description": why} if why else {})}


def mapped(value: Schema, why: str) -> dict[str, Any]:
    """An object whose names are data. :param why: what the names and values are."""
    return {"type": "object", "additionalProperties": dict(value), "description": why}


def either(schema: Schema) -> dict[str, Any]:
    """This, or null where it was not told."""
    return {"anyOf": [{"type": "null"}, dict(schema)]}


def document_schema(name: str, title: str, content: Schema, defs: Schema | None = None) -> dict[str, Any]:
    """Schema of a document: its content, and what every document about nodes has.

    :param name: as ``fabricctl schema`` knows it; :param title: the value of ``schema``, name and version.
    """
    body = {
        "schema": {"const": title},
        "generator": TEXT,
        **content,
        "findings": listed(row(texts(("host", "kind", "text", "part", "expected", "found")))),
        "could_not_tell": listed(
            row(texts(("host", "address", "error", "reason"))),
            "BMCs that could not be asked, and what others or hosts did not tell (then without an error's name)",
        ),
        "weak_trust": listed(row(texts(("host", "text"))), "how answers could be somebody else's"),
        "notes": listed(row(texts(("host", "path", "text"))), "what was odd, and tolerated"),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:fabricctl:{name}:{title.rpartition('/')[2]}",
        "title": title,
        **row(body),
        **({"$defs": dict(defs)} if defs else {}),
    }
