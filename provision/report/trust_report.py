"""Certificates of BMCs for people and machines."""

from __future__ import annotations

from collections.abc import Sequence

from fabricctl.errors import BmcError
from fabricctl.report.screen import BAD, DIM, GOOD, PLAIN, Line
from provision.bmc.certificates import JudgedCertificate, Standing
from provision.bmc.outcome import BmcFinding, Outcome
from provision.bmc.target import Target, Verify
from provision.report.bmc_findings import finding_lines, findings_json
from provision.report.common import Table, exposure_lines, failure_lines, failures_json

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


def trust_table(judged: Sequence[JudgedCertificate]) -> Table:
    """One row a certificate."""
    rows = [
        (
            one.shown.target.host,
            one.shown.target.address,
            _word(one),
            f"{one.shown.not_after:%Y-%m-%d}",
            one.shown.subject,
            one.shown.fingerprint,
        )
        for one in judged
    ]
    objects = [
        {
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
        for one in judged
    ]
    return Table(SCHEMA, "certificates", COLUMNS, rows, objects, [_STYLES[one.standing] for one in judged])


def trust_lines(
    judged: Sequence[JudgedCertificate], findings: Sequence[BmcFinding], unread: Unread
) -> list[Line]:
    """What was shown, what is wrong with it, and who showed nothing."""
    lines = trust_table(judged).lines()
    targets = [one.shown.target for one in judged] + [target for target, _ in unread]
    for block in (finding_lines(findings), failure_lines(_outcomes(unread)), exposure_lines(targets)):
        lines += [(), *block] if block else []
    return lines


def trust_json(judged: Sequence[JudgedCertificate], findings: Sequence[BmcFinding], unread: Unread) -> str:
    """The document."""
    return trust_table(judged).json(
        findings=findings_json(findings), could_not_tell=failures_json(_outcomes(unread))
    )


def _word(one: JudgedCertificate) -> str:
    if one.standing is Standing.UNUSED:
        return _UNUSED.get(one.shown.target.trust.verify, one.standing.value)
    if one.standing is Standing.SAME and one.old is not None:
        return f"recorded {one.old.since:%Y-%m-%d}"
    return one.standing.value


def _outcomes(unread: Unread) -> list[Outcome[None]]:
    return [Outcome(target, error=error) for target, error in unread]
