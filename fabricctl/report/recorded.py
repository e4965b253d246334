"""What recording a run changed, in one line."""

from __future__ import annotations

from collections.abc import Sequence

from fabricctl.history.model import Step


def recorded_words(number: int, step: Step, returned: Sequence[str], *, new: bool) -> str:
    """``recorded as run 12: 3 new, 1 returned, 150 still open, 2 gone, 4 not looked at``.

    :param number: of the run; :param returned: the part of ``step.opened`` that had been there before.
    :param new: False when it repeats the last run.
    """
    if not new:
        return f"the same as run {number}: nothing new to record"
    counts = (
        ("new", len(step.opened) - len(returned)),
        ("returned", len(returned)),
        ("still open", len(step.still)),
        ("gone", len(step.gone)),
        ("not looked at", len(step.not_looked)),
    )
    parts = [f"{count:,} {word}" for word, count in counts if count]
    return f"recorded as run {number}" + (f": {', '.join(parts)}" if parts else "")
