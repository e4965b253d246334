"""What a scan of BMC addresses saw, for people and machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabricctl.hostset import expand
from fabricctl.report.lines import BAD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.words import many
from provision.bmc.scan import Answer, Comparison, Sight
from provision.report.common import SHOWN, Table, more_line
from provision.report.fleet import Report
from provision.report.schema_parts import TEXT, listed, mapped, row, texts

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
_SHORT = ("address", "host", "answer", "service_tag", "expected", "bmc_mac", "product", "said")


def scan_report(seen: Comparison, *, each: bool = False) -> Report:
    """Addresses, what is wrong, what could not be told, tags that were learned. :param each: a line an address."""
    return Report(
        SCHEMA,
        (),
        content=lambda: {
            "addresses": [_object(sight) for sight in seen.sights],
            "learned": dict(seen.learned),
        },
        lines=lambda width: [*_lines(seen, width, each=each), (), *_summary(seen)],
        table=lambda: scan_table(seen),
        findings=seen.findings,
        doubts=[
            (host, why)
            for hosts, _, why in (doubt.partition(": ") for doubt in seen.doubts)
            for host in expand(hosts)
        ],
        partly="could not tell",
    )


def content_schema() -> dict[str, Any]:
    """Of the addresses."""
    address = (
        *("address", "host", "expected_tag", "service_tag", "bmc_mac"),
        *("vendor", "product", "redfish", "said"),
    )
    return {
        "addresses": listed(row({**texts(address), "answer": {"enum": [answer.value for answer in Answer]}})),
        "learned": mapped(TEXT, "host -> service tag, of hosts for which the site has none"),
    }


def _lines(seen: Comparison, width: int, *, each: bool) -> list[Line]:
    """A line per address that answered or belongs to a host; of many, those that are as they should share one."""
    kinds = _kinds(seen)
    shown = [sight for sight in seen.sights if sight.host or sight.answer is not Answer.SILENT]
    usual = [sight for sight in shown if sight.answer is Answer.BMC and sight.address not in kinds]
    alone = shown
    lines: list[Line] = []
    if not each and len(shown) > SHOWN and len(usual) > 1:
        alone = [sight for sight in shown if sight not in set(usual)]
        alike = [(sight.host or sight.address, _WORDS[sight.answer], *_about(sight)) for sight in usual]
        lines = Table(("host", "answer", "redfish", "product"), alike).lines(width, each=False)
        lines.append((("tag and MAC of each: --each, --format csv or json", DIM),))
    left = 0 if each else max(0, len(alone) - 2 * SHOWN)
    alone = alone[: len(alone) - left]
    rows = [(*_cells(s), _about(s)[1], kinds.get(s.address, "") or s.text) for s in alone]
    styles = [BAD if s.address in kinds else _STYLES.get(s.answer, DOUBT) for s in alone]
    lines += [()] if lines and rows else []
    return [*lines, *Table(_SHORT, rows, styles).lines(width), *more_line(left, "line")]


def _about(sight: Sight) -> tuple[str, str]:
    """Version of Redfish, and the model or what the service calls itself."""
    claim = sight.claim
    return (claim.redfish, claim.model) if claim is not None else ("", "")


def _summary(seen: Comparison) -> Iterator[Line]:
    answered = sum(sight.answer is Answer.BMC for sight in seen.sights)
    as_expected = sum(bool(sight.tag) and sight.tag == sight.found_tag for sight in seen.sights)
    text = f"{many(len(seen.sights), 'address')} asked, {many(answered, 'BMC')} answered, {as_expected:,} as expected"
    good = answered and not seen.findings and not seen.doubts
    note = "nothing was logged in to, so a BMC's word is all there is"
    yield ((text, GOOD if good else PLAIN),)
    yield ((note, DIM),)


def scan_table(seen: Comparison) -> Table:
    """One row an address, also those where nobody answered."""
    kinds = _kinds(seen)
    return Table(
        COLUMNS, [(*_cells(sight), *_about(sight), kinds.get(sight.address, "")) for sight in seen.sights]
    )


def _object(sight: Sight) -> dict[str, str]:
    claim = sight.claim
    return {
        "address": sight.address,
        "host": sight.host,
        "answer": sight.answer.value,
        "expected_tag": sight.tag,
        "service_tag": sight.found_tag,
        "bmc_mac": claim.mac if claim is not None else "",
        "vendor": claim.vendor if claim is not None else "",
        "product": claim.product if claim is not None else "",
        "redfish": claim.redfish if claim is not None else "",
        "said": sight.text,
    }


def _cells(sight: Sight) -> tuple[str, ...]:
    """As the site has it, and who answered."""
    mac = sight.claim.mac if sight.claim is not None else ""
    return (sight.address, sight.host, _WORDS[sight.answer], sight.found_tag, sight.tag, mac)


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
