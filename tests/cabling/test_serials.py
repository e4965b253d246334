"""Identities by serial number: turned into GUIDs where one seen switch has it, a note where not."""

from __future__ import annotations

import pytest

from fabricctl.cabling.binding import Names
from fabricctl.cabling.serials import with_serials
from fabricctl.fabric import Fabric, Node, NodeKind

ONE, TWO, GONE = (f"0x{n:016x}" for n in (1, 2, 9))
SEEN = Fabric({key: Node(key, NodeKind.SWITCH, key, key) for key in (ONE, TWO)})
SEEN.nodes[TWO] = Node(TWO, NodeKind.SWITCH, TWO, TWO, port_guids=((0, "0x00000000000000f2"),))


@pytest.mark.parametrize(
    ("declared", "serials", "named", "note"),
    [
        ({"MT1": "leaf1"}, {ONE: "MT1"}, {ONE: "leaf1"}, None),
        ({"mt1": "leaf1"}, {ONE: "MT1 "}, {ONE: "leaf1"}, None),
        ({"MT2": "leaf2"}, {"0x00000000000000f2": "MT2"}, {TWO: "leaf2"}, None),  # read by its port GUID
        ({"MT1": "leaf1", ONE: "leaf1"}, {ONE: "MT1"}, {ONE: "leaf1"}, None),
        ({"MT1": "leaf1", ONE: "leaf2"}, {ONE: "MT1"}, {ONE: "leaf2"}, "the GUID counts"),
        ({"MT7": "leaf1"}, {ONE: "MT1"}, {}, "declared serial MT7 (leaf1): no switch has it"),
        ({"MT9": "leaf1"}, {GONE: "MT9"}, {}, "declared serial MT9 (leaf1): its switch was not seen"),
        ({"MT1": "leaf1"}, {ONE: "MT1", TWO: "MT1"}, {}, "is that of 2 seen switches"),
        ({"MT1": "leaf1"}, {}, {}, "1 identity by serial number is not used"),
        ({ONE: "leaf1"}, {}, {ONE: "leaf1"}, None),
    ],
)
def test_by_serial(
    declared: dict[str, str], serials: dict[str, str], named: dict[str, str], note: str | None
) -> None:
    names, notes = with_serials(Names(declared=declared), SEEN, serials)
    assert {key: name for key, name in names.declared.items() if key.startswith("0x")} == named
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]
