"""Booting one node from somewhere, from the first setting to the proof."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from provision.bmc.boot import BootSource, Consumed, wanted_override
from provision.bmc.media import MediaDecision, decide_insert
from provision.bmc.outcome import Change
from provision.bmc.power import PowerRequest
from provision.redfish.bmc import Bmc
from provision.workflows.boot import (
    BootState,
    OrderChange,
    prove_order,
    read_state,
    set_order,
    set_override,
    wanted_order,
    watch_consumed,
)
from provision.workflows.boot_device import PortPlan, plan_port, prepare_port
from provision.workflows.job_runner import wait_job
from provision.workflows.journal import FORGET, Record
from provision.workflows.lc_gate import wait_ready
from provision.workflows.media import insert, read_drives
from provision.workflows.power import PowerOptions, PowerResult, set_power


@dataclass(frozen=True)
class BootPlan:
    """What is wanted of a node's boots.

    :param persistent: for good, not once; :param mode: ``UEFI`` or ``Legacy``, empty: as it is; :param nic: FQDD.
    :param image: to be in the virtual CD drive first; :param replace: take another image out.
    :param reset: restart it (or turn it on) afterwards; :param prove: and look whether the override was taken.
    :param again: also where the boot of an earlier run of the command has just taken it.
    """

    source: BootSource
    persistent: bool = False
    mode: str = ""
    nic: str = ""
    image: str = ""
    replace: bool = False
    reset: bool = False
    prove: bool = False
    again: bool = False
    power: PowerOptions = field(default_factory=PowerOptions)
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class BootRun:
    """What came of it, step by step; None: that step was not asked for, or not come to."""

    boot: Change | None = None
    media: Change | None = None
    power: PowerResult | None = None
    fate: Consumed | None = None
    said: str = ""

    @property
    def reached(self) -> bool:
        """Whether everything asked for was seen."""
        steps = [step.reached for step in (self.boot, self.media, self.power) if step is not None]
        return bool(steps) and all(steps) and not self.said and self.fate in (None, Consumed.YES)


@dataclass(frozen=True)
class BootLook:
    """What a plan is made from; None where the plan does not ask for it.

    :param order: with the wanted source first, or why there is none; :param names: of the boot options.
    :param port: what makes it a boot device, None also when none can; :param media: what to insert.
    """

    state: BootState
    order: tuple[str, ...] | str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    port: PortPlan | None = None
    media: MediaDecision | None = None


async def look_before(bmc: Bmc, plan: BootPlan) -> BootLook:
    """Read what a plan would have to change."""
    state, order, names = await read_state(bmc), None, dict[str, str]()
    port = media = None
    if plan.persistent:
        order, known = await wanted_order(bmc, state.boot, plan.source)
        names = dict(known)
    if plan.nic:
        port = await plan_port(bmc, plan.source, plan.nic)
    if plan.image:
        places = await read_drives(bmc)
        media = decide_insert(places[0] if places else [], plan.image, replace=plan.replace)
    return BootLook(state, order, names, port, media)


async def boot_node(bmc: Bmc, plan: BootPlan, record: Record = FORGET) -> BootRun:
    """Image, boot device, override, reset, proof: each only when it is asked for and the one before it worked.

    :raises BmcError: as the steps say; those before it were done, and are in the record.
    """
    media: Change | None = None
    if plan.image:
        media = await insert(bmc, plan.image, replace=plan.replace, record=record, clock=plan.clock)
        if not media.reached:
            return BootRun(
                media=media, said=media.said or "the image is not in the drive; its boot was not set"
            )
    if plan.nic:
        said = await _port(bmc, plan, record)
        if said:
            return BootRun(media=media, said=said)
    boot = await _boot(bmc, plan, record)
    if not boot.reached or not plan.reset:
        return BootRun(boot, media)
    power = await _restart(bmc, plan, record)
    if not power.reached:
        first = "" if power.evidence else "it did not restart; "
        return BootRun(boot, media, power, said=f"{first}the boot is set for when it does")
    if plan.persistent:
        proved = await prove_order(bmc, boot, clock=plan.clock) if isinstance(boot, OrderChange) else boot
        return BootRun(proved, media, power)
    if not plan.prove:
        return BootRun(boot, media, power)
    fate, _ = await watch_consumed(bmc, wanted_override(plan.source), clock=plan.clock)
    return BootRun(boot, media, power, fate)


async def _boot(bmc: Bmc, plan: BootPlan, record: Record) -> Change:
    if plan.persistent:
        return await set_order(bmc, plan.source, record=record, clock=plan.clock)
    return await set_override(bmc, plan.source, mode=plan.mode, record=record, clock=plan.clock)


async def _restart(bmc: Bmc, plan: BootPlan, record: Record) -> PowerResult:
    return await set_power(bmc, PowerRequest.CYCLE, plan.power, record)


async def _port(bmc: Bmc, plan: BootPlan, record: Record) -> str:
    """Make the port a boot device. :returns: what must come before the override can be set; empty when nothing."""
    made = await prepare_port(bmc, plan.source, plan.nic, record=record, clock=plan.clock)
    if made is None:
        return ""
    if not made.ok:
        return made.words
    assert made.job is not None
    name = made.job.id
    if not plan.reset:
        # a one-time boot set now would be spent by the boot in which the job runs
        return (
            f"{plan.nic} becomes a boot device with job {name} at the next reset; then run this command again"
        )
    restarted = await _restart(bmc, plan, record)
    if not restarted.reached:
        return f"{restarted.evidence or 'it did not restart'}; job {name} waits for that"
    result = await wait_job(bmc, name, clock=plan.clock)
    if not result.ok:
        return result.words
    await wait_ready(bmc, clock=plan.clock)
    return ""
