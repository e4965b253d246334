"""A hall for the tests of commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.provision.install.maas_hall import MaasHall, maas_hall


@pytest.fixture
def hall_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., MaasHall]]:
    """Call it as :func:`maas_hall` is called, without the folder; what it gives stops when the test ends."""
    with ExitStack() as running:

        def start(count: int = 2, **options: Any) -> MaasHall:
            return running.enter_context(maas_hall(tmp_path, capsys, count, **options))

        yield start
