"""From the findings that were open and those of a new run to what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from fabricctl.history.model import Known, Step

LooksAt = Callable[[Known], bool]
"""Whether a run would have shown a finding if its fault were still there."""


def advance(before: Mapping[str, Known], now: Iterable[str], looks_at: LooksAt) -> Step:
    """Compare.

    :param before: open findings by id; :param now: ids of the new run's findings.
    :param looks_at: asked only for findings that are not there any more.
    """
    present = dict.fromkeys(now)
    missing = [known for id, known in before.items() if id not in present]
    gone = tuple(known.id for known in missing if looks_at(known))
    told = set(gone)
    return Step(
        opened=tuple(id for id in present if id not in before),
        still=tuple(id for id in present if id in before),
        gone=gone,
        not_looked=tuple(known.id for known in missing if known.id not in told),
    )
