"""A count and the first of the counted never run together."""

from __future__ import annotations

from fabricctl.cabling.model import Finding, FindingKind
from fabricctl.report.groups import group_findings


def test_the_count_is_parted_from_the_first_finding() -> None:
    found = [
        Finding(FindingKind.DUPLICATE_NAME, f"gpu{n}", f"gpu{n} mlx5_0 is claimed by two devices")
        for n in (4, 5)
    ]
    (group,) = group_findings(found)
    assert group.headline == "2 findings, the first: gpu4 mlx5_0 is claimed by two devices"
