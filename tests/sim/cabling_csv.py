"""The cabling list of a generated fabric as an installer would get it: ports, racks, units, lengths, speed.

Every scalable unit is a row of racks (A, B, ...): four hosts a rack, and a network rack at the row's end with
its leaves and spines; the cores fill the rows after the last, sixteen a rack.
"""

from __future__ import annotations

import csv
import io
from typing import NamedTuple

from tests.sim.netgen import DEFAULT_RATE, Box, Net

COLUMNS = ("a_device", "a_port", "z_device", "z_port", "a_rack", "a_u", "z_rack", "z_u", "length_m", "speed")
HOSTS_PER_RACK = 4
SWITCHES_PER_RACK = 16
LENGTHS_M = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000, 2000)
RACK_WIDTH_M, ROW_PITCH_M, UNIT_M, RACK_UNITS = 0.6, 3.0, 0.0445, 48


class Spot(NamedTuple):
    """A device's place: row and rack in the row (0-based), rack unit (1-based)."""

    row: int
    rack: int
    unit: int

    @property
    def rack_name(self) -> str:
        """``A01`` ... ``Z12``, ``AA01``."""
        number, letters = self.row + 1, ""
        while number:
            number, letter = divmod(number - 1, 26)
            letters = chr(ord("A") + letter) + letters
        return f"{letters}{self.rack + 1:02d}"


def places(net: Net) -> dict[str, Spot]:
    """Node id -> where it stands; the HCAs of a host share a spot."""
    hosts: dict[str, int] = {}
    per_unit: dict[int, int] = {}
    seen: dict[tuple[int, int], int] = {}
    spots: dict[str, Spot] = {}
    units = max(box.unit for box in net.boxes.values())
    host_racks = -(-max(_hosts_by_unit(net).values()) // HOSTS_PER_RACK)
    for node, box in sorted(
        net.boxes.items(), key=lambda item: (item[1].name.startswith("ufm"), item[1].name)
    ):
        if not box.is_switch:
            host = box.name.split()[0]
            if host not in hosts:
                hosts[host] = per_unit.get(box.unit, 0)
                per_unit[box.unit] = hosts[host] + 1
            rack, place = divmod(hosts[host], HOSTS_PER_RACK)
            spots[node] = Spot(box.unit - 1, rack, 3 + 9 * place)
            continue
        index = seen.get((box.tier, box.unit), 0)
        seen[box.tier, box.unit] = index + 1
        if box.tier == 3:
            rack, place = divmod(index, SWITCHES_PER_RACK)
            spots[node] = Spot(units + rack // 16, rack % 16, 10 + 2 * place)
        else:
            spots[node] = Spot(box.unit - 1, host_racks, (8 if box.tier == 1 else 28) + 2 * index)
    return spots


def _hosts_by_unit(net: Net) -> dict[int, int]:
    hosts: dict[int, set[str]] = {}
    for box in net.boxes.values():
        if not box.is_switch:
            hosts.setdefault(box.unit, set()).add(box.name.split()[0])
    return {unit: len(names) for unit, names in hosts.items()}


def length_m(a: Spot, z: Spot) -> int:
    """The shortest cable sold that reaches, over the tray above the racks."""
    if a[:2] == z[:2]:
        run = abs(a.unit - z.unit) * UNIT_M + 0.6
    else:
        run = (2 * RACK_UNITS - a.unit - z.unit) * UNIT_M + 1.0
        run += abs(a.rack - z.rack) * RACK_WIDTH_M + abs(a.row - z.row) * ROW_PITCH_M
    return next(length for length in LENGTHS_M if length >= run)


def cabling_csv(net: Net) -> str:
    """The plan as CSV text: hosts to leaves, leaves to spines, spines to cores; the lower device is end a."""
    spots = places(net)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    rows = sorted((net.boxes[a.node].tier, net.boxes[a.node].name, a.port, a, b) for a, b in net.each())
    for _, _, _, a, b in rows:
        here, there = spots[a.node], spots[b.node]
        writer.writerow(
            (
                *_ends(net.boxes[a.node], a.port),
                *_ends(net.boxes[b.node], b.port),
                here.rack_name,
                f"U{here.unit}",
                there.rack_name,
                f"U{there.unit}",
                length_m(here, there),
                DEFAULT_RATE,
            )
        )
    return out.getvalue()


def _ends(box: Box, port: int) -> tuple[str, str]:
    """A host's port is its HCA's name, a switch's its InfiniBand port number."""
    if box.is_switch:
        return box.name, str(port)
    host, hca = box.name.split()
    return host, hca
