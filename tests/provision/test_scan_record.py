"""Day 0: service tags that a scan learned are recorded, and bring every host its password."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fabricctl.adapters.store.store import open_store
from fabricctl.errors import BmcFingerprintError, BmcLoginError, StateConflictError
from fabricctl.nodes.model import Fact, IdentityKind
from fabricctl.workflows.state_place import locate
from provision.bmc.outcome import Outcome
from provision.bmc.target import Target, Trust
from provision.report.common import failure_lines
from provision.workflows.scan import record_tags
from tests.provision.halls import Hall
from tests.provision.key_desk import Keys
from tests.sim.idrac import Simulator

NOW = datetime(2026, 3, 2, tzinfo=UTC)
TAG = IdentityKind.SERVICE_TAG


@pytest.fixture
def keys(simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Keys:
    return Keys(Hall(tmp_path, simulator(3, first="127.47.1.1"), capsys, tags={})).start()


def tags(desk: Keys) -> dict[str, list[Fact]]:
    with open_store(locate(desk.hall.site, "")) as store:
        return {name: [i.fact for i in record.current(TAG)] for name, record in store.nodes.all().items()}


def test_tags_are_recorded_after_a_plan_and_then_every_host_finds_its_password(keys: Keys) -> None:
    code, out, _ = keys.hall.run("clock", "all")
    assert code == 3
    assert "could not tell: 3 BMCs\n  gpu[001-003]  no password" in out
    assert "fabricctl bmc scan 'gpu[001-003]' --record" in " ".join(out.split())
    code, out, err = keys.hall.run("scan", "--record")
    assert (code, "confirm with --yes" in err) == (2, True)
    assert f"gpu001  service tag (nothing) -> {keys.sim[0].service_tag}" in out
    assert not any(tags(keys).values())
    code, out, _ = keys.hall.run("scan", "--record", "--yes")
    assert (code, "3 service tags recorded" in out) == (0, True)
    assert tags(keys)["gpu002"] == [Fact(TAG, keys.sim[1].service_tag, "", "scan")]
    assert keys.hall.run("scan")[0] == 0
    assert keys.hall.run("credentials", "list")[0] == 0
    assert keys.hall.run("clock", "all")[0] == 0
    code, out, _ = keys.hall.run("scan", "--record", "--yes")
    assert (code, "no service tag to record" in out) == (0, True)


def test_a_tag_that_is_recorded_is_never_taken_away(keys: Keys) -> None:
    place = locate(keys.hall.site, "")
    record_tags(place, "hall", {"gpu001": "AAAAAA1"}, who="anna", now=NOW)
    for learned in ({"gpu002": "BBBBBB2", "gpu001": "CCCCCC3"}, {"gpu003": "AAAAAA1"}):
        with pytest.raises(StateConflictError):
            record_tags(place, "hall", learned, who="anna", now=NOW)
    assert {host: [fact.value for fact in found] for host, found in tags(keys).items()} == {
        "gpu001": ["AAAAAA1"]
    }


def targets(number: int) -> list[Target]:
    return [
        Target(f"gpu{n:03d}", f"192.0.2.{n}", 443, service_tag=f"TAG{n:04d}", trust=Trust())
        for n in range(1, number)
    ]


def test_the_same_advice_to_many_hosts_is_one_line_that_can_be_pasted() -> None:
    def changed(target: Target) -> BmcFingerprintError:
        hint = f"if it was renewed on purpose: fabricctl bmc trust {target.host} --replace --reason TEXT"
        return BmcFingerprintError("another certificate", bmc=str(target), hint=hint)

    def no_password(target: Target) -> BmcLoginError:
        text = f"no password for {target}: file:x has none for {target.host} or its service tag {target.service_tag}"
        return BmcLoginError(text, bmc=str(target))

    for make, words in (
        (changed, "fabricctl bmc trust 'gpu[001-003]' --replace --reason TEXT"),
        (no_password, "no password for it: file:x has none for it or its service tag"),
    ):
        lines = failure_lines([Outcome(target, error=make(target)) for target in targets(4)])
        assert len(lines) == 2
        assert words in "".join(text for text, _ in lines[1])
