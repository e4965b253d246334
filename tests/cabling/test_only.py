"""``--only``: what is judged when one rack or one node counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verify import Options, verify
from fabricctl.discovery.model import Problem, ProblemKind
from fabricctl.discovery.recognise import parse_any
from fabricctl.errors import UsageError
from fabricctl.fabric import Port
from fabricctl.plan.snapshot import plan_from_observation
from fabricctl.rates import Rate
from tests.cabling.fabrics import Cable, guid, kinds, plan, seen, two_tier, without
from tests.conftest import read_capture

EDR = Rate(4, "EDR")


def test_only_limits_what_is_judged_and_the_exit_code() -> None:
    cables = two_tier()
    broken = without(cables, ("leaf1", 21, "spine1", 1))
    verdict = verify(plan(cables), seen(broken), Options(only="gpu[1-2]"))
    assert (verdict.exit_code, verdict.counts.intended) == (0, 4)
    assert verify(plan(cables), seen(broken), Options(only="leaf1")).exit_code == 1


@pytest.mark.parametrize("only", ["gpu9", "rack:B07", "rail:3", "su:1", "", " , ", "gpu[3-1]"])
def test_only_that_names_nothing_is_a_usage_error(only: str) -> None:
    options = Options(only=only or ",")
    with pytest.raises(UsageError):
        verify(plan(two_tier()), seen(two_tier()), options)


def test_only_still_shows_what_else_is_at_the_chosen_device() -> None:
    extra: list[Cable] = [
        *two_tier(),
        ("leaf1", 40, "leaf2", 40),
        ("leaf1", 41, "leaf1", 42),
        ("leaf2", 50, "spine1", 50),
    ]
    verdict = verify(plan(two_tier()), seen(extra), Options(only="leaf1"))
    assert sorted(kinds(verdict)) == [FindingKind.SELF_LOOP, FindingKind.UNEXPECTED]
    assert verdict.counts.unexpected == 1


def test_only_compares_a_link_with_its_like_outside_the_scope() -> None:
    # a replaced node has two ports to check; that one of them is slow shows only beside the others
    cables = two_tier(hosts=12)
    observation = seen(cables)
    slow = observation.fabric.links[Port(guid("gpu5 mlx5_0"), 1)]._replace(rate=EDR)
    observation.fabric.links[slow.a] = observation.fabric.links[slow.b] = slow
    verdict = verify(plan(cables, rate=None), observation, Options(only="gpu5"))
    assert (verdict.counts.intended, verdict.counts.degraded) == (2, 1)


def test_a_duplicate_guid_of_a_chosen_device_stays_a_finding_under_only() -> None:
    observation = seen(two_tier())
    observation.problems.append(Problem(ProblemKind.DUPLICATE_GUID, "second block", 3, (guid("leaf1"),)))
    assert kinds(verify(plan(two_tier()), observation, Options(only="leaf1"))) == [FindingKind.DUPLICATE_GUID]
    assert kinds(verify(plan(two_tier()), observation, Options(only="leaf2"))) == []


def test_cables_missing_with_an_absent_device_outside_the_scope_are_findings() -> None:
    cables = two_tier()
    gone = [cable for cable in cables if "spine2" not in cable]
    verdict = verify(plan(cables), seen(gone), Options(only="leaf1"))
    assert (verdict.counts.missing, verdict.exit_code) == (2, 1)
    assert kinds(verdict) == [FindingKind.ABSENT_DEVICE]
    assert len(verdict.findings[0].cables) == 2


@pytest.mark.captures
def test_a_bad_cable_in_scope_is_never_exit_0(captures: Path) -> None:
    wanted = plan_from_observation(parse_any(read_capture(captures / "ibsim/small3/fabric.net"), "plan"))
    found = parse_any(read_capture(captures / "ibsim/small3-faulty/fabric.net"), "seen")
    for node in wanted.fabric.switches():
        verdict = verify(wanted, found, Options(only=node.name))
        assert (verdict.exit_code == 0) is (verdict.counts.bad == 0), node.name
