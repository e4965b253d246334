"""No line, however long or odd, costs a discovery parser more than a moment or any error but its own."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import pytest
from discovery_samples import BLOCKS, DB_CSV, LINES, LST, NET_DUMP, PORTS, SMINFO, UFM

from fabricctl.cabling.verify import verify
from fabricctl.discovery import (
    db_csv,
    iblinkinfo,
    ibnetdiscover,
    ibnetdiscover_ports,
    ibsim_net,
    namemap,
    net_dump,
    sminfo,
    subnet_lst,
    ufm_links,
)
from fabricctl.discovery.model import Observation
from fabricctl.discovery.recognise import parse_any
from fabricctl.discovery.textlines import LONGEST_LINE
from fabricctl.errors import DiscoveryError

NET = """\
vendid=0x2c9
devid=0xd2f2
sysimgguid=0xa1
switchguid=0xa1(a1)
Switch\t3 "S-00000000000000a1"\t\t# "leaf 1" base port 0 lid 1 lmc 0
[1]\t"H-00000000000000c1"[1](c2) \t\t# "gpu001 mlx5_0" lid 3 4xHDR
[2]\t"S-00000000000000b1"[1]\t\t# "spine" lid 2 4xHDR

vendid=0x2c9
devid=0xd2f2
sysimgguid=0xb1
switchguid=0xb1(b1)
Switch\t1 "S-00000000000000b1"\t\t# "spine" enhanced port 0 lid 2 lmc 0
[1]\t"S-00000000000000a1"[2]\t\t# "leaf 1" lid 1 4xHDR

vendid=0x2c9
devid=0x1021
sysimgguid=0xc1
caguid=0xc1
Ca\t1 "H-00000000000000c1"\t\t# "gpu001 mlx5_0"
[1](c2) \t"S-00000000000000a1"[1]\t\t# lid 3 lmc 0 "leaf 1" lid 1 4xHDR
"""
NET_OLD = re.sub(r"[ \t]+", " ", NET)  # read line by line
IBSIM = 'Switch 3 "leaf 1" # "leaf 1"\n[1] "gpu001"[1]\n\nCa 1 "gpu001"\n[1] "leaf 1"[1] # x\n'
NAME_MAP = '0xa1 "leaf 1" # rack 4\n0xb1 spine\n'

PARSERS: dict[str, tuple[Callable[[str, str], object], str]] = {
    "ibnetdiscover": (ibnetdiscover.parse, NET),
    "ibnetdiscover, old": (ibnetdiscover.parse, NET_OLD),
    "ibsim net": (ibsim_net.parse, IBSIM),
    "ibnetdiscover -p": (ibnetdiscover_ports.parse, PORTS),
    "iblinkinfo": (iblinkinfo.parse, BLOCKS),
    "iblinkinfo -l": (iblinkinfo.parse, LINES),
    "subnet.lst": (subnet_lst.parse, LST),
    "net_dump": (net_dump.parse, NET_DUMP),
    "db_csv": (db_csv.parse, DB_CSV),
    "UFM": (ufm_links.parse, UFM),
    "sminfo": (sminfo.parse, SMINFO),
    "name map": (namemap.parse, NAME_MAP),
    "any": (parse_any, NET),
}
each_parser = pytest.mark.parametrize("name", PARSERS)

UNITS = (
    " ",
    "\t",
    "9",
    "a",
    "\u0663",
    '"',
    '" ',
    '" (',
    '" lid 1 ',
    "'",
    "' - '",
    " - ",
    ",",
    '",',
    ", ",
    ":",
)
MORE_UNITS = (
    "[",
    "]",
    "1[",
    "[1] ",
    '" 1 1[',
    "(",
    ")",
    " )",
    "{",
    "}",
    "} LID:1 PN:01 } {",
    "#",
    "# ",
    "==(",
    "Down/",
)


def run(parse: Callable[[str, str], object], text: str) -> tuple[object, str]:
    """What is read, or the error; within seconds of this process's time (backtracking takes minutes)."""
    start = time.process_time()
    try:
        read, error = parse(text, "f"), ""
    except DiscoveryError as exc:
        read, error = None, str(exc)
    assert time.process_time() - start < 10
    assert "\n" not in error
    assert len(error) < 1500
    assert "expected expected" not in error
    return read, error


def lines_with(sample: str, middle: str) -> Iterator[str]:
    """The sample with its first, third and last line's blank, quote, bracket and end followed by the middle."""
    lines = sample.splitlines()
    for index in sorted({0, min(2, len(lines) - 1), len(lines) - 1, *range(4, min(len(lines), 8))}):
        line = lines[index]
        places = {
            len(line),
            *(line.find(mark) + 1 for mark in '\t "[(=,:#{' if mark in line),
            line.rfind(" "),
        }
        for place in sorted(place for place in places if place > 0):
            changed = line[:place] + middle + line[place:]
            yield "\n".join((*lines[:index], changed, *lines[index + 1 :])) + "\n"


@each_parser
def test_a_line_of_a_hundred_thousand_of_anything_ends_within_a_second(name: str) -> None:
    parse, sample = PARSERS[name]
    first = sample.splitlines()[0]
    for unit in (*UNITS, *MORE_UNITS):
        middle = unit * (100_000 // len(unit))
        run(parse, middle + "x\n")
        run(parse, sample + middle + "x\n")
        run(parse, sample + first + middle + "x\n")
        if name != "any":
            run(parse_any, middle + "x\n" + sample)


@each_parser
def test_a_line_just_within_the_bound_ends_within_a_second(name: str) -> None:
    parse, sample = PARSERS[name]
    room = LONGEST_LINE - max(map(len, sample.splitlines())) - 8
    for unit in (*UNITS, *MORE_UNITS):
        for text in lines_with(sample, unit * (room // len(unit))):
            run(parse, text)


@pytest.mark.parametrize("name", [name for name in PARSERS if name not in ("UFM", "db_csv")])
def test_a_line_over_the_bound_is_an_error_naming_it(name: str) -> None:
    parse, sample = PARSERS[name]
    _, error = run(parse, sample + "#" + "x" * LONGEST_LINE + "\n")
    assert f"f:{sample.count(chr(10)) + 1}: the line is longer than 4,096 characters" in error


def test_both_readers_of_ibnetdiscover_refuse_a_long_description() -> None:
    for text in (NET, NET_OLD):
        _, error = run(ibnetdiscover.parse, text.replace('# "leaf 1"', '# "' + "x" * 4100 + '"', 1))
        assert error.startswith("f:5: the line is longer than 4,096 characters")
        _, error = run(
            ibnetdiscover.parse, text.replace('"spine" lid 2 4x', '"' + "x" * 4100 + '" lid 2 4x', 1)
        )
        assert error.startswith("f:7: the line is longer than 4,096 characters")


@each_parser
@pytest.mark.parametrize("digits", ["9" * 5000, "9" * 3000, "9" * 19, "\u0663", "1\u0663"])
def test_any_run_of_digits_in_any_place_is_read_or_refused(name: str, digits: str) -> None:
    parse, sample = PARSERS[name]
    for run_of_digits in re.finditer("[0-9]+", sample):
        read, _ = run(parse, sample[: run_of_digits.start()] + digits + sample[run_of_digits.end() :])
        if isinstance(read, Observation):
            assert all(0 <= port.number <= 254 for port in read.fabric.links)
            assert all(node.ports <= 255 for node in read.fabric.nodes.values())
            verify(None, read)


COUNTS = {
    "ibnetdiscover": (ibnetdiscover.parse, NET, "Switch\t3 ", "Switch\t{} ", 5),
    "ibnetdiscover, old": (ibnetdiscover.parse, NET_OLD, "Switch 3 ", "Switch {} ", 5),
    "ibsim net": (ibsim_net.parse, IBSIM, "Switch 3 ", "Switch {} ", 1),
    "subnet.lst": (subnet_lst.parse, LST, "SW Ports:03", "SW Ports:{:02X}", 1),
    "db_csv": (db_csv.parse, DB_CSV, '"leaf 1",3', '"leaf 1",{}', 4),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_node_of_more_than_255_ports_is_an_error_naming_the_line(name: str) -> None:
    parse, sample, old, new, line = COUNTS[name]
    assert old in sample
    read, _ = run(parse, sample.replace(old, new.format(255), 1))
    assert isinstance(read, Observation)
    assert max(node.ports for node in read.fabric.nodes.values()) == 255
    for count in (256, 999_999):
        _, error = run(parse, sample.replace(old, new.format(count), 1))
        assert error.startswith(f"f:{line}: ")
        assert f"says it has {count:,} ports; a node has at most 255" in error
    _, error = run(parse, sample.replace(old, new.format(2_000_000_000_000), 1))
    assert error.startswith(f"f:{line}: ")


def test_a_port_number_that_cannot_be_is_an_error_in_an_ibsim_net_too() -> None:
    for old, new in (("[1] ", "[300] "), ("[1]\n", "[300]\n")):
        _, error = run(ibsim_net.parse, IBSIM.replace(old, new, 1))
        assert error == "f:2: port number 300 is not one of 1 to 254"


def test_a_name_map_says_what_is_wrong_with_a_name() -> None:
    assert (
        run(namemap.parse, '0xa1 "leaf\n')[1]
        == 'f:1: the name \'"leaf\' is not understood; expected 0xGUID "name"'
    )
    assert run(namemap.parse, '0xa1 "leaf" 1\n')[1].startswith("f:1: the name ")
    assert run(namemap.parse, "0xa1 # leaf\n")[1].startswith("f:1: 0x00000000000000a1 has no name")
