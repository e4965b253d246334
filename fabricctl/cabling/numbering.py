"""Port numbers of one switch in its two profiles, and which of them a comparison counts in.

In the profile ``ib split-ready`` a switch renumbers every port, split or not: the first half of normal port n is
2n - 1, its second half 2n (mstflint ``calculatePanelPort``; the tables of ``fabricctl/tables/`` hold it row by row). An
aggregation node sits behind the last port in both: 65 of 64, 129 of 128.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    def of(self, planned: str | None, seen: str | None) -> Halves | None:
        """Both numberings of a switch; None when nothing is known of it here. Params as for ``own``."""
        return self.halves.get(seen or "") or self.halves.get(planned or "")

    def shown(self, planned: str | None, seen: str | None) -> Profile | None:
        """The profile a switch is in, of an unseen one the one the plan is written in; None when nobody told."""
        profile = self.seen.get(seen) if seen is not None else None
        return self.planned.get(planned) if profile is None and planned is not None else profile

    def own(self, planned: str | None, seen: str | None, number: int) -> tuple[int, str | None]:
        """Number and label of a port as the switch itself shows it; of an unseen switch as the plan wrote it.

        :param planned: and :param seen: its keys, None where it has none; :param number: as counted here.
        :returns: the number, and the label on the face, None when nothing is known of the switch here.
        """
        profile, halves = self.shown(planned, seen), self.of(planned, seen)
        if halves is None:
            return number, None
        label = halves.label(number, self.counted)
        if profile is None or profile is self.counted:
            return number, label
        if profile is Profile.SPLIT_READY:
            return halves.to_split(number), label
        shown = halves.to_normal(number)
        return (number if shown is None else shown), label

    def own_count(self, planned: str | None, seen: str | None, ports: int) -> int:
        """A switch's number of ports as counted here -> as the switch itself shows it."""
        profile, halves = self.shown(planned, seen), self.of(planned, seen)
        if halves is None or profile is None or profile is self.counted:
            return ports
        return ports + (halves.ports if profile is Profile.SPLIT_READY else -halves.ports)

    def own_back(self, planned: str | None, seen: str | None, shown: int) -> int:
        """The number counted here of a port that the switch itself shows as ``shown``: ``own`` backwards.

        A number the switch's profile does not have stays.
        """
        profile, halves = self.shown(planned, seen), self.of(planned, seen)
        if halves is None or profile is None or profile is self.counted:
            return shown
        if profile is Profile.NORMAL:
            return halves.to_split(shown)
        number = halves.to_normal(shown)
        return shown if number is None else number

    def splits(self, planned: str | None, seen: str | None = None) -> bool:
        """Whether a switch's ports are counted here in the split-ready profile, two numbers a port."""
        return self.counted is Profile.SPLIT_READY and self.of(planned, seen) is not None

    def normal(self, planned: str | None, seen: str | None, number: int) -> tuple[int, ...]:
        """What tells a port in every profile: its normal number, and a 2 behind it for a second half.

        :param planned:, :param seen: and :param number: as for ``own``.
        """
        halves = self.of(planned, seen) if self.counted is Profile.SPLIT_READY else None
        if halves is None:
            return (number,)
        whole = halves.to_normal(number)
        if whole is not None:
            return (whole,)
        return (halves.back[number], 2) if number in halves.back else (number,)

    def normal_back(self, planned: str | None, seen: str | None, told: Sequence[int]) -> int | None:
        """``normal`` backwards; None for a second half where none is counted."""
        number, half = told[0], told[1] if len(told) > 1 else 1
        halves = self.of(planned, seen) if self.counted is Profile.SPLIT_READY else None
        if half == 1:
            return number if halves is None else halves.to_split(number)
        return halves.first[number] + 1 if halves is not None and number in halves.first else None

    def of_normal(self, key: str, number: int) -> int:
        """A number of the normal profile (a site file's) as it is counted here. :param key: plan or discovered."""
        halves = self.halves.get(key)
        return number if halves is None or self.counted is Profile.NORMAL else halves.to_split(number)
