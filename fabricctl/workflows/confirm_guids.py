"""Confirming derived GUIDs: what a fabric discovery or the hosts' ibstat say, laid beside the node record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fabricctl.adapters.files import decode, read_input
from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.reading import read_store
from fabricctl.discovery import hca_guids
from fabricctl.discovery.names import short_host
from fabricctl.discovery.recognise import parse_any
from fabricctl.fabric import NodeKind
from fabricctl.nodes.confirm import Judged, SeenGuid, Verdict, judge_guids
from fabricctl.nodes.fleet import IdentityTelling
from fabricctl.nodes.model import Fact, IdentityKind
from fabricctl.site.use import all_hosts
from fabricctl.workflows.state_place import operator

if TYPE_CHECKING:
    from fabricctl.site.schema import Site

FABRIC, IBSTAT = "fabric", "ibstat"
"""Sources of a GUID that was confirmed."""


def confirm_guids(
    site: Site,
    location: Location,
    *,
    discovered: Sequence[str] = (),
    harvested: str = "",
    names: Sequence[str] | None = None,
) -> list[Judged]:
    """Judge every derived GUID of the site's nodes and store those that are confirmed.

    :param discovered: files of fabric discoveries; :param harvested: file of host, HCA and GUID (``--hca-guids``).
    :param names: only these nodes.
    :raises InputError: a file cannot be used; nothing was stored.
    """
    hosts = set(all_hosts(site))
    seen = [(one, FABRIC) for path in discovered for one in _of_fabric(path, hosts)]
    seen += [(one, IBSTAT) for one in _of_hosts(harvested, hosts)] if harvested else []
    source = {one.guid: said for one, said in seen}
    with read_store(location, site.name) as store:
        if store is None:
            return []
        records = store.nodes.all(names)
        judged = judge_guids(records.values(), [one for one, _ in seen])
        told = list(_told(judged, source))
        if told:
            store.nodes.tell_many(told, who=operator(), reason="GUIDs confirmed", now=datetime.now(UTC))
    return judged


def _told(judged: Iterable[Judged], source: dict[str, str]) -> Iterator[IdentityTelling]:
    facts: dict[str, list[Fact]] = {}
    for one in judged:
        if one.verdict is Verdict.CONFIRMED:
            fact = Fact(IdentityKind.GUID, one.guid, one.part, source[one.guid])
            facts.setdefault(one.node, []).append(fact)
    return (IdentityTelling(node, tuple(some)) for node, some in facts.items())


def _of_fabric(path: str, hosts: set[str]) -> Iterator[SeenGuid]:
    """Node and port GUIDs of the HCAs of a discovery."""
    observation = parse_any(decode(read_input(path), path), path)
    for node in observation.fabric.nodes.values():
        if node.kind is not NodeKind.HCA:
            continue
        host = _host(node.host or "", hosts)
        for guid in dict.fromkeys([*([node.guid] if node.guid else []), *(g for _, g in node.port_guids)]):
            yield SeenGuid(guid, node.description or node.name, host, node.key)


def _of_hosts(path: str, hosts: set[str]) -> Iterator[SeenGuid]:
    names = hca_guids.parse(decode(read_input(path), path), path)
    for guid, name in names.items():
        yield SeenGuid(guid, name, _host(name.partition(" ")[0], hosts))


def _host(name: str, hosts: set[str]) -> str:
    """The site's name of a host, empty when it has none such: a node description may be anything."""
    return next((known for known in (name, short_host(name)) if known in hosts), "")
