"""Shared fixtures: the captures of real fabrics, found by path and never copied into the project."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_missing: list[str] = []


def captures_root() -> Path:
    """Folder of the captures: FABRICCTL_CAPTURES, or the neighbour folder where the team keeps them."""
    return Path(os.environ.get("FABRICCTL_CAPTURES", ROOT.parent / "shared" / "data"))


@pytest.fixture
def captures(request: pytest.FixtureRequest) -> Path:
    """The captures' folder; skips when absent, fails instead when REQUIRE_CAPTURES=1."""
    root = captures_root()
    if not root.is_dir():
        _missing.append(request.node.nodeid)
        message = f"captures not found at {root}; set FABRICCTL_CAPTURES"
        if os.environ.get("REQUIRE_CAPTURES") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return root


def read_capture(path: Path) -> str:
    """Text of a capture, .gz or plain; bytes that are not UTF-8 survive as surrogates."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return data.decode("utf-8", "surrogateescape")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End the run with how many tests were skipped for want of captures."""
    if _missing:
        terminalreporter.write_line(f"{len(_missing)} tests skipped: no captures (FABRICCTL_CAPTURES)")
