"""What goes wrong, by rule: which machine, which operation, how often."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

ANSWERS = {
    "503-after-commit": "carried out, but the answer is 503",
    "504-continues": "the answer is 504, the work goes on",
    "conflict": "409 of the database with Retry-After: 5, nothing is done",
    "drop-before": "the connection ends before anything is done",
    "drop-after": "carried out, and the connection ends without an answer",
    "slow": "the answer takes longer",
    "no-rack": "no rack controller reaches the BMC",
    "error": "500, nothing is done",
}
PHASES = {
    "stuck": "the machine never tells that it is done; MAAS's own timeout ends it",
    "stuck-forever": "as stuck, and MAAS's timeout does not work either",
    "fail": "the work fails, with a script's result",
}
HARDWARE = {
    "reorder-disks": "disks are found in another order",
    "replace-boot-disk": "the boot card has another serial number",
    "no-disks": "no disk is found",
    "missing-disk": "one data disk is not found",
    "missing-gpu": "one GPU is not found",
    "missing-nic": "one Ethernet port is not found",
    "missing-memory": "half of the memory is not found",
    "duplicate-serials": "two disks say the same serial number",
}
LASTING = frozenset({"reorder-disks", "replace-boot-disk"})
"""Of the hardware: nothing is broken then, so that nothing is repaired when the rule goes."""
KINDS = {**ANSWERS, **PHASES, **HARDWARE, "locked": "the machine is locked as soon as it is deployed"}


@dataclass
class Fault:
    """One rule.

    :param kind: of :data:`KINDS`; :param machine: host name or system id, ``*`` and ``?`` allowed; empty: any.
    :param op: ``create``, ``commission``, ``deploy``, ``release``, ``read``, ``list``, ``events.query``,
        ``tags.update_nodes``…, ``*`` allowed; empty: any; for the hardware it is ``commission``.
    :param count: how often it strikes, None: always; :param after: how often it passes before.
    :param chance: share of the matching calls it strikes.
    :param seconds: real seconds an answer waits; :param later: simulated seconds until the work of a 504 is done.
    :param text: of the answer, or what the failed script printed; :param at: share of the phase after which it fails.
    """

    kind: str
    machine: str = ""
    op: str = ""
    count: int | None = 1
    after: int = 0
    chance: float = 1.0
    seconds: float = 0.0
    later: float = 0.0
    text: str = ""
    at: float = 0.6
    hits: int = field(default=0, init=False)
    seen: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no fault {self.kind!r}; there are {', '.join(KINDS)}")

    def matches(self, op: str, names: Iterable[str]) -> bool:
        """Whether it is about this call."""
        if self.op and not fnmatchcase(op, self.op):
            return False
        return not self.machine or any(fnmatchcase(name, self.machine) for name in names)

    def strikes(self, op: str, names: Iterable[str], dice: random.Random) -> bool:
        """Whether it strikes this call; counts."""
        if not self.matches(op, names):
            return False
        self.seen += 1
        spent = self.count is not None and self.hits >= self.count
        if spent or self.seen <= self.after or (self.chance < 1 and dice.random() >= self.chance):
            return False
        self.hits += 1
        return True


class Faults:
    """The rules of a double; the first that strikes counts."""

    def __init__(self, seed: int = 1) -> None:
        self.rules: list[Fault] = []
        self._dice = random.Random(f"{seed}/faults")

    def add(self, kind: str, machine: str = "", op: str = "", **more: Any) -> Fault:
        """Add a rule; see :class:`Fault`. :raises ValueError: unknown kind."""
        fault = Fault(kind, machine, op, **more)
        self.rules.append(fault)
        return fault

    def clear(self, machine: str = "") -> None:
        """Nothing goes wrong any more, and broken hardware is whole when it is commissioned next.

        :param machine: only rules for it, as they name it; empty: all.
        """
        self.rules[:] = [rule for rule in self.rules if machine and rule.machine != machine]

    def load(self, path: Path) -> None:
        """Add the rules of a JSON file: a list of objects with the fields of :class:`Fault`."""
        self.take(json.loads(path.read_text()))

    def take(self, rules: list[dict[str, Any]]) -> None:
        """Add rules as objects. :raises ValueError: a field or kind is unknown."""
        known = {one.name for one in fields(Fault) if one.init}
        for rule in rules:
            if set(rule) - known:
                raise ValueError(f"a fault has no {', '.join(sorted(set(rule) - known))}")
            self.rules.append(Fault(**rule))

    def strike(self, kinds: Iterable[str], op: str, names: Iterable[str]) -> Fault | None:
        """The rule of one of some kinds that strikes."""
        among, given = set(kinds), list(names)
        for rule in self.rules:
            if rule.kind in among and rule.strikes(op, given, self._dice):
                return rule
        return None
