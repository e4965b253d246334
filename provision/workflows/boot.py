"""Setting what one system boots next: read, write only a difference, read back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fabricctl.errors import (
    BmcError,
    BmcNotFoundError,
    BmcOutcomeUnknownError,
    BmcUnsupportedError,
)
from fabricctl.nodes.model import EventKind
from provision.bmc.boot import (
    BootChange,
    BootOption,
    BootSource,
    BootView,
    Consumed,
    Override,
    consumed,
    decide_order,
    decide_override,
    read_boot,
    read_option,
    settings_path,
    wanted_override,
)
from provision.bmc.jobs import WantedJob
from provision.bmc.power import PowerState, SystemView
from provision.bmc.refusal import REFUSED, keys_of, refuses_place
from provision.bmc.reply import Reply
from provision.redfish.bmc import Bmc, Resource
from provision.workflows.elapsed import ABSENT_S, SILENCE, Elapsed, come_back
from provision.workflows.job_runner import JobResult, ensure_job, wait_job
from provision.workflows.journal import Record, forget
from provision.workflows.lc_gate import wait_ready
from provision.workflows.power import read_body, view_of

PARTIAL = frozenset({"SYS444", "SYS410"})
"""An iDRAC answers 400 with these and has still set a part, such as the target without Enabled."""

LOST = "the answer to the change was lost"


@dataclass(frozen=True)
class BootState:
    """How a system boots, and how it is."""

    system: SystemView
    boot: BootView


@dataclass(frozen=True)
class BootResult:
    """What came of setting a boot override or order.

    :param before: and ``after``: for people; :param written: whether anything was sent; :param reached: read back as
        wanted. :param said: what else is to be known; :param job: that brings a boot order at the next reset.
    :param order: that is wanted, empty for an override.
    """

    before: str
    after: str
    written: bool = False
    reached: bool = True
    said: str = ""
    job: JobResult | None = None
    order: tuple[str, ...] = ()


async def read_state(bmc: Bmc, *, absent_s: float = 0.0) -> BootState:
    """A system's power and boot, with its settings resource where there is one."""
    layout = await bmc.layout()
    body = await read_body(bmc, absent_s=absent_s)
    path, settings = settings_path(body, idrac=layout.idrac), None
    if path:
        settings = await _settings(bmc, path)
    return BootState(await view_of(bmc, body), read_boot(body, settings, idrac=layout.idrac))


async def _settings(bmc: Bmc, path: str) -> Resource | None:
    try:
        return (await bmc.get(path)).resource
    except REFUSED as error:  # iDRAC9 6.x takes a PATCH there, and answers 404 to a GET
        if not refuses_place(error):
            raise
        return None


async def set_override(
    bmc: Bmc,
    source: BootSource,
    *,
    continuous: bool = False,
    mode: str = "",
    record: Record = forget,
    clock: Callable[[], float] = time.monotonic,
) -> BootResult:
    """Set what is booted next, and prove it by reading back. Nothing is written when it is set already.

    :param continuous: not once but every time; :param mode: written only when it differs.
    :raises BmcUnsupportedError: the BMC cannot boot that; nothing was written. :raises BmcError: any other failure.
    """
    wanted = wanted_override(source, continuous=continuous)
    state = await read_state(bmc)
    change = decide_override(state.boot, wanted, mode)
    if change.refused:
        raise BmcUnsupportedError(change.refused, bmc=str(bmc.target))
    before = state.boot.override.words
    if change.body is None:
        return BootResult(before, before)
    # in POST it would be taken by the boot that is under way, or be lost
    await wait_ready(bmc, post_too=state.system.power is not PowerState.OFF, clock=clock)
    said = await _write(bmc, state.boot, change)
    try:
        result = await _read_back(bmc, before, wanted, mode, said)
    except BmcError:
        record(EventKind.NODE_BOOT, bmc.target.host, before, f"{wanted.words} sent, not read back")
        raise
    record(EventKind.NODE_BOOT, bmc.target.host, before, result.after)
    return result


async def _write(bmc: Bmc, boot: BootView, change: BootChange) -> str:
    """Send the change to where it is taken. :returns: what was refused or lost, for people; empty when nothing was."""
    assert change.body is not None
    refused: BmcError | None = None
    for path in boot.paths:
        try:
            await bmc.patch(path, change.body)
        except BmcOutcomeUnknownError:
            return LOST
        except REFUSED as error:
            if keys_of(error) & PARTIAL or not refuses_place(error):
                return _answered(error)  # a part of it may be set: what is set now is read back
            refused = error
            continue
        return ""
    assert refused is not None
    return _answered(refused)


async def _read_back(bmc: Bmc, before: str, wanted: Override, mode: str, said: str) -> BootResult:
    if said == LOST:
        await come_back(bmc, 60.0)
    now = (await read_state(bmc)).boot
    reached = now.override.same(wanted) and mode in ("", now.mode)
    if not reached and not said:
        # sushy-emulator stores Continuous whatever it is asked for, and answers 204
        said = f"the BMC took the change to {wanted.words} and did something else"
    return BootResult(before, now.override.words, True, reached, said)


async def set_order(
    bmc: Bmc, source: BootSource, *, record: Record = forget, clock: Callable[[], float] = time.monotonic
) -> BootResult:
    """Put the boot options of one source first, for good. On an iDRAC this makes a job for the next reset.

    Where a system has no order that can be written, the override becomes continuous, if the BMC knows that.

    :raises BmcUnsupportedError: neither is possible; nothing was written. :raises BmcBusyError: another job waits.
    """
    state = await read_state(bmc)
    boot = state.boot
    order, names = await wanted_order(bmc, boot, source)
    if isinstance(order, str):
        if not boot.knows_continuous:
            raise BmcUnsupportedError(order, bmc=str(bmc.target))
        bmc.note(boot.order_path, f"{order}; its override is made continuous instead")
        return await set_override(bmc, source, continuous=True, record=record, clock=clock)
    before = order_words(boot.order, names)
    if order == boot.order:
        return BootResult(before, before, said="it waits for the next reset" if boot.order_waits else "")
    await wait_ready(bmc, clock=clock)
    return await _write_order(bmc, boot, order, before, names, record, clock)


async def _write_order(
    bmc: Bmc,
    boot: BootView,
    order: tuple[str, ...],
    before: str,
    names: Mapping[str, str],
    record: Record,
    clock: Callable[[], float],
) -> BootResult:
    after = order_words(order, names)
    if not (await bmc.layout()).idrac:
        said = ""
        try:
            await bmc.patch(boot.order_path, {"Boot": {"BootOrder": list(order)}})
        except BmcOutcomeUnknownError:
            said = LOST
            await come_back(bmc, 60.0)
        now = (await read_state(bmc)).boot.order
        record(EventKind.NODE_BOOT, bmc.target.host, before, order_words(now, names))
        return BootResult(before, order_words(now, names), True, now == order, said)
    body = {"@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}, "Boot": {"BootOrder": list(order)}}
    wanted = WantedJob("BIOSConfiguration", "BIOS.Setup.1-1", "a job for the boot order")

    async def create() -> Reply:
        reply = await bmc.patch(boot.order_path, body)
        record(EventKind.NODE_BOOT, bmc.target.host, before, f"{after}, at the next reset")
        return reply

    async def same(_job: Any) -> bool:
        return (await read_state(bmc)).boot.order == order

    result = await ensure_job(bmc, wanted, create, equal=same, until_waiting=True, clock=clock)
    said = "a job brings it at the next reset" if result.ok else result.words
    return BootResult(before, after, not result.reused, result.ok, said, result, order)


async def prove_order(
    bmc: Bmc, wanted: BootResult, *, clock: Callable[[], float] = time.monotonic
) -> BootResult:
    """After a reset: wait for the job that brings a boot order, and read the order back."""
    if wanted.job is None or wanted.job.job is None:
        return wanted
    result = await wait_job(bmc, wanted.job.job.id, clock=clock)
    if not result.ok:
        return replace(wanted, reached=False, said=result.words)
    now = (await read_state(bmc, absent_s=ABSENT_S)).boot
    reached = now.order == wanted.order and not now.order_waits
    said = f"job {wanted.job.job.id} brought it" if reached else f"the order is {', '.join(now.order)}"
    return replace(wanted, reached=reached, said=said)


async def watch_consumed(
    bmc: Bmc,
    before: Override,
    *,
    bound_s: float = 900.0,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Consumed, Override]:
    """After a reset: look until the boot has taken a one-time override, or time is over."""
    elapsed, last = Elapsed(clock), before
    while True:
        try:
            last = (await read_state(bmc, absent_s=ABSENT_S)).boot.override
        except SILENCE:
            pass
        else:
            fate = consumed(before, last)
            if fate is not Consumed.NO:
                return fate, last
        if elapsed.now() >= bound_s:
            return Consumed.NO, last
        await elapsed.wait(bmc, 10.0)


async def wanted_order(
    bmc: Bmc, boot: BootView, source: BootSource
) -> tuple[tuple[str, ...] | str, Mapping[str, str]]:
    """The boot order with one source first, or why there is none; and the names of the boot options."""
    options = await _options(bmc, boot)
    order = decide_order(boot.order, options, source) if boot.order else "it tells no boot order"
    return order, {option.reference: option.name for option in options}


async def _options(bmc: Bmc, boot: BootView) -> list[BootOption]:
    if not boot.options_path:
        return []
    try:
        members = await bmc.members(boot.options_path)
    except BmcNotFoundError:
        return []
    return [option for body in members if (option := read_option(body)) is not None]


def order_words(order: tuple[str, ...], names: Mapping[str, str]) -> str:
    """``Boot0003 (PXE Device 1: NIC in Slot 5 Port 1), Boot0000, …``: the first one by its name."""
    if not order:
        return "no order"
    name = names.get(order[0], "")
    first = f"{order[0]} ({name})" if name else order[0]
    return ", ".join([first, *order[1:]])


def _answered(error: BmcError) -> str:
    return f"the BMC answered {error.message}"
