"""What an answer says of itself."""

from __future__ import annotations

import pytest

from provision.bmc.reply import message_key
from provision.redfish.bmc import Layout


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("IDRAC.2.8.SYS518", "SYS518"),
        ("Base.1.12.Success", "Success"),
        ("Base.1.18.1.PropertyUnknown", "PropertyUnknown"),
        ("OpenBMC.0.4.PowerButtonPressed", "PowerButtonPressed"),
        ("SYS1003", "SYS1003"),
        ("Base.GeneralError", "GeneralError"),
        ("", ""),
    ],
)
def test_a_message_key_is_the_id_without_registry_and_version(written: str, key: str) -> None:
    assert message_key(written) == key


@pytest.mark.parametrize(
    ("vendor", "generation", "idrac"),
    [("Dell", 0, True), ("Dell", 9, True), ("", 8, True), ("AMI", 0, False)],
)
def test_an_idrac_is_known_by_vendor_or_generation(vendor: str, generation: int, idrac: bool) -> None:
    assert Layout("/s", "/m", (), vendor, generation).idrac is idrac
