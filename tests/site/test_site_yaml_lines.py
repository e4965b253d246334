"""YAML to values with lines: what is read, and each way a text can be refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from fabricctl.errors import SiteError
from fabricctl.site.yaml_lines import MAX_VALUES, Plain, read_yaml, typed


def refused(text: str) -> str:
    with pytest.raises(SiteError) as caught:
        read_yaml(text, "s.yaml")
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_plain_scalars_stay_as_they_are_written() -> None:
    data = read_yaml("0x9c0591030a000500: no\na: 012\nb: 1e3\nc: 'null'\nd: ~\n", "s.yaml").data
    assert data == {"0x9c0591030a000500": "no", "a": "012", "b": "1e3", "c": "null", "d": None}


def test_every_key_and_item_knows_its_line() -> None:
    document = read_yaml("a:\n  b:\n    - x\n    -\n      c: 1\nd: 2\n", "s.yaml")
    assert document.line_of(("a", "b")) == 2
    assert document.line_of(("a", "b", 0)) == 3
    assert document.line_of(("a", "b", 1, "c")) == 5
    assert document.line_of(("d",)) == 6


def test_an_unwritten_key_has_the_line_of_its_nearest_parent() -> None:
    assert read_yaml("a: 1\nb:\n  c: 2\n", "s.yaml").line_of(("b", "missing", 3)) == 2


def test_a_key_written_twice_names_both_lines() -> None:
    assert refused("a: 1\nb: 2\na: 3\n") == "s.yaml:3: key 'a' is written twice, first on line 1"


def test_a_tab_is_named_as_the_cause() -> None:
    message = refused("a:\n\tb: 1\n")
    assert message.startswith("s.yaml:2: ")
    assert "indented with a tab; YAML wants spaces" in message


def test_an_unquoted_host_set_in_braces_is_named_as_the_cause() -> None:
    message = refused("name: x\nplace: {racks: B[01-64]}\n")
    assert message.startswith("s.yaml:2: ")
    assert "a host set needs quotes" in message


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a: 'b\n", 2, "unexpected end of stream"),
        ("a: b: c\n", 1, "mapping values are not allowed here"),
        ("a: 1\n---\nb: 2\n", 2, "expected one YAML document"),
        ("a: 1\nb: !!python/object:os.system x\n", 2, "tags are not used"),
        ("a: 1\n? [x]\n: y\n", 2, "expected a word as key"),
        ("<<: {a: 1}\n", 1, "merge keys"),
        ("a: *x\n", 1, "alias '*x' has no finished anchor"),
        ("a: &x [1, *x]\n", 1, "alias '*x' has no finished anchor"),
        ("a: 1\nb: \x00\n", 2, "control character"),
        ("[" * 5000, 1, "at most 40 levels"),
        ("%YAML 3.0\n--- a\n", 1, "not readable as YAML"),
    ],
)
def test_a_refused_text_names_its_line(text: str, line: int, part: str) -> None:
    message = refused(text)
    assert message.startswith(f"s.yaml:{line}: ")
    assert part in message


def test_nested_aliases_that_would_grow_without_end_are_refused() -> None:
    lines = ["a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    assert f"at most {MAX_VALUES:,} values" in refused("\n".join(lines))


def test_a_text_larger_than_any_site_file_is_refused_unread() -> None:
    assert "expected a site file" in refused("#" * (17 << 20))


def test_typed_turns_plain_scalars_into_numbers_and_keeps_quoted_ones() -> None:
    data = typed(read_yaml("a: 12\nb: 1.5\nc: true\nd: '12'\ne: [4xNDR, -3]\nf: 1-32\n", "s.yaml").data)
    assert data == {"a": 12, "b": 1.5, "c": True, "d": "12", "e": ["4xNDR", -3], "f": "1-32"}


def test_an_alias_repeats_its_anchors_value() -> None:
    assert read_yaml("a: &x {k: 1}\nb: *x\n", "s.yaml").data == {"a": {"k": "1"}, "b": {"k": "1"}}


words = st.text(alphabet="abcxyz019-_ ", min_size=1, max_size=8)
values = st.recursive(
    words | st.integers(-999, 999) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(words, values, max_size=4))
@settings(max_examples=60, deadline=None)
def test_what_another_yaml_writer_wrote_is_read_back(data: dict[str, object]) -> None:
    from io import StringIO

    stream = StringIO()
    YAML(typ="safe", pure=True).dump(data, stream)
    assert typed(read_yaml(stream.getvalue(), "s.yaml").data) == data


@given(st.text(max_size=200) | st.text(alphabet="a:-[]{}&*!%#'\"\n\t |>?", max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read_or_refused_with_a_site_error(text: str) -> None:
    try:
        document = read_yaml(text, "s.yaml")
    except SiteError as error:
        message = str(error)
    else:
        message = ""
        assert document.data is None or isinstance(document.data, dict | list | str | Plain)
    assert "\n" not in message
