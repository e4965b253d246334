"""Read-and-count against read-and-parse, alone in a process: ``python -m tests.bench.parse_ratio FILE TIMES``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fabricctl.discovery import ibnetdiscover
from tests.bench.measure import cpu_of


def main() -> int:
    path, times = Path(sys.argv[1]), int(sys.argv[2])
    read_s = cpu_of(9, lambda: path.read_bytes().count(b"\n"))
    parse_s = cpu_of(times, lambda: ibnetdiscover.parse(path.read_text("utf-8")))
    print(json.dumps({"read_s": read_s, "parse_s": parse_s}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
