"""The same question to many places at once: bounded threads, one deadline each, one way to stop all."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from fabricctl.adapters.command import Deadline

T = TypeVar("T")
_TICK_S = 0.2
_STOP_S = 3.0
"""Seconds that running questions get to end what they started elsewhere, after an interruption."""


def fan_out(
    count: int,
    ask: Callable[[int, Deadline], T],
    *,
    deadline_s: float,
    parallel: int,
    done: Callable[[T, int], None],
) -> list[T]:
    """Answers to ``ask(0, ...)`` to ``ask(count - 1, ...)``, in that order.

    The deadline of a question starts with it. Threads are daemons: one stuck in a foreign call cannot keep the
    program from ending.

    :param done: called on this thread with each answer and how many there are by then.
    :raises KeyboardInterrupt: interrupted; every deadline was cancelled first.
    :raises BaseException: whatever a question raised, after all others were cancelled.
    """
    cancelled = threading.Event()
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    answers: queue.SimpleQueue[tuple[int, T | None, BaseException | None]] = queue.SimpleQueue()
    for index in range(count):
        todo.put(index)

    def work() -> None:
        while not cancelled.is_set():
            try:
                index = todo.get_nowait()
            except queue.Empty:
                return
            try:
                answers.put((index, ask(index, Deadline(deadline_s, cancelled=cancelled)), None))
            except BaseException as exc:  # noqa: BLE001 - raised again on the calling thread
                answers.put((index, None, exc))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(count, max(1, parallel)))]
    for thread in threads:
        thread.start()
    try:
        return _gather(count, answers, done)
    except BaseException:
        cancelled.set()
        end = time.monotonic() + _STOP_S
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
        raise


def _gather(
    count: int,
    answers: queue.SimpleQueue[tuple[int, T | None, BaseException | None]],
    done: Callable[[T, int], None],
) -> list[T]:
    found: dict[int, T] = {}
    while len(found) < count:
        try:
            index, answer, error = answers.get(timeout=_TICK_S)  # short: Ctrl-C is noticed between two waits
        except queue.Empty:
            continue
        if error is not None:
            raise error
        assert answer is not None
        found[index] = answer
        done(answer, len(found))
    return [found[index] for index in range(count)]
