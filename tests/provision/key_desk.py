"""Simulated BMCs whose factory passwords are imported, and changes of them that can be stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from provision.bmc.credential import Entry, Key, KeyKind
from provision.bmc.target import Target
from provision.secrets.store import SecretStore, open_secrets
from provision.workflows.access import fleet_options
from provision.workflows.journal import FORGET, Record
from provision.workflows.rotate import Rotation
from provision.workflows.rotate_ask import asker
from provision.workflows.rotate_plan import Fate, Rotated, plan_rotation
from provision.workflows.targets import site_targets
from tests.provision.halls import Hall

NOW = datetime(2026, 3, 2, 10, 15, tzinfo=UTC)


class Killed(BaseException):
    """As if the process were gone: nothing of the run goes on."""


class Keys:
    """A hall whose factory passwords are imported and whose certificates are recorded.

    :param counted: logins that failed, per BMC.
    """

    def __init__(self, hall: Hall) -> None:
        self.hall, self.sim = hall, hall.sim
        self.list = hall.folder / "factory.csv"
        rows = "".join(f"{bmc.service_tag},root,{bmc.users['root']}\n" for bmc in self.sim)
        self.list.write_text("Service Tag,User,iDRAC Password\n" + rows)
        self.list.chmod(0o600)

    def start(self) -> Keys:
        """Import and trust."""
        assert self.hall.run("credentials", "import", str(self.list))[0] == 0
        assert self.hall.run("trust", "--yes")[0] == 0
        return self

    @property
    def store(self) -> SecretStore:
        """Read anew."""
        return open_secrets(self.hall.site)

    @property
    def targets(self) -> list[Target]:
        """With their certificates."""
        pins = {bmc.host: bmc.fingerprint for bmc in self.sim}
        return site_targets(self.hall.site, pins=pins)

    def entry(self, at: int = 0) -> Entry:
        """What is kept for a BMC."""
        return self.store.entries()[Key(KeyKind.TAG, self.sim[at].service_tag)]

    def rotate(
        self,
        *,
        stop: str = "",
        wave: int = 32,
        length: int = 20,
        record: Record = FORGET,
    ) -> list[Rotated]:
        """Give all new passwords. :param stop: be killed when this step is done."""
        store = self.store

        def step(name: str) -> None:
            if name == stop:
                raise Killed

        options = replace(fleet_options(self.hall.site), ledger=None, reaper=False, sleep=_no_wait)
        with store.alone():
            plan = plan_rotation(self.hall.site, store, self.targets)
            assert plan.hopeless == ()
            rotation = Rotation(
                store, asker(options), length=length, now=lambda: NOW, record=record, step=step
            )
            return [one for part in rotation.run(plan.jobs, wave) for one in part]

    def failed(self, at: int = 0) -> int:
        """Logins that this BMC refused."""
        paths = ("/redfish/v1/SessionService/Sessions",)
        return sum(
            one.method == "POST" and one.path in paths and one.status == 401 for one in self.sim[at].requests
        )


async def _no_wait(_seconds: float) -> None:
    return None


def fates(results: Sequence[Rotated]) -> list[Fate]:
    return [one.fate for one in results]
