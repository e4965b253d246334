"""What a scan of BMC addresses saw, for people and machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabricctl.report.screen import BAD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.words import many
from provision.bmc.scan import Answer, Comparison, Sight
from provision.report.bmc_findings import doubt_lines, finding_lines, findings_json
from provision.report.common import Table

SCHEMA = "fabricctl.bmc-scan/1"
COLUMNS = ("address", "host", "answer", "service_tag", "expected", "bmc_mac", "redfish", "product", "finding")
_WORDS = {
    Answer.BMC: "BMC",
    Answer.SILENT: "no answer",
    Answer.REFUSED: "refused",
    Answer.OTHER: "no Redfish",
    Answer.UNREADY: "error",
}
_STYLES = {Answer.BMC: PLAIN, Answer.OTHER: BAD}
_SHORT = ("address", "host", "answer", "service_tag", "expected", "bmc_mac", "said")


def scan_lines(seen: Comparison) -> list[Line]:
    """A line per address that answered or belongs to a host, what is wrong, what could not be told, and a summary."""
    shown = [sight for sight in seen.sights if sight.host or sight.answer is not Answer.SILENT]
    kinds = _kinds(seen)
    rows = [(*_cells(sight)[:6], kinds.get(sight.address, "") or sight.text) for sight in shown]
    styles = [BAD if s.address in kinds else _STYLES.get(s.answer, DOUBT) for s in shown]
    lines = Table(SCHEMA, "addresses", _SHORT, rows, styles=styles).lines()
    for block in (finding_lines(seen.findings), doubt_lines(seen.doubts)):
        lines += [(), *block] if block else []
    return [*lines, (), _summary(seen)]


def _summary(seen: Comparison) -> Line:
    answered = sum(sight.answer is Answer.BMC for sight in seen.sights)
    as_expected = sum(bool(sight.tag) and sight.tag == sight.found_tag for sight in seen.sights)
    text = f"{many(len(seen.sights), 'address')} asked, {many(answered, 'BMC')} answered, {as_expected:,} as expected"
    good = answered and not seen.findings and not seen.doubts
    note = "; nothing was logged in to, so a BMC's word is all there is"
    return ((text, GOOD if good else PLAIN), (note, DIM))


def scan_table(seen: Comparison) -> Table:
    """One row an address, also those where nobody answered."""
    kinds = _kinds(seen)
    rows = [(*_cells(sight), kinds.get(sight.address, "")) for sight in seen.sights]
    objects = [
        {
            "address": sight.address,
            "host": sight.host,
            "answer": sight.answer.value,
            "expected_tag": sight.tag,
            "service_tag": sight.found_tag,
            "bmc_mac": sight.claim.mac if sight.claim is not None else "",
            "vendor": sight.claim.vendor if sight.claim is not None else "",
            "product": sight.claim.product if sight.claim is not None else "",
            "redfish": sight.claim.redfish if sight.claim is not None else "",
            "said": sight.text,
        }
        for sight in seen.sights
    ]
    return Table(SCHEMA, "addresses", COLUMNS, rows, objects)


def scan_json(seen: Comparison) -> str:
    """The document: addresses, findings, what could not be told, tags that were learned."""
    return scan_table(seen).json(
        findings=findings_json(seen.findings), could_not_tell=list(seen.doubts), learned=dict(seen.learned)
    )


def _cells(sight: Sight) -> tuple[str, ...]:
    claim = sight.claim
    told = (claim.mac, claim.redfish, claim.model) if claim is not None else ("", "", "")
    return (sight.address, sight.host, _WORDS[sight.answer], sight.found_tag, sight.tag, *told)


def _kinds(seen: Comparison) -> Mapping[str, str]:
    """Address -> kinds of findings that concern it."""
    address_of = {sight.host: sight.address for sight in seen.sights if sight.host}
    by_tag: dict[str, list[str]] = {}
    for sight in seen.sights:
        by_tag.setdefault(sight.found_tag, []).append(sight.address)
    kinds: dict[str, list[str]] = {}
    for finding in seen.findings:
        if finding.kind == "bmc-crossed":
            addresses: Sequence[str] = [address_of[host] for host in finding.part.split(",")]
        elif finding.found in by_tag and finding.found:
            addresses = by_tag[finding.found]
        else:
            addresses = [address_of[finding.host]] if finding.host in address_of else []
        for address in addresses:
            kinds.setdefault(address, []).append(finding.kind)
    return {address: " ".join(dict.fromkeys(found)) for address, found in kinds.items()}
