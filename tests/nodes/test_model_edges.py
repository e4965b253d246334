"""What no card can have is refused, in every written form."""

from __future__ import annotations

import pytest

from fabricctl.errors import UsageError
from fabricctl.nodes.model import IdentityKind, make_fact


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (IdentityKind.GUID, "mlx5_0=0"),
        (IdentityKind.GUID, "0xffffffffffffffff"),
        (IdentityKind.GUID, "ff:ff:ff:ff:ff:ff:ff:ff"),
        (IdentityKind.MAC, "eth0=00:00:00:00:00:00"),
        (IdentityKind.MAC, "ff-ff-ff-ff-ff-ff"),
        (IdentityKind.MAC, "01005e000001"),
    ],
)
def test_nobodys_and_everybodys_addresses_are_no_identities(kind: IdentityKind, text: str) -> None:
    with pytest.raises(UsageError):
        make_fact(kind, text)
