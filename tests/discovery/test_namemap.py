"""Node name maps."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricctl.discovery.namemap import parse
from fabricctl.errors import DiscoveryError
from tests.conftest import read_capture


def test_the_map_of_a_whole_fabric(captures: Path) -> None:
    names = parse(read_capture(captures / "ibsim" / "imbue.namemap"))
    assert len(names) == 320
    assert names["0x9c0591030a000b00"] == "ibl-p02-r4"


def test_comments_blanks_and_bare_names() -> None:
    text = '# map\n\n  0x1\t"SW1  (Rack 11) slot 1"   # why\n0X2 leaf-2 # x\n0x3 "a # b"\n0x3 "a # b"\n'
    assert parse(text) == {
        "0x0000000000000001": "SW1  (Rack 11) slot 1",
        "0x0000000000000002": "leaf-2",
        "0x0000000000000003": "a # b",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('0x1 "a"\nleaf 0x2\n', "f:2: 'leaf 0x2' has no GUID"),
        ('0002c903 "a"\n', "f:1: .* has no GUID"),
        ("0x1\n", "f:1: 0x0000000000000001 has no name"),
        ('0x1 ""\n', "f:1: 0x0000000000000001 has no name"),
        ("0x1 # comment\n", "f:1: "),
        ('0x1 "a"\n0x1 "b"\n', "f:2: 0x0000000000000001 is called 'b' here and 'a' at line 1"),
        ('0x1 "a\n', "f:1: "),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(DiscoveryError, match=message):
        parse(text, "f")
