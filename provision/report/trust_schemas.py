"""JSON schemas of ``bmc scan``, ``bmc trust`` and ``bmc credentials list``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from provision.bmc.certificates import Standing
from provision.bmc.scan import Answer
from provision.bmc.target import Verify
from provision.report import credentials_report, scan_report, trust_report

TEXT: Mapping[str, Any] = {"type": "string"}
_MOMENT: Mapping[str, Any] = {"type": "string", "format": "date-time"}
_SHA256: Mapping[str, Any] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def schema_of(name: str) -> dict[str, Any]:
    """The schema of ``bmc-scan``, ``bmc-trust`` or ``bmc-credentials``."""
    key, title, row, more = {
        "bmc-scan": ("addresses", scan_report.SCHEMA, _scan_row(), _scan_more()),
        "bmc-trust": ("certificates", trust_report.SCHEMA, _trust_row(), _trust_more()),
        "bmc-credentials": ("credentials", credentials_report.SCHEMA, _credentials_row(), {}),
    }[name]
    body = {"schema": {"const": title}, "generator": TEXT, key: _list(row), **more}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:fabricctl:{name}:1",
        "title": title,
        **_object(body),
    }


def _scan_row() -> dict[str, Any]:
    texts = (
        "address",
        "host",
        "expected_tag",
        "service_tag",
        "bmc_mac",
        "vendor",
        "product",
        "redfish",
        "said",
    )
    return {**dict.fromkeys(texts, TEXT), "answer": {"enum": [answer.value for answer in Answer]}}


def _scan_more() -> dict[str, Any]:
    return {
        "findings": _findings(),
        "could_not_tell": {"type": "array", "items": TEXT},
        "learned": {
            "type": "object",
            "additionalProperties": TEXT,
            "description": "host -> service tag, of hosts for which the site has none",
        },
    }


def _trust_row() -> dict[str, Any]:
    return {
        **dict.fromkeys(("host", "address", "subject", "issuer"), TEXT),
        "certificate": {"enum": [standing.value for standing in Standing]},
        "sha256": _SHA256,
        "not_before": _MOMENT,
        "not_after": _MOMENT,
        "verify": {"enum": [verify.value for verify in Verify]},
        "recorded": {
            "anyOf": [{"type": "null"}, _object({"sha256": _SHA256, "since": _MOMENT, "who": TEXT})]
        },
    }


def _trust_more() -> dict[str, Any]:
    failure = dict.fromkeys(("host", "address", "error", "reason"), TEXT)
    return {"findings": _findings(), "could_not_tell": _list(failure)}


def _credentials_row() -> dict[str, Any]:
    states = ["factory", "current", "pending", "reference", "none"]
    return {**dict.fromkeys(credentials_report.COLUMNS, TEXT), "state": {"enum": states}}


def _findings() -> dict[str, Any]:
    return _list(dict.fromkeys(("host", "kind", "text", "part", "expected", "found"), TEXT))


def _list(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
