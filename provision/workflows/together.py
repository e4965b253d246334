"""Doing several things of one BMC at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


async def together(*work: Coroutine[Any, Any, Any]) -> list[Any]:
    """Results in order; the first failure ends the others and is raised as itself."""
    if len(work) < 2:
        return [await one for one in work]
    try:
        async with asyncio.TaskGroup() as tasks:
            made = [tasks.create_task(one) for one in work]
    except BaseExceptionGroup as group:
        raise _first(group) from group
    return [task.result() for task in made]


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    one = group.exceptions[0]
    return _first(one) if isinstance(one, BaseExceptionGroup) else one
