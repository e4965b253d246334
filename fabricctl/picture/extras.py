"""What a picture can show beside the verdict itself; everything is optional."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabricctl.panels import Panel
from fabricctl.picture.former import Former, LookedAt
from fabricctl.plan.lengths import RackSpot

Step = Mapping[str, Any]
"""One step of a work order: ``id``, ``number``, ``component``, ``from`` and ``to`` in words, ``devices`` (plan keys),
``ports`` (as the comparison names and counts them); any further text (``expect``, ``stop_if``, ``undo``, ``minutes``,
``labels``) is shown under its own name."""


@dataclass(frozen=True)
class Extras:
    """Beside the verdict.

    :param site: the site's name. :param made: when the fabric was judged, as text.
    :param steps: the work order; None when none was made, empty when nothing is to be moved.
    :param moves: one sentence on the moves needed, empty when they were not worked out.
    :param panels: plan node key -> the face of its model.
    :param racks: rack name -> its height and where it stands.
    :param heights: device or host name -> rack units it takes.
    :param serials: plan node key -> serial number.
    :param former: an earlier run to compare with. :param looked: whether this run would have shown a finding of it;
        None takes every place as looked at.
    """

    site: str = ""
    made: str = ""
    steps: Sequence[Step] | None = None
    moves: str = ""
    panels: Mapping[str, Panel] = field(default_factory=dict)
    racks: Mapping[str, RackSpot] = field(default_factory=dict)
    heights: Mapping[str, int] = field(default_factory=dict)
    serials: Mapping[str, str] = field(default_factory=dict)
    former: Former | None = None
    looked: LookedAt | None = None
