"""Harvested HCA GUIDs: read in any order of words, strict about everything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.discovery.hca_guids import parse
from fabricctl.errors import DiscoveryError

WANTED = {"0x946dae0300123456": "gpu001 mlx5_0"}


@pytest.mark.parametrize(
    "line",
    [
        "gpu001 mlx5_0 946d:ae03:0012:3456",  # /sys/class/infiniband/*/node_guid
        "gpu001: mlx5_0 946d:ae03:0012:3456",  # with what pdsh puts before it
        "gpu001,mlx5_0,0x946dae0300123456",
        '0x946dae0300123456 "gpu001 mlx5_0"',
        "946dae0300123456\tgpu001\tmlx5_0",
        "gpu001 94:6d:ae:03:00:12:34:56 mlx5_0",
        "host,hca,guid\ngpu001,mlx5_0,946d:ae03:0012:3456\n\n# end",
    ],
)
def test_spellings(line: str) -> None:
    assert parse(line + "\n") == WANTED


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("gpu001 mlx5_0 946d:ae03:0012:3456\ngpu001 mlx5_1\n", 2),
        ("a b 946d:ae03:0012:3456 c\n", 1),
        ("gpu001 mlx5_0 946d:ae03:0012:3456\ngpu002 mlx5_0 0x946dae0300123456\n", 2),
        ("0x1 0x2 mlx5_0\n", 1),
    ],
)
def test_what_is_not_understood_is_named_by_its_line(text: str, line: int) -> None:
    with pytest.raises(DiscoveryError) as caught:
        parse(text, "guids.txt")
    assert (caught.value.line, caught.value.path) == (line, "guids.txt")


@given(st.text())
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    try:
        names = parse(text)
    except DiscoveryError:
        return
    assert all(len(guid) == 18 and name.count(" ") == 1 for guid, name in names.items())


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet\n", "host hca guid\n"])
def test_a_list_without_any_hca_is_refused(text: str) -> None:
    with pytest.raises(DiscoveryError, match="the list of HCA GUIDs is empty; expected lines such as"):
        parse(text, "guids.txt")
