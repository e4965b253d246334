"""Simulated BMCs for the tests of provision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.sim.idrac import PASSWORD_VARIABLE, Simulator


@pytest.fixture
def simulator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Simulator]]:
    """Call it as ``Simulator`` is called; what it gives serves already, and stops when the test ends.

    The password that ``site_text()`` refers to stands in the environment.
    """
    with ExitStack() as running:

        def start(count: int = 1, **options: Any) -> Simulator:
            made = running.enter_context(Simulator(count, **options))
            monkeypatch.setenv(PASSWORD_VARIABLE, made.password)
            return made

        yield start
