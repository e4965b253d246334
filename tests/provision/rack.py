"""A rack of simulated BMCs as an operator meets it: a site file, recorded certificates, the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fabricctl.adapters.store.location import Location, parse_location
from fabricctl.adapters.store.pins import Pin
from fabricctl.adapters.store.store import open_store
from fabricctl.cli.main import main
from fabricctl.nodes.facts import StoredFact
from fabricctl.nodes.model import Event, NodeRecord
from tests.sim.idrac import Simulator

HCAS = ", ".join(f"mlx5_{number}" for number in range(8))
NODES = f"""\
name: hall
node_models:
  xe9680: {{hcas: [{HCAS}], gpus: 8}}
nodes:
"""
CARDS = "/redfish/v1/Chassis/System.Embedded.1/NetworkAdapters"
HOST_INTERFACES = "/redfish/v1/Systems/System.Embedded.1/EthernetInterfaces"


class Rack:
    """A site and its BMCs.

    :param more: more of the section ``management``, indented by two.
    """

    depth = ""
    """``--quick`` for tests that want no more; ``--default`` among the arguments of a harvest overrides it."""

    def __init__(
        self, folder: Path, sim: Simulator, capsys: pytest.CaptureFixture[str], more: str = ""
    ) -> None:
        self.folder, self.sim, self._capsys = folder, sim, capsys
        self.site = folder / "site.yaml"
        self.write(more)
        pins = [
            Pin(host, address, bmc.fingerprint, datetime.now(UTC), "test")
            for host, address, bmc in zip(sim.hosts, sim.addresses, sim, strict=True)
        ]
        with open_store(self.location, site="hall") as store:
            store.pins.record(pins, "first contact")

    @property
    def location(self) -> Location:
        return parse_location(str(self.folder / "hall.sqlite"), said_by="test")

    def write(self, more: str = "") -> None:
        """The site file."""
        nodes = "".join(f"  {host}: {{model: xe9680}}\n" for host in self.sim.hosts)
        state = "state: {url: hall.sqlite}\n"
        self.site.write_text(NODES + nodes + state + self.sim.site_text() + more)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        code = main([*arguments, "--site", str(self.site)])
        out, err = self._capsys.readouterr()
        return code, out, err

    def harvest(self, *arguments: str) -> tuple[int, str, str]:
        depth = [] if "--full" in arguments or "--default" in arguments or not self.depth else [self.depth]
        return self.run("bmc", "harvest", *(one for one in arguments if one != "--default"), *depth)

    def json(self, *arguments: str) -> dict[str, Any]:
        """The document of a harvest."""
        found: dict[str, Any] = json.loads(self.harvest(*arguments, "--format", "json")[1])
        return found

    def records(self) -> dict[str, NodeRecord]:
        with open_store(self.location) as store:
            return store.nodes.all()

    def facts(self) -> dict[str, list[StoredFact]]:
        with open_store(self.location) as store:
            return store.facts.current()

    def events(self) -> list[Event]:
        with open_store(self.location) as store:
            return store.events.all()

    def kinds(self, document: dict[str, Any]) -> list[str]:
        return [finding["kind"] for finding in document["findings"]]


def part(document: dict[str, Any], family: str, name: str, host: str = "gpu001") -> dict[str, Any]:
    """A part of a harvested host."""
    hosts = {entry["host"]: entry for entry in document["hosts"]}
    found: dict[str, Any] = next(one for one in hosts[host]["parts"][family] if one["id"] == name)
    return found


def asked(sim: Simulator, host: int = 0) -> Sequence[str]:
    """Requests a BMC was sent: ``GET /redfish/v1``."""
    return [f"{one.method} {one.path}" for one in sim[host].requests]
