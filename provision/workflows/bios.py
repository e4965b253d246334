"""BIOS settings of one node: read, written in one request that makes one job, and read back."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from fabricctl.errors import BmcAnswerError, BmcBusyError, BmcNotFoundError
from fabricctl.nodes.model import EventKind
from provision.bmc.bios import BiosPlan, BiosState, patch_body, plan_write, read_bios, settings_path, shown
from provision.bmc.bios_registry import Registry, Values, read_registry
from provision.bmc.job_watch import End, Patience
from provision.bmc.jobs import Job, WantedJob
from provision.bmc.reply import Reply
from provision.redfish.bmc import Bmc, Group, Resource
from provision.workflows.change import AT_RESET, Sending
from provision.workflows.elapsed import SILENCE, Elapsed
from provision.workflows.job_runner import JobResult, ensure_job, wait_job
from provision.workflows.journal import FORGET, Record
from provision.workflows.lc_gate import wait_ready

BIOS_JOB = WantedJob("BIOSConfiguration", "BIOS.Setup.1-1", "a BIOS job")
JOB_PATIENCE = Patience(total_s=3600.0)
"""A node with 2 TB of memory is in POST for minutes, twice: its BIOS job runs in the first."""
Reset = Callable[[Bmc], Awaitable[object]]
"""Restarts a node and comes back when it is on again."""


@dataclass(frozen=True)
class BiosWrite:
    """How a write is carried out.

    :param reset: restart the node so that the values take effect, and wait until they are seen in force.
    :param wait: without a reset: wait until somebody else's restart has applied them.
    :param patience: for jobs; :param settle_s: seconds after a job within which its values must be seen in force.
    """

    reset: bool = False
    wait: bool = False
    patience: Patience = JOB_PATIENCE
    settle_s: float = 900.0
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class BiosResult:
    """What came of one node.

    :param applied: every value was read back in force; :param scheduled: every value was read back as pending.
    :param wrong: attribute -> value in force that is not the wanted one, after all was done.
    """

    plan: BiosPlan
    job: JobResult | None = None
    applied: bool = False
    scheduled: bool = False
    wrong: Values | None = None

    @property
    def words(self) -> str:
        """For people."""
        if not self.plan.changes and self.job is None:
            return "as wanted already: nothing was written"
        bad = f": {self.job.words}" if self.job is not None and not self.job.ok else ""
        if self.applied:
            return f"written, and read back in force{bad}"
        if self.scheduled:
            again = "waits already" if self.plan.waiting else "written"
            return f"{again}: takes effect at the next restart{bad}"
        if self.wrong:
            return f"NOT as wanted: {', '.join(self.wrong)}{bad}"
        return f"written, but not read back as pending{bad}"


async def read_bios_state(bmc: Bmc) -> BiosState:
    """Values in force and pending ones. :raises BmcError: the BIOS settings cannot be read."""
    bios = await _bios(bmc)
    return read_bios(bios, await _settings(bmc, settings_path(bios)))


async def _bios(bmc: Bmc) -> Resource:
    layout = await bmc.layout()
    return (await bmc.get(f"{layout.system}/Bios")).resource


async def _settings(bmc: Bmc, path: str) -> Resource | None:
    try:
        return (await bmc.get(path)).resource
    except BmcNotFoundError:
        bmc.note(path, "pending BIOS values are not known: the resource is not there")
        return None


async def plan_bios(bmc: Bmc, wanted: Mapping[str, str]) -> BiosPlan:
    """What a write would do. The registry is read only where there is something to check."""
    return (await _plan(bmc, wanted))[1]


async def _plan(bmc: Bmc, wanted: Mapping[str, str]) -> tuple[BiosState, BiosPlan]:
    state = await read_bios_state(bmc)
    plan = plan_write(bmc.target.host, state, wanted, None)
    if plan.changes or plan.refused or plan.blocked:
        plan = plan_write(bmc.target.host, state, wanted, await read_registry_of(bmc, state))
    return state, plan


async def read_registry_of(bmc: Bmc, state: BiosState) -> Registry | None:
    """The attribute registry; None where the BMC has none, and values are checked by their types only."""
    layout = await bmc.layout()
    if layout.idrac:
        found = await _registry_at(bmc, f"{layout.system}/Bios/BiosRegistry")
        if found is not None:
            return found
    for path in await _listed_registry(bmc, state.registry):
        found = await _registry_at(bmc, path)
        if found is not None:
            return found
    bmc.note(f"{layout.system}/Bios", "no attribute registry: values are checked by their types only")
    return None


async def _registry_at(bmc: Bmc, path: str) -> Registry | None:
    try:
        return read_registry((await bmc.get(path, Group.SLOW)).resource)
    except BmcAnswerError:
        return None


async def _listed_registry(bmc: Bmc, name: str) -> list[str]:
    """Where the registry file that the BIOS names lies (DSP0266, registries)."""
    if not name:
        return []
    try:
        entry = (await bmc.get(f"/redfish/v1/Registries/{name}")).resource
    except BmcAnswerError:
        return []
    listed = entry.get("Location")
    places = [place for place in listed if isinstance(place, dict)] if isinstance(listed, list) else []
    english = [place for place in places if str(place.get("Language") or "en").startswith("en")]
    return [str(place["Uri"]) for place in english or places if place.get("Uri")]


async def write_bios(
    bmc: Bmc,
    wanted: Mapping[str, str],
    options: BiosWrite,
    reset: Reset,
    record: Record = FORGET,
) -> BiosResult:
    """Make the values the wanted ones: read first, one request with every difference, one job, read back.

    :param reset: used only with ``options.reset``.
    :raises BmcBusyError: other values wait for the next boot, or somebody else's job is in the way.
    :raises BmcAnswerError: values that this BIOS does not take; nothing was written.
    :raises BmcError: as reading, writing and the job say.
    """
    state, plan = await _plan(bmc, wanted)
    check_plan(bmc, plan)
    if not plan.changes:
        return BiosResult(plan, applied=True)
    job, sending = None, sending_of(bmc, plan, record)
    if (await bmc.layout()).idrac:
        job = await schedule_bios(
            bmc, wanted, state, plan, sending, patience=options.patience, clock=options.clock
        )
    elif not plan.waiting:
        await _patch(sending, state, plan)
    if _failed(job):  # a restart would change nothing, and might be one too many
        return BiosResult(plan, job, wrong=await _wrong(bmc, wanted))
    if options.reset:
        await reset(bmc)
    if (options.reset or options.wait) and job is not None and job.job is not None:
        done = await wait_job(bmc, job.job.id, patience=options.patience, clock=options.clock)
        job = replace(done, reused=job.reused)
    if options.reset or options.wait:
        wrong = await (_wrong(bmc, wanted) if _failed(job) else _settled(bmc, wanted, options))
        _keep_wrong(sending, plan, wrong)
        return BiosResult(plan, job, applied=not wrong, wrong=wrong)
    pending = (await read_bios_state(bmc)).pending
    scheduled = all(name in pending and pending[name] == value for name, value in plan.changes.items())
    if scheduled:
        sending.reached(AT_RESET)
    return BiosResult(plan, job, scheduled=scheduled)


def check_plan(bmc: Bmc, plan: BiosPlan) -> None:
    """Refuse a plan that cannot be carried out. :raises BmcAnswerError: :raises BmcBusyError: nothing was written."""
    if plan.refused:
        raise BmcAnswerError(f"{'; '.join(plan.refused)}; nothing was written", bmc=str(bmc.target))
    if plan.blocked:
        raise BmcBusyError(
            f"{blocked_words(plan)}; nothing was written",
            bmc=str(bmc.target),
            hint="restart the node to apply them, or clear their job",
        )


def blocked_words(plan: BiosPlan) -> str:
    """Which values of others are in a plan's way."""
    waiting = ", ".join(f"{name}={shown(name, value)}" for name, value in plan.blocked.items())
    return f"other values wait for the next boot: {waiting}"


def sending_of(bmc: Bmc, plan: BiosPlan, record: Record) -> Sending:
    """The change of a plan, an event for each attribute."""
    moves = [
        (f"{name}={shown(name, plan.before.get(name))}", f"{name}={shown(name, value)}")
        for name, value in plan.changes.items()
    ]
    return Sending(bmc, record, EventKind.NODE_BIOS, moves)


async def schedule_bios(
    bmc: Bmc,
    wanted: Mapping[str, str],
    state: BiosState,
    plan: BiosPlan,
    sending: Sending,
    *,
    patience: Patience = JOB_PATIENCE,
    clock: Callable[[], float] = time.monotonic,
) -> JobResult:
    """Have an iDRAC bring a plan's values at the next reset: one request, one job. The plan has been checked.

    :param wanted: what the plan was made of. :raises BmcError: as reading, writing and the job say.
    """
    manager = (await bmc.layout()).manager
    await wait_ready(bmc, clock=clock)

    async def create() -> Reply:
        if plan.waiting:  # somebody wrote the values and no job: they would never be applied
            return await sending.post(f"{manager}/Oem/Dell/Jobs", {"TargetSettingsURI": state.settings})
        return await sending.patch(state.settings, patch_body(state, plan))

    async def equal(job: Job) -> bool:  # noqa: ARG001 - an iDRAC has one set of pending values for all jobs
        again = plan_write(bmc.target.host, await read_bios_state(bmc), wanted, None)
        return not again.changes or again.waiting

    result = await ensure_job(
        bmc, BIOS_JOB, create, equal=equal, until_waiting=True, patience=patience, clock=clock
    )
    if result.ok:
        sending.reached(AT_RESET)
    else:
        sending.tell(result.words)
    return result


async def _patch(sending: Sending, state: BiosState, plan: BiosPlan) -> None:
    """Write to a BMC that needs no job. A lost answer is settled by what is read back."""
    error = await sending.attempt(sending.patch(state.settings, patch_body(state, plan)))
    if error is not None and not sending.lost:
        raise error


def _keep_wrong(sending: Sending, plan: BiosPlan, wrong: Values) -> None:
    """What was seen in force at the end."""
    if not wrong:
        sending.reached()
        return
    sending.tell(
        *(f"it is {shown(name, wrong[name])}" if name in wrong else "in force" for name in plan.changes)
    )


def _failed(job: JobResult | None) -> bool:
    """Whether a job came to a bad end, so that waiting for its values is in vain."""
    return job is not None and job.end is End.SETTLED and not job.ok


async def _wrong(bmc: Bmc, wanted: Mapping[str, str]) -> Values:
    """Values in force that are not as wanted, now."""
    state = await read_bios_state(bmc)
    return {name: state.values.get(name) for name in plan_write(bmc.target.host, state, wanted, None).changes}


async def _settled(bmc: Bmc, wanted: Mapping[str, str], options: BiosWrite) -> Values:
    """What is not as wanted at the end: looked at until all is, for a BIOS tells its values only after POST.

    :raises BmcError: the BMC does not answer any more.
    """
    elapsed = Elapsed(options.clock)
    while True:
        late = elapsed.now() >= options.settle_s
        try:
            wrong = await _wrong(bmc, wanted)
        except SILENCE:
            if late:
                raise
        else:
            if late or not wrong:
                return wrong
        await elapsed.wait(bmc, 10.0)
