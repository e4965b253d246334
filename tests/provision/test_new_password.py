"""New passwords, and the account that gets one, as real BMCs describe it."""

from __future__ import annotations

import json
import random
import secrets
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import UsageError
from provision.bmc.account import find_account, lengths
from provision.bmc.new_password import check_length, fitting_length, new_password

DELL = set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'-!\"#$%&()*,./:;?@[\\]^_`{|}~+<=>")
"""iDRAC9 User's Guide, "Recommended characters in user names and passwords": 1 to 20 of these."""


@given(st.integers(12, 20), st.integers())
def test_every_password_is_one_that_idrac_and_ipmi_take(length: int, seed: int) -> None:
    word = new_password(length, random.Random(seed).choice).reveal()
    assert len(word) == length
    assert set(word) <= DELL
    assert word[0].isalpha()
    kinds = (str.isupper, str.islower, str.isdigit, lambda char: not char.isalnum())
    assert all(any(kind(char) for char in word) for kind in kinds)


def test_a_thousand_passwords_are_a_thousand() -> None:
    words = {new_password(12, secrets.choice).reveal() for _ in range(1000)}
    assert len(words) == 1000
    assert len({char for word in words for char in word}) == 24 + 25 + 8 + 4


@pytest.mark.parametrize("length", [0, 11, 21, 127])
def test_other_lengths_are_refused(length: int) -> None:
    with pytest.raises(UsageError, match="expected 12 to 20"):
        check_length(length)


@pytest.mark.parametrize(
    ("asked", "shortest", "longest", "fitting"),
    [(20, 0, 40, 20), (20, 13, 16, 16), (12, 13, 20, 13), (20, 0, 0, 20), (20, 21, 40, 0), (20, 0, 8, 0)],
)
def test_the_length_that_a_bmc_accepts(asked: int, shortest: int, longest: int, fitting: int) -> None:
    assert fitting_length(asked, shortest, longest) == fitting


@pytest.mark.captures
@pytest.mark.parametrize(
    ("name", "user", "account", "bounds"),
    [
        ("dell_r750_h100_ib_idrac9_6.00.30.json", "root", "/redfish/v1/AccountService/Accounts/2", (0, 40)),
        ("nvidia_dgx_h100_8xCX7.json", "admin", "/redfish/v1/AccountService/Accounts/1", (13, 20)),
    ],
)
def test_accounts_of_real_bmcs(
    captures: Path, name: str, user: str, account: str, bounds: tuple[int, int]
) -> None:
    dump = json.loads((captures / "redfish" / name).read_text())
    prefix = "/redfish/v1/AccountService/Accounts/"
    members = [body for path, body in dump.items() if path.startswith(prefix) and "UserName" in body]
    assert find_account(members, user) == account
    assert lengths(dump["/redfish/v1/AccountService"]) == bounds


def test_of_slots_with_alike_names_the_exact_one_counts_and_a_disabled_one_does_not() -> None:
    slots = [
        {"@odata.id": "/1", "UserName": "", "Enabled": False},
        {"@odata.id": "/2", "UserName": "root", "Enabled": False},
        {"@odata.id": "/3", "UserName": "Root", "Enabled": True},
        {"@odata.id": "/4", "UserName": "ROOT", "Enabled": True},
    ]
    assert find_account(slots, "Root") == "/3"
    assert find_account(slots, "rOOt") == ""
    assert find_account(slots[:3], "root") == "/3"
    assert find_account([], "root") == ""
