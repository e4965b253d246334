"""A few hosts on the MAAS double."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.install.outcome import End, Told
from tests.provision.install.flow_kit import Kit, by_host, flow_kit, hosts_of


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


def test_hosts_are_enrolled_commissioned_and_installed(kit: Kit) -> None:
    hosts = hosts_of(3)
    results = by_host(kit.run(lambda client: client.bring_up(hosts)))
    assert {host: (one.outcome, one.end) for host, one in results.items()} == dict.fromkeys(
        hosts, (Told.OK, End.DEPLOYED)
    )
    assert kit.ends() == dict.fromkeys(hosts, ("Deployed", False))
