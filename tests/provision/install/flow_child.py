"""A client as a process of its own, to be killed: brings hosts up on a double whose time passes while it waits.

``python -m tests.provision.install.flow_child URL KEY FOLDER EPOCH HOST...``
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp

from fabricctl.adapters.store.location import find_location
from fabricctl.adapters.store.store import Store, open_store
from provision.bmc.secret import Secret
from provision.install.deadlines import Deadlines
from provision.install.outcome import NodeResult
from provision.maas.provisioner import open_maas
from provision.maas.settings import MaasSettings
from provision.workflows.install_book import StoreBook
from provision.workflows.install_commission import commission
from provision.workflows.install_deploy import DeployJob, deploy
from provision.workflows.install_enrol import enrol
from provision.workflows.install_model import FlowOptions
from tests.provision.install.flow_kit import BOSS, Keys, judge_of, spec_of

REAL_S = 0.01
"""Real seconds of each wait."""


@dataclass
class SharedTime:
    """The double's time, which passes only when somebody sleeps: nothing depends on how busy this computer is.

    :param epoch: seconds since 1970 at which it began; :param at: seconds since then.
    """

    session: aiohttp.ClientSession
    url: str
    epoch: float
    at: float = 0.0

    async def sleep(self, seconds: float) -> None:
        """Let it pass; requests that are under way come in between."""
        await asyncio.sleep(REAL_S)
        await self.look("POST", "advance", str(seconds))

    async def look(self, method: str, what: str, data: str | None = None) -> None:
        """Ask the double for its time."""
        async with self.session.request(method, f"{self.url}/control/{what}", data=data) as answer:
            self.at = (await answer.json())["simulated_s"]

    def clock(self) -> float:
        """Seconds."""
        return self.at

    def now(self) -> datetime:
        """Of the day."""
        return datetime.fromtimestamp(self.epoch, UTC) + timedelta(seconds=self.at)


async def main(url: str, key: str, folder: Path, epoch: float, hosts: list[str]) -> list[NodeResult]:
    """Enrol, commission, install."""
    async with aiohttp.ClientSession() as session:
        shared = SharedTime(session, url.removesuffix("/MAAS"), epoch)
        await shared.look("GET", "state")
        with open_store(find_location(str(folder / "state.db"), site_name="lab"), site="lab") as store:
            return await _bring_up(url, key, shared, store, hosts)


async def _bring_up(
    url: str, key: str, shared: SharedTime, store: Store, hosts: list[str]
) -> list[NodeResult]:
    options = FlowOptions(
        poll_s=30,
        deadlines=Deadlines(deploy_s=3000, settle_s=120),
        clock=shared.clock,
        sleep=shared.sleep,
        now=shared.now,
        book=StoreBook(store, "test", "maas", now=shared.now),
    )
    async with open_maas(MaasSettings(url, Secret(key)), sleep=shared.sleep) as maas:
        await enrol(maas, [spec_of(host) for host in hosts], options)
        await commission(maas, hosts, options, judges={host: judge_of(host) for host in hosts})
        jobs = [DeployJob(host, BOSS, "jammy", "ga", judge_of(host)) for host in hosts]
        return await deploy(maas, jobs, options, seeds=Keys())


if __name__ == "__main__":
    url, key, folder, epoch, *hosts = sys.argv[1:]
    asyncio.run(main(url, key, Path(folder), float(epoch), hosts))
