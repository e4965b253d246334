"""The double against a real MAAS 3.7.3: every recorded request is sent to it, and it answers what MAAS answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from tests.provision.maas.maas_recordings import PHASES, files, in_order
from tests.provision.maas.maas_replay import Difference, Replay, deviations
from tests.provision.maas.maas_uploads import Uploads
from tests.sim.maas.process import maas_double

LISTED = Path(__file__).with_name("maas_deviations.txt")
OPTIONS: dict[str, dict[str, Any]] = {
    PHASES[0]: {"racks": 0},
    PHASES[1]: {"faults": [{"kind": "no-rack", "op": "deploy", "count": None}]},
    PHASES[2]: {},
}
"""What each phase of the recording session had: no rack controller; one that could not deploy; one that could."""
EXCHANGES = {PHASES[0]: 75, PHASES[1]: 65, PHASES[2]: 166}
"""Requests each log tells of."""
pytestmark = pytest.mark.captures


@pytest.fixture
def recorded(captures: Path) -> Path:
    return captures / "maas" / "recorded"


@pytest.fixture
def sample(captures: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((captures / "maas" / "machine-resources-sample.json").read_text())
    return document


def replayed(recorded: Path, sample: dict[str, Any], phase: str) -> Iterator[tuple[str, list[Difference]]]:
    with maas_double(speed=0.0, **OPTIONS[phase]) as maas:
        replay = Replay(maas, Uploads(sample))
        for one in in_order(recorded / phase):
            yield one.name, replay.play(one)


def listed(found: Difference) -> bool:
    return any(
        fnmatchcase(found.recording, name) and fnmatchcase(found.at, at) for name, at, _ in deviations(LISTED)
    )


@pytest.mark.parametrize("phase", PHASES)
def test_every_recorded_request_gets_the_recorded_answer(
    recorded: Path, sample: dict[str, Any], phase: str
) -> None:
    answers = list(replayed(recorded, sample, phase))
    new = [str(one) for _, differences in answers for one in differences if not listed(one)]
    assert not new, "differences that maas_deviations.txt does not list:\n" + "\n".join(new)
    assert len(answers) == EXCHANGES[phase]
    assert {name for name, _ in answers} == {path.stem for path in files(recorded / phase)}


def test_every_listed_deviation_still_occurs(recorded: Path, sample: dict[str, Any]) -> None:
    found = [one for phase in PHASES for _, many in replayed(recorded, sample, phase) for one in many]
    gone = [
        f"{name} | {at}"
        for name, at, _ in deviations(LISTED)
        if not any(fnmatchcase(one.recording, name) and fnmatchcase(one.at, at) for one in found)
    ]
    assert not gone, f"listed in {LISTED.name}, but the double now answers as MAAS does: {gone}"
