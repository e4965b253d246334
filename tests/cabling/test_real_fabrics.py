"""The verdict on captures of real and simulated fabrics, against their published or injected truth."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verify import Options, Verdict, VerdictWord, verify
from fabricctl.discovery.merge import merge
from fabricctl.discovery.model import Observation
from fabricctl.discovery.recognise import parse_any
from fabricctl.plan.model import Plan
from fabricctl.plan.snapshot import plan_from_observation
from fabricctl.report.screen import render
from fabricctl.workflows.load_plan import load_plan_file
from fabricctl.workflows.verify_cabling import Request, judge, load_intent, observe
from tests.conftest import read_capture


def observed(path: Path) -> Observation:
    return parse_any(read_capture(path), path.name)


def snapshot(path: Path) -> Plan:
    return plan_from_observation(observed(path), path.name)


def numbers(verdict: Verdict) -> dict[str, int]:
    counts = verdict.counts
    names = ("intended", "ok", "missing", "swapped", "degraded", "miswired", "not_judged", "unexpected")
    return {name: number for name in names if (number := getattr(counts, name))}


def screen(verdict: Verdict) -> list[str]:
    return ["".join(text for text, _ in line) for line in render(verdict)]


def test_selene_production_fabric_against_its_formula(captures: Path) -> None:
    plan = load_plan_file(str(captures / "selene/selene_switch_cabling.csv"))
    observation = observed(captures / "ibnetdiscover/ufm_selene.compute.txt.gz")
    verdict = verify(plan, observation)
    assert numbers(verdict) == {"intended": 8480, "ok": 8451, "missing": 29}
    assert {pair: row["missing"] for pair, row in verdict.counts.by_tier.items()} == {
        "leaf-spine": 13,
        "spine-core": 16,
    }
    assert observation.aggregation_nodes == 666
    assert verdict.exit_code == 1


@pytest.mark.parametrize(
    "plan_file", ["ibnetdiscover.txt.gz", "fabric.net.gz", "iblinkinfo-l.txt.gz", "opensm-subnet.lst.gz"]
)
def test_the_320_switch_fabric_shows_exactly_its_injected_faults(captures: Path, plan_file: str) -> None:
    verdict = verify(
        snapshot(captures / "ibsim/imbue" / plan_file),
        observed(captures / "ibsim/imbue-faulty/ibnetdiscover.txt.gz"),
    )
    assert numbers(verdict) == {"intended": 12282, "ok": 12127, "missing": 137, "swapped": 12, "degraded": 6}
    assert Counter(f.kind for f in verdict.findings) == {
        FindingKind.ABSENT_DEVICE: 6,
        FindingKind.SWAPPED: 6,
        FindingKind.MISSING: 5,
        FindingKind.DEGRADED: 6,
    }
    assert_truth(verdict, json.loads((captures / "ibsim/imbue-faulty.truth.json").read_text()))


def test_the_small_fabric_shows_exactly_its_injected_faults(captures: Path) -> None:
    verdict = verify(
        snapshot(captures / "ibsim/small3/ibnetdiscover.txt"),
        observed(captures / "ibsim/small3-faulty/ibnetdiscover.txt"),
        Options(gate=1.0),
    )
    # by hand from the truth file: 2 swaps, 2 missing, 1 dead HCA, 1 dead spine with 8 cables, 1 width, 1 speed
    assert numbers(verdict) == {"intended": 96, "ok": 79, "missing": 11, "swapped": 4, "degraded": 2}
    assert_truth(verdict, json.loads((captures / "ibsim/small3-faulty.truth.json").read_text()))


def assert_truth(verdict: Verdict, truth: list[dict[str, list[list[str]]]]) -> None:
    """Every injected fault is found with its own cables, and nothing else is."""
    injected: Counter[tuple[str, frozenset[frozenset[str]]]] = Counter()
    kinds = {
        "swap": "swapped",
        "hostswap": "swapped",
        "missing": "missing",
        "width": "degraded",
        "speed": "degraded",
    }
    for fault in truth:
        cables = fault["intended"] if "intended" in fault else [fault["link"]]
        kind = kinds.get(str(fault["kind"]), "absent_device")
        injected[kind, frozenset(frozenset(cable) for cable in cables)] += 1
    found: Counter[tuple[str, frozenset[frozenset[str]]]] = Counter()
    for finding in verdict.findings:
        cables = [
            [truth_name(c.a.device, c.a.port), truth_name(c.expected.device, c.expected.port)]
            for c in finding.cables
            if c.expected
        ]
        found[finding.kind.value, frozenset(frozenset(cable) for cable in cables)] += 1
    assert found == injected


def truth_name(device: str, port: int) -> str:
    """The truth files write ``gpu001/mlx5_0/P1`` and ``ibl-p01-r1/P5``."""
    return f"{device.replace(' ', '/')}/P{port}"


@pytest.mark.parametrize("name", ["imbue", "medium", "small3", "small2"])
def test_a_healthy_fabric_is_ok(captures: Path, name: str) -> None:
    path = next((captures / "ibsim" / name).glob("ibnetdiscover.txt*"))
    plan = next((captures / "ibsim" / name).glob("fabric.net*"), path)
    assert verify(snapshot(plan), observed(path)).word is VerdictWord.OK


def all_captures(root: Path) -> list[Path]:
    own = [p for p in sorted((root / "ibnetdiscover").iterdir()) if p.is_file()]
    names = (
        "ibnetdiscover",
        "iblinkinfo.txt",
        "iblinkinfo-l",
        "fabric.net",
        "opensm-subnet",
        "iso.net",
        "uni.net",
    )
    return own + [p for p in sorted((root / "ibsim").rglob("*")) if p.is_file() and p.name.startswith(names)]


def is_big(path: Path) -> bool:
    """Of thousands of cables: a second each."""
    return path.suffix == ".gz" and path.stat().st_size > 60_000


@pytest.mark.parametrize("big", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_capture_is_read_and_compared_with_itself_is_clean(captures: Path, big: bool) -> None:
    paths = [path for path in all_captures(captures) if is_big(path) is big]
    assert len(paths) > (15 if big else 30)
    for path in paths:
        observation = observed(path)
        plan = plan_from_observation(observation, path.name)
        verdict = verify(plan, observation)
        assert (path.name, verdict.exit_code, verdict.doubts, verdict.findings) == (path.name, 0, [], [])


def test_one_island_of_a_split_fabric_is_said_first_and_the_rest_is_not_judged(captures: Path) -> None:
    verdict = verify(
        snapshot(captures / "ibsim/imbue/ibnetdiscover.txt.gz"),
        observed(captures / "ibsim/imbue-islands/ibnetdiscover.txt.gz"),
    )
    counts = verdict.counts
    assert (counts.cables_seen, counts.cables_as_planned, counts.cables_differ) == (1536, 1028, 508)
    assert counts.missing == 0
    # a planned cable is contradicted when either of its ports carries another: 512 leaf ports and 512 spine
    # ports, 64 cables counted at both ends, 4 of them right by chance
    assert counts.miswired + counts.swapped == 512 + 512 - 64 - 4
    assert counts.not_judged == 12282 - 1028 - (512 + 512 - 64 - 4)
    assert verdict.exit_code == 3
    head = " ".join(" ".join(screen(verdict)[:4]).split())
    assert "one island is seen: 40 switches, 512 HCAs (mlx5_0 only)" in head
    assert "unseen: 280 switches, 3,578 HCAs" in head


def test_the_fat_tree_generator_is_the_plan_of_the_320_switch_capture(captures: Path) -> None:
    plan = load_plan_file(str(Path(__file__).parents[2] / "inventory/site.yaml"))
    observation = observed(captures / "ibsim/imbue/ibnetdiscover.txt.gz")
    verdict = verify(plan, observation)
    # the capture was simulated at 4xHDR, the site plans 4xNDR: every cable is right and slower
    assert (verdict.counts.degraded, verdict.counts.miswired, verdict.counts.missing) == (12282, 0, 0)


def test_views_of_several_tools_make_one_fabric(captures: Path) -> None:
    folder = captures / "ibsim/small3-faulty"
    names = (
        "ibnetdiscover.txt",
        "ibnetdiscover-p.txt",
        "iblinkinfo.txt",
        "iblinkinfo-l.txt",
        "opensm-subnet.lst",
    )
    observations = [observed(folder / name) for name in names]
    merged = merge(observations)
    assert [p for p in merged.problems if p.kind not in ("rates-differ", "renamed")] == []
    assert (len(merged.fabric.nodes), merged.fabric.link_count) == (50, 85)
    verdict = verify(snapshot(captures / "ibsim/small3/ibnetdiscover.txt"), merged, Options(gate=1.0))
    assert numbers(verdict) == {"intended": 96, "ok": 79, "missing": 11, "swapped": 4, "degraded": 2}


def test_the_site_file_of_the_example_finds_nothing_wrong_with_the_healthy_capture(
    captures: Path, tmp_path: Path
) -> None:
    # its second subnet manager host sits on a leaf of another rail, because the plan says so: no rail finding
    site = Path(__file__).parents[2] / "inventory/site.yaml"
    (tmp_path / "site.yaml").write_text(site.read_text().replace("NDR", "HDR"))
    request = Request(
        site=str(tmp_path / "site.yaml"),
        discovered=[str(captures / "ibsim/imbue/ibnetdiscover.txt.gz")],
        check_rails=True,
    )
    intent = load_intent(request, lambda text: None)
    verdict = judge(intent, observe(request, intent.viewers, lambda text: None))
    assert (verdict.exit_code, verdict.findings, verdict.counts.ok) == (0, [], 12282)
