"""HCAs that nobody can tell apart: factory texts, and one name on many (``localhost``) that the plan does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container

from fabricctl.discovery.names import describe, name_key, short_key
from fabricctl.fabric import Fabric
from fabricctl.plan.model import Plan


def nameless_hcas(seen: Fabric, plan: Plan, named: Container[str]) -> list[str]:
    """Keys of discovered HCAs whose description names nobody.

    :param named: discovered nodes that are declared, harvested or mapped.
    """
    planned = {
        short_key(word)
        for node in plan.fabric.nodes.values()
        for word in (node.name, node.host or "")
        if word
    }
    names: dict[str, str] = {}
    for node in seen.hcas():
        if node.key not in named:
            said = describe(node.kind, node.description).name if node.description else ""
            names[node.key] = name_key(said or (node.name if node.name != node.key else ""))
    counts = Counter(names.values())
    hosts: dict[str, bool] = {}

    def of_plan(name: str) -> bool:
        host = short_key(name.partition(" ")[0])
        if host not in hosts:
            hosts[host] = host in planned or short_key(name) in planned
        return hosts[host]

    return [key for key, name in names.items() if not name or (counts[name] > 1 and not of_plan(name))]
