"""Setting what one system boots next: read, write only a difference, read back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fabricctl.errors import BmcNotFoundError, BmcUnsupportedError
from fabricctl.nodes.model import EventKind
from provision.bmc.boot import (
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
from provision.bmc.outcome import Change
from provision.bmc.power import PowerState, SystemView
from provision.bmc.refusal import REFUSED, keys_of, refuses_place
from provision.bmc.reply import Reply
from provision.redfish.bmc import Bmc, Resource
from provision.workflows.change import AT_RESET, Sending
from provision.workflows.elapsed import ABSENT_S, SILENCE, Elapsed
from provision.workflows.job_runner import JobResult, ensure_job, wait_job
from provision.workflows.journal import FORGET, Record
from provision.workflows.lc_gate import wait_ready
from provision.workflows.phase import phase
from provision.workflows.power import read_body, view_of

PARTIAL = frozenset({"SYS444", "SYS410"})
"""An iDRAC answers 400 with these and has still set a part, such as the target without Enabled."""


@dataclass(frozen=True)
class BootState:
    """How a system boots, and how it is."""

    system: SystemView
    boot: BootView


@dataclass(frozen=True)
class OrderChange(Change):
    """What came of setting a boot order on an iDRAC.

    :param job: that brings it at the next reset; :param order: that is wanted.
    """

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
    record: Record = FORGET,
    clock: Callable[[], float] = time.monotonic,
) -> Change:
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
        return Change(before, before)
    # in POST it would be taken by the boot that is under way, or be lost
    await wait_ready(bmc, post_too=state.system.power is not PowerState.OFF, clock=clock)
    sending = Sending(bmc, record, EventKind.NODE_BOOT, [(before, wanted.words)])
    for path in state.boot.paths:
        error = await sending.attempt(sending.patch(path, change.body))
        if error is None or keys_of(error) & PARTIAL or not refuses_place(error):
            break  # a part of it may be set even so: what is set now is read back
    now = (await read_state(bmc)).boot
    reached = now.override.same(wanted) and mode in ("", now.mode)
    # sushy-emulator stores Continuous whatever it is asked for, and answers 204
    otherwise = f"the BMC took the change to {wanted.words} and did something else"
    return sending.seen(now.override.words, reached, otherwise)


async def set_order(
    bmc: Bmc, source: BootSource, *, record: Record = FORGET, clock: Callable[[], float] = time.monotonic
) -> Change:
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
        return Change(before, before, said="it waits for the next reset" if boot.order_waits else "")
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
) -> Change:
    after = order_words(order, names)
    sending = Sending(bmc, record, EventKind.NODE_BOOT, [(before, after)])
    if not (await bmc.layout()).idrac:
        await sending.attempt(sending.patch(boot.order_path, {"Boot": {"BootOrder": list(order)}}))
        now = (await read_state(bmc)).boot.order
        return sending.seen(order_words(now, names), now == order)
    body = {"@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}, "Boot": {"BootOrder": list(order)}}
    wanted = WantedJob("BIOSConfiguration", "BIOS.Setup.1-1", "a job for the boot order")

    async def create() -> Reply:
        return await sending.patch(boot.order_path, body)

    async def same(_job: Any) -> bool:
        return (await read_state(bmc)).boot.order == order

    result = await ensure_job(bmc, wanted, create, equal=same, until_waiting=True, clock=clock)
    if result.ok:
        sending.reached(AT_RESET)
    else:
        sending.tell(result.words)
    said = "a job brings it at the next reset" if result.ok else result.words
    return OrderChange(before, after, not result.reused, result.ok, said, result, order)


async def prove_order(
    bmc: Bmc, wanted: OrderChange, *, clock: Callable[[], float] = time.monotonic
) -> Change:
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
    phase("waiting for the boot")
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
