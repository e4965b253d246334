"""Whatever the text, a discovery parser ends in an observation or in its own error."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from discovery_samples import BLOCKS, DB_CSV, LINES, LST, NET_DUMP, PORTS, SMINFO, UFM
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.discovery import (
    db_csv,
    iblinkinfo,
    ibnetdiscover_ports,
    namemap,
    net_dump,
    sminfo,
    subnet_lst,
    ufm_links,
)
from fabricctl.discovery.model import Observation
from fabricctl.discovery.recognise import parse_any
from fabricctl.errors import DiscoveryError

PARSERS: list[tuple[Callable[[str, str], Observation], str]] = [
    (ibnetdiscover_ports.parse, PORTS),
    (iblinkinfo.parse, BLOCKS),
    (iblinkinfo.parse, LINES),
    (subnet_lst.parse, LST),
    (net_dump.parse, NET_DUMP),
    (db_csv.parse, DB_CSV),
    (ufm_links.parse, UFM),
    (sminfo.parse, SMINFO),
]
IDS = ["ibnetdiscover -p", "iblinkinfo", "iblinkinfo -l", "subnet.lst", "net_dump", "db_csv", "UFM", "sminfo"]

BITS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        [
            "\n",
            "\r\n",
            '"',
            "'",
            "' - '",
            "} {",
            ":",
            ",",
            "[",
            "]",
            "==(",
            ")==>",
            "0x",
            "9" * 5000,
            "-1",
            "\udcff",
            "\0",
        ]
    ),
)


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """The text with up to four pieces cut out, put in, doubled or swapped for others."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 120)))
        piece = draw(st.one_of(BITS, st.just(text[start:end] * 2), st.just("")))
        text = text[:start] + piece + text[end:]
    return text


@pytest.mark.parametrize(("parse", "sample"), PARSERS, ids=IDS)
def test_mutated_samples(parse: Callable[[str, str], Observation], sample: str) -> None:
    @given(text=mutated(sample))
    @settings(max_examples=100, deadline=None)
    def check(text: str) -> None:
        try:
            seen = parse(text, "f")
        except DiscoveryError as error:
            seen_error = str(error)
        else:
            seen_error = ""
            for port, link in seen.fabric.links.items():
                assert port in (link.a, link.b)
                assert link.a.node in seen.fabric.nodes
                assert link.b.node in seen.fabric.nodes
        assert "\n" not in seen_error

    check()


@pytest.mark.parametrize(("parse", "sample"), PARSERS, ids=IDS)
def test_every_cut_of_a_sample_is_told_or_leaves_a_doubt_or_whole_lines(
    parse: Callable[[str, str], Observation], sample: str
) -> None:
    whole = parse(sample, "f")
    for end in range(len(sample)):
        try:
            seen = parse(sample[:end], "f")
        except DiscoveryError:
            continue
        if seen.problems or sample[:end].rstrip(" ").endswith("\n") or sample[end] == "\n":
            continue
        assert seen.fabric.links == whole.fabric.links
        assert seen.subnet_managers == whole.subnet_managers


@given(text=st.text(max_size=300))
@settings(max_examples=100, deadline=None)
def test_random_text(text: str) -> None:
    for parse in (*(parse for parse, _ in PARSERS), parse_any, namemap.parse):
        try:
            parse(text, "f")
        except DiscoveryError:
            continue
