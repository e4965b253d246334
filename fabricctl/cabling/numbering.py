"""Port numbers of one switch in its two profiles, and which of them a comparison counts in.

In the profile ``ib split-ready`` a switch renumbers every port, split or not: the first half of normal port n is
2n - 1, its second half 2n (mstflint ``calculatePanelPort``; the tables of ``fabricctl/tables/`` hold it row by row). An
aggregation node sits behind the last port in both: 65 of 64, 129 of 128.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from fabricctl.models import SwitchModel


class Profile(StrEnum):
    """Profiles as MLNX-OS calls them (``system profile ib``, ``ib split-ready``)."""

    NORMAL = "normal"
    SPLIT_READY = "split-ready"


@dataclass(frozen=True)
class Halves:
    """How one model counts its ports in both profiles.

    :param model: its name; :param first: normal port number -> number of its first half.
    :param shown: normal port number -> label on the face.
    """

    model: str
    first: Mapping[int, int]
    shown: Mapping[int, str]

    @property
    def ports(self) -> int:
        """Ports in the normal profile."""
        return len(self.first)

    @cached_property
    def back(self) -> dict[int, int]:
        """Split-ready number -> normal port number, of both halves."""
        return {first + half: port for port, first in self.first.items() for half in (0, 1)}

    @cached_property
    def firsts(self) -> frozenset[int]:
        """Split-ready numbers of first halves."""
        return frozenset(self.first.values())

    def to_split(self, number: int) -> int:
        """A normal number as the split-ready profile counts it; what is no port stays beyond all ports."""
        found = self.first.get(number)
        return number + self.ports if found is None else found

    def to_normal(self, number: int) -> int | None:
        """A split-ready number as the normal profile counts it; None for a second half, which has none."""
        if number > 2 * self.ports:
            return number - self.ports
        return self.back.get(number) if number in self.firsts else None

    def label(self, number: int, profile: Profile) -> str:
        """The face's label of a port; a second half gets ``/2`` behind it (``14/1/2``)."""
        if profile is Profile.NORMAL:
            return self.shown.get(number, "")
        label = self.shown.get(self.back.get(number, 0), "")
        return label if number in self.firsts or not label else f"{label}/2"


def halves_of(model: SwitchModel | None) -> Halves | None:
    """Both numberings of a model; None when it has no split-ready profile."""
    if model is None or not model.split_ready:
        return None
    return Halves(model.name, model.split_ready, model.shown)


@dataclass(frozen=True)
class Numbering:
    """In which profile port numbers of a plan and a discovery are counted, and how to print them.

    :param counted: profile that the numbers of every switch in ``halves`` are counted in.
    :param halves: node key (of plan or discovery) -> both numberings of its model.
    :param seen: discovered node key -> profile the switch is in; :param planned: plan node key -> profile its
        numbers were written in.
    """

    counted: Profile = Profile.NORMAL
    halves: Mapping[str, Halves] = field(default_factory=dict)
    seen: Mapping[str, Profile] = field(default_factory=dict)
    planned: Mapping[str, Profile] = field(default_factory=dict)

    def own(self, planned: str | None, seen: str | None, number: int) -> tuple[int, str | None]:
        """Number and label of a port as the switch itself shows it; of an unseen switch as the plan wrote it.

        :param planned: and :param seen: its keys, None where it has none; :param number: as counted here.
        :returns: the number, and the label on the face, None when nothing is known of the switch here.
        """
        profile = self.seen.get(seen) if seen is not None else None
        if profile is None and planned is not None:
            profile = self.planned.get(planned)
        halves = self.halves.get(seen or "") or self.halves.get(planned or "")
        if halves is None:
            return number, None
        label = halves.label(number, self.counted)
        if profile is None or profile is self.counted:
            return number, label
        if profile is Profile.SPLIT_READY:
            return halves.to_split(number), label
        shown = halves.to_normal(number)
        return (number if shown is None else shown), label

    def of_normal(self, key: str, number: int) -> int:
        """A number of the normal profile (a site file's) as it is counted here. :param key: plan or discovered."""
        halves = self.halves.get(key)
        return number if halves is None or self.counted is Profile.NORMAL else halves.to_split(number)

    def panel_number(self, key: str, number: int) -> int:
        """A number as counted here -> normal number, the one ``Panel.at`` knows; of a second half its port's."""
        halves = self.halves.get(key)
        if halves is None or self.counted is Profile.NORMAL:
            return number
        return halves.back.get(number, number)
