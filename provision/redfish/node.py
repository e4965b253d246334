"""One BMC as workflows meet it: :class:`provision.redfish.bmc.Bmc` over any transport."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fabricctl.errors import (
    BmcCutError,
    BmcDeadlineError,
    BmcError,
    BmcGarbledError,
    BmcIdentityError,
    BmcLinkError,
    BmcOutcomeUnknownError,
    BmcUnreachableError,
)
from provision.bmc.json_bodies import inner
from provision.bmc.messages import Meaning, meaning
from provision.bmc.outcome import Note
from provision.bmc.reply import Reply
from provision.bmc.service_root import claim_of
from provision.bmc.target import Target
from provision.redfish.answers import error_of
from provision.redfish.bmc import Again, Group, Layout, Members, Resource
from provision.redfish.collection import Walk
from provision.redfish.etag import ladder
from provision.redfish.interrupt import finish
from provision.redfish.keeper import Keeper
from provision.redfish.layout import crawl, generation_of, idrac_layout
from provision.redfish.link import Link
from provision.redfish.mask import Mask
from provision.redfish.paths import link_of, own_path, shown
from provision.redfish.session import SESSIONS, Session

ROOT = "/redfish/v1"
IDLE_S = 20.0
"""Seconds without an answer after which a session is looked at before a command: one that timed out must not eat it. A
DGX H100 ends sessions after 30 s, an iDRAC9 after 1800 s."""
REDIRECTS = 3
_MOVED = (301, 302, 303, 307, 308)


class RedfishBmc:
    """One BMC; made for one run, closed at its end."""

    def __init__(self, link: Link, keeper: Keeper | None) -> None:
        self._link = link
        self._session = Session(link, keeper)
        self._reading = asyncio.Semaphore(link.options.limits.reads)
        self._writing = asyncio.Lock()
        self._root: Resource | None = None
        self._root_lock = asyncio.Lock()
        self._closed_root = False
        self._identified = False
        self._layout: Layout | None = None
        self._layout_lock = asyncio.Lock()
        self._etags: dict[str, str] = {}
        self._notes: dict[Note, None] = {}
        self._cuts: dict[str, None] = {}

    @property
    def target(self) -> Target:
        """Whom it is."""
        return self._link.target

    @property
    def requests(self) -> int:
        """HTTP requests sent so far."""
        return self._link.requests

    @property
    def session_uri(self) -> str:
        """The session of this run, empty without one."""
        return self._session.uri

    def note(self, path: str, text: str) -> None:
        """Record something odd that is tolerated."""
        self._notes.setdefault(Note(self.mask.text(path), self.mask.text(text)))

    @property
    def cut(self) -> BmcError | None:
        """Of which lists the rest was not read; None where all were read to their ends."""
        return BmcCutError("; ".join(self._cuts), bmc=str(self.target)) if self._cuts else None

    @property
    def mask(self) -> Mask:
        """The secrets that were sent to it."""
        return self._link.mask

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was noted so far, each once."""
        ended = (Note(uri, "a session that a killed run left was ended") for uri in self._session.ended)
        return tuple(dict.fromkeys([*self._notes, *ended]))

    async def root(self) -> Resource:
        """The service root, asked once and without login."""
        root = await self._open_root()
        if root is None:
            root = self._root = self._as_root(await self._read(ROOT))
        return root

    async def _open_root(self) -> Resource | None:
        """The root as everybody may read it (DSP0266 wants that); None where a BMC keeps it from strangers."""
        async with self._root_lock:
            if self._root is None and not self._closed_root:
                reply = await self._read(ROOT, anonymous=True)
                self._closed_root = reply.status == 401 and self._link.options.credentials is not None
                if not self._closed_root:
                    self._root = self._as_root(reply)
            return self._root

    def _as_root(self, reply: Reply) -> Resource:
        if not reply.ok:
            raise error_of(self.target, "GET", reply)
        if not reply.resource:
            raise BmcGarbledError(f"{ROOT}: expected a service root, found none", bmc=str(self.target))
        return reply.resource

    async def layout(self) -> Layout:
        """Where the main resources are, worked out once."""
        async with self._layout_lock:
            if self._layout is None:
                root = await self.root()
                self._layout = idrac_layout(root) or await crawl(self, root)
        return self._layout

    async def generation(self) -> int:
        """Of an iDRAC: 8, 9 or 10, asked once; 0 for others."""
        layout = await self.layout()
        if layout.generation or idrac_layout(await self.root()) is None:
            return layout.generation
        model = str((await self.get(layout.manager)).resource.get("Model") or "")
        self._layout = replace(layout, generation=generation_of(model))
        return self._layout.generation

    async def get(self, path: str, group: Group = Group.QUICK, *, absent_s: float = 0.0) -> Reply:
        """One resource."""
        reply = await self._read(self._path(path), group, absent_s=absent_s)
        if not reply.ok:
            raise error_of(self.target, "GET", reply)
        return reply

    async def members(
        self,
        path: str,
        group: Group = Group.QUICK,
        *,
        until: Callable[[Resource], bool] | None = None,
    ) -> Members:
        """Members of a collection, all pages."""
        walk = Walk(self, group, self._read_page, self._link.options)
        found = await walk.members(self._path(path), until)
        if found.cut:
            self._cuts.setdefault(self.mask.text(f"{path} was read in part: {found.cut}"))
        return found

    async def _read_page(self, path: str, group: Group, unready: Callable[[Reply], str] | None) -> Reply:
        return await self._read(path, group, unready=unready)

    async def patch(self, path: str, body: Resource) -> Reply:
        """Change a resource."""
        path = self._path(path)
        async with self._writing:
            known = self._etags.pop(path, "") or await self._etag(path)
            reply = await self._write("PATCH", path, body, known)
            if meaning(reply) in (Meaning.STALE, Meaning.WANTS_ETAG):
                anew = await self._etag(path)
                # 428 without a tag to give: any state will do (RFC 9110), as the caller has just read it
                tags = (
                    ladder(known, anew)
                    if anew
                    else iter(["*"] if meaning(reply) is Meaning.WANTS_ETAG else [""])
                )
                for tag in tags:
                    reply = await self._write("PATCH", path, body, tag)
                    if meaning(reply) not in (Meaning.STALE, Meaning.WANTS_ETAG):
                        break
        return self._succeeded("PATCH", reply)

    async def post(self, path: str, body: Resource | None = None, *, again: Again | None = None) -> Reply:
        """An action, or a new member; never with If-Match: an iDRAC answers an action 412 for it."""
        path = self._path(path)
        async with self._writing:
            await self._wake()
            return self._succeeded("POST", await self._write("POST", path, body or {}, "", again))

    async def delete(self, path: str) -> Reply:
        """Remove a member; one that is gone already counts as done."""
        path = self._path(path)
        async with self._writing:
            reply = await self._write("DELETE", path, None, "")
        if meaning(reply) is Meaning.NOT_FOUND:
            return reply
        return self._succeeded("DELETE", reply)

    async def wait(self, seconds: float) -> None:
        """Let time pass between two looks."""
        await self._link.options.sleep(seconds)

    async def close(self) -> None:
        """Log out and close the connections."""
        try:
            await self._session.close()
        finally:
            await self._link.close()

    async def _read(
        self,
        path: str,
        group: Group = Group.QUICK,
        *,
        anonymous: bool = False,
        absent_s: float = 0.0,
        unready: Callable[[Reply], str] | None = None,
    ) -> Reply:
        """GET until there is an answer that counts; follows a moved resource on the same BMC."""
        deadline_s = self._link.options.limits.deadline_s(group)

        async def send(counts: bool) -> Reply:
            async with self._reading:
                return await self._authorized("GET", path, deadline_s, None, {}, counts, anonymous)

        for _ in range(REDIRECTS):
            reply = await self._link.until_ready(send, idempotent=True, absent_s=absent_s, unready=unready)
            if reply.status not in _MOVED or not reply.location:
                break
            try:
                path = self._path(reply.location)
            except BmcLinkError:
                break  # noted; what stands is the answer
        if reply.ok and reply.etag:
            self._etags[path] = reply.etag
        return reply

    def _path(self, link: str) -> str:
        """The path of a link; one that leads elsewhere is noted, and never asked with a login."""
        try:
            return own_path(link, self.target)
        except BmcLinkError as exc:
            exc.bmc = str(self.target)
            self.note(shown(link), "leads to another host or nowhere: not followed")
            raise

    async def _write(
        self, method: str, path: str, body: Resource | None, etag: str, again: Again | None = None
    ) -> Reply:
        """One change. An explicit "not ready" is waited for; a lost answer is never followed by a second request."""
        fields = {"If-Match": etag} if etag else {}
        deadline_s = self._link.options.limits.deadline_s(Group.QUICK)

        sent = False

        async def send(counts: bool) -> Reply:
            nonlocal sent
            if sent and again is not None and not await again():
                raise BmcOutcomeUnknownError(
                    f'{method} {path} was answered "not ready", and yet something came of it; not sent again',
                    bmc=str(self.target),
                )
            sent = True
            return await self._authorized(method, path, deadline_s, body, fields, counts)

        try:
            return await finish(self._link.until_ready(send, idempotent=False))
        except (BmcUnreachableError, BmcDeadlineError, BmcGarbledError) as exc:
            if not exc.sent:
                raise
            raise BmcOutcomeUnknownError(
                f"the answer to {method} {path} was lost; whether it was carried out is not known: {exc.message}",
                bmc=str(self.target),
            ) from exc

    async def _authorized(
        self,
        method: str,
        path: str,
        deadline_s: float,
        body: Mapping[str, Any] | None,
        fields: Mapping[str, str],
        counts: bool = True,
        anonymous: bool = False,
    ) -> Reply:
        """One request with the login; a 401 in the middle renews it once and sends again what may be sent twice."""
        login = {} if anonymous else await self._login_headers()
        reply = await self._link.send(
            method, path, deadline_s=deadline_s, headers={**login, **fields}, body=body, counts=counts
        )
        if reply.status != 401:
            self._session.worked(login)
        elif not anonymous and meaning(reply) is Meaning.UNAUTHORIZED:
            renewed = await self._session.renew(login)
            if renewed and method != "POST":
                login = await self._login_headers()
                reply = await self._link.send(
                    method, path, deadline_s=deadline_s, headers={**login, **fields}, body=body, counts=counts
                )
        return reply

    async def _wake(self) -> None:
        """Make sure that the session still lives before a command that is sent only once."""
        idle = self._link.options.clock() - self._link.answered_at
        if idle > IDLE_S and self._session.uri:
            await self._read(self._session.uri)

    async def _login_headers(self) -> dict[str, str]:
        """What proves the login, where this is the machine that should answer."""
        if not self._identified:
            self._check_identity(await self._open_root())
            self._identified = True
        return await self._session.headers(self._sessions_path)

    def _check_identity(self, root: Resource | None) -> None:
        """:raises BmcIdentityError: another machine answers; nothing but the open service root was read of it."""
        expected, claim = self.target.service_tag, claim_of(root)
        found = claim.service_tag if claim is not None else ""
        if not expected or not found or expected == found:
            return
        if not (self._link.options.writes or self._link.options.identity):
            self.note(ROOT, f"service tag {found} answers, {expected} is expected")
            return
        raise BmcIdentityError(
            f"another machine answers: service tag {expected} is expected here, {found} answers; it was sent nothing",
            bmc=str(self.target),
            hint="crossed BMC cables? fabricctl bmc scan says who answers where; else correct management.service_tags",
        )

    async def _sessions_path(self) -> str:
        root = await self._open_root() or {}
        link = link_of(inner(root, "Links").get("Sessions"))
        try:
            return self._path(link) if link else SESSIONS
        except BmcLinkError:
            return SESSIONS

    async def _etag(self, path: str) -> str:
        """The ETag of a fresh read; empty when the resource has none or cannot be read."""
        try:
            reply = await self._read(path)
        except BmcGarbledError:
            return ""
        self._etags.pop(path, None)
        return reply.etag if reply.ok else ""

    def _succeeded(self, method: str, reply: Reply) -> Reply:
        self._etags.clear()  # a change may touch more than its own resource
        if reply.ok:
            return reply
        error: BmcError = error_of(self.target, method, reply)
        if reply.status in (502, 504):
            raise BmcOutcomeUnknownError(
                f"{method} {reply.path}: HTTP {reply.status} from something between; whether it was carried out is "
                "not known",
                bmc=str(self.target),
            ) from error
        raise error
