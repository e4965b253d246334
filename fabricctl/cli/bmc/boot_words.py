"""What a boot command would do to a node, and what came of it, as rows of plan and report."""

from __future__ import annotations

from collections.abc import Mapping

from fabricctl.errors import UsageError
from fabricctl.hostset import fold
from fabricctl.near import did_you_mean
from provision.bmc.boot import Consumed, decide_override, wanted_override
from provision.bmc.power import PowerRequest, decide_power
from provision.report.change_report import Changed, Planned, Result
from provision.workflows.bios import blocked_words
from provision.workflows.boot import order_words
from provision.workflows.boot_run import BootLook, BootPlan, BootRun


def check_ports(seen: Mapping[str, BootLook], nic: str) -> None:
    """Refuse a port that a BIOS does not know, before anything is sent to any node.

    :raises UsageError: naming the hosts, and the ports they have.
    """
    wrong: dict[tuple[str, ...], list[str]] = {}
    for host, look in seen.items():
        if look.port is not None and look.port.known:
            wrong.setdefault(look.port.known, []).append(host)
    if wrong:
        told = "; ".join(f"{fold(hosts)} can boot from {', '.join(ports)}" for ports, hosts in wrong.items())
        hint = did_you_mean(nic, next(iter(wrong)))
        raise UsageError(f"--nic {nic}: no such port; {told}; nothing was changed", hint=hint)


def plan_boot(host: str, seen: BootLook, wanted: BootPlan, taken: str = "") -> Planned:
    """What a boot command would do to one node.

    :param taken: that the boot of an earlier run has just done it, in words; empty where it has not.
    """
    media, media_refused = _media_words(seen, wanted)
    port, port_refused = _port_words(seen, wanted)
    boot, boot_refused, already = _boot_words(seen, wanted)
    restart, restart_refused, warn = _restart_words(seen, wanted)
    refused = media_refused or port_refused or boot_refused or restart_refused
    if refused:
        return Planned(host, refused=refused)
    if taken and not media and not port:
        return Planned(host, already=taken)
    steps = [step for step in (media, port, boot, restart) if step]
    return Planned(host, ", then ".join(steps), already, warn=warn)


def _media_words(seen: BootLook, wanted: BootPlan) -> tuple[str, str]:
    """Step and refusal, each empty when there is none."""
    if seen.media is None or seen.media.insert is None:
        return "", seen.media.refused if seen.media is not None else ""
    out = f"eject {seen.media.eject.words}, then " if seen.media.eject is not None else ""
    return f"{out}insert {wanted.image.partition('?')[0]}", ""


def _port_words(seen: BootLook, wanted: BootPlan) -> tuple[str, str]:
    if not wanted.nic:
        return "", ""
    if seen.port is None:
        return "", f"its BIOS cannot be told to boot from {wanted.nic}"
    bios = seen.port.bios
    if bios.blocked:
        return "", blocked_words(bios)
    change = ", ".join(f"{name} {value}" for name, value in bios.changes.items())
    return (f"BIOS job: {change}" if change else ""), ""


def _boot_words(seen: BootLook, wanted: BootPlan) -> tuple[str, str, str]:
    """Step, refusal, and what it is already."""
    boot, override = seen.state.boot, wanted_override(wanted.source)
    if wanted.persistent and not isinstance(seen.order, str):
        assert seen.order is not None
        now, then = order_words(boot.order, seen.names), order_words(seen.order, seen.names)
        waits = ", from the next reset on" if boot.order_waits else ""
        return (f"boot order {now} -> {then}" if now != then else ""), "", f"boot order is {now}{waits}"
    if wanted.persistent:
        if not boot.knows_continuous:
            return "", str(seen.order), ""
        override = wanted_override(wanted.source, continuous=True)
    change = decide_override(boot, override, wanted.mode)
    mode = f", mode {wanted.mode}" if change.body and "BootSourceOverrideMode" in change.body["Boot"] else ""
    step = f"boot {boot.override.words} -> {override.words}{mode}" if change.body else ""
    return step, change.refused, f"boot is {boot.override.words}"


def _restart_words(seen: BootLook, wanted: BootPlan) -> tuple[str, str, bool]:
    """Step, refusal, and whether it cuts power."""
    if not wanted.reset:
        return "", "", False
    system = seen.state.system
    decision = decide_power(
        PowerRequest.CYCLE, system, force=wanted.power.force, grace_s=wanted.power.grace_s
    )
    step = decision.step
    if step is None:
        return "", decision.refused or "it cannot be restarted", False
    words = f"{step.words} (power is {system.power_words})"
    return words, "", any(reset.cuts for reset in step.all)


def boot_row(host: str, run: BootRun) -> Changed:
    """What came of a boot command on one node."""

    before = run.boot.before if run.boot is not None else run.media.before if run.media is not None else ""
    after = run.boot.after if run.boot is not None else run.media.after if run.media is not None else ""
    said = [f"media {run.media.after}" if run.media is not None and run.boot is not None else ""]
    said += [run.boot.said if run.boot is not None else ""]
    if run.power is not None:
        said.append(run.power.words)
    if run.fate is not None:
        fates = {
            Consumed.YES: "the boot has taken the override",
            Consumed.NO: "the override is still set: no boot has taken it",
            Consumed.CHANGED: "somebody set another override meanwhile",
        }
        said.append(fates[run.fate])
    said.append(run.said)
    written = (
        any(step is not None and step.written for step in (run.boot, run.media)) or run.power is not None
    )
    result = Result.NOT_REACHED if not run.reached else Result.DONE if written else Result.UNCHANGED
    return Changed(host, result, before, after, "; ".join(text for text in said if text))
