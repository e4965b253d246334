"""A client as a process of its own, to be killed: brings hosts up on a double whose time runs faster.

``python -m tests.provision.install.flow_child URL KEY FOLDER SPEED EPOCH HOST...``
"""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fabricctl.adapters.store.location import find_location
from fabricctl.adapters.store.store import open_store
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


async def main(
    url: str, key: str, folder: Path, speed: float, epoch: float, hosts: list[str]
) -> list[NodeResult]:
    """Enrol, commission, install; time runs ``speed`` times as fast since ``epoch`` (seconds since 1970)."""

    def now() -> datetime:
        return datetime.fromtimestamp(epoch, UTC) + timedelta(seconds=(time.time() - epoch) * speed)

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds / speed)

    with open_store(find_location(str(folder / "state.db"), site_name="lab"), site="lab") as store:
        options = FlowOptions(
            poll_s=30,
            deadlines=Deadlines(deploy_s=3000, settle_s=120),
            clock=lambda: time.monotonic() * speed,
            sleep=sleep,
            now=now,
            book=StoreBook(store, "test", "maas", now=now),
        )
        async with open_maas(MaasSettings(url, Secret(key)), sleep=sleep) as maas:
            await enrol(maas, [spec_of(host) for host in hosts], options)
            await commission(maas, hosts, options, judges={host: judge_of(host) for host in hosts})
            jobs = [DeployJob(host, BOSS, "jammy", "ga", judge_of(host)) for host in hosts]
            return await deploy(maas, jobs, options, seeds=Keys())


if __name__ == "__main__":
    url, key, folder, speed, epoch, *hosts = sys.argv[1:]
    asyncio.run(main(url, key, Path(folder), float(speed), float(epoch), hosts))
