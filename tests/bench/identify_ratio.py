"""Parsing a discovery against identifying its switches: ``python -m tests.bench.identify_ratio DIR``."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

from fabricctl.discovery import ibnetdiscover
from fabricctl.identity.identify import identify
from fabricctl.workflows.load_plan import load_plan_file
from tests.bench.measure import cpu_of


def main() -> int:
    folder = Path(sys.argv[1])
    gc.disable()  # as the command does
    text = (folder / "seen.txt").read_text("utf-8")
    plan_s = cpu_of(2, lambda: load_plan_file(str(folder / "cabling.csv")))
    plan = load_plan_file(str(folder / "cabling.csv"))
    parse_s = cpu_of(2, lambda: ibnetdiscover.parse(text))
    seen = ibnetdiscover.parse(text)
    identify_s = cpu_of(2, lambda: identify(plan, seen))
    certain = len(identify(plan, seen).names)
    figures = {"plan_s": plan_s, "parse_s": parse_s, "identify_s": identify_s, "certain": certain}
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
