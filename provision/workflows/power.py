"""Bringing one system to a power state: read, decide, send once, look what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fabricctl.errors import (
    BmcError,
    BmcNotFoundError,
    BmcOutcomeUnknownError,
    BmcUnsupportedError,
)
from fabricctl.nodes.model import EventKind
from provision.bmc.power import (
    WENT,
    PowerRequest,
    PowerState,
    PowerStep,
    ResetType,
    SystemView,
    Witness,
    action_info_path,
    decide_power,
    read_system,
    restarted,
    witness,
)
from provision.bmc.refusal import keys_of
from provision.bmc.reply import message_key
from provision.redfish.bmc import Bmc, Group, Resource
from provision.workflows.change import Sending
from provision.workflows.elapsed import ABSENT_S, SILENCE, Elapsed
from provision.workflows.journal import FORGET, Record
from provision.workflows.phase import phase

ALREADY = frozenset({"PSU501"})
"""An iDRAC answers 409 PSU501 to On when the server is on: that is what was wanted."""
_PHASES = {PowerState.ON: "being switched on", PowerState.OFF: "shutting down", None: "restarting"}
_POLL_S, _SLOWEST_S = 2.0, 10.0
_LOOKS = 8
"""Looks, with pauses between, whether a command that was answered "not ready" was carried out all the same: a server
takes some seconds to go off."""
_ENTRIES = 100
"""Of the lifecycle log, looked through for a reset: a page of 50 may take an iDRAC9 18 s."""


@dataclass(frozen=True)
class PowerOptions:
    """How a power command is carried out.

    :param force: cut the power when the operating system does not follow; :param grace_s: seconds it has for that.
    :param settle_s: seconds a command that asks nobody may take; :param wait: until the state is there.
    """

    force: bool = False
    grace_s: float = 300.0
    settle_s: float = 120.0
    wait: bool = True
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class PowerResult:
    """What came of it.

    :param sent: commands that were sent, each once; :param reached: whether the wanted state was seen.
    :param evidence: what showed it, for people; of a restart that did not come back, what of it was seen.
    """

    before: PowerState
    after: PowerState
    sent: tuple[ResetType, ...] = ()
    reached: bool = True
    evidence: str = ""

    @property
    def words(self) -> str:
        """For people: what was sent, and what showed that it was carried out, where the state itself does not."""
        plain = f"it is {self.after.value}"
        sent = ", then ".join(reset.value for reset in self.sent)
        return "; ".join(text for text in (sent, self.evidence) if text and text != plain)


@dataclass
class _Run:
    """One command on one system, while it is carried out."""

    bmc: Bmc
    options: PowerOptions
    record: Record
    sent: list[ResetType] = field(default_factory=list)


async def read_body(bmc: Bmc, *, absent_s: float = 0.0) -> Resource:
    """The system's body. :param absent_s: seconds the BMC may be away."""
    return (await bmc.get((await bmc.layout()).system, absent_s=absent_s)).resource


async def view_of(bmc: Bmc, body: Resource) -> SystemView:
    """The system of a body, with its reset types from wherever they stand."""
    info = action_info_path(body)
    found: Resource | None = None
    if info:
        try:
            found = (await bmc.get(info)).resource
        except BmcNotFoundError:
            bmc.note(info, "the list of reset types is not there")
    return read_system(body, found)


async def read_power(bmc: Bmc, *, absent_s: float = 0.0) -> SystemView:
    """A system's power, and what may be done about it. :param absent_s: seconds the BMC may be away."""
    return await view_of(bmc, await read_body(bmc, absent_s=absent_s))


async def set_power(
    bmc: Bmc, request: PowerRequest, options: PowerOptions | None = None, record: Record = FORGET
) -> PowerResult:
    """Bring a system to where it should be. Every command is sent at most once, whatever becomes of its answer.

    :raises BmcUnsupportedError: the BMC offers nothing that is allowed here; nothing was sent.
    :raises BmcOutcomeUnknownError: the answer was lost, and nothing shows that the command was carried out.
    :raises BmcError: as reading and sending say.
    """
    run = _Run(bmc, options or PowerOptions(), record)
    view = await read_power(bmc)
    decision = decide_power(request, view, force=run.options.force, grace_s=run.options.grace_s)
    if decision.refused:
        raise BmcUnsupportedError(decision.refused, bmc=str(bmc.target))
    if decision.step is None:
        if view.power is decision.settle or decision.settle is None or not run.options.wait:
            return PowerResult(view.power, view.power)
        now, reached = await _wait_state(run, decision.settle, run.options.settle_s)
        return PowerResult(view.power, now, reached=reached)
    step = decision.step
    if view.power is PowerState.POWERING_OFF and step.goal is PowerState.ON:
        await _wait_state(run, PowerState.OFF, run.options.grace_s)  # an iDRAC refuses On until it is off
    return await _carry_out(run, step, view)


async def _carry_out(run: _Run, step: PowerStep, view: SystemView) -> PowerResult:
    first = view.power
    while True:
        result, lost = await _send(run, step, view)
        follow = step.then
        if result.reached and follow is not None and not step.escalates:
            step, view = follow, await read_power(run.bmc)
            continue
        if not result.reached and lost and not result.evidence:
            raise _unknown(run, step, result)
        ignored = not result.reached and not result.evidence
        if ignored and follow is not None and step.escalates and run.options.wait:
            step, view = follow, await read_power(run.bmc)
            continue
        return PowerResult(first, result.after, tuple(run.sent), result.reached, result.evidence)


async def _send(run: _Run, step: PowerStep, view: SystemView) -> tuple[PowerResult, bool]:
    """Send one command, once, and look. :returns: what is seen, and whether the answer was lost."""
    bmc = run.bmc
    before = witness(view, await _log_id(bmc, view) if step.goal is None else "")
    phase(_PHASES[step.goal])
    sending = Sending(bmc, run.record, EventKind.NODE_POWER, [(view.power_words, step.reset.value)])
    run.sent.append(step.reset)

    async def again() -> bool:
        """Some BMC answers "not ready" to a reset that it has carried out: twice would be once too often."""
        for _ in range(_LOOKS):
            now = await read_power(bmc)
            if now.power is not view.power:
                return False
            if step.goal is None and restarted(before, witness(now), await _keys_since(bmc, before.log_id)):
                return False
            await bmc.wait(_POLL_S)
        return True

    error = await sending.attempt(
        sending.post(view.reset_path, {"ResetType": step.reset.value}, again=again), come_back_s=0
    )
    if error is not None and not sending.lost:
        now = (await read_power(bmc)).power
        if step.goal is None or now is not step.goal:
            raise error
        run.sent.pop()  # refused because it is so already
        why = "PSU501" if keys_of(error) & ALREADY else "it was so already"
        sending.tell(f"refused: {why}")
        return PowerResult(view.power, now, evidence=why), False
    if not run.options.wait and not sending.lost and step.then is None:
        now = (await read_power(bmc)).power
        sending.tell("accepted, not waited for")
        return PowerResult(view.power, now, evidence="accepted, not waited for"), False
    try:
        after, evidence, reached = await _come_of(run, step, before)
    except BmcOutcomeUnknownError:
        raise
    except BmcError as silence:
        raise _silent(run, silence) from silence
    answer = "answer lost" if sending.lost else "accepted"
    sending.tell(
        evidence or f"{answer}, and nothing shows that it was carried out; it is {after.value or 'unknown'}"
    )
    return PowerResult(view.power, after, reached=reached, evidence=evidence), sending.lost


async def _come_of(run: _Run, step: PowerStep, before: Witness) -> tuple[PowerState, str, bool]:
    """Wait for what a command should bring.

    :returns: the power then, what was seen of the command (empty: nothing), and whether it is as it should be.
    """
    bound = run.options.grace_s if step.reset.asks else run.options.settle_s
    if step.goal is None:
        return await _come_back(run, await _wait_restart(run, before, bound))
    after, reached = await _wait_state(run, step.goal, bound)
    return after, f"it is {after.value}" if reached else "", reached


async def _come_back(run: _Run, shown: str) -> tuple[PowerState, str, bool]:
    """After a restart: on again, where that is waited for. One that stays off did not restart.

    :param shown: what showed the restart, empty when nothing did.
    """
    bound = run.options.settle_s if run.options.wait and shown else 0.0
    after, on = await _wait_state(run, PowerState.ON, bound)
    if not shown or not run.options.wait:
        return after, shown, bool(shown)
    if not on:
        return after, f"{shown}, and has not come back within {bound:.0f} s", False
    return after, f"{shown}, and came back" if shown in WENT.values() else shown, True


async def _wait_state(run: _Run, goal: PowerState, bound_s: float) -> tuple[PowerState, bool]:
    """Look until the state is there, or time is over. A BMC that does not answer meanwhile told nothing."""
    elapsed, poll, last = Elapsed(run.options.clock), _POLL_S, PowerState.UNKNOWN
    silence: BmcError | None = None
    while True:
        try:
            last, silence = (await read_power(run.bmc, absent_s=ABSENT_S)).power, None
        except SILENCE as error:
            silence = error
        if last is goal:
            return last, True
        if elapsed.now() >= bound_s:
            if silence is not None and last is PowerState.UNKNOWN:
                raise _silent(run, silence) from silence
            return last, False
        await elapsed.wait(run.bmc, poll)
        poll = min(poll * 1.5, _SLOWEST_S)


async def _wait_restart(run: _Run, before: Witness, bound_s: float) -> str:
    """Look until something shows that it was reset; empty when nothing does in time."""
    elapsed, poll = Elapsed(run.options.clock), _POLL_S
    while True:
        try:
            now = witness(await read_power(run.bmc, absent_s=ABSENT_S))
            shown = restarted(before, now, await _keys_since(run.bmc, before.log_id))
        except SILENCE:
            shown = ""
        if shown or elapsed.now() >= bound_s:
            return shown
        await elapsed.wait(run.bmc, poll)
        poll = min(poll * 1.5, _SLOWEST_S)


async def _log_id(bmc: Bmc, view: SystemView) -> str:
    """Newest entry of an iDRAC's lifecycle log; only where the system itself keeps no time of its last reset."""
    layout = await bmc.layout()
    if view.last_reset or not layout.idrac:
        return ""
    path = f"{layout.manager}/LogServices/Lclog/Entries?$top=1"
    try:
        members = (await bmc.get(path, Group.SLOW)).resource.get("Members")
    except BmcError as error:
        bmc.note(
            path, f"the lifecycle log cannot be read, so it will not tell whether a reset took place: {error}"
        )
        return ""
    newest = members[0] if isinstance(members, list) and members else {}
    return str(newest.get("Id") or "")


async def _keys_since(bmc: Bmc, log_id: str) -> list[str]:
    """Message keys of entries written after one."""
    if not log_id:
        return []
    path = f"{(await bmc.layout()).manager}/LogServices/Lclog/Entries"
    left = iter(range(_ENTRIES))

    def enough(entry: Resource) -> bool:
        """At the entry that was the newest, or so far back that it must have been cleared away."""
        return str(entry.get("Id") or "") == log_id or next(left, None) is None

    entries = await bmc.members(path, Group.SLOW, until=enough)
    return [message_key(str(entry.get("MessageId") or "")) for entry in entries]


def _silent(run: _Run, silence: BmcError) -> BmcError:
    """A BMC that cannot be read any more: after a command nobody knows what came of it."""
    if not run.sent:
        return silence
    return BmcOutcomeUnknownError(
        f"{run.sent[-1]} was sent, and the BMC cannot be read since: {silence.message}; not repeated",
        bmc=str(run.bmc.target),
    )


def _unknown(run: _Run, step: PowerStep, result: PowerResult) -> BmcOutcomeUnknownError:
    state = result.after.value or "unknown"
    return BmcOutcomeUnknownError(
        f"the answer to {step.reset} was lost, and nothing shows that it was carried out: power is {state}; "
        "not repeated",
        bmc=str(run.bmc.target),
        hint="look at the node, then run the command again",
    )
