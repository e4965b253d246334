"""The double inside a test: a thread with an event loop of its own, so that clients may use one too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.sim.maas.double import MaasDouble, Settings
from tests.sim.maas.server import CONTROL, Front


class ServedDouble:
    """A double that is being served. :param url: of MAAS, as a client is given it."""

    def __init__(self, double: MaasDouble, front: Front) -> None:
        self.double = double
        self._front = front

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT/MAAS``."""
        return f"{self.double.origin}/MAAS"

    @property
    def control(self) -> str:
        """Where it is told about faults and time."""
        return f"{self.double.origin}{CONTROL}"

    @property
    def port(self) -> int:
        """Of the server."""
        return self._front.port

    @property
    def api_key(self) -> str:
        """``CK:TK:TS``."""
        return self.double.settings.api_key

    def advance(self, seconds: float) -> None:
        """Let simulated time pass."""
        self.double.advance(seconds)


@contextmanager
def maas_double(
    *, faults: list[dict[str, Any]] | None = None, port: int = 0, control: bool = False, **options: Any
) -> Iterator[ServedDouble]:
    """Serve a double while the block runs. :param options: of :class:`tests.sim.maas.double.Settings`.

    :param faults: rules from the start, as objects.
    :param control: serve ``/control/…``, too, for other processes.
    :raises ExceptionGroup: after the block, when the double itself failed at something.
    """
    double = MaasDouble(Settings(**options))
    double.faults.take(faults or [])
    front = Front(double, port, control=control)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="maas-double", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(front.start(), loop).result(10)
        yield ServedDouble(double, front)
    finally:
        asyncio.run_coroutine_threadsafe(front.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
    if double.bugs:
        raise ExceptionGroup("mistakes of the double", double.bugs)
