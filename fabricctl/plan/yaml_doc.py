"""YAML plan documents: one top-level key, ``fat-tree`` or ``rules``."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from fabricctl.errors import PlanError
from fabricctl.plan.fat_tree import build
from fabricctl.plan.fat_tree_yaml import read_fat_tree
from fabricctl.plan.model import Plan
from fabricctl.plan.rules import build_rules
from fabricctl.plan.yaml_section import Section, shown, spelled

KINDS = ("fat-tree", "rules")
MAX_CHARS = 8_000_000
"""A YAML plan describes cables, it does not list a million of them; the loader reads some 50,000 lines a second."""
MAX_DEPTH = 64
"""Open brackets: the loader's time grows with the square of them (7 s for 2,000, ruamel.yaml 0.18)."""

_BRACKET = re.compile(r"[\[\]{}]")


def parse_plan_document(text: str, path: str) -> Plan:
    """The plan a YAML document describes.

    :param path: for messages and ``Plan.path``.
    :raises PlanError: not YAML, or not a plan; with path and line.
    """
    return plan_from_mapping(_load(text, path), path)


def plan_from_mapping(mapping: object, path: str) -> Plan:
    """The plan of a loaded mapping (a ``CommentedMap`` where lines are wanted).

    :param path: the file it stands in. :raises PlanError: as ``parse_plan_document``.
    """
    try:
        plan = _plan(mapping)
    except PlanError as exc:
        raise exc.at(path) from exc
    plan.path = path
    plan.fabric.origin = path
    return plan


def _plan(mapping: object) -> Plan:
    if not isinstance(mapping, dict):
        raise PlanError(f"expected a plan with the key {' or '.join(KINDS)}, found {shown(mapping)}")
    top = Section(mapping, "plan")
    found = [key for key in KINDS if key in mapping]
    if not found:
        first = spelled(next(iter(mapping), "nothing"))
        near = get_close_matches(first, KINDS, 1)
        hint = f"did you mean {near[0]}?" if near else ""
        raise PlanError(
            f"plan: expected the key {' or '.join(KINDS)}, found {shown(first)}", line=top.line(), hint=hint
        )
    top.allow(found[0])
    section = Section(top.get(found[0]), found[0], top.line(found[0]))
    if found[0] == "rules":
        return build_rules(section)
    tree = read_fat_tree(section)
    try:
        return build(tree)
    except PlanError as exc:
        raise PlanError(exc.message, line=exc.line or section.line(), hint=exc.hint) from exc


def _load(text: str, path: str) -> Any:
    _check_size(text, path)
    from ruamel.yaml import YAML  # slow to import, and most plans are no YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="rt").load(text)
    except MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        what = exc.problem or exc.context or "cannot be read"
        raise PlanError(f"not YAML: {what}", path=path, line=mark.line + 1 if mark else 0) from exc
    except RecursionError as exc:
        raise PlanError("not a plan: nested too deep", path=path) from exc
    except (YAMLError, ValueError, OverflowError) as exc:  # ValueError: a date such as 2001-99-99
        raise PlanError(f"not YAML: {exc}", path=path) from exc


def _check_size(text: str, path: str) -> None:
    if len(text) > MAX_CHARS:
        raise PlanError(
            f"a YAML plan of {len(text):,} characters; at most {MAX_CHARS:,} are read",
            path=path,
            hint="write the loops as rules, or the cables as CSV",
        )
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] in "[{" else max(0, depth - 1)
        if depth > MAX_DEPTH:
            line = text.count("\n", 0, bracket.start()) + 1
            raise PlanError(f"more than {MAX_DEPTH} brackets are open here", path=path, line=line)
