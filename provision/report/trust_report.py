"""Certificates of BMCs for people and machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabricctl.errors import BmcError
from fabricctl.report.lines import BAD, DIM, GOOD, PLAIN, Line
from provision.bmc.certificates import JudgedCertificate, Standing
from provision.bmc.outcome import BmcFinding, Outcome
from provision.bmc.target import Target, Verify
from provision.report.common import SHOWN, Table
from provision.report.fleet import Report
from provision.report.schema_parts import MOMENT, SHA256, TEXT, either, listed, row, texts

SCHEMA = "fabricctl.bmc-trust/1"
COLUMNS = ("host", "address", "certificate", "valid_until", "subject", "sha256")
_STYLES = {
    Standing.NEW: PLAIN,
    Standing.SAME: GOOD,
    Standing.CHANGED: BAD,
    Standing.UNEXPECTED: BAD,
    Standing.UNUSED: DIM,
}
_UNUSED = {Verify.CA: "by its authority", Verify.OFF: "not checked"}

Unread = Sequence[tuple[Target, BmcError]]


def trust_report(
    judged: Sequence[JudgedCertificate], findings: Sequence[BmcFinding], unread: Unread, *, each: bool = False
) -> Report:
    """What was shown, what is wrong with it, and who showed nothing. :param each: a line a certificate."""
    outcomes: list[Outcome[JudgedCertificate]] = [Outcome(one.shown.target, one) for one in judged]
    outcomes += [Outcome(target, error=error) for target, error in unread]
    return Report(
        SCHEMA,
        outcomes,
        content=lambda: {"certificates": [_object(one) for one in judged]},
        lines=lambda width: _lines(judged, width, each=each),
        table=lambda: Table(COLUMNS, [_row(one) for one in judged]),
        findings=findings,
    )


def content_schema() -> dict[str, Any]:
    """Of the certificates."""
    certificate = {
        **texts(("host", "address", "subject", "issuer")),
        "certificate": {"enum": [standing.value for standing in Standing]},
        "sha256": SHA256,
        "not_before": MOMENT,
        "not_after": MOMENT,
        "verify": {"enum": [verify.value for verify in Verify]},
        "recorded": either(row({"sha256": SHA256, "since": MOMENT, "who": TEXT})),
    }
    return {"certificates": listed(row(certificate))}


def _lines(judged: Sequence[JudgedCertificate], width: int, *, each: bool) -> list[Line]:
    """A line each, with the fingerprint below where somebody should look at it; many that are alike share one."""
    rows = [(one.shown.target.host, *_row(one)[1:-1]) for one in judged]
    styles = [_STYLES[one.standing] for one in judged]
    if not each and len(judged) > SHOWN:
        table = Table(COLUMNS[:-1], rows, styles, ("certificate", "valid_until"))
        many_new = sum(one.standing is Standing.NEW for one in judged) > SHOWN
        more: list[Line] = [(("fingerprints: --each, --format csv or json", DIM),)] if many_new else []
        return [*table.lines(width, each=False), *more]
    lines = Table(COLUMNS[:-1], rows, styles).lines(width)
    looked_at = (Standing.NEW, Standing.CHANGED, Standing.UNEXPECTED)
    shown, below = lines[:1], lines[1 + len(judged) :]
    for one, line in zip(judged, lines[1 : 1 + len(judged)], strict=True):
        shown.append(line)
        if each or one.standing in looked_at:
            shown.append(((f"  sha256 {one.shown.fingerprint}", _STYLES[one.standing]),))
    return [*shown, *below]


def _row(one: JudgedCertificate) -> tuple[str, ...]:
    return (
        one.shown.target.host,
        one.shown.target.address,
        _word(one),
        f"{one.shown.not_after:%Y-%m-%d}",
        one.shown.subject,
        one.shown.fingerprint,
    )


def _object(one: JudgedCertificate) -> dict[str, Any]:
    return {
        "host": one.shown.target.host,
        "address": one.shown.target.address,
        "certificate": one.standing.value,
        "sha256": one.shown.fingerprint,
        "subject": one.shown.subject,
        "issuer": one.shown.issuer,
        "not_before": one.shown.not_before.isoformat(),
        "not_after": one.shown.not_after.isoformat(),
        "verify": one.shown.target.trust.verify.value,
        "recorded": None
        if one.old is None
        else {"sha256": one.old.fingerprint, "since": one.old.since.isoformat(), "who": one.old.who},
    }


def _word(one: JudgedCertificate) -> str:
    if one.standing is Standing.UNUSED:
        return _UNUSED.get(one.shown.target.trust.verify, one.standing.value)
    if one.standing is Standing.SAME and one.old is not None:
        return f"recorded {one.old.since:%Y-%m-%d}"
    return one.standing.value
