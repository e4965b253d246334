"""Who is meant by a name: the one place where spellings, domains and sources of names are weighed.

A name meets another when they are equal but for case and blanks. A short host name meets a full one only where it
is the only one of that short form, and two full names with different domains never meet.
"""

from __future__ import annotations

from collections.abc import Iterable

from fabricctl.cabling.binding import Names
from fabricctl.discovery.names import Described, describe, name_key, short_key
from fabricctl.fabric import Fabric, Node, NodeKind


class NameIndex:
    """Keys by name. Several keys may share a name: then all are returned, and the caller sees that it is not unique."""

    def __init__(self) -> None:
        self._whole: dict[str, list[str]] = {}
        self._short: dict[str, set[str]] = {}

    def add(self, name: str, key: str) -> None:
        """Enter a key under a name; the same key twice is one."""
        whole = name_key(name)
        keys = self._whole.setdefault(whole, [])
        if key not in keys[-1:]:
            keys.append(key)
        if "." in whole:
            self._short.setdefault(short_key(whole), set()).add(whole)

    def exact(self, name: str) -> list[str]:
        """Keys of exactly this name."""
        return self._whole.get(name_key(name), [])

    def get(self, name: str) -> list[str]:
        """Keys of this name, else of the only name that differs by its domain."""
        whole = name_key(name)
        found = self._whole.get(whole)
        if found is not None:
            return found
        if "." in whole:
            return self._whole.get(short_key(whole), [])
        full = self._short.get(whole, set())
        return self._whole[next(iter(full))] if len(full) == 1 else []

    def shared(self, name: str) -> list[str]:
        """Keys of all names that this short name could stand for, when there are several; else nothing."""
        full = self._short.get(name_key(name), set())
        if len(full) < 2 or name_key(name) in self._whole:
            return []
        return sorted(key for whole in full for key in self._whole[whole])

    def names(self) -> Iterable[str]:
        """Every name, in the form names are compared in."""
        return self._whole.keys()


class Directory:
    """Names of discovered nodes: declared before mapped before described; a node also answers to its key.

    :param described: node key -> name, host and HCA as they count here.
    """

    def __init__(self, seen: Fabric, names: Names) -> None:
        self.seen = seen
        self.described: dict[str, Described] = {}
        ranked = (NameIndex(), NameIndex(), NameIndex())
        self.hosts = NameIndex()
        for key, node in seen.nodes.items():
            rank, said = self._effective(node, names)
            self.described[key] = said
            if said.name:
                ranked[rank].add(said.name, key)
                if rank == 2 and name_key(node.description) != name_key(said.name):
                    ranked[rank].add(node.description, key)
            if said.host and node.kind is NodeKind.HCA:
                self.hosts.add(said.host, key)
        self._ranked = ranked

    @staticmethod
    def _effective(node: Node, names: Names) -> tuple[int, Described]:
        for rank, source in enumerate((names.declared, names.mapped)):
            if node.key in source:
                return rank, describe(node.kind, source[node.key])
        name = "" if node.name == node.key else node.name
        return 2, Described(name, node.host, node.hca, node.model)

    def exact(self, name: str) -> list[str]:
        """Nodes of exactly this name, of the best source that has it; or the node of this key."""
        for index in self._ranked:
            if found := index.exact(name):
                return found
        return next(([key] for key in (name, name_key(name)) if key in self.seen.nodes), [])

    def find(self, name: str) -> list[str]:
        """Nodes of this name, or of the only one that differs by its domain."""
        return self.exact(name) or next((found for index in self._ranked if (found := index.get(name))), [])

    def is_switch(self, name: str) -> bool:
        """Whether a discovered switch has this name."""
        return any(self.seen.nodes[key].kind is NodeKind.SWITCH for key in self.find(name))

    def cards(self, host: str) -> list[Node]:
        """HCAs of a host; none when its short name stands for several hosts."""
        return [self.seen.nodes[key] for key in self.hosts.get(host)]

    def answers_to(self, key: str, allowed: Iterable[str]) -> bool:
        """Whether a node, or its host, is one of these names; a name without a domain holds for any."""
        said = self.described[key]
        own = {
            name_key(said.name),
            name_key(said.host or said.name),
            short_key(said.host or said.name),
            name_key(key),
        }
        return not own.isdisjoint(name_key(name) for name in allowed)


def plan_index(nodes: Iterable[Node]) -> NameIndex:
    """Planned nodes by name, by host and by key."""
    index = NameIndex()
    for node in nodes:
        for name in dict.fromkeys((node.name, node.host or node.name, node.key)):
            index.add(name, node.key)
    return index
