"""The double against a real MAAS 3.7.3: every recorded request is sent to it, and it answers what MAAS answered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from tests.provision.maas.maas_listed import LISTED, read_listed
from tests.provision.maas.maas_recordings import PHASES, files, in_order
from tests.provision.maas.maas_replay import Difference, Replay
from tests.provision.maas.maas_uploads import Uploads
from tests.sim.maas.process import maas_double

OPTIONS: dict[str, dict[str, Any]] = {
    PHASES[0]: {"racks": 0},
    PHASES[1]: {"faults": [{"kind": "no-rack", "op": "deploy", "count": None}]},
    PHASES[2]: {},
}
"""What each phase of the recording session had: no rack controller; one that could not deploy; one that could."""
EXCHANGES = {PHASES[0]: 75, PHASES[1]: 65, PHASES[2]: 166}
"""Requests each log tells of."""
pytestmark = pytest.mark.captures


@dataclass
class Replayed:
    """What came of all requests of a phase, or of all phases."""

    names: list[str] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    typed: set[str] = field(default_factory=set)
    shaped: set[str] = field(default_factory=set)
    beside: set[str] = field(default_factory=set)
    rebuilt: set[str] = field(default_factory=set)

    def add(self, other: Replayed) -> None:
        """Another phase."""
        self.names += other.names
        self.differences += other.differences
        self.typed |= other.typed
        self.shaped |= other.shaped
        self.beside |= other.beside
        self.rebuilt |= other.rebuilt


@pytest.fixture
def recorded(captures: Path) -> Path:
    return captures / "maas" / "recorded"


@pytest.fixture
def sample(captures: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((captures / "maas" / "machine-resources-sample.json").read_text())
    return document


def replayed(recorded: Path, sample: dict[str, Any], phases: Sequence[str]) -> Replayed:
    every = Replayed()
    for phase in phases:
        with maas_double(speed=0.0, **OPTIONS[phase]) as maas:
            replay, one = Replay(maas, Uploads(sample), read_listed()), Replayed()
            for request in in_order(recorded / phase):
                one.names.append(request.name)
                one.differences += replay.play(request)
            one.typed, one.shaped = replay.typed, replay.shaped
            one.beside, one.rebuilt = replay.beside, replay.rebuilt
        every.add(one)
    return every


@pytest.mark.parametrize("phase", PHASES)
def test_every_recorded_request_gets_the_recorded_answer(
    recorded: Path, sample: dict[str, Any], phase: str
) -> None:
    found, listed = replayed(recorded, sample, (phase,)), read_listed()
    new = [str(one) for one in found.differences if not listed.knows(one.recording, one.at)]
    assert not new, f"differences that {LISTED.name} does not list:\n" + "\n".join(new)
    assert len(found.names) == EXCHANGES[phase]
    assert set(found.names) == {path.stem for path in files(recorded / phase)}


def test_all_that_is_listed_is_still_so_and_nothing_more(recorded: Path, sample: dict[str, Any]) -> None:
    found, listed = replayed(recorded, sample, PHASES), read_listed()
    gone = [
        f"{name} | {at}"
        for name, at in listed.differences
        if not any(fnmatchcase(one.recording, name) and fnmatchcase(one.at, at) for one in found.differences)
    ]
    assert not gone, f"listed in {LISTED.name}, but the double now answers as MAAS does: {gone}"
    assert sorted(found.typed) == sorted(listed.by_type)
    assert sorted(found.shaped) == sorted(listed.by_shape)
    assert sorted(found.beside) == sorted(listed.beside)
    assert sorted(found.rebuilt) == sorted(listed.rebuilt)
