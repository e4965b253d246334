"""Ids on captures of whole fabrics: one per fault, and the same whichever tool saw it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricctl.cabling.finding_id import finding_id
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import Verdict
from fabricctl.cabling.verify import verify
from fabricctl.discovery.recognise import parse_any
from fabricctl.plan.model import Plan
from fabricctl.workflows.load_plan import load_plan_file
from tests.conftest import read_capture

LINKS = (FindingKind.SWAPPED, FindingKind.MISWIRED, FindingKind.MISSING, FindingKind.ABSENT_DEVICE)


def judged(plan: Plan, path: Path) -> Verdict:
    return verify(plan, parse_any(read_capture(path), path.name))


@pytest.mark.parametrize("other", ["iblinkinfo-l.txt.gz", "opensm-subnet.lst.gz"])
def test_every_tool_leads_to_the_same_ids(captures: Path, other: str) -> None:
    plan = load_plan_file(str(captures / "ibsim/imbue/ibnetdiscover.txt.gz"))
    found = []
    for name in ("ibnetdiscover.txt.gz", other):
        verdict = judged(plan, captures / "ibsim/imbue-faulty" / name)
        found.append({finding_id(f): f.kind for f in verdict.findings if f.kind in LINKS})
        assert len({finding_id(f) for f in verdict.findings}) == len(verdict.findings)
    assert found[0] == found[1]
    assert len(found[0]) > 10


def test_four_thousand_miswired_cables_have_ids_of_their_own(captures: Path) -> None:
    plan = load_plan_file(str(captures / "ibsim/imbue/fabric.net.gz"))
    verdict = judged(plan, captures / "ibsim/imbue-islands/fabric.net.gz")
    assert len(verdict.findings) > 2000
    assert len({finding_id(f) for f in verdict.findings}) == len(verdict.findings)
