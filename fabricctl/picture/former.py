"""An earlier run, read back from its JSON report or from its HTML page, and what changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabricctl.errors import InputError
from fabricctl.jsontext import json_of

DATA_OPEN = '<script type="application/json" id="data">'
"""How the data begins in a page; :mod:`fabricctl.picture.page` writes it."""
_KEPT = ("id", "kind", "headline", "expected", "found", "fix")


@dataclass(frozen=True)
class Former:
    """An earlier run.

    :param label: the file it was read from; :param made: when it was judged, may be empty.
    :param headline: its verdict in one sentence, may be empty.
    :param findings: texts by ``id``, ``kind``, ``headline``, ``expected``, ``found``, ``fix``.
    :param past: ids of findings that were known before it and gone by then.
    """

    label: str
    made: str
    headline: str
    findings: tuple[dict[str, str], ...]
    past: frozenset[str] = frozenset()


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
    return Former(
        label=path.rpartition("/")[2],
        made=str(data.get("made") or ""),
        headline=str(report.get("headline") or report.get("answer") or ""),
        findings=tuple(
            {key: str(one.get(key, "")) for key in _KEPT} | {"id": str(one["id"])} for one in data["findings"]
        ),
        past=frozenset(map(str, past)),
    )


def _shown(text: str) -> str:
    first = text.lstrip()[:40].split("\n", 1)[0]
    return repr(first) if first else "an empty file"


def compared(former: Former, ids: Sequence[str]) -> dict[str, Any]:
    """What changed: ``status`` of every finding in the order of ``ids``, and the findings that are ``gone``.

    Status: 0 still there, 1 new, 2 returned (it was gone in the earlier run, and is back).
    """
    before = {finding["id"] for finding in former.findings}
    now = set(ids)
    return {
        "label": former.label,
        "made": former.made,
        "headline": former.headline,
        "status": [0 if one in before else 2 if one in former.past else 1 for one in ids],
        "gone": [finding for finding in former.findings if finding["id"] not in now],
        "past": sorted(former.past - now),
    }
