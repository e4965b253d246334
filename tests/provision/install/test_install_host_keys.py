"""Host keys made before an installation: what ssh-keygen reads and finds is the reference."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import UsageError
from fabricctl.nodes.facts import as_text
from provision.bmc.secret import Secret
from provision.install.host_keys import (
    HostKeyRecord,
    accepted,
    known_hosts,
    known_hosts_line,
    offer,
    plain_key,
    read_record,
    refused,
)
from provision.workflows.install_keys import make_host_key

KEYS = tuple(make_host_key().public for _ in range(4))
OLD, NEW, OTHER, STRANGE = KEYS


def keygen(*words: str) -> str:
    return subprocess.run(["ssh-keygen", *words], capture_output=True, text=True, check=False).stdout


def test_the_key_is_an_unencrypted_ed25519_key_as_ssh_keygen_reads_it(tmp_path: Path) -> None:
    made, path = make_host_key(), tmp_path / "key"
    path.touch(0o600)
    path.write_text(made.private.reveal())
    assert keygen("-y", "-f", str(path)).split()[:2] == made.public.split()
    assert made.public.startswith("ssh-ed25519 ")
    assert made.private.reveal().startswith("-----BEGIN OPENSSH PRIVATE KEY-----\n")


def test_no_two_keys_are_the_same_and_none_shows_its_private_half() -> None:
    one, other = make_host_key(), make_host_key()
    assert one.public != other.public
    assert "PRIVATE" not in f"{one} {one!r}"
    assert isinstance(one.private, Secret)


@pytest.mark.parametrize(
    ("names", "port", "asked"),
    [
        (("gpu001", "gpu001.example.org", "192.0.2.7"), 22, "gpu001.example.org"),
        (("gpu001", "192.0.2.7"), 22, "192.0.2.7"),
        (("GPU001",), 22, "gpu001"),
        (("2001:db8::7",), 22, "2001:db8::7"),
        (("gpu001", "192.0.2.7"), 2222, "[192.0.2.7]:2222"),
        (("2001:db8::7",), 2222, "[2001:db8::7]:2222"),
    ],
)
def test_ssh_keygen_finds_a_line_by_each_of_its_names(
    tmp_path: Path, names: tuple[str, ...], port: int, asked: str
) -> None:
    path = tmp_path / "known"
    path.write_text(known_hosts_line(names, NEW, port=port, comment="gpu001") + "\n")
    assert NEW in keygen("-F", asked, "-f", str(path))
    assert keygen("-F", "gpu002", "-f", str(path)) == ""


@pytest.mark.parametrize(
    "name",
    [
        "",
        "*",
        "gpu*",
        "gpu00?",
        "!gpu001",
        "gpu001,gpu002",
        "gpu 001",
        "@revoked",
        "#gpu001",
        "|1|a|b",
        "a\nb",
        "a\n",
        "-x",
    ],
)
def test_a_name_that_would_be_a_pattern_or_two_words_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="expected a host name or an IP address"):
        known_hosts_line([name], NEW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ssh-ed25519",
        "ssh-ed25519 !!!!",
        "ssh-ed25519 AAAA",
        f"ssh-rsa {NEW.split()[1]}",
        f"{NEW}\n* {OTHER}",
        f'command="rm" {NEW}',
    ],
    ids=["nothing", "a type alone", "no base64", "too short", "another type", "two lines", "options"],
)
def test_what_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        plain_key(text)


def test_a_private_key_is_refused_without_being_repeated() -> None:
    private = make_host_key().private.reveal()
    with pytest.raises(UsageError) as caught:
        plain_key(private)
    assert private.splitlines()[1] not in str(caught.value)


@given(st.text(max_size=40))
def test_whatever_the_name_a_line_is_one_line_or_refused(name: str) -> None:
    try:
        line = known_hosts_line([name], NEW)
    except UsageError:
        return
    assert line.splitlines() == [line]
    assert line.split(" ") == [name.lower(), *NEW.split(" ")]


def test_the_comment_of_a_key_is_dropped() -> None:
    assert plain_key(f"{NEW} root@gpu001") == NEW


NAMES = ("gpu001", "192.0.2.7")
INSTALLED = HostKeyRecord(NAMES, installed=OLD)


def test_before_an_installation_both_keys_are_known() -> None:
    assert offer(INSTALLED, NEW, NAMES).keys == (OLD, NEW)


def test_an_accepted_installation_forgets_the_old_key() -> None:
    assert accepted(offer(INSTALLED, NEW, NAMES), NEW).keys == (NEW,)


def test_a_refused_installation_keeps_the_old_key_only() -> None:
    assert refused(offer(INSTALLED, NEW, NAMES), NEW) == INSTALLED


def test_unknown_outcomes_keep_every_key_that_may_have_been_installed() -> None:
    assert offer(offer(INSTALLED, NEW, NAMES), OTHER, NAMES).keys == (OLD, NEW, OTHER)


def test_a_later_refusal_does_not_forget_an_earlier_unknown_outcome() -> None:
    twice = offer(offer(INSTALLED, NEW, NAMES), OTHER, NAMES)
    assert refused(twice, OTHER).keys == (OLD, NEW)


STEPS = st.lists(
    st.tuples(st.sampled_from(("offer", "accepted", "refused")), st.sampled_from(KEYS)), max_size=12
)


@given(STEPS)
def test_a_key_that_was_accepted_last_is_known_until_another_one_is(steps: list[tuple[str, str]]) -> None:
    record, last = HostKeyRecord(NAMES), ""
    for step, key in steps:
        if step == "offer":
            record = offer(record, key, NAMES)
        elif step == "accepted":
            record, last = accepted(record, key), key
        else:
            record = refused(record, key)
        assert not last or last in record.keys
        assert read_record(json.loads(as_text(record.as_value()))) == record


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"version": 2},
        {"version": 1, "names": [], "port": "22", "installed": "", "offered": []},
        {"version": 1, "names": [1], "port": 22, "installed": "", "offered": []},
    ],
)
def test_what_is_no_record_is_not_read(value: object) -> None:
    assert read_record(value) is None


def test_the_file_has_a_line_for_each_key_in_order_of_the_hosts() -> None:
    both = offer(INSTALLED, NEW, NAMES)
    text = known_hosts(
        [("gpu002", HostKeyRecord(installed=OTHER)), ("gpu001", both), ("gpu003", HostKeyRecord())]
    )
    assert text.splitlines()[1:] == [
        f"gpu001,192.0.2.7 {OLD} gpu001",
        f"gpu001,192.0.2.7 {NEW} gpu001",
        f"gpu002 {OTHER} gpu002",
    ]
