from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from fabricctl.cabling.verify import Verdict
from fabricctl.errors import UsageError
from fabricctl.report.prometheus import render
from tests.report.report_samples import NASTY, clean_fabric, judged, nasty, with_a_failed_viewer

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(verdict: Verdict, **labels: str) -> Samples:
    """Every sample, read by the reference parser; each family has its help and type, no sample comes twice."""
    text = render(verdict, 1_700_000_000.25, labels=labels)
    assert text.endswith("\n")
    found: Samples = {}
    for family in text_string_to_metric_families(text.encode("utf-8").decode("utf-8")):
        assert family.documentation
        assert family.type == "gauge"
        for sample in family.samples:
            key = (sample.name.removeprefix("fabricctl_cabling_"), frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def value(found: Samples, name: str, **labels: str) -> float:
    return found[name, frozenset(labels.items())]


def test_exactly_one_verdict_is_1() -> None:
    found = samples(with_a_failed_viewer())
    values = {word: value(found, "verdict", verdict=word) for word in ("ok", "findings", "could_not_tell")}
    assert values == {"ok": 0, "findings": 0, "could_not_tell": 1}


def test_links_by_class_and_tiers_are_those_of_the_capture(captures: Path) -> None:
    found = samples(judged(captures, "imbue", "imbue-faulty"))
    assert value(found, "links", **{"class": "missing", "tiers": "spine-core"}) == 99
    assert sum(number for (name, _), number in found.items() if name == "links") == 12282
    assert value(found, "bad_link_ratio") == pytest.approx(155 / 12282)
    assert value(found, "gate_ratio") == 0.1
    assert value(found, "absent_devices") == 6
    assert value(found, "findings", kind="swapped") == 6
    assert value(found, "findings", kind="miswired") == 0
    assert value(found, "islands", side="planned") == 1


def test_the_time_of_the_run_is_kept_to_the_fraction() -> None:
    assert value(samples(clean_fabric()), "last_run_timestamp_seconds") == 1_700_000_000.25


def test_without_a_plan_nothing_is_said_about_planned_links() -> None:
    names = {name for name, _ in samples(clean_fabric(planned=False))}
    assert "verdict" in names
    assert not names & {"links", "bad_link_ratio", "intended_links", "absent_devices"}


def test_a_label_of_the_site_is_on_every_sample() -> None:
    assert all(
        ("fabric", 'com"pute\\\n') in labels for _, labels in samples(clean_fabric(), fabric='com"pute\\\n')
    )


@pytest.mark.parametrize("name", ["class", "__x", "a-b", "1a", ""])
def test_a_label_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be a label"):
        render(clean_fabric(), 0, labels={name: "x"})


@pytest.mark.parametrize("name", NASTY, ids=repr)
def test_any_name_leaves_the_file_readable(name: str) -> None:
    assert samples(nasty(name), fabric=name)
