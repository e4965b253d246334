"""Read-and-count against read-and-parse, alone in a process: ``python -m tests.bench.parse_ratio FILE TIMES``."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

from fabricctl.discovery import ibnetdiscover
from tests.bench.measure import cpu_of


def _count_lines(path: Path) -> int:
    """Read a text file and count its lines: what any reader of lines pays before it understands one."""
    with path.open(encoding="utf-8") as lines:
        return sum(1 for _ in lines)


def main() -> int:
    path, times = Path(sys.argv[1]), int(sys.argv[2])
    gc.disable()  # as the command does
    bytes_s = cpu_of(9, lambda: path.read_bytes().count(b"\n"))
    lines_s = cpu_of(9, lambda: _count_lines(path))
    parse_s = cpu_of(times, lambda: ibnetdiscover.parse(path.read_text("utf-8")))
    print(json.dumps({"bytes_s": bytes_s, "lines_s": lines_s, "parse_s": parse_s}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
