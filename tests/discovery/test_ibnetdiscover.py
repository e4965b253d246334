from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.discovery import ibnetdiscover, ibnetdiscover_writer
from fabricctl.discovery.ibnetdiscover import parse
from fabricctl.discovery.model import Observation, ProblemKind
from fabricctl.errors import DiscoveryError
from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port, PortState
from fabricctl.rates import Rate
from tests.conftest import read_capture

LEAF, SPINE, HCA = "0x9c0591030a000500", "0x9c0591030a000c00", "0x9c05910300108100"
TEXT = """\
#
# Topology file: generated on Sun Nov 29 16:57:54 2026
#
# Initiated from node 9c05910300108100 port 9c05910300108101

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x9c0591030a000500
switchguid=0x9c0591030a000500(9c0591030a000500)
Switch\t8 "S-9c0591030a000500"\t\t# "MF0;ibl-p03-r2:MQM9700/U1" base port 0 lid 7 lmc 0
[1]\t"H-9c05910300108100"[1](9c05910300108101) \t\t# "gpu009 mlx5_1" lid 38 4xHDR
[5]\t"S-9c0591030a000c00"[3]\t\t# "MF0;ibs-p03-s1:MQM9700/U1" lid 13 4xHDR

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x9c0591030a000c00
switchguid=0x9c0591030a000c00(9c0591030a000c00)
Switch\t8 "S-9c0591030a000c00"\t\t# "MF0;ibs-p03-s1:MQM9700/U1" enhanced port 0 lid 13 lmc 0
[3]\t"S-9c0591030a000500"[5]\t\t# "MF0;ibl-p03-r2:MQM9700/U1" lid 7 4xHDR

vendid=0x2c9
devid=0x1021
sysimgguid=0x9c05910300108100
caguid=0x9c05910300108100
Ca\t1 "H-9c05910300108100"\t\t# "gpu009 mlx5_1"
[1](9c05910300108101) \t"S-9c0591030a000500"[1]\t\t# lid 38 lmc 0 "MF0;ibl-p03-r2:MQM9700/U1" lid 7 4xHDR
"""


def cables(observation: Observation) -> set[tuple[Port, Port, str]]:
    return {(*sorted((link.a, link.b)), str(link.rate)) for link in observation.fabric.each_link()}


CABLES = {(Port(HCA, 1), Port(LEAF, 1), "4xHDR"), (Port(LEAF, 5), Port(SPINE, 3), "4xHDR")}


def test_nodes_links_and_where_it_started() -> None:
    seen = parse(TEXT, "x")
    assert cables(seen) == CABLES
    leaf, hca = seen.fabric.nodes[LEAF], seen.fabric.nodes[HCA]
    assert (leaf.kind, leaf.name, leaf.model, leaf.ports, leaf.lid) == (
        NodeKind.SWITCH,
        "ibl-p03-r2",
        "MQM9700",
        8,
        7,
    )
    assert (hca.kind, hca.host, hca.hca, hca.device_id) == (NodeKind.HCA, "gpu009", "mlx5_1", 0x1021)
    assert dict(hca.port_guids) == {1: "0x9c05910300108101"}
    assert seen.sources[0].seen_from == HCA
    assert seen.problems == []


def test_a_port_without_a_line_is_down() -> None:
    assert parse(TEXT).fabric.state(Port(LEAF, 2)) is PortState.DOWN


VARIANTS = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "single spaces": lambda text: re.sub(r"[ \t]+", " ", text),
    "tabs stripped and CRLF": lambda text: text.replace("\t", "").replace("\n", "\r\n"),
    "no blank line after the banner": lambda text: text.replace("8101\n\nvendid", "8101\nvendid"),
    "blank lines with a space": lambda text: text.replace("\n\n", "\n \n"),
    "no system image GUID": lambda text: re.sub(r"sysimgguid=.*\n", "", text),
    "no port GUIDs": lambda text: text.replace("(9c05910300108101)", ""),
    "-f": lambda text: text.replace("4xHDR", "4xHDR s=4 w=2 v=4 e=4"),
    "-m": lambda text: text.replace("# Initiated", "# Reported max hops discovered: 5\n# Initiated"),
    "old -m": lambda text: text.replace("# Initiated", "# Max of 3 hops discovered\n# Initiated"),
    "-g": lambda text: text.replace(
        "vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x9c0591030a000500",
        "Chassis 1 (guid 0x9c0591030a000500) (director 1)\nSpine Nodes\n# Spine 1\n\nNon-Chassis Nodes\n\n"
        "vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x9c0591030a000500\t\t# Chassis 1 (director 1) slot 3",
        1,
    ).replace("[5]\t", "[5][ext 2]\t"),
    "xsigo slot": lambda text: text.replace(
        '"gpu009 mlx5_1" lid 38 4xHDR', '"gpu009 mlx5_1" lid 38 4xHDR slot 3 (scp)'
    ),
    "BOM-free but upper case GUIDs": lambda text: text.replace("9c0591030a000c00", "9C0591030A000C00"),
    "ibsim net header": lambda text: "width=3\nspeed=7\nextspeed=7\n" + text,
}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_spelling_gives_the_same_cables(name: str) -> None:
    if name == "-g":
        text = VARIANTS[name](TEXT)
        text = text.replace("Spine Nodes\n# Spine 1\n\n", "")
    else:
        text = VARIANTS[name](TEXT)
    assert text != TEXT
    seen = parse(text)
    assert cables(seen) == CABLES
    assert seen.problems == []


def test_lines_of_standard_error_are_doubts_not_errors() -> None:
    noise = "src/query_smp.c:195; umad (DR path slid 0; dlid 0; 0,1,5) bad status 110; Connection timed out\n"
    seen = parse(TEXT.replace("\nvendid", f"\n{noise}vendid", 1))
    assert cables(seen) == CABLES
    assert [problem.kind for problem in seen.problems] == [ProblemKind.TIMEOUT]


def test_a_description_of_quotes_and_spaces_up_to_64_bytes_survives() -> None:
    name = ' "# "lid 1 4xHDR" [1] \t'.replace("\t", " ").ljust(64, '"')
    assert len(name) == 64
    seen = parse(TEXT.replace("gpu009 mlx5_1", name))
    assert cables(seen) == CABLES
    assert seen.fabric.nodes[HCA].description == name


def test_aggregation_nodes_are_dropped_and_counted() -> None:
    agg = "9c0591030a000508"
    text = TEXT.replace('Switch\t8 "S-9c0591030a000500"', 'Switch\t9 "S-9c0591030a000500"').replace(
        "\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x9c0591030a000c00",
        f'[9]\t"H-{agg}"[1]({agg}) \t\t# "Mellanox Technologies Aggregation Node" lid 99 4xHDR\n'
        f'\nvendid=0x2c9\ncaguid=0x{agg}\nCa\t1 "H-{agg}"\t\t# "Mellanox Technologies Aggregation Node"\n'
        f'[1]({agg}) \t"S-9c0591030a000500"[9]\t\t# lid 99 lmc 0 "MF0;ibl-p03-r2:MQM9700/U1" lid 7 4xHDR\n'
        "\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x9c0591030a000c00",
    )
    seen = parse(text)
    assert seen.aggregation_nodes == 1
    assert cables(seen) == CABLES


def test_a_router_is_a_node_of_its_own_kind() -> None:
    text = (
        TEXT.replace("caguid=", "rtguid=")
        .replace("Ca\t1", "Rt\t1")
        .replace("H-9c05910300108100", "R-9c05910300108100")
    )
    assert parse(text).fabric.nodes[HCA].kind is NodeKind.ROUTER


def test_loopbacks_and_parallel_links_are_links() -> None:
    extra = (
        '[2]\t"S-9c0591030a000500"[3]\t\t# "MF0;ibl-p03-r2:MQM9700/U1" lid 7 4xHDR\n'
        '[3]\t"S-9c0591030a000500"[2]\t\t# "MF0;ibl-p03-r2:MQM9700/U1" lid 7 4xHDR\n'
        '[6]\t"S-9c0591030a000c00"[4]\t\t# "MF0;ibs-p03-s1:MQM9700/U1" lid 13 4xHDR\n'
    )
    back = '[4]\t"S-9c0591030a000500"[6]\t\t# "MF0;ibl-p03-r2:MQM9700/U1" lid 7 4xHDR\n'
    text = TEXT.replace(
        "\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x9c0591030a000c00",
        extra + "\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x9c0591030a000c00",
    )
    text = text.replace("\nvendid=0x2c9\ndevid=0x1021", back + "\nvendid=0x2c9\ndevid=0x1021")
    assert cables(parse(text)) == CABLES | {
        (Port(LEAF, 2), Port(LEAF, 3), "4xHDR"),
        (Port(LEAF, 6), Port(SPINE, 4), "4xHDR"),
    }


def test_a_neighbour_without_its_own_block_is_kept_named_and_doubted() -> None:
    seen = parse(TEXT[: TEXT.index("vendid=0x2c9\ndevid=0x1021")])
    assert cables(seen) == CABLES
    hca = seen.fabric.nodes[HCA]
    assert (hca.listed, hca.kind, hca.name) == (False, NodeKind.HCA, "gpu009 mlx5_1")
    assert [problem.kind for problem in seen.problems] == [ProblemKind.UNREAD_NODE]


def test_two_blocks_of_one_guid_are_a_duplicate() -> None:
    block = TEXT[TEXT.index("vendid=0x2c9\ndevid=0x1021") :]
    kinds = {problem.kind for problem in parse(TEXT + "\n" + block.replace("gpu009", "gpu010")).problems}
    assert ProblemKind.DUPLICATE_GUID in kinds


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('[5]\t"S-9c0591030a000c00"[3]', '[5]\t"S-9c0591030a000c00"', 12),
        ("4xHDR\n[5]", "4xFOO\n[5]", 11),
        ("Switch\t8", "Switsch\t8", 10),
        ("devid=0xd2f2", "devid=zzz", 7),
        ("[5]\t", "[500]\t", 12),
    ],
)
def test_a_line_that_is_not_understood_is_an_error_with_its_number(old: str, new: str, line: int) -> None:
    with pytest.raises(DiscoveryError) as caught:
        parse(TEXT.replace(old, new, 1), "f.txt")
    assert str(caught.value).startswith(f"f.txt:{line}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n\n", "# Topology file\n", "# Initiated from node 1 port 1\n"])
def test_no_node_at_all_is_an_error(text: str) -> None:
    with pytest.raises(DiscoveryError):
        parse(text)


def test_a_text_cut_anywhere_is_an_error_or_leaves_a_doubt(captures: Path) -> None:
    whole = read_capture(captures / "ibsim/small3/ibnetdiscover.txt")
    full = parse(whole)
    for end in range(1, len(whole.rstrip()), 37):
        try:
            seen = parse(whole[:end])
        except DiscoveryError:
            continue
        assert seen.problems, f"cut at {end}: nothing said"
    assert full.problems == []


def test_both_readers_agree_on_every_capture(captures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block reader is a shortcut: with it switched off the result must be the same."""
    paths = [
        captures / "ibnetdiscover/ufm_selene.compute.txt.gz",
        captures / "ibnetdiscover/topograph_example.out",
    ]
    paths += sorted((captures / "ibsim").glob("small*/ibnetdiscover.txt"))
    texts = [read_capture(path) for path in paths]
    # the tool leaves a system image GUID of 0 out, and fabrics written back may know neither it nor the device id
    texts += [
        re.sub(rf"^(?:{words})=.*\n", "", texts[0], flags=re.M)
        for words in ("sysimgguid", "devid|sysimgguid")
    ]
    for text in texts:
        fast = parse(text)
        with monkeypatch.context() as patch:
            patch.setattr(ibnetdiscover, "_BLOCK", re.compile(r"(?!)"))
            slow = parse(text)
        assert fast.fabric.nodes == slow.fabric.nodes
        assert fast.fabric.links == slow.fabric.links
        assert fast.fabric.states == slow.fabric.states
        assert fast.problems == slow.problems


# -- properties ---------------------------------------------------------------------------------------------

DESCRIPTIONS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=64)
RATES = st.builds(Rate, st.sampled_from([1, 4]), st.sampled_from(["SDR", "EDR", "HDR", "NDR"]))


@st.composite
def fabrics(draw: st.DrawFn) -> Fabric:
    fabric = Fabric()
    guids = draw(st.lists(st.integers(1, 2**64 - 1), min_size=2, max_size=6, unique=True))
    free = []
    for number, value in enumerate(guids):
        key = f"0x{value:016x}"
        kind = NodeKind.SWITCH if number % 2 == 0 else NodeKind.HCA
        description = draw(DESCRIPTIONS)
        fabric.nodes[key] = Node(key, kind, key, key, description, ports=8, lid=number, system_guid=key)
        free += [Port(key, n) for n in range(1, 9)]
    order = draw(st.permutations(free))
    pairs = draw(st.integers(1, len(order) // 2))
    for a, b in zip(order[0 : 2 * pairs : 2], order[1 : 2 * pairs : 2], strict=True):
        fabric.connect(Link(a, b, draw(RATES)))
    return fabric


@given(fabrics())
@settings(max_examples=100, deadline=None)
def test_what_is_written_is_read_back(fabric: Fabric) -> None:
    read = parse(ibnetdiscover_writer.write(fabric)).fabric
    assert {key: (n.kind, n.description, n.ports) for key, n in read.nodes.items()} == {
        key: (n.kind, n.description, n.ports) for key, n in fabric.nodes.items()
    }
    assert {(frozenset((k.a, k.b)), k.rate) for k in read.each_link()} == {
        (frozenset((k.a, k.b)), k.rate) for k in fabric.each_link()
    }


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_text_raises_nothing_but_the_parsers_own_error(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(TEXT) - 1))
    end = data.draw(st.integers(start, min(len(TEXT), start + 40)))
    text = TEXT[:start] + data.draw(st.text(max_size=30)) + TEXT[end:]
    try:
        parse(text, "f")
    except DiscoveryError as error:
        said = str(error)
    else:
        said = ""
    assert "\n" not in said
