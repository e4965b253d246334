"""A sentence about a host, without its name, and the commands in it."""

from __future__ import annotations

import pytest

from provision.report.impersonal import filled, impersonal


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("enrol it: fabricctl maas enrol gpu001", "enrol it: fabricctl maas enrol 'gpu[001-002]'"),
        ("check: getent hosts gpu001", "check: getent hosts 'gpu[001-002]'"),
        (
            "gone for good: fabricctl node set gpu001 --retire aa:bb; gpu001 is off",
            "gone for good: fabricctl node set 'gpu[001-002]' --retire aa:bb; it is off",
        ),
        (
            "ssh login as root (ssh gpu001), gpu001 refused",
            "ssh login as root (ssh 'gpu[001-002]'), it refused",
        ),
        ("could not tell of pools: gpu001: no route", "could not tell of pools: no route"),
        ("gpu001-bmc and gpu001.example.com are others", "gpu001-bmc and gpu001.example.com are others"),
        ("nobody answers at gpu001.", "nobody answers at it."),
    ],
)
def test_a_host_is_it_in_a_sentence_and_the_folded_hosts_in_a_command(text: str, expected: str) -> None:
    assert filled(impersonal(text, "gpu001"), "gpu[001-002]") == expected


def test_commands_for_hosts_that_are_many_say_HOSTS() -> None:  # noqa: N802
    who = ",".join(f"gpu{number:03}" for number in range(1, 99, 2))
    assert filled(impersonal("fabricctl maas enrol gpu001", "gpu001"), who) == "fabricctl maas enrol HOSTS"
