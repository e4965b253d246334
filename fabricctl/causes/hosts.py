"""Plugs that stayed on their host but sit in another HCA: the host's panel reversed, its cages' ports exchanged.

Which HCA sits behind which cage is the model's panel table. On a DGX H100 the ports of each cage exchanged gives
rails 1 and 4, 2 and 3, 5 and 8, 6 and 7, the cages in reverse order rails r and r+4. A host without a table can
only be told to be cabled in reverse order of its rails.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from fabricctl.causes.candidate import MIN_LINKS, Candidate
from fabricctl.causes.layout import Layout
from fabricctl.causes.model import CauseKind
from fabricctl.fabric import Port
from fabricctl.hostset import natural_key
from fabricctl.panels import Panel, PanelPort


class HostPattern:
    """A way to cable a host wrongly: HCA key -> HCA key its plug would sit in."""

    def __init__(self, kind: CauseKind, word: str, order: dict[str, str], step: int = 0) -> None:
        self.kind, self.word, self.order, self.step = kind, word, order, step


def cages_of(panel: Panel | None, hcas: Mapping[str, str]) -> dict[str, dict[int, str]]:
    """Cage -> its ports -> HCA key; empty unless these HCAs fill cages of the panel, each one whole.

    :param hcas: HCA name -> key.
    """
    if panel is None:
        return {}
    found: dict[str, dict[int, str]] = defaultdict(dict)
    behind: dict[str, PanelPort] = {port.hca: port for port in panel.ports if port.hca}
    storage = panel.storage
    for name, key in hcas.items():
        if name in storage:
            continue  # no part of the compute rails
        port = behind.get(name)
        if port is None:
            return {}
        found[port.cage][port.port] = key
    whole = all(len(ports) == sum(port.cage == cage for port in panel.ports) for cage, ports in found.items())
    return found if whole and any(len(ports) > 1 for ports in found.values()) else {}


def patterns(keys: list[str], names: Mapping[str, str], panel: Panel | None) -> list[HostPattern]:
    """The ways this host could have been cabled wrongly.

    :param keys: its HCAs in rail order; :param names: HCA name -> key.
    """
    found: list[HostPattern] = []
    cages = cages_of(panel, names)
    order = sorted(cages, key=natural_key)
    if cages:
        crossed = {
            key: ports[3 - port]
            for ports in cages.values()
            for port, key in ports.items()
            if 3 - port in ports
        }
        found.append(HostPattern(CauseKind.HOST_CAGE_PORTS_EXCHANGED, "cage ports", crossed))
        for word, other in (("cages reversed", lambda port: port), ("panel turned", lambda port: 3 - port)):
            found += _reversed_cages(cages, order, word, other)
    if len(keys) >= MIN_LINKS:
        back = dict(zip(keys, reversed(keys), strict=True))
        found.append(HostPattern(CauseKind.HOST_PANEL_REVERSED, "rails reversed", back))
        for step in range(1, len(keys)):
            turned = {key: keys[(at + step) % len(keys)] for at, key in enumerate(keys)}
            signed = step if 2 * step <= len(keys) else step - len(keys)
            found.append(HostPattern(CauseKind.SHIFTED, "rails", turned, signed))
    told: dict[frozenset[tuple[str, str]], HostPattern] = {}
    for pattern in found:  # what the panel explains is not told as a row of rails, too
        told.setdefault(frozenset(pattern.order.items()), pattern)
    return list(told.values())


def _reversed_cages(
    cages: Mapping[str, Mapping[int, str]], order: list[str], word: str, other: Callable[[int], int]
) -> list[HostPattern]:
    moved: dict[str, str] = {}
    for cage, opposite in zip(order, reversed(order), strict=True):
        for port, key in cages[cage].items():
            to = cages[opposite].get(other(port))
            if to is not None:
                moved[key] = to
    return [HostPattern(CauseKind.HOST_PANEL_REVERSED, word, moved)] if moved else []


def host_candidates(
    displaced: Mapping[Port, Port], layout: Layout, panel_of: Callable[[str], Panel | None]
) -> Iterator[Candidate]:
    """Patterns of every host at least two of whose plugs sit in another of its own HCAs."""
    within: dict[str, dict[str, str]] = defaultdict(dict)
    for own, there in displaced.items():
        host = layout.host(own[0])
        if host is not None and layout.host(there[0]) == host and own[0] != there[0]:
            within[host][own[0]] = there[0]
    for host, sits in within.items():
        if len(sits) < MIN_LINKS - 1:
            continue
        keys = layout.hcas[host]
        names = {layout.nodes[key].hca or "": key for key in keys}
        panel = panel_of(host)
        for pattern in patterns(keys, names, panel):
            hits = sum(sits.get(key) == to for key, to in pattern.order.items())
            if hits < MIN_LINKS - 1 or hits < 0.5 * len(pattern.order):
                continue
            moves = {
                Port(a, n): Port(b, n) for a, b in pattern.order.items() for n, _ in layout.ports.get(a, ())
            }
            yield Candidate(
                pattern.kind,
                moves,
                (host,),
                (pattern.word, pattern.step, panel.name if panel else "", len(keys)),
                side="host",
                step=pattern.step,
                size=len(pattern.order),
                note=pattern.word,
            )
