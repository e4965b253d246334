"""Ironic and its emulated BMCs, one pair for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.sim.ironic import IronicServices, ironic_services
from tests.sim.judges.environments import IRONIC, InstallError, environment

SYSTEMS = 32


@pytest.fixture(scope="session")
def services() -> Iterator[IronicServices]:
    """Running; skips when pip cannot install them, fails instead when REQUIRE_TOOLS=1."""
    try:
        environment(IRONIC)
    except InstallError as problem:
        if os.environ.get("REQUIRE_TOOLS") == "1":
            pytest.fail(str(problem), pytrace=False)
        pytest.skip(f"tools not installed: {problem}")
    with ironic_services(SYSTEMS) as running:
        yield running
