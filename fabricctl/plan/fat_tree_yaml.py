"""The keys of a ``fat-tree`` plan.

::

    fat-tree:
      tiers: 3                     # 2 or 3
      units: 16                    # scalable units
      nodes-per-unit: 32
      rails: 8
      rail-optimised: true
      hosts: 511                   # how many, or a host set: gpu[001-511]
      empty-places: 512            # a list: 32,64-66
      host: gpu{host:03}           # name templates; their words: fat_tree_params.FatTree
      hca: mlx5_{rail - 1}         # or   hcas: [mlx5_0, mlx5_3, ...] in rail order
      leaf: ibl-p{su:02}-r{rail}
      spine: ibs-p{pod:02}-s{index}
      core: ibc-{core:02}
      attach:                      # HCAs in places without a node
        - {host: ufm1, hca: mlx5_0, unit: 16, rail: 1, port: 32}
      reserve-for: ufm             # who holds the leaf ports still free
      switch-ports: 64
      leaf-ports: {down: 1-32, up: 33-64}
      spine-ports: {down: 1-32, up: 33-64}
      spines-per: pod              # pod, rail or fabric
      pod-units: 1
      spines: 8                    # per pod, rail or fabric
      core-pattern: spine-index    # spine-index, full or plane
      core-groups: 8
      cores: 64
      switch-model: QM9700
      hca-model: ConnectX-7
      rate: 4xNDR
      class: compute
      non-blocking: true

Only ``units`` is required; the rest has the defaults of ``FatTree``.
"""

from __future__ import annotations

import re
from typing import Any

from fabricctl.errors import UsageError
from fabricctl.hostset import expand
from fabricctl.plan.fat_tree_params import Attachment, CorePattern, FatTree, PortLayout, SpinesPer
from fabricctl.plan.yaml_section import Section, spelled

_RANGE = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?\Z", re.ASCII)
_WHOLE = {"units": "units", "rails": "rails", "nodes-per-unit": "nodes_per_unit", "pod-units": "pod_units",
          "spines": "spines", "cores": "cores", "core-groups": "core_groups"}  # fmt: skip
_TEMPLATES = ("host", "hca", "leaf", "spine", "core")
_TEXT = {"class": "link_class", "reserve-for": "reserve_for", "switch-model": "switch_model",
         "hca-model": "hca_model"}  # fmt: skip
_FLAG = {"rail-optimised": "rail_optimised", "non-blocking": "non_blocking"}
_OTHER = ("tiers", "hosts", "empty-places", "hcas", "attach", "switch-ports", "leaf-ports", "spine-ports",
          "spines-per", "core-pattern", "rate")  # fmt: skip


def read_fat_tree(section: Section) -> FatTree:
    """Read every key. :raises PlanError: with line, key, expected, found and the nearest known word."""
    section.allow(*_WHOLE, *_TEMPLATES, *_TEXT, *_FLAG, *_OTHER)
    section.require("units")
    given: dict[str, Any] = {field: section.whole(key, 0) for key, field in _WHOLE.items() if key in section}
    given |= {key: section.template(key).text for key in _TEMPLATES if key in section}
    given |= {field: section.text(key) for key, field in _TEXT.items() if key in section}
    given |= {field: section.flag(key, False) for key, field in _FLAG.items() if key in section}
    if "tiers" in section:
        given["tiers"] = section.whole("tiers", 3, 2, 3)
    if "switch-ports" in section:
        given["switch_ports"] = section.whole("switch-ports", 64, 2, 254)
    if "spines-per" in section:
        given["spines_per"] = section.word("spines-per", SpinesPer, SpinesPer.POD)
    if "core-pattern" in section:
        given["core_pattern"] = section.word("core-pattern", CorePattern, CorePattern.SPINE_INDEX)
    given |= _hosts(section)
    return FatTree(
        **given,
        hca_names=_names(section, "hcas"),
        empty_places=_numbers(section, "empty-places"),
        attach=tuple(_attachment(entry) for entry in section.sections("attach")),
        leaf_ports=_layout(section, "leaf-ports"),
        spine_ports=_layout(section, "spine-ports"),
        rate=section.rate("rate"),
    )


def _hosts(section: Section) -> dict[str, Any]:
    """``hosts`` is a count or a host set."""
    raw = section.get("hosts")
    if raw is None:
        return {}
    if isinstance(raw, int):
        return {"hosts": section.whole("hosts", 0, 0)}
    try:
        return {"host_names": tuple(expand(section.text("hosts")))}
    except UsageError as exc:
        raise section.error(f"hosts: {exc.message}", "hosts") from exc


def _names(section: Section, key: str) -> tuple[str, ...]:
    names = section.items(key)
    if any(not isinstance(name, str) or not name.strip() for name in names):
        raise section.error(f"{key}: expected a list of names", key)
    return tuple(names)


def _attachment(entry: Section) -> Attachment:
    entry.allow("host", "hca", "unit", "rail", "port")
    entry.require("host", "hca", "unit", "rail")
    port = entry.whole("port", 0, 1, 254) if "port" in entry else None
    return Attachment(
        entry.text("host"), entry.text("hca"), entry.whole("unit", 1), entry.whole("rail", 1), port
    )


def _layout(section: Section, key: str) -> PortLayout | None:
    inner = section.section(key)
    if inner is None:
        return None
    inner.allow("down", "up")
    inner.require("down")
    return PortLayout(_numbers(inner, "down"), _numbers(inner, "up"))


def _numbers(section: Section, key: str) -> tuple[int, ...]:
    """``1-16,33`` or a list of such -> numbers in written order."""
    raw = section.get(key)
    if raw is None:
        return ()
    parts = section.items(key) if isinstance(raw, list) else section.text(key).split(",")
    numbers: list[int] = []
    for part in parts:
        match = _RANGE.match(spelled(part).strip())
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if high < low or high - low >= 1_000_000:
            raise section.wrong(key, "numbers and ranges such as 1-32,40")
        numbers += range(low, high + 1)
    return tuple(numbers)
