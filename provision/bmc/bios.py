"""BIOS settings of one node: what they are, how they differ from what is wanted, and what one write would send."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from provision.bmc.bios_registry import Registry, Value, ValueRefused, Values, typed
from provision.bmc.outcome import BmcFinding

_SECRET = re.compile(r"(?:Password|Secret)\Z")
APPLY_ON_RESET = {"ApplyTime": "OnReset"}


@dataclass(frozen=True)
class BiosState:
    """What one BMC says.

    :param values: attributes that are in force; :param pending: values that wait for the next boot and differ from
        those in force (an iDRAC lists only these, others list all). :param settings: path changes are written to.
    :param on_reset: whether the apply time may be written (a DGX H100 names none and applies at reset anyhow).
    """

    values: Values
    pending: Values = field(default_factory=dict)
    settings: str = ""
    registry: str = ""
    version: str = ""
    on_reset: bool = True


def read_bios(bios: Mapping[str, Any], settings: Mapping[str, Any] | None, version: str = "") -> BiosState:
    """Take both resources apart. :param settings: the one changes are written to, None when it is not there."""
    values = _attributes(bios)
    waiting = _attributes(settings or {})
    support = bios.get("@Redfish.Settings")
    times = support.get("SupportedApplyTimes") if isinstance(support, dict) else None
    return BiosState(
        values=values,
        pending={
            name: value for name, value in waiting.items() if name not in values or values[name] != value
        },
        settings=settings_path(bios),
        registry=str(bios.get("AttributeRegistry") or ""),
        version=version,
        on_reset=isinstance(times, list) and "OnReset" in times,
    )


def settings_path(bios: Mapping[str, Any]) -> str:
    """Where changes are written: named by the resource, ``…/Bios/Settings`` where it names none."""
    support = bios.get("@Redfish.Settings")
    link = support.get("SettingsObject") if isinstance(support, dict) else None
    named = link.get("@odata.id") if isinstance(link, dict) else None
    return str(named or f"{str(bios.get('@odata.id') or '').rstrip('/')}/Settings")


def _attributes(body: Mapping[str, Any]) -> dict[str, Value]:
    held = body.get("Attributes")
    return dict(held) if isinstance(held, dict) else {}


def shown(name: str, value: Value) -> str:
    """A value for people; of a password only whether there is one. Absent and null read the same."""
    if value is None:
        return "(none)"
    if _SECRET.search(name) and value != "":
        return "(secret)"
    return str(value).lower() if isinstance(value, bool) else str(value) or '""'


def nearest(name: str, known: Iterable[str]) -> str:
    """The attribute somebody may have meant, empty when none is near; case aside."""
    folded = {other.lower(): other for other in known}
    near = get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    return folded[near[0]] if near else ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One attribute of a profile against one node.

    :param known: the node's BIOS has such an attribute; :param near: the one that may be meant when it has not.
    :param pending: a value that waits for the next boot, None when none does.
    """

    host: str
    name: str
    want: str
    have: Value = None
    known: bool = True
    near: str = ""
    pending: Value = None

    @property
    def same(self) -> bool:
        """Whether the value in force is the wanted one."""
        return self.known and value_text(self.have) == self.want


def value_text(value: Value) -> str:
    """A value as a site file writes it."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def compare(host: str, state: BiosState, wanted: Mapping[str, str]) -> list[Difference]:
    """Every attribute of the profile, in its order."""
    return [
        Difference(
            host,
            name,
            _as_written(want, state.values.get(name)),
            state.values.get(name),
            name in state.values,
            "" if name in state.values else nearest(name, state.values),
            state.pending.get(name),
        )
        for name, want in wanted.items()
    ]


def _as_written(want: str, have: Value) -> str:
    """``True`` and ``007`` mean what the attribute's type makes of them."""
    if isinstance(have, bool):
        return want.lower()
    if isinstance(have, int) and re.fullmatch(r"[+-]?[0-9]{1,18}", want):
        return str(int(want))
    return want


def bios_findings(differences: Iterable[Difference]) -> list[BmcFinding]:
    """One finding per attribute that has another value than wanted."""
    return [
        BmcFinding(
            one.host,
            "bios-differs",
            f"{one.host}: {one.name} is {shown(one.name, one.have)}, should be {shown(one.name, one.want)}"
            + (
                f"; {shown(one.name, one.pending)} waits for the next boot" if one.pending is not None else ""
            ),
            one.name,
            shown(one.name, one.want),
            shown(one.name, one.have),
        )
        for one in differences
        if one.known and not one.same
    ]


@dataclass(frozen=True)
class BiosPlan:
    """What a write would do to one node.

    :param changes: attribute -> typed value to write; :param follows: attribute -> the one whose new value sets it by
        itself, so that it is not written; :param refused: sentences about what cannot be written.
    :param waiting: the same changes wait for the next boot already: nothing is written, the job is awaited.
    :param blocked: pending values that somebody else put there; nothing is written over them.
    """

    host: str
    before: Values
    changes: Values = field(default_factory=dict)
    follows: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    waiting: bool = False
    blocked: Values = field(default_factory=dict)

    @property
    def writes(self) -> bool:
        """Whether something would be sent."""
        return bool(self.changes) and not self.waiting and not self.refused and not self.blocked


def plan_write(host: str, state: BiosState, wanted: Mapping[str, str], registry: Registry | None) -> BiosPlan:
    """Work out one write; nothing that has its value already is in it."""
    refused: list[str] = []
    goal: dict[str, Value] = {}
    for name, text in wanted.items():
        try:
            goal[name] = _goal(name, text, state, registry)
        except ValueRefused as exc:
            refused.append(f"{name} {exc}")
    before = {name: state.values.get(name) for name in goal}
    differing = {name: value for name, value in goal.items() if state.values[name] != value}
    then = {**state.values, **state.pending, **goal}
    changes: dict[str, Value] = {}
    follows: dict[str, str] = {}
    for name, value in differing.items():
        if registry is None or not registry.read_only(name, state.values, then):
            changes[name] = value
        elif registry.implied(name, then) == value and set(registry.governors(name)) & set(differing):
            follows[name] = ", ".join(g for g in registry.governors(name) if g in differing)
        else:
            refused.append(_locked(name, registry, then))
    waiting = bool(changes) and all(
        name in state.pending and state.pending[name] == changes[name] for name in changes
    )
    foreign = {
        name: value
        for name, value in state.pending.items()
        if (
            goal[name] != value if name in goal else registry is None or registry.implied(name, then) != value
        )
    }
    if changes:
        blocked = foreign if waiting else dict(state.pending)
    else:
        blocked = {name: value for name, value in foreign.items() if name in goal}
    return BiosPlan(host, before, changes, follows, tuple(refused), waiting and not blocked, blocked)


def _goal(name: str, text: str, state: BiosState, registry: Registry | None) -> Value:
    if name not in state.values:
        near = nearest(name, state.values)
        raise ValueRefused("is not an attribute of this BIOS" + (f"; did you mean {near}?" if near else ""))
    rule = registry.rules.get(name) if registry is not None else None
    if _SECRET.search(name):
        raise ValueRefused("is a password: set it in the BIOS setup, not here")
    return typed(text, rule, state.values[name])


def _locked(name: str, registry: Registry, then: Values) -> str:
    governors = [f"{other}={value_text(then.get(other))}" for other in registry.governors(name)]
    return f"{name} is read-only" + (f" with {', '.join(governors)}" if governors else "")


def patch_body(state: BiosState, plan: BiosPlan) -> dict[str, Any]:
    """All attributes in one body, applied at the next reset: one job."""
    body: dict[str, Any] = {"Attributes": dict(plan.changes)}
    if state.on_reset:
        body["@Redfish.SettingsApplyTime"] = dict(APPLY_ON_RESET)
    return body
