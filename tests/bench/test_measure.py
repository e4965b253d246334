"""What a measured command took is its own."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench.measure import run

HOLDS_100_MIB = "kept = bytearray(100 << 20); kept[::4096] = b'x' * len(kept[::4096]); raise SystemExit(3)"


def test_the_memory_of_who_measures_is_not_the_commands(tmp_path: Path) -> None:
    ballast = bytearray(300 << 20)
    ballast[::4096] = b"x" * len(ballast[::4096])
    used = run([sys.executable, "-I", "-S", "-c", HOLDS_100_MIB], cwd=tmp_path)
    assert used.code == 3
    assert 100 < used.peak_mib < 150
    assert len(ballast) == 300 << 20
