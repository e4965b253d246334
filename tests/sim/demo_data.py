"""Makes the data of ``make demo``: the 320-switch fabric with faults, as the real ibnetdiscover saw it.

Run by ``make demo-data``; writes ``tests/data/demo/``. Needs ibsim, OpenSM and infiniband-diags.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from pathlib import Path

from tests.sim.cabling_csv import cabling_csv
from tests.sim.faults import inject
from tests.sim.ibsim import simulated
from tests.sim.netgen import SHAPES, build, discovery_lines

FAULTS = (
    "swap:3",
    "host-swap:2",
    "shift",
    "missing:5",
    "dead-spine",
    "dead-core",
    "dead-hca:4",
    "width:3",
    "speed:3",
)
SEED = 20
FOLDER = Path(__file__).resolve().parent.parent / "data" / "demo"


def main() -> int:
    net = build(SHAPES["hall"])
    FOLDER.mkdir(parents=True, exist_ok=True)
    _write_gz(FOLDER / "cabling.csv.gz", cabling_csv(net))
    faults = inject(net, FAULTS, random.Random(SEED))
    truth = json.dumps([fault.as_json() for fault in faults], indent=1) + "\n"
    (FOLDER / "truth.json").write_text(truth, encoding="utf-8")
    with simulated(discovery_lines(net), opensm=True) as sim:
        _write_gz(FOLDER / "ibnetdiscover-faulty.txt.gz", sim.discover())
    sys.stderr.write(f"{FOLDER}: {len(faults)} faults\n")
    return 0


def _write_gz(path: Path, text: str) -> None:
    """No time stamp inside, so that the same text gives the same bytes."""
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    raise SystemExit(main())
