"""One host on the double: what tests of single traps share."""

from __future__ import annotations

from typing import Any

from provision.install.outcome import NodeResult
from tests.provision.install.flow_kit import Client, Kit, by_host

HOST = "gpu001"


def fault(kit: Kit, kind: str, op: str, host: str = HOST, **more: Any) -> None:
    kit.maas.double.faults.add(kind, host, op, **more)


def ready(kit: Kit, hosts: list[str] | None = None) -> None:
    """Hosts that are enrolled and commissioned."""

    async def work(client: Client) -> None:
        await client.enrol(hosts or [HOST])
        await client.commission(hosts or [HOST])

    kit.run(work)


def commissioned(kit: Kit, **more: Any) -> NodeResult:
    return by_host(kit.run(lambda client: client.commission([HOST], **more)))[HOST]


def deployed(kit: Kit, **more: Any) -> NodeResult:
    return by_host(kit.run(lambda client: client.deploy([HOST], **more)))[HOST]


def asked(kit: Kit, op: str) -> int:
    """How often an operation was asked for."""
    return sum(1 for one in kit.maas.double.requests if one.op == op)
