"""Installing: on the disk that the site's rule chooses, told by its serial number, and on no other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from fabricctl.errors import ProvisionerError, ProvisionerStateError
from provision.bmc.secret import Secret
from provision.install.disk_record import compare, fingerprint, read_fingerprint, unreadable
from provision.install.disk_rule import DiskRule
from provision.install.disks import DiskChoice, choose_boot_disk, verify_root
from provision.install.lifecycle import Verb, Wish
from provision.install.machine import Machine, Phase
from provision.install.outcome import NodeResult
from provision.install.provisioner import Provisioner
from provision.install.spec import DeploySpec
from provision.redfish.interrupt import finish
from provision.workflows.install_book import DISKS, ROOT, SERIES
from provision.workflows.install_commission import CountsGpus, Judge, lacks, no_judge, uncounted
from provision.workflows.install_model import FlowOptions
from provision.workflows.install_node import Checked, Node
from provision.workflows.install_past import VERIFIED, Past
from provision.workflows.install_run import Job, run_fleet
from provision.workflows.install_send import AGAIN
from provision.workflows.install_user_data import OneInstallation, Seeds

STRANGE = (
    "somebody else began this installation: its users and its ssh host key are not the site file's; "
    "--redeploy installs it again"
)
Export = Callable[[str], Awaitable[str]]
"""Before a host's disks are wiped: keep the state of its ZFS pools. Returns what was done or why it could not be."""


@dataclass(frozen=True)
class DeployJob:
    """One host to install.

    :param rule: which disk, None when the site has none for it (then it is refused); :param judge: of its hardware.
    :param kernel: ``ga`` or ``hwe``.
    """

    host: str
    rule: DiskRule | None
    series: str
    kernel: str = "ga"
    judge: Judge = no_judge


@dataclass
class DeployWork:
    """How one host is installed. :param accept_disk_change: also when its disks are not those recorded."""

    wish: Wish
    job: DeployJob
    seeds: Seeds
    accept_disk_change: bool = False
    export: Export | None = None
    comment: str = ""
    _installation: OneInstallation = field(init=False)
    _gpus: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._installation = OneInstallation(self.seeds)

    def refused(self, node: Node, phase: Phase) -> str:  # noqa: ARG002
        """The disk and the hardware: a machine that will be refused is not released either."""
        untold = untold_disks(node.noted.get(DISKS), accept=self.accept_disk_change)
        if untold:
            raise ProvisionerError(untold)
        return refusal(self.job, node.machine, node.noted.get(DISKS), accept=self.accept_disk_change)

    async def prepare(self, node: Node, phase: Phase) -> str:
        """The same with its GPUs counted. Before its disks are wiped its pools are kept.

        :raises ProvisionerError: its GPUs cannot be counted.
        """
        machine = await self._counted(node)
        refused = refusal(self.job, machine, node.noted.get(DISKS), accept=self.accept_disk_change)
        if not refused and machine.gpus is None and isinstance(node.provisioner, CountsGpus):
            refused = next((one.words for one in self.job.judge(machine) if uncounted(machine, one)), "")
        if not refused and phase is Phase.RELEASE and self.export is not None:
            node.say("keeping the state of its ZFS pools")
            node.notes.append(await self.export(node.host))
        return refused

    async def _counted(self, node: Node) -> Machine:
        """The machine with its GPUs counted where there should be some: once, whoever commissioned it."""
        machine, provisioner = node.machine, node.provisioner
        if not isinstance(provisioner, CountsGpus):
            return machine
        if self._gpus is None and any(uncounted(machine, one) for one in self.job.judge(machine)):
            node.calls += 1
            try:
                self._gpus = await provisioner.gpus(machine.id)
            except ProvisionerError as error:
                error.message = f"its GPUs cannot be counted: {error.message}"
                raise
        return machine if self._gpus is None else replace(machine, gpus=self._gpus)

    async def send(self, node: Node, phase: Phase) -> None:
        """Release it, or choose the disk again, set it, look, and install."""
        if phase is Phase.RELEASE:
            await node.call(lambda: node.provisioner.release(node.machine.id, self.comment))
            return
        choice = choose_boot_disk(node.machine.disks, self.job.rule)
        wrong = choice.refused or await self._set_root(node, choice)
        if wrong:
            raise ProvisionerStateError(f"the boot disk is not as it should be: {wrong}")
        serial = choice.disk.serial if choice.disk is not None else ""

        async def install(data: Secret) -> None:
            spec = DeploySpec(self.job.series, self.job.kernel, data, serial, self.comment)
            await node.provisioner.deploy(node.machine.id, spec)

        await self._installation.send(node, install)

    async def _set_root(self, node: Node, choice: DiskChoice) -> str:
        """Set the disk and look. :returns: what is wrong with it afterwards."""
        disk = choice.disk
        if disk is None or not verify_root(node.machine, choice):
            return ""
        for _ in range(2):
            node.calls += 1
            try:
                node.machine = await finish(node.provisioner.set_root(node.machine, disk))
            except AGAIN:
                if await node.look() is None:
                    break
            if not verify_root(node.machine, choice):
                return ""
        return verify_root(node.machine, choice)

    async def check(self, node: Node) -> Checked:
        """Installed is not enough: on the disk it should be on, and the release that was asked for."""
        machine = node.machine
        findings = differs(self.job, machine)
        if self._installation.strange:
            return Checked(findings=(*findings, STRANGE))
        if not node.installed_here:
            return Checked(findings=tuple(findings))
        choice = choose_boot_disk(machine.disks, self.job.rule)
        wrong = choice.refused or verify_root(machine, choice)
        if wrong:
            return Checked(broken=f"it was installed on another disk: {wrong}")
        serial = choice.disk.serial if choice.disk is not None else ""
        notes = {ROOT: serial, SERIES: machine.series or self.job.series}
        return Checked(
            findings=tuple(findings),
            notes={**notes, DISKS: fingerprint(machine.disks).as_value()},
            proved=VERIFIED,
        )


def untold_disks(recorded: object, *, accept: bool) -> str:
    """Why nobody can tell whether disks changed, empty where that is known or accepted. :param recorded: as stored."""
    words = "" if accept else unreadable(recorded)
    return f"{words}; --accept-disk-change installs all the same" if words else ""


def differs(job: DeployJob, machine: Machine) -> list[str]:
    """How an installed machine differs from what is to be installed: release, kernel, disk of the system."""
    found = []
    if machine.series and machine.series != job.series:
        found.append(f"expected {job.series}, found {machine.series}")
    elif machine.kernel and not machine.kernel.startswith(job.kernel):
        found.append(f"expected kernel {job.kernel}, found {machine.kernel}")
    if machine.disks and job.rule is not None:
        choice = choose_boot_disk(machine.disks, job.rule)
        root = choice.refused or verify_root(machine, choice).removeprefix(f"{machine.hostname}: ")
        found += [root] if root else []
    return found


def refusal(job: DeployJob, machine: Machine, recorded: object, *, accept: bool) -> str:
    """Why a host must not be installed now, empty when it may. Nothing is sent for it.

    :param recorded: fact of its disks, as stored; :param accept: also when they differ from it.
    """
    choice = choose_boot_disk(machine.disks, job.rule)
    if choice.refused:
        return choice.refused
    wrong = lacks(job.judge(machine))
    if wrong:
        return wrong
    changed = changed_disks(machine, recorded)
    if changed and not accept:
        return (
            f"disks are not those recorded: {'; '.join(changed)}; --accept-disk-change installs all the same"
        )
    return ""


def changed_disks(machine: Machine, recorded: object) -> list[str]:
    """How its disks differ from those recorded, for people. :param recorded: fact of its disks, as stored."""
    known = read_fingerprint(recorded)
    return compare(known, fingerprint(machine.disks)) if known is not None else []


def unrecorded(machine: Machine, past: Past, now: datetime) -> str:
    """What is left to do with a machine that is installed: a run that was killed, or did not wait, did not see its end.

    :param past: what was begun on it before.
    """
    done = past.verified or past.installed_s(machine.status, now) is None
    return "" if done else "installed: look at its boot disk, record it"


async def deploy(
    provisioner: Provisioner,
    jobs: Sequence[DeployJob],
    options: FlowOptions,
    *,
    seeds: Seeds,
    redeploy: bool = False,
    again: bool = False,
    from_quarantine: bool = False,
    accept_disk_change: bool = False,
    export: Export | None = None,
    comment: str = "",
) -> list[NodeResult]:
    """Install hosts; see :func:`provision.workflows.install_run.run_fleet`.

    :param redeploy: also hosts that are installed; they are released first and every disk's labels are wiped.
    :param again: with ``redeploy``, also those whose installation was begun within the last hours.
    """
    wish = Wish(Verb.DEPLOY, redeploy, from_quarantine, again)
    work = [
        DeployWork(
            replace(wish, series=job.series, kernel=job.kernel),
            job,
            seeds,
            accept_disk_change,
            export,
            comment,
        )
        for job in jobs
    ]
    return await run_fleet(provisioner, [Job(one.job.host, one) for one in work], options)
