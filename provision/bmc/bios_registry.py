"""A BIOS attribute registry (DMTF ``AttributeRegistry``): which values an attribute takes, and when it is read-only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Value = str | int | bool | None
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a registry says of one attribute.

    :param type: ``Enumeration``, ``Integer``, ``String``, ``Password`` or ``Boolean``; empty when unknown.
    :param read_only: as of the BMC's present settings (an iDRAC writes it for the profile that is set now).
    """

    name: str
    type: str = ""
    values: tuple[str, ...] = ()
    lower: int | None = None
    upper: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    expression: str = ""
    read_only: bool = False
    immutable: bool = False

    @property
    def secret(self) -> bool:
        """Whether its value is a password."""
        return self.type == "Password"


@dataclass(frozen=True, slots=True)
class Term:
    """``attribute EQU value``. :param glue: ``AND`` or ``OR`` with the terms before it; empty counts as OR."""

    attribute: str
    condition: str
    value: Value
    glue: str = ""


@dataclass(frozen=True, slots=True)
class Dependency:
    """When its terms hold, ``attribute.property`` becomes ``value``."""

    attribute: str
    property: str
    value: Value
    terms: tuple[Term, ...]

    def holds(self, settings: Values) -> bool:
        """Whether it applies under these settings.

        Terms without ``MapTerms`` are alternatives: in the registry of an R750 (BIOS 1.8.2) one dependency asks for
        SysProfile to be either of two profiles, which read as AND would never hold.
        """
        result = False
        for at, term in enumerate(self.terms):
            told = _told(term, settings)
            result = told if at == 0 else (result and told) if term.glue == "AND" else (result or told)
        return result


def _told(term: Term, settings: Values) -> bool:
    have, want = settings.get(term.attribute), term.value
    if term.condition in ("EQU", "NEQ"):
        return (have == want) == (term.condition == "EQU")
    if not isinstance(have, int) or not isinstance(want, int):
        return False
    return {"GTR": have > want, "GEQ": have >= want, "LSS": have < want, "LEQ": have <= want}.get(
        term.condition, False
    )


@dataclass(frozen=True)
class Registry:
    """All of it. :param dependencies: attribute -> what depends on others' values, in the registry's order."""

    rules: Mapping[str, Rule]
    dependencies: Mapping[str, tuple[Dependency, ...]] = field(default_factory=dict)

    def read_only(self, name: str, now: Values, then: Values) -> bool:
        """Whether an attribute cannot be written, once the settings are ``then``.

        :param now: settings the registry's own flags were written for.
        """
        rule = self.rules.get(name)
        if rule is None:
            return False
        if rule.immutable:
            return True
        locks = [d for d in self.dependencies.get(name, ()) if d.property == "ReadOnly"]
        explained = any(lock.value is True and lock.holds(now) for lock in locks)
        if rule.read_only and not explained:
            return True
        return any(lock.value is True and lock.holds(then) for lock in locks)

    def implied(self, name: str, then: Values) -> Value:
        """The value an attribute takes by itself under these settings, None when nothing sets it."""
        for dependency in self.dependencies.get(name, ()):
            if dependency.property == "CurrentValue" and dependency.holds(then):
                return dependency.value
        return None

    def governors(self, name: str) -> tuple[str, ...]:
        """Attributes on which it depends whether this one can be written."""
        locks = (d for d in self.dependencies.get(name, ()) if d.property == "ReadOnly")
        return tuple(dict.fromkeys(term.attribute for lock in locks for term in lock.terms))


def read_registry(body: Mapping[str, Any]) -> Registry | None:
    """The registry of a body, None when it holds no attributes."""
    entries = body.get("RegistryEntries")
    listed = entries.get("Attributes") if isinstance(entries, dict) else None
    if not isinstance(entries, dict) or not isinstance(listed, list) or not listed:
        return None
    rules = {rule.name: rule for entry in listed if isinstance(entry, dict) and (rule := _rule(entry)).name}
    dependencies: dict[str, list[Dependency]] = {}
    for dependency in _dependencies(entries.get("Dependencies")):
        dependencies.setdefault(dependency.attribute, []).append(dependency)
    return Registry(rules, {name: tuple(found) for name, found in dependencies.items()})


def _rule(entry: Mapping[str, Any]) -> Rule:
    values = entry.get("Value")
    listed = values if isinstance(values, list) else []
    return Rule(
        name=str(entry.get("AttributeName") or ""),
        type=str(entry.get("Type") or ""),
        values=tuple(
            str(v["ValueName"]) for v in listed if isinstance(v, dict) and v.get("ValueName") is not None
        ),
        lower=_whole(entry.get("LowerBound")),
        upper=_whole(entry.get("UpperBound")),
        min_length=_whole(entry.get("MinLength")),
        max_length=_whole(entry.get("MaxLength")),
        expression=str(entry.get("ValueExpression") or ""),
        read_only=entry.get("ReadOnly") is True,
        immutable=entry.get("Immutable") is True,
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _dependencies(listed: Any) -> Iterator[Dependency]:
    for entry in listed if isinstance(listed, list) else []:
        inner = entry.get("Dependency") if isinstance(entry, dict) and entry.get("Type") == "Map" else None
        sources = inner.get("MapFrom") if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or not isinstance(sources, list):
            continue
        told = [source for source in sources if isinstance(source, dict)]
        if len(told) != len(sources) or any(s.get("MapFromProperty") != "CurrentValue" for s in told):
            continue  # a condition on something else than a value cannot be worked out here: the BMC decides
        terms = tuple(
            Term(
                str(s.get("MapFromAttribute")),
                str(s.get("MapFromCondition")),
                s.get("MapFromValue"),
                str(s.get("MapTerms") or ""),
            )
            for s in told
        )
        yield Dependency(
            str(inner.get("MapToAttribute")), str(inner.get("MapToProperty")), inner.get("MapToValue"), terms
        )


class ValueRefused(ValueError):  # noqa: N818 - a sentence about a value, caught where the plan is made
    """The text is no value of the attribute; says what would be."""


def typed(text: str, rule: Rule | None, current: Value) -> Value:
    """A written value in the type the attribute has.

    :param rule: None where the BMC has no registry: then the present value's type is taken.
    :raises ValueRefused: as it says.
    """
    kind = rule.type if rule is not None else ""
    if kind == "Password":
        raise ValueRefused("is a password: set it in the BIOS setup, not here")
    if kind == "Enumeration" and rule is not None and rule.values and text not in rule.values:
        raise ValueRefused(f"takes one of {', '.join(rule.values)}; found {text!r}")
    if kind == "Boolean" or (not kind and isinstance(current, bool)):
        return _boolean(text)
    if kind == "Integer" or (not kind and isinstance(current, int)):
        return _integer(text, rule)
    if kind == "String" and rule is not None:
        _check_text(text, rule)
    return text


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueRefused(f"takes true or false; found {text!r}")
    return text.lower() == "true"


def _integer(text: str, rule: Rule | None) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise ValueRefused(f"takes a whole number; found {text!r}")
    number = int(text)
    lower, upper = (rule.lower, rule.upper) if rule is not None else (None, None)
    if (lower is not None and number < lower) or (upper is not None and number > upper):
        raise ValueRefused(f"takes a number from {lower} to {upper}; found {number}")
    return number


def _check_text(text: str, rule: Rule) -> None:
    if rule.max_length is not None and len(text) > rule.max_length:
        raise ValueRefused(f"takes at most {rule.max_length} characters; found {len(text)}")
    if rule.min_length is not None and len(text) < rule.min_length:
        raise ValueRefused(f"takes at least {rule.min_length} characters; found {len(text)}")
    try:
        fits = not rule.expression or re.search(rule.expression, text) is not None
    except re.error:
        fits = True  # the BMC will judge by its own dialect
    if not fits:
        raise ValueRefused(f"takes text of the form {rule.expression}; found {text!r}")
