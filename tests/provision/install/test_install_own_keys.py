"""Which host key is recorded as the only one: that of an installation that was accepted, and no other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from fabricctl.errors import (
    OtherMachineError,
    ProvisionerBusyError,
    ProvisionerDeadlineError,
    ProvisionerError,
    ProvisionerForbiddenError,
    ProvisionerGarbledError,
    ProvisionerOutcomeUnknownError,
    ProvisionerPowerError,
    ProvisionerStateError,
    StateError,
)
from provision.bmc.secret import Secret
from provision.install.cloud_init import UserData
from provision.install.host_keys import HostKeyRecord
from provision.install.lifecycle import Verb, Wish
from provision.install.machine import Machine, Phase, Stage
from provision.install.outcome import End, NodeResult, Told
from provision.install.spec import DeploySpec
from provision.workflows.install_deploy import DeployJob, deploy
from provision.workflows.install_ironic import MemoryWork
from provision.workflows.install_keys import HostKeys
from provision.workflows.install_seeds import SiteSeeds
from provision.workflows.install_send import is_open, send
from provision.workflows.install_user_data import OneInstallation
from tests.provision.install.flow_kit import BOSS, Client, Kit, flow_kit, judge_of

HOST = "gpu001"


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:

        async def ready(client: Client) -> None:
            await client.enrol([HOST])
            await client.commission([HOST])

        kit.run(ready)
        yield kit


@pytest.fixture
def seeds(kit: Kit, tmp_path: Path) -> Callable[[], SiteSeeds]:
    return lambda: SiteSeeds(HostKeys(kit.store, tmp_path / "known_hosts", "me", "r"), UserData())


def installed_key(kit: Kit) -> str:
    """The public key in the user data that the double was told when it began to install."""
    told = YAML(typ="safe").load(kit.maas.double.machine(HOST).user_data.decode())
    return " ".join(str(told["ssh_keys"]["ed25519_public"]).split()[:2])


def recorded(kit: Kit, tmp_path: Path) -> tuple[str, ...]:
    keys = HostKeys(kit.store, tmp_path / "known_hosts", "me", "r").records([HOST])
    return keys.get(HOST, HostKeyRecord()).keys


async def install(client: Client, seeds: SiteSeeds) -> NodeResult:
    jobs = [DeployJob(HOST, BOSS, "jammy", "ga", judge_of(HOST))]
    return (await deploy(client.maas, jobs, client.options, seeds=seeds))[0]


def test_of_two_commands_at_once_the_key_that_was_installed_is_recorded(
    kit: Kit, seeds: Callable[[], SiteSeeds], tmp_path: Path
) -> None:
    async def both(client: Client) -> list[NodeResult]:
        return list(await asyncio.gather(install(client, seeds()), install(client, seeds())))

    results = kit.run(both)
    assert installed_key(kit) in recorded(kit, tmp_path)
    assert recorded(kit, tmp_path) == (installed_key(kit),)
    assert sorted((one.outcome, one.end) for one in results) == [
        (Told.FINDING, End.DEPLOYED),
        (Told.OK, End.DEPLOYED),
    ]
    (finding,) = [one.reason for one in results if one.outcome is Told.FINDING]
    assert finding.startswith("somebody else began this installation")


def test_refused_installations_leave_no_key(kit: Kit, seeds: Callable[[], SiteSeeds], tmp_path: Path) -> None:
    kit.maas.double.faults.add("no-rack", HOST, "deploy", count=None)
    for _ in range(3):
        assert kit.run(lambda client: install(client, seeds())).end is End.NOT_STARTED
    assert recorded(kit, tmp_path) == ()


def test_a_key_whose_installation_was_accepted_alone_holds_before_the_end(
    kit: Kit, seeds: Callable[[], SiteSeeds], tmp_path: Path
) -> None:
    kit.more = {"wait": False}
    assert kit.run(lambda client: install(client, seeds())).end is End.BEGUN
    assert recorded(kit, tmp_path) == (installed_key(kit),)


def test_after_a_lost_answer_all_keys_are_known(
    kit: Kit, seeds: Callable[[], SiteSeeds], tmp_path: Path
) -> None:
    old = seeds()
    asyncio.run(old.make(HOST))
    asyncio.run(old.accepted(HOST))
    (before,) = recorded(kit, tmp_path)
    kit.maas.double.faults.add("drop-after", HOST, "deploy")
    assert kit.run(lambda client: install(client, seeds())).end is End.DEPLOYED
    assert recorded(kit, tmp_path) == (before, installed_key(kit))


def test_a_key_that_cannot_be_recorded_ends_with_nothing_sent(kit: Kit, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "known_hosts").mkdir(parents=True)
    broken = SiteSeeds(HostKeys(kit.store, folder / "known_hosts", "me", "r"), UserData())
    result = kit.run(lambda client: install(client, broken))
    assert result.end is not End.DEPLOYED
    assert "is a folder" in result.reason
    last = kit.store.events.all()[-1]
    assert last.kind.value == "node.deploy"
    assert last.after.startswith("not sent: ")
    assert kit.ends() == {HOST: ("Ready", False)}


# -- one installation, answer by answer -------------------------------------------------------------------------


class Seeds:
    """Tells what is asked of it. :param fails: when settling."""

    def __init__(self, *, fails: bool = False) -> None:
        self.asked: list[str] = []
        self.fails = fails

    async def make(self, host: str) -> Secret:
        self.asked.append("make")
        return Secret(f"{host} {len(self.asked)}")

    async def accepted(self, host: str) -> None:
        self.asked.append("accepted")
        if self.fails:
            raise StateError("is being written by PID 7", place=host)

    async def refused(self, host: str) -> None:
        self.asked.append(f"refused {host}")


class Host:
    """As much of a node as an installation needs."""

    host = HOST
    machine = Machine("1", HOST, Stage.READY, "available")

    def __init__(self, answers: list[ProvisionerError | None]) -> None:
        self.answers, self.notes, self.sent = answers, list[str](), list[str]()
        self.provisioner = self

    async def call(self, work: Callable[[], Awaitable[None]]) -> None:
        await work()

    async def install(self, data: Secret) -> None:
        self.sent.append(data.reveal())
        answer = self.answers.pop(0)
        if answer is not None:
            raise answer

    async def deploy(self, id: str, spec: DeploySpec) -> None:
        await self.install(spec.user_data)


def sent_through(seeds: Seeds, *answers: ProvisionerError | None) -> tuple[OneInstallation, Host]:
    one, node = OneInstallation(seeds), Host(list(answers))

    async def all() -> None:
        fake: Any = node
        for _ in answers:
            try:
                await one.send(fake, node.install)
            except ProvisionerError:
                continue

    asyncio.run(all())
    return one, node


LOST = [ProvisionerOutcomeUnknownError("lost"), ProvisionerBusyError("busy"), ProvisionerGarbledError("?")]
NO = [
    ProvisionerStateError("it is being installed"),
    ProvisionerForbiddenError("locked"),
    ProvisionerPowerError("no rack"),
    OtherMachineError("taken"),
]


@pytest.mark.parametrize("answer", NO, ids=lambda error: type(error).__name__)
def test_a_refusal_withdraws_the_key_and_the_next_attempt_has_another(answer: ProvisionerError) -> None:
    seeds = Seeds()
    one, node = sent_through(seeds, answer, None)
    assert seeds.asked == ["make", f"refused {HOST}", "make", "accepted"]
    assert len(set(node.sent)) == 2
    assert not one.strange


@pytest.mark.parametrize("answer", LOST, ids=lambda error: type(error).__name__)
def test_an_unknown_outcome_settles_nothing_and_what_is_sent_again_is_the_same(
    answer: ProvisionerError,
) -> None:
    seeds = Seeds()
    _, node = sent_through(seeds, answer, answer)
    assert seeds.asked == ["make"]
    assert len(set(node.sent)) == 1


def test_a_refusal_after_an_unknown_outcome_withdraws_nothing() -> None:
    seeds = Seeds()
    one, _ = sent_through(seeds, LOST[0], NO[0])
    assert seeds.asked == ["make"]
    assert not one.strange


def test_an_acceptance_that_cannot_be_recorded_is_a_note_and_no_failure() -> None:
    _, node = sent_through(Seeds(fails=True), None)
    (note,) = node.notes
    assert note.startswith("one ssh host key too many is recorded for it: ")
    assert "is being written by PID 7" in note


def test_a_machine_booted_into_memory_is_sent_one_key_however_often_it_is_sent() -> None:
    seeds = Seeds()
    work, node = MemoryWork(Wish(Verb.DEPLOY), "jammy", "ga", seeds), Host([LOST[0], None])
    fake: Any = node

    async def twice() -> None:
        with pytest.raises(ProvisionerOutcomeUnknownError):
            await work.send(fake, Phase.DEPLOY)
        await work.send(fake, Phase.DEPLOY)

    asyncio.run(twice())
    assert len(set(node.sent)) == 1
    assert seeds.asked == ["make", "accepted"]


# -- words of the event ------------------------------------------------------------------------------------------


@dataclass
class Entry:
    told: list[str] = field(default_factory=list)

    def tell(self, afters: Sequence[str]) -> None:
        self.told += afters


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ProvisionerStateError("it is Deployed"), "refused: it is Deployed"),
        (ProvisionerGarbledError("cut short"), "no clear answer, not read back: cut short"),
        (ProvisionerDeadlineError("too late"), "no clear answer, not read back: too late"),
        (StateError("the disk is full", place="x"), "not sent: "),
        (ZeroDivisionError(), "fabricctl failed while it was sent, not read back"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_event_says_refused_only_of_what_was_refused(error: Exception, words: str) -> None:
    entry = Entry()

    async def command() -> None:
        raise error

    async def never() -> bool:
        return False

    async def work() -> None:
        try:
            await send(command, never, entry)
        except (StateError, ZeroDivisionError):
            return

    asyncio.run(work())
    assert entry.told[-1].startswith(words)
    assert is_open(entry.told[-1]) == ("not read back" in words)
