"""Harvest: who every machine of a rack is, read off its BMC, compared with what is recorded, and stored.

Reading comes first and touches no store; then everything is compared at once, because only the whole fleet tells a
moved card from a copied address; then it is stored in a few short transactions, the outcome of each harvest last. A run
that is interrupted stores what was finished; one that is killed stores nothing, and ``--resume`` reads it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.reading import read_store
from fabricctl.adapters.store.store import Store, open_store
from fabricctl.errors import BmcError
from fabricctl.nodes.facts import FactChange, FactTelling, HeldFact, Key, by_part
from fabricctl.nodes.fleet import holders, plan_identities
from fabricctl.nodes.model import DERIVED, Fact, NodeRecord
from fabricctl.site.use import model_names
from provision.bmc.changes import (
    card_changes,
    clash_findings,
    expected_numbers,
    other_machine,
    part_changes,
    worth_telling,
)
from provision.bmc.inventory import Depth, Family, Inventory
from provision.bmc.node_facts import (
    STATUS_FIELD,
    Unread,
    complete_at,
    facts_of,
    identities_of,
    status_fact,
    unread,
    unsure,
    unsure_before,
    whole,
)
from provision.bmc.outcome import BmcFinding, Outcome
from provision.bmc.target import Target

if TYPE_CHECKING:
    from fabricctl.site.schema import Site

Asked = Sequence[Outcome[Inventory]]
Ask = Callable[[Sequence[Target]], Asked]
"""Reads the inventories of targets; raises a ``KeyboardInterrupt`` that has ``outcomes`` when it is interrupted."""


@dataclass(frozen=True)
class Request:
    """What is wanted.

    :param resume: only hosts whose last harvest of this depth was not complete.
    :param accept_replaced: store what another machine than the recorded one says.
    """

    depth: Depth = Depth.DEFAULT
    resume: bool = False
    accept_replaced: bool = False


@dataclass(frozen=True)
class Harvest:
    """What came of it.

    :param skipped: hosts that ``--resume`` did not ask; :param findings: of machines and cards, worst kinds first.
    :param changes: fields that have another value than before; :param withheld: hosts that were read but not stored,
        because another machine answered; :param stored: hosts that were; :param interrupted: not all were asked.
    :param unconfirmed: hosts with GUIDs that were derived and that nothing has confirmed yet.
    """

    at: datetime
    depth: Depth
    outcomes: Asked
    skipped: Sequence[str] = ()
    findings: Sequence[BmcFinding] = ()
    changes: Sequence[FactChange] = ()
    withheld: Sequence[str] = ()
    stored: Sequence[str] = ()
    interrupted: bool = False
    unconfirmed: Sequence[str] = ()

    @cached_property
    def inventories(self) -> dict[str, Inventory]:
        """Host -> what was read of it."""
        return {o.target.host: o.value for o in self.outcomes if o.value is not None}

    @cached_property
    def unread(self) -> dict[str, list[Unread]]:
        """Host -> what could not be told, of those that were read in part."""
        found = {host: unread(inventory) for host, inventory in self.inventories.items()}
        return {host: missing for host, missing in found.items() if missing}


def resumed(
    targets: Sequence[Target], site: Site, location: Location, depth: Depth
) -> tuple[list[Target], list[str]]:
    """Targets whose last harvest of this depth was not complete, and the hosts of the others."""
    with read_store(location, site.name) as store:
        if store is None:
            return list(targets), []
        held = store.facts.current([target.host for target in targets], field=STATUS_FIELD)
    done = {host for host, facts in held.items() for stored in facts if complete_at(stored.fact.value, depth)}
    return [t for t in targets if t.host not in done], [t.host for t in targets if t.host in done]


def harvest(
    targets: Sequence[Target],
    request: Request,
    ask: Ask,
    *,
    site: Site,
    location: Location,
    who: str,
    now: Callable[[], datetime],
) -> Harvest:
    """Read, compare, store.

    :param targets: all that are wanted, also those ``--resume`` leaves out; :param who: who runs this.
    :raises StateError: the store cannot be used; nothing of it was stored.
    """
    wanted, skipped = resumed(targets, site, location, request.depth) if request.resume else (targets, [])
    interrupted = False
    try:
        outcomes = ask(wanted)
    except KeyboardInterrupt as exc:
        outcomes, interrupted = tuple(getattr(exc, "outcomes", ())), True
    made = Harvest(now(), request.depth, outcomes, skipped, interrupted=interrupted)
    if not outcomes:
        return made
    with open_store(location, site=site.name) as store:
        return _Desk(site, store, request, who, made).settle()


class _Desk:
    """Comparing and storing one harvest."""

    def __init__(self, site: Site, store: Store, request: Request, who: str, made: Harvest) -> None:
        self.site, self.store, self.request, self.who, self.made = site, store, request, who, made
        self.reason = f"harvest ({made.depth.name.lower()})"
        self.records: Mapping[str, NodeRecord] = store.nodes.all()
        hosts = [outcome.target.host for outcome in made.outcomes]
        self.serials = store.facts.current(hosts, field="adapter.serial")
        self.held = holders(self.records.values())
        self.tags = site.management.service_tags
        self.models = model_names(site)

    def settle(self) -> Harvest:
        """All of it."""
        findings: list[BmcFinding] = []
        trusted: dict[str, Inventory] = {}
        retired: dict[str, Sequence[Fact]] = {}
        for host, inventory in self.made.inventories.items():
            record = self.records.get(host)
            findings += self._numbers(host, inventory)
            other = other_machine(host, inventory, self.tags.get(host, ""), record)
            if other is not None:
                findings.append(self._unaccepted(other))
            if other is None or (other.kind == "machine-replaced" and self.request.accept_replaced):
                trusted[host] = inventory
                found, retired[host] = card_changes(
                    host, inventory, record, by_part(self.serials.get(host, ()))
                )
                findings += found
        told = {host: identities_of(inventory) for host, inventory in trusted.items()}
        complete = [host for host, inventory in trusted.items() if Family.NIC not in unsure(inventory)]
        plan, clashes = plan_identities(told, self.held, complete, retired)
        findings += clash_findings(clashes)
        now, who, reason = self.made.at, self.who, self.reason
        self.store.nodes.tell_many(plan, who=who, reason=reason, now=now)
        merges = self.store.facts.tell(self._tellings(trusted), who=who, reason=reason, now=now)
        changes = {host: merge.changes(host) for host, merge in merges.items()}
        findings += [finding for some in changes.values() for finding in part_changes(some)]
        return replace(
            self.made,
            findings=_sorted(findings),
            changes=[
                change
                for host, merge in merges.items()
                for change in worth_telling(_of_parts(changes[host]), merge.held, _unsure(merge.held))
            ],
            withheld=[host for host in self.made.inventories if host not in trusted],
            stored=list(trusted),
            unconfirmed=[host for host, facts in told.items() if any(map(self._unconfirmed, facts))],
        )

    def _unaccepted(self, other: BmcFinding) -> BmcFinding:
        """That ``--accept-replaced`` cannot help where the site file itself expects another machine."""
        if not self.request.accept_replaced or other.kind == "machine-replaced":
            return other
        more = (
            f"; --accept-replaced changes the node record, not {self.site.path}: correct service_tags there"
        )
        return replace(other, text=other.text + more)

    def _unconfirmed(self, fact: Fact) -> bool:
        held = self.held.get((fact.kind, fact.value))
        return fact.source == DERIVED and (held is None or held.source == DERIVED)

    def _numbers(self, host: str, inventory: Inventory) -> list[BmcFinding]:
        name = self.models.get(host, "")
        model = self.site.node_models.get(name)
        if model is None:
            return []
        return expected_numbers(host, inventory, len(model.hcas), model.gpus, name)

    def _tellings(self, trusted: Mapping[str, Inventory]) -> list[FactTelling]:
        made = []
        for outcome in self.made.outcomes:
            host, inventory = outcome.target.host, outcome.value
            if host in trusted and inventory is not None:
                told = [*facts_of(inventory), status_fact(inventory)]
                made.append(FactTelling(host, told, whole(inventory)))
            else:
                why = _why(outcome.error) if outcome.error is not None else "another machine answered"
                made.append(FactTelling(host, [status_fact(None, why)]))
        return made


def _why(error: BmcError) -> str:
    """The kind of failure; its text may name addresses and times, and would be another at every run."""
    return type(error).__name__.removeprefix("Bmc").removesuffix("Error")


def _unsure(held: Mapping[Key, HeldFact]) -> frozenset[str]:
    """Families that the harvest before did not read whole."""
    status = held.get(("", STATUS_FIELD))
    return unsure_before(json.loads(status.text)) if status is not None else frozenset()


def _of_parts(changes: Iterable[FactChange]) -> list[FactChange]:
    return [change for change in changes if change.field != STATUS_FIELD]


_ORDER = (
    "service-tag-mismatch",
    "machine-replaced",
    "duplicate-service_tag",
    "duplicate-serial",
    "duplicate-mac",
    "duplicate-guid",
    "recorded-elsewhere",
    "board-replaced",
    "nic-replaced",
    "card-moved",
    "mac-vanished",
)


def _sorted(findings: Iterable[BmcFinding]) -> list[BmcFinding]:
    order = {kind: index for index, kind in enumerate(_ORDER)}
    return sorted(findings, key=lambda one: order.get(one.kind, len(order)))
