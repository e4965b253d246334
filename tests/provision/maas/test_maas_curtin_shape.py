"""The configuration that curtin gets from the double, against one that a real MAAS 3.7.3 wrote."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.provision.maas.maas_asking import Asking
from tests.provision.maas.maas_replay import shapes
from tests.sim.maas.process import maas_double

pytestmark = pytest.mark.captures
COMPARED = (
    "type",
    "name",
    "id",
    "wipe",
    "model",
    "number",
    "flag",
    "offset",
    "size",
    "device",
    "volume",
    "path",
    "fstype",
)
"""What is compared in value: the captured machine has the same disks but for their serial numbers."""


@pytest.fixture
def captured(captures: Path) -> dict[str, Any]:
    return parse((captures / "maas" / "curtin-config.yaml").read_text())


@pytest.fixture
def ours() -> dict[str, Any]:
    with maas_double(speed=0.0) as served:
        ask = Asking(served)
        id = ask.enrol("gpu001", "52:54:00:00:00:01")
        ask.commission(id)
        return parse(ask.curtin(id))


def parse(text: str) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(StringIO(text))
    return found


def test_it_has_the_same_keys_and_types(captured: dict[str, Any], ours: dict[str, Any]) -> None:
    assert list(shapes(captured, ours, "config", values=False)) == []


def test_it_does_the_same_to_the_same_disks(captured: dict[str, Any], ours: dict[str, Any]) -> None:
    steps = [
        [{k: v for k, v in step.items() if k in COMPARED} for step in one["storage"]["config"]]
        for one in (captured, ours)
    ]
    assert steps[0] == steps[1]
