from __future__ import annotations

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port, PortState


def fabric(pairs: list[tuple[Port, Port]], nodes: int = 6) -> Fabric:
    made = Fabric({f"n{i}": Node(f"n{i}", NodeKind.SWITCH, f"n{i}", ports=8) for i in range(nodes)})
    for a, b in pairs:
        made.connect(Link(a, b))
    return made


def test_parallel_cables_and_loopbacks_are_separate_edges_of_the_graph() -> None:
    made = fabric(
        [(Port("n0", 1), Port("n1", 1)), (Port("n0", 2), Port("n1", 2)), (Port("n2", 1), Port("n2", 2))]
    )
    assert made.link_count == made.graph.number_of_edges() == 3
    assert made.graph.number_of_edges("n0", "n1") == 2
    assert isinstance(made.graph, nx.MultiGraph)


def test_a_plug_that_loops_one_port_back_is_one_link() -> None:
    made = fabric([(Port("n0", 1), Port("n0", 1))])
    assert (made.link_count, made.peer(Port("n0", 1))) == (1, Port("n0", 1))


def test_a_port_that_is_taken_is_a_clash_and_nothing_changes() -> None:
    made = fabric([(Port("n0", 1), Port("n1", 1))])
    clash = made.connect(Link(Port("n2", 1), Port("n1", 1)))
    assert clash is not None
    assert clash.port == Port("n1", 1)
    assert made.link_count == 1


def test_a_port_without_a_link_is_down_only_where_its_node_was_read() -> None:
    made = fabric([])
    made.nodes["far"] = Node("far", NodeKind.HCA, "far", listed=False)
    assert made.state(Port("n0", 1)) is PortState.DOWN
    assert made.state(Port("far", 1)) is PortState.UNKNOWN
    assert made.state(Port("n0", 9)) is PortState.UNKNOWN, "the node has eight ports"
    assert made.state(Port("nobody", 1)) is PortState.UNKNOWN


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(1, 8), st.integers(0, 5), st.integers(1, 8)), max_size=20
    )
)
@settings(max_examples=100, deadline=None)
def test_islands_are_the_connected_components_of_the_graph(rows: list[tuple[int, int, int, int]]) -> None:
    made = fabric([(Port(f"n{a}", p), Port(f"n{b}", q)) for a, p, b, q in rows])
    assert {frozenset(part) for part in made.islands()} == {
        frozenset(p) for p in nx.connected_components(made.graph)
    }
