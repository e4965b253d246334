"""What a command would do to hosts through a provisioner, in words: what is lost by it stands apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from provision.install.adoption import Adoption, Choice
from provision.install.disk_identity import physical
from provision.install.disks import DiskChoice
from provision.install.lifecycle import Act, Step
from provision.install.machine import Machine, Phase, Stage
from provision.install.replacement import Replacement
from provision.install.spec import EnrolSpec
from provision.report.change_report import Planned
from provision.report.install_changes import WIPED_COLUMNS
from provision.report.install_disks import HostDisks, counted, model_words

CUT = "it is ON: its power is cut"
"""MAAS 3.7.3 switches a machine that is on off before it boots it, without asking its operating system."""
_IDLE = (Stage.NEW, Stage.READY)
_STARTS = (Act.START, Act.RESTORE)


@dataclass(frozen=True)
class Install:
    """What an installation would do. :param refused: why it must not be done, empty when it may.

    :param pools: what is known of its ZFS pools, for people; empty where nobody asked.
    :param before: release that was recorded as installed on it, empty where none was.
    :param wipes: every disk loses its labels (MAAS); else only the one that gets the system is written to.
    :param cleans: Ironic erases disks whenever a node is given back, so before it is installed anew as well.
    :param owner: whose it is, where it is somebody else's; :param unrecorded: its disks were never recorded.
    :param accepted: how its disks differ from those recorded, where that is accepted.
    """

    series: str
    kernel: str
    choice: DiskChoice
    refused: str = ""
    wipes: bool = True
    pools: str = ""
    before: str = ""
    cleans: bool = False
    owner: str = ""
    unrecorded: bool = False
    accepted: Sequence[str] = ()


def starts(step: Step) -> bool:
    """Whether it leads to a phase that boots or stops the machine."""
    return step.act in _STARTS


def plan_commission(host: str, machine: Machine, step: Step, *, on: bool, cleans: bool = False) -> Planned:
    """What commissioning would do. :param on: the machine runs, by its BMC; :param cleans: Ironic erases its disks."""
    again = "commission again" if machine.stage is Stage.READY else "commission"
    lost = [*([cleaned(machine)] if cleans else []), *([cut(machine)] if on else [])]
    return _planned(host, machine, step, Phase.COMMISSION, again, "; ".join(lost))


def plan_deploy(host: str, machine: Machine, step: Step, install: Install, *, on: bool) -> Planned:
    """What an installation would do. :param on: the machine runs, by its BMC."""
    if starts(step) and install.refused:
        return Planned(host, refused=install.refused)
    root = install.choice.disk
    where = f" on {model_words(root)}" if root is not None else ""
    does = f"install {install.series} ({install.kernel}){where}"
    if step.phase is Phase.RELEASE:
        does = f"release, then {does}"
    if install.unrecorded:
        does = f"{does}; its disks were never recorded"
    lost = _lost(host, machine, install, releases=step.phase is Phase.RELEASE, on=on)
    return _planned(host, machine, step, Phase.DEPLOY, does, "; ".join(lost))


def cleaned(machine: Machine) -> str:
    """What Ironic's automated cleaning does to its disks; by how it is set up it erases all that is on them."""
    disks = physical(machine.disks)
    which = counted(disks) if disks else "every disk"
    return f"ironic.clean: cleaning wipes at least the labels of {which}, ZFS pools' too"


def _lost(host: str, machine: Machine, install: Install, *, releases: bool, on: bool) -> Iterator[str]:
    wiped = HostDisks(host, machine, install.choice).wiped if install.wipes else ()
    root = install.choice.disk
    if install.owner:
        yield f"it is {install.owner}'s"
    if install.accepted:
        yield f"disks that are not those recorded are accepted: {'; '.join(install.accepted)}"
    if installed(machine, install.before):
        yield "the system that is on it is lost"
    if wiped:
        yield f"wipes {counted(wiped)}"
    if not install.wipes and root is not None:
        yield f"overwrites {model_words(root)}"
    if install.cleans and releases:
        yield cleaned(machine)
    if install.pools:
        yield install.pools
    if on:
        yield cut(machine)


def cut(machine: Machine) -> str:
    """What is to be said of a machine that is on."""
    more = f", though MAAS has it as {machine.status}: does somebody work on it?"
    return f"{CUT}{more if machine.stage in _IDLE else ''}"


def installed(machine: Machine, before: str = "") -> bool:
    """Whether a system is on it that would be lost.

    :param before: what was recorded as installed: a machine that is broken or failed does not tell what it was before.
    """
    return machine.stage is Stage.DEPLOYED or (machine.stage in (Stage.BROKEN, Stage.FAILED) and bool(before))


def plan_release(
    host: str,
    machine: Machine,
    step: Step,
    *,
    on: bool,
    cleans: bool = False,
    pools: str = "",
    owner: str = "",
) -> Planned:
    """What a release would do.

    :param on: the machine runs, by its BMC; :param cleans: Ironic erases its disks; :param pools: its ZFS pools.
    :param owner: whose it is, where it is somebody else's.
    """
    lost = [f"it is {owner}'s"] if owner else []
    lost += ["the system that is on it is given up"] if installed(machine) else []
    lost += [cleaned(machine)] if cleans else []
    lost += [pools] if pools else []
    return _planned(host, machine, step, Phase.RELEASE, "release", "; ".join([*lost, *([CUT] if on else [])]))


def _planned(host: str, machine: Machine, step: Step, goal: Phase, does: str, danger: str) -> Planned:
    if step.act is Act.DONE:
        return Planned(host, already=step.words or f"it is {machine.status}")
    if step.act is Act.REFUSE:
        return Planned(host, refused=step.words)
    if step.act is Act.WAIT:
        more = "" if step.phase is goal else f", then {does}"
        return Planned(host, f"it is {machine.status} already: wait for its end{more}")
    if step.act in (Act.QUARANTINE, Act.FAIL):
        return Planned(host, f"{step.words}: into quarantine", warn=True)
    back = "take it back, then " if step.act is Act.RESTORE else ""
    return Planned(host, f"{machine.status}: {back}{does}", danger=danger)


def plan_enrol(spec: EnrolSpec, adoption: Adoption) -> Planned:
    """What enrolling a host would do."""
    if adoption.choice is Choice.REFUSE:
        return Planned(spec.host, refused=adoption.words)
    if adoption.choice is Choice.ADOPT:
        if not adoption.power:
            return Planned(spec.host, already="enrolled, with its MACs and its BMC")
        return Planned(spec.host, f"is there already: set how its BMC is reached ({spec.power.kind})")
    places = [f"{word} {value}" for word, value in (("pool", spec.pool), ("zone", spec.zone)) if value]
    tags = [f"tags {', '.join(spec.tags)}"] if spec.tags else []
    number = f"{len(spec.macs)} MAC{'s' if len(spec.macs) > 1 else ''}"
    told = ", ".join([number, f"power {spec.power.kind} as {spec.power.user}", *places, *tags])
    return Planned(spec.host, f"create, not commissioned yet: {told}")


def plan_replace(spec: EnrolSpec, decision: Replacement) -> Planned:
    """What would be changed of a machine after a repair."""
    if decision.refused:
        return Planned(spec.host, refused=decision.refused)
    if decision.nothing:
        return Planned(spec.host, already="its MACs and its BMC address are those of its machine")
    steps = [f"{one.nic.name} {one.nic.mac} -> {one.mac} ({one.how})" for one in decision.nics]
    power = spec.power
    steps += [f"BMC -> {power.kind} {power.address} as {power.user}"] if decision.power else []
    return Planned(spec.host, "; ".join(steps))


def written_disks(
    one: HostDisks, *, others: bool = True, cleans: bool = False
) -> Iterator[Mapping[str, str]]:
    """Disks of a host that an installation writes to, and what becomes of each.

    :param others: those beside the one that gets the system are wiped; :param cleans: all are, whichever is chosen.
    """
    for disk in one.disks if cleans or one.root is not None else ():
        becomes = "root" if one.root is not None and disk.id == one.root.id else "wiped"
        if becomes == "wiped" and not (others or cleans):
            continue
        cells = (one.host, disk.serial, disk.model, disk.id_path, becomes)
        yield dict(zip(WIPED_COLUMNS, cells, strict=True))
