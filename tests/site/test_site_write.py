"""Identities written into a site file: lines are added, nothing else changes, and the result is a site file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import SiteError
from fabricctl.site.load import load_site
from fabricctl.site.use import identities
from fabricctl.site.write import add_identities, missing_identities
from fabricctl.site.yaml_lines import LineMap, read_yaml
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


@settings(deadline=None)
@given(
    name=st.text(st.characters(exclude_categories=["C"], exclude_characters="\u2028\u2029\x85"), min_size=1)
)
def test_any_name_is_read_back_as_it_was(name: str) -> None:
    new = add_identities("name: x\n", "s", {LEAF: name})
    root = read_yaml(new, "s").data
    assert isinstance(root, LineMap)
    section = root["identities"]
    assert isinstance(section, LineMap)
    assert dict(section) == {LEAF: name}


# -- layouts people write by hand -----------------------------------------------------------------------------

ONE, TWO = "0x0000000000000021", "0x0000000000000022"
EMPTY = ["", " ~", " null", " {}", "  {  }", "   # none yet", " ~   # none yet", " {}  # none yet"]
ENTRIES = [
    "{i}{k}: {v}",
    "{i}{k}:   {v}   # read off the label",
    '{i}"{k}": "{v}"',
    "{i}'{k}' : '{v}'",
    "{i}{k}:\n{i}  {v}",
    "{i}{k}:   # on the next line\n{i}    {v}  # here",
    "{i}{k}: |-\n{i}  {v}",
    "{i}{k}: |\n{i}  {v}\n",
    '{i}{k}: "{v}\n{i}  tail"',
    "{i}{k}: {v}\n{i}  tail",
    "{i}? {k}\n{i}: {v}",
    "{i}{k}: &n {v}",
    "{i}{k}:",
    "{i}{k}: {v}\n{i}# old: {v}\n\n",
    "\n{i}{k}: {v}",
]
BEFORE = ["", "# site\n", "---\n", "\ufeff", "%YAML 1.2\n---\n"]
AFTER = [
    "",
    "\n",
    "\n\n\n",
    "\n# the end",
    "\n...\n",
    "\n\n# what follows\nother: 1\n",
    "\nother: {a: 1}",
    "\nother:\n- 1\n",
]
KEYS = ["identities:", '"identities":', "'identities' :", "identities :"]


def sections() -> st.SearchStrategy[str]:
    """The lines of ``identities``: none at all, an empty value, or two entries."""
    keys = st.sampled_from(KEYS)
    empty = st.builds(str.__add__, keys, st.sampled_from(EMPTY))
    apart = st.builds("{}\n  {}".format, keys, st.sampled_from(["~", "{}", "# none yet"]))
    entry = st.sampled_from(ENTRIES)

    def filled(key: str, comment: str, indent: str, first: str, second: str) -> str:
        rows = (first.format(i=indent, k=ONE, v="leaf1"), second.format(i=indent, k=TWO, v="spine 2"))
        return "\n".join((f"{key}{comment}", *rows))

    comments = st.sampled_from(["", "   # who is who", "\n# who is who"])
    full = st.builds(filled, keys, comments, st.sampled_from(["  ", " ", "      "]), entry, entry)
    return st.one_of(st.just(""), empty, apart, full)


@settings(deadline=None)
@given(
    before=st.sampled_from(BEFORE),
    first=st.sampled_from(["name: x\n", "name: x   # c\n\n", "name: |\n  x\n"]),
    section=sections(),
    after=st.sampled_from(AFTER),
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_lines_are_added_to_any_block_layout_and_every_other_stays(
    before: str, first: str, section: str, after: str, ending: str
) -> None:
    text = (before + first + section + after).replace("\n", ending)
    given_ = {LEAF: "leaf 9", SPINE: "no"}
    root = read_yaml(text, "s").data
    assert isinstance(root, LineMap)
    new = add_identities(text, "s", given_)
    read = read_yaml(new, "s").data
    assert isinstance(read, LineMap)
    had = root.get("identities") or {}
    assert isinstance(had, LineMap | dict)
    assert dict(read) == {**root, "identities": {**had, **given_}}
    # only an empty value goes; comments, blanks and every other character stay as they were and where they were
    kept = iter(new)
    taken = [character for character in text if character not in "~{}nul \r\n"]
    assert all(character in kept for character in taken)
    lines, rest = text.splitlines(), new.splitlines()
    if had:
        assert [line for line in rest if LEAF not in line and SPINE not in line] == lines
    assert missing_identities(new, "s", given_) == {}
    assert add_identities(new, "s", given_) == new


@pytest.mark.parametrize(
    "section",
    [
        "identities: {0x1: leaf1}",
        "identities: {\n  0x1: leaf1,\n}",
        "identities: {\n  # none yet\n}",
        "identities: &a ~",
        "identities: &a {}",
        "identities: &a\n  0x1: leaf1",
        "? identities",
    ],
)
def test_a_layout_that_takes_no_lines_is_an_error_with_its_line(section: str) -> None:
    with pytest.raises(SiteError, match="as a block, one line each") as caught:
        add_identities(f"name: x\n{section}\n", "s", {SPINE: "spine9"})
    assert caught.value.line in (2, 3)


def test_a_file_on_one_line_is_an_error_too() -> None:
    with pytest.raises(SiteError, match="as a block"):
        add_identities("{name: x}\n", "s", {LEAF: "leaf9"})
