"""Changing one thing of one BMC: record, send, record what the answer said, read back, record what was seen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from fabricctl.errors import BmcAnswerError, BmcBusyError, BmcError, BmcOutcomeUnknownError, StateError
from fabricctl.nodes.model import EventKind
from provision.bmc.outcome import Change
from provision.bmc.refusal import REFUSED
from provision.bmc.reply import Reply
from provision.redfish.bmc import Again, Bmc, Resource
from provision.workflows.elapsed import come_back
from provision.workflows.journal import Begun, Move, Record

LOST = "the answer to the change was lost"
COME_BACK_S = 60.0
"""A BMC whose answer was lost may be restarting its web server."""

SENDING = "being sent, no answer yet"
ACCEPTED = "accepted, not read back"
UNANSWERED = "answer lost, not read back"
INTERRUPTED = "interrupted while it was sent, not read back"

AT_RESET = ", at the next reset"
"""Added to what a job brings then."""


class Sending:
    """One change on its way. Its event is there before the first byte leaves, and is true at any instant.

    Whoever holds it sends through it, reads back, and ends it with ``seen``. Where that is not come to (Ctrl-C, a
    silent BMC, a killed process), the event says how far it came.

    :param moves: what things are, and what they shall be; nothing is recorded before something is sent.
    """

    def __init__(self, bmc: Bmc, record: Record, kind: EventKind, moves: Sequence[Move]) -> None:
        self._bmc, self._record, self._kind, self._moves = bmc, record, kind, tuple(moves)
        self._entry: Begun | None = None
        self.error: BmcError | None = None
        """Of the last attempt: it was refused, or its answer was lost."""

    @property
    def lost(self) -> bool:
        """Whether the answer to the last attempt was lost."""
        return isinstance(self.error, BmcOutcomeUnknownError)

    async def patch(self, path: str, body: Resource) -> Reply:
        """As ``Bmc.patch``."""
        return await self._send(lambda: self._bmc.patch(path, body))

    async def post(self, path: str, body: Resource | None = None, *, again: Again | None = None) -> Reply:
        """As ``Bmc.post``."""
        return await self._send(lambda: self._bmc.post(path, body, again=again))

    async def delete(self, path: str) -> Reply:
        """As ``Bmc.delete``."""
        return await self._send(lambda: self._bmc.delete(path))

    async def attempt(
        self, request: Awaitable[Reply], *, come_back_s: float = COME_BACK_S
    ) -> BmcError | None:
        """Await one of the above; why it was refused, or that its answer was lost, is an answer, too.

        :param come_back_s: seconds a BMC whose answer was lost is given until it can be read again.
        :returns: None when it was accepted. :raises BmcError: any other failure.
        """
        self.error = None
        try:
            await request
        except BmcOutcomeUnknownError as error:
            self.error = error
            if come_back_s:
                await come_back(self._bmc, come_back_s)
        except REFUSED as error:
            self.error = error
        return self.error

    def tell(self, *words: str) -> None:
        """What is known by now: ``PowerCycle: accepted, not read back``. The last word is kept.

        :param words: one for each move, or one for all.
        """
        each = words * len(self._moves) if len(words) == 1 else words
        self._keep([f"{wanted}: {word}" for (_, wanted), word in zip(self._moves, each, strict=True)])

    def seen(self, after: str, reached: bool, otherwise: str = "") -> Change:
        """End a change of one thing by what was read back.

        :param otherwise: why it is not as wanted, where no refusal and no lost answer explains it.
        """
        ((before, _),) = self._moves
        said = "" if reached else (answer_words(self.error) or otherwise)
        self._keep([f"{after}: {said}" if said else after])
        return Change(before, after, True, reached, said)

    def reached(self, *words: str) -> None:
        """End it: every move was seen to have come about. :param words: what is added to what was wanted."""
        self._keep(["".join([wanted, *words]) for _, wanted in self._moves])

    async def _send(self, request: Callable[[], Awaitable[Reply]]) -> Reply:
        if self._entry is None:
            texts = [(before, f"{wanted}: {SENDING}") for before, wanted in self._moves]
            self._entry = self._record.begin(self._kind, self._bmc.target.host, texts)
        else:
            self.tell(SENDING)
        try:
            reply = await request()
        except asyncio.CancelledError:
            self.tell(INTERRUPTED)
            raise
        except BmcError as error:
            self.tell(_failure_words(error))
            error.refused_change = _surely_refused(error)
            raise
        self.tell(ACCEPTED)
        return reply

    def _keep(self, afters: Sequence[str]) -> None:
        if self._entry is None:
            return
        try:
            self._entry.tell(afters)
        except StateError as error:  # what was kept before it was sent still stands
            self._bmc.note("", f"what came of it is not in the record: {error}")


def answer_words(error: BmcError | None) -> str:
    """For people: a refusal or a lost answer; empty for neither."""
    if error is None:
        return ""
    return LOST if isinstance(error, BmcOutcomeUnknownError) else f"the BMC answered {error.message}"


def _surely_refused(error: BmcError) -> bool:
    """A server's own failure (5xx) is no answer to the question, and may come after the deed."""
    return isinstance(error, REFUSED) and not (isinstance(error, BmcAnswerError) and error.status >= 500)


def _failure_words(error: BmcError) -> str:
    if isinstance(error, BmcOutcomeUnknownError):
        return UNANSWERED
    if isinstance(error, (*REFUSED, BmcBusyError)):
        return f"the BMC answered {error.message}"
    return f"{'what came of it is not known' if error.sent else 'not sent'}: {error.message}"
