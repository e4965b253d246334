"""Values of ``--from``."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import UsageError
from fabricctl.workflows.discover import Viewer, parse_viewers


@pytest.mark.parametrize(
    ("text", "viewers"),
    [
        ("local", [Viewer()]),
        ("local?hca=mlx5_0&port=2", [Viewer(hca="mlx5_0", hca_port=2)]),
        ("ssh://gpu001", [Viewer("gpu001")]),
        ("ssh://root@gpu001:2222", [Viewer("gpu001", "root", 2222)]),
        ("ssh://root@gpu001,gpu002", [Viewer("gpu001", "root"), Viewer("gpu002", "root")]),
        (
            "ssh://root@a:22,admin@b:23,c",
            [Viewer("a", "root", 22), Viewer("b", "admin", 23), Viewer("c", "admin")],
        ),
        ("ssh://gpu[001-003]:2222", [Viewer(f"gpu00{n}", None, 2222) for n in (1, 2, 3)]),
        ("ssh://gpu[1,3],ufm1", [Viewer("gpu1"), Viewer("gpu3"), Viewer("ufm1")]),
        ("ssh://a,a", [Viewer("a")]),
        ("ssh://gpu001/", [Viewer("gpu001")]),
        ("ssh://root@[fe80::1%eth0]:22,[::1]", [Viewer("fe80::1%eth0", "root", 22), Viewer("::1", "root")]),
        ("ssh://10.0.0.1?hca=ibp24s0", [Viewer("10.0.0.1", hca="ibp24s0")]),
        ("ssh://a?port=1", [Viewer("a", hca_port=1)]),
    ],
)
def test_what_is_understood(text: str, viewers: list[Viewer]) -> None:
    assert parse_viewers(text) == viewers


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "expected local or ssh://"),
        ("locla", "did you mean local?"),
        ("gpu001", "did you mean ssh://gpu001?"),
        ("http://gpu001", "did you mean ssh://gpu001?"),
        ("ssh://", "an empty host"),
        ("ssh://a,,b", "an empty host"),
        ("ssh://a,", "an empty host"),
        ("ssh://gpu[1-", "open bracket"),
        ("ssh://gpu[3-1]", "runs backwards"),
        ("ssh://a:0", "'0' is no TCP port; expected 1 to 65535"),
        ("ssh://a:65536", "no TCP port"),
        ("ssh://a:", "no TCP port"),
        ("ssh://fe80::1", "write IPv6 as [fe80::1]"),
        ("ssh://-oProxyCommand=x", "is not a host name"),
        ("ssh://a b", "is not a host name"),
        ("ssh://-l@a", "is not a user name"),
        ("ssh://a/b", "is not a host name"),
        ("ssh://a?", "nothing after the question mark"),
        ("ssh://a?hac=mlx5_0", "did you mean hca=?"),
        ("ssh://a?hca=", "is not an HCA name"),
        ("ssh://a?hca=-C", "is not an HCA name"),
        ("ssh://a?port=x", "'x' is no HCA port; expected 1 to 254"),
        ("ssh://a?port=255", "no HCA port"),
        ("ssh://a?hca=a&hca=b", "hca= is given twice"),
    ],
)
def test_what_is_not_understood_names_the_part(text: str, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_viewers(text)
    assert part in str(caught.value)


def test_a_password_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        parse_viewers("ssh://root:hunter2@gpu001")
    assert "a password has no place here" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("viewer", "label"),
    [
        (Viewer(), "local"),
        (Viewer(hca="mlx5_0"), "local mlx5_0"),
        (Viewer("gpu001", "root", 2222, "mlx5_0", 1), "gpu001:2222 mlx5_0/1"),
        (Viewer("::1", port=22), "[::1]:22"),
        (Viewer("gpu001", hca_port=2), "gpu001 port/2"),
    ],
)
def test_a_label_names_what_tells_viewers_apart(viewer: Viewer, label: str) -> None:
    assert viewer.label == label


NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
VIEWERS = st.builds(
    Viewer, NAMES, NAMES, st.integers(1, 65535), st.just("mlx5_0"), st.one_of(st.none(), st.integers(1, 254))
)


@settings(max_examples=100, deadline=None)
@given(VIEWERS)
def test_a_viewer_written_out_is_read_back(viewer: Viewer) -> None:
    text = f"ssh://{viewer.user}@{viewer.host}:{viewer.port}?hca={viewer.hca}"
    if viewer.hca_port:
        text += f"&port={viewer.hca_port}"
    assert parse_viewers(text) == [viewer]


def understood(text: str) -> list[Viewer] | None:
    """None for a refusal; any other exception fails the test."""
    try:
        return parse_viewers(text)
    except UsageError:
        return None


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(max_size=40), st.text("ssh:/[]@,?&=-109ab%.", max_size=30).map("ssh://".__add__)))
def test_any_text_is_understood_or_refused(text: str) -> None:
    viewers = understood(text)
    assert viewers is None or all(v.host == "" or v.host[0] != "-" for v in viewers)
    assert viewers != []


def test_a_saved_discovery_given_to_from_is_told_where_it_goes(tmp_path: Path) -> None:
    saved = tmp_path / "fabric.txt"
    saved.write_text("# Topology file\n")
    with pytest.raises(UsageError) as caught:
        parse_viewers(str(saved))
    assert "--discovered" in caught.value.hint
    assert "ssh://" not in caught.value.hint
