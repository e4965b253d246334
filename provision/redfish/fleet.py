"""Work over many BMCs at once; each one's failure is data, and no session survives."""

from __future__ import annotations

import asyncio
import gc
import logging
import resource
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar
from urllib.parse import quote

from fabricctl.adapters.locks import HeldError, held
from fabricctl.errors import BmcBusyError, BmcError, BmcInternalError, FabricctlError, StateError
from provision.bmc.outcome import Outcome
from provision.bmc.target import Target
from provision.redfish.aio import AiohttpTransport
from provision.redfish.bmc import Bmc
from provision.redfish.interrupt import interruptible
from provision.redfish.keeper import Keeper, KeptByReaper
from provision.redfish.limits import CredentialSource, FleetOptions, Limits
from provision.redfish.link import Link
from provision.redfish.node import RedfishBmc
from provision.redfish.transport import Transport
from provision.redfish.trust import must_be_trusted

__all__ = ["CredentialSource", "FleetOptions", "Interrupted", "Limits", "ask", "ask_async"]

T = TypeVar("T")
Work = Callable[[Bmc], Awaitable[T]]
Done = Callable[[Outcome[T], int], None]
LOG = logging.getLogger(__name__)
START_GAP_S = 0.002
"""Seconds between the first BMCs of a run: as many TLS handshakes in one moment would only wait for each other."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM; every session was ended.

    :param outcomes: what was finished by then, in the order of the targets.
    """

    def __init__(self, outcomes: Sequence[Outcome[Any]] = ()) -> None:
        super().__init__("interrupted")
        self.outcomes = tuple(outcomes)


def ask(
    targets: Sequence[Target],
    work: Work[T],
    options: FleetOptions,
    *,
    wave: int | None = None,
    done: Done[T] | None = None,
) -> list[Outcome[T]]:
    """Do work on many BMCs; outcomes in the order of the targets.

    :param work: raises ``BmcError`` for its BMC, which becomes that outcome's error; other errors of fabricctl end
        the run. :param wave: BMCs at once, where fewer than the fleet limit must be.
    :param done: called for each BMC as it is finished, with the number finished so far.
    :raises Interrupted: Ctrl-C or SIGTERM; a second one does not wait for logouts, which the reaper then does.
    """
    finished: list[Outcome[T] | None] = [None] * len(targets)
    try:
        return asyncio.run(interruptible(_run(targets, work, options, wave, done, finished)))
    except asyncio.CancelledError:
        raise Interrupted([outcome for outcome in finished if outcome is not None]) from None


async def ask_async(
    targets: Sequence[Target],
    work: Work[T],
    options: FleetOptions,
    *,
    wave: int | None = None,
    done: Done[T] | None = None,
) -> list[Outcome[T]]:
    """As :func:`ask`, on the caller's event loop, who also looks after signals."""
    return await _run(targets, work, options, wave, done, [None] * len(targets))


async def _run(
    targets: Sequence[Target],
    work: Work[T],
    options: FleetOptions,
    wave: int | None,
    done: Done[T] | None,
    finished: list[Outcome[T] | None],
) -> list[Outcome[T]]:
    at_once = max(1, min(options.limits.fleet, wave or options.limits.fleet, len(targets) or 1))
    make_room(at_once * (options.limits.reads + 2))
    waiting = iter(enumerate(targets))
    count = 0
    with _no_garbage(), _keeping(options) as keeper, _threads(options, at_once) as threads:

        async def worker(delay: float) -> None:
            nonlocal count
            await asyncio.sleep(delay)
            for index, target in waiting:
                outcome = await _one(target, work, options, keeper, threads)
                finished[index] = outcome
                count += 1
                if done is not None:
                    done(outcome, count)

        tasks = [asyncio.ensure_future(worker(number * START_GAP_S)) for number in range(at_once)]
        await _all(tasks)
    return [outcome for outcome in finished if outcome is not None]


@contextmanager
def _no_garbage() -> Iterator[None]:
    """No looking for garbage meanwhile: what a fleet tells is kept to the end, and going through all of it again and
    again took a tenth of the CPU time of a harvest of 511 BMCs and freed nothing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def make_room(connections: int) -> None:
    """Let this process have so many files open, as far as the system allows: 1,024 is a usual limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + 200
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


async def _all(tasks: Sequence[asyncio.Future[None]]) -> None:
    """Await all; when one fails, or this is cancelled, the others are cancelled, each once: they log out on their way,
    which a second cancellation would cut off (as ``gather`` and its clean-up do).
    """
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        under_way = [task for task in tasks if not task.done()]
        for task in under_way:
            task.cancel()
        if under_way:
            await asyncio.wait(under_way)
    for task in tasks:
        if not task.cancelled():
            task.result()


async def _one(
    target: Target,
    work: Work[T],
    options: FleetOptions,
    keeper: Keeper | None,
    threads: ThreadPoolExecutor | None,
) -> Outcome[T]:
    """Work on one BMC, from its first request to its logout."""
    started = options.clock()
    bmc: RedfishBmc | None = None
    value: T | None = None
    error: BmcError | None = None
    try:
        if options.credentials is not None:
            must_be_trusted(target)
        with _alone(target, options):
            bmc = RedfishBmc(Link(target, _transport(target, options, threads), options), keeper)
            value = await work(bmc)
            error = bmc.cut
    except Exception as exc:  # noqa: BLE001
        if bmc is not None:
            bmc.mask.error(exc)
        error = _failure(exc, target)
    finally:
        if bmc is not None:
            await _close(bmc)
    requests, notes = (bmc.requests, bmc.notes) if bmc is not None else (0, ())
    return Outcome(target, value, error, notes, requests, options.clock() - started)


@contextmanager
def _alone(target: Target, options: FleetOptions) -> Iterator[None]:
    """Be the only one that changes a BMC, from the look before to the look after; others may read.

    :raises BmcBusyError: another process is at it; nothing was sent.
    """
    if not options.writes or options.locks is None:
        yield
        return
    path = options.locks / f"{quote(target.address, safe='')}_{target.port}.lock"
    with ExitStack() as stack:
        try:
            stack.enter_context(held(path))
        except HeldError as exc:
            raise BmcBusyError(
                f"it is being changed by {exc.who}; nothing was sent",
                bmc=str(target),
                hint="look at it again when that has ended",
            ) from exc
        except OSError as exc:
            raise StateError(f"cannot be locked: {exc.strerror}", place=str(path)) from exc
        yield


async def _close(bmc: RedfishBmc) -> None:
    """Log out; whatever fails there, the result of the work stands, and the reaper knows of the session."""
    try:
        await bmc.close()
    except Exception as exc:  # noqa: BLE001 - nothing of a logout is worth the result
        bmc.note("", f"its session could not be ended: {_bug(exc, bmc.target).message}")


def _failure(exc: Exception, target: Target) -> BmcError:
    """What ended the work on one BMC. What nobody foresaw there must not cost the results of five hundred others."""
    if isinstance(exc, BmcError):
        exc.bmc = exc.bmc or str(target)
        return exc
    if isinstance(exc, FabricctlError):
        raise exc
    return _bug(exc, target)


def _bug(exc: Exception, target: Target) -> BmcInternalError:
    LOG.debug("work on %s failed", target, exc_info=exc)
    return BmcInternalError(
        f"fabricctl failed on this BMC: {type(exc).__name__} (a bug: run again with --debug and report it)",
        bmc=str(target),
    )


def _transport(target: Target, options: FleetOptions, threads: ThreadPoolExecutor | None) -> Transport:
    if threads is None:
        return AiohttpTransport(target, connections=options.limits.reads + 1)
    from provision.redfish.dmtf import DmtfTransport  # requests and urllib3 only where they are used

    return DmtfTransport(target, threads)


@contextmanager
def _threads(options: FleetOptions, at_once: int) -> Iterator[ThreadPoolExecutor | None]:
    """Worker threads for the DMTF client, one for each request that may be under way."""
    if not options.writes:
        yield None
        return
    number = at_once * (options.limits.reads + 1)
    with ThreadPoolExecutor(max_workers=number, thread_name_prefix="bmc") as threads:
        yield threads


@contextmanager
def _keeping(options: FleetOptions) -> Iterator[Keeper | None]:
    """Who remembers the sessions of this run, its killing included."""
    if options.credentials is None or not options.reaper:
        yield None
        return
    keeper = KeptByReaper(options.ledger)
    try:
        yield keeper
    finally:
        keeper.finish()
