"""Identities written into a site file: lines are added, nothing else changes, and the result is a site file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import SiteError
from fabricctl.site.load import load_site
from fabricctl.site.use import identities
from fabricctl.site.write import add_identities
from tests.site.site_texts import SMALL

EXAMPLE = Path(__file__).resolve().parents[2] / "inventory" / "site.yaml"
LEAF, SPINE = "0x0000000000000001", "0x00000000000000a2"


def test_without_a_section_one_is_added_at_the_end() -> None:
    new = add_identities(SMALL, "site.yaml", {SPINE: "spine1", LEAF: "leaf1"})
    assert new == SMALL + f"\nidentities:\n  {LEAF}: leaf1\n  {SPINE}: spine1\n"
    assert identities(load_site(new, "site.yaml")) == {SPINE: "spine1", LEAF: "leaf1"}


def test_lines_go_behind_the_last_identity_and_comments_and_order_stay() -> None:
    text = SMALL.replace(
        "fabrics:\n",
        "identities:      # who is who\n"
        "    # the spine was read off its label\n"
        f"    {SPINE}: spine1   # by hand\n"
        "\n"
        "# the fabric\n"
        "fabrics:\n",
    )
    new = add_identities(text, "site.yaml", {LEAF: "leaf1"})
    assert new == text.replace("# by hand\n", f"# by hand\n    {LEAF}: leaf1\n")


@pytest.mark.parametrize("empty", ["identities:", "identities: {}", "identities: ~   # none yet"])
def test_an_empty_section_is_filled(empty: str) -> None:
    new = add_identities(SMALL + empty + "\n", "site.yaml", {LEAF: "leaf1"})
    assert identities(load_site(new, "site.yaml")) == {LEAF: "leaf1"}
    assert ("# none yet" in new) == ("# none yet" in empty)


def test_what_is_declared_already_stays_and_the_same_again_changes_nothing() -> None:
    text = SMALL + "identities:\n  00:00:00:00:00:00:00:01: leaf2\n  MT0001: spine1\n"
    new = add_identities(text, "site.yaml", {LEAF: "leaf1", SPINE: "spine1", "0x3": "leaf1"})
    assert new == text + "  0x3: leaf1\n"
    assert add_identities(new, "site.yaml", {LEAF: "leaf1", SPINE: "spine1", "0x3": "leaf1"}) == new


def test_identities_on_one_line_are_an_error_that_says_what_to_do() -> None:
    text = SMALL + f"identities: {{{SPINE}: spine1}}\n"
    with pytest.raises(SiteError, match="one line each") as caught:
        add_identities(text, "site.yaml", {LEAF: "leaf1"})
    assert caught.value.line == text.count("\n")


def test_line_endings_and_a_missing_last_newline_are_kept() -> None:
    text = (SMALL + f"identities:\n  {SPINE}: spine1").replace("\n", "\r\n")
    assert add_identities(text, "s", {LEAF: "leaf1"}) == text + f"\r\n  {LEAF}: leaf1\r\n"


def test_the_example_grows_by_its_switches_alone() -> None:
    text = EXAMPLE.read_text()
    names = {f"0x{n:016x}": f"ibc-{n:02d}" for n in range(1, 65)}
    new = add_identities(text, str(EXAMPLE), names)
    assert new.startswith(text)
    assert identities(load_site(new, str(EXAMPLE))) == names


@given(
    name=st.text(st.characters(exclude_categories=["C"], exclude_characters="\u2028\u2029\x85"), min_size=1)
)
def test_any_name_is_read_back_as_it_was(name: str) -> None:
    from fabricctl.site.yaml_lines import LineMap, read_yaml

    new = add_identities("name: x\n", "s", {LEAF: name})
    root = read_yaml(new, "s").data
    assert isinstance(root, LineMap)
    section = root["identities"]
    assert isinstance(section, LineMap)
    assert dict(section) == {LEAF: name}
