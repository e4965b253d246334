"""Members of a collection: expanded where the BMC can, page by page, without trust in its links."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fabricctl.errors import (
    BmcAnswerError,
    BmcDeadlineError,
    BmcGarbledError,
    BmcLinkError,
    BmcNotFoundError,
    BmcNotReadyError,
    BmcUnsupportedError,
)
from fabricctl.words import printable
from provision.bmc.json_bodies import inner
from provision.bmc.messages import said
from provision.bmc.reply import Reply
from provision.redfish.answers import error_of
from provision.redfish.bmc import Bmc, Group, Members, Resource
from provision.redfish.limits import FleetOptions
from provision.redfish.paths import link_of, own_path, with_query

TOGETHER = 64
"""Mere links that wait to be read at once; the BMC's limit says how many of them are under way."""
PAGES = 2000
"""Pages of one collection; 50 entries a page, 100,000 in all."""
NEVER_EMPTY = ("/redfish/v1/Systems", "/redfish/v1/Managers", "/redfish/v1/Chassis")
"""Collections that are empty only while a BMC gathers what it has: for about two minutes after a Lifecycle Controller
restart (https://github.com/redhat-performance/jetlag/pull/778)."""

ReadPage = Callable[[str, Group, Callable[[Reply], str] | None], Awaitable[Reply]]


class Walk:
    """One walk through a collection."""

    def __init__(self, bmc: Bmc, group: Group, read: ReadPage, options: FleetOptions) -> None:
        self._bmc = bmc
        self._group = group
        self._read_page = read
        self._options = options
        self._began = options.clock()
        self._bytes = 0
        self._skipped = False
        self._seen: set[str] = set()

    async def members(self, path: str, until: Callable[[Resource], bool] | None) -> Members:
        """All of them, up to the first that ``until`` accepts."""
        found = Members()
        pages: set[str] = set()
        page = await self._first(path)
        for _ in range(PAGES):
            known = len(self._seen)
            for member in await self._page_members(page):
                if until is not None and until(member):
                    found.cut = ""
                    return found
                found.append(member)
            link = page.resource.get("Members@odata.nextLink")
            more = isinstance(link, str) and bool(link)
            found.cut = self._spent() if more or self._skipped else ""
            if found.cut or not isinstance(link, str) or not more:
                return found
            try:
                link = own_path(link, self._bmc.target)
            except BmcLinkError as exc:
                found.cut = f"the next page {exc.message}"
                return found
            if len(self._seen) == known:  # $skip ignored: ever new links to the same page
                self._bmc.note(
                    path, f"pages repeat: {page.path} brings no new member, but a link to one more"
                )
                return found
            if link in pages or link == path:
                self._bmc.note(path, f"pages repeat: {link} was read already")
                return found
            pages.add(link)
            page = await self._expect(link)
        found.cut = f"more than {PAGES:,} pages"
        return found

    def _spent(self) -> str:
        """Why no more is read, empty while more may be."""
        limits = self._options.limits
        if self._bytes > limits.walk_bytes:
            return f"more than {limits.walk_bytes / 2**20:g} MiB"
        if self._options.clock() - self._began > limits.walk_s:
            return f"it takes longer than {limits.walk_s:g} s"
        return ""

    async def _read(self, path: str, unready: Callable[[Reply], str] | None) -> Reply:
        reply = await self._read_page(path, self._group, unready)
        self._bytes += reply.size
        return reply

    async def _first(self, path: str) -> Reply:
        """The first page, expanded where that is offered and works."""
        query = expand_query(await self._bmc.root())
        if query:
            expanded = with_query(path, query)
            try:
                reply = await self._read(expanded, _unready(path))
            except (BmcDeadlineError, BmcGarbledError, BmcNotReadyError) as exc:
                if isinstance(exc, BmcNotReadyError) and exc.named:
                    raise
                self._bmc.note(path, f"cannot be read in one piece, read one by one: {exc.message}")
            else:
                if reply.ok:
                    return reply
                if reply.status in (401, 403, 404):
                    raise error_of(self._bmc.target, "GET", reply)
                self._bmc.note(path, f"$expand fails, read one by one: {said(reply)}")
        return await self._expect(path, _unready(path))

    async def _expect(self, path: str, unready: Callable[[Reply], str] | None = None) -> Reply:
        reply = await self._read(path, unready)
        if not reply.ok:
            raise error_of(self._bmc.target, "GET", reply)
        return reply

    async def _page_members(self, page: Reply) -> list[Resource]:
        """Members of one page in their order, those that are mere links read; a member already seen is left out."""
        entries = page.resource.get("Members")
        if not isinstance(entries, list):
            self._bmc.note(page.path, "a collection without Members")
            return []
        fresh: list[Mapping[str, Any]] = []
        for entry in entries:
            if not isinstance(entry, dict):
                self._bmc.note(page.path, f"a member that is no object: {printable(str(entry)[:40])}")
                continue
            link = link_of(entry)
            if link and link in self._seen:
                self._bmc.note(page.path, f"listed twice: {link}")
                continue
            self._seen.add(link)
            fresh.append(entry)
        whole = {n: self._checked(page.path, entry) for n, entry in enumerate(fresh) if not is_bare(entry)}
        bare = [n for n in range(len(fresh)) if n not in whole]
        if bare:
            for some in (bare[at : at + TOGETHER] for at in range(0, len(bare), TOGETHER)):
                read = await each([self._member(page.path, fresh[n]) for n in some])
                whole.update(zip(some, read, strict=True))
        return [member for n in range(len(fresh)) if (member := whole[n]) is not None]

    async def _member(self, path: str, entry: Mapping[str, Any]) -> Resource | None:
        """What a mere link leads to."""
        link = link_of(entry)
        if not link:
            self._bmc.note(path, "a member without @odata.id")
            return None
        try:
            if self._spent():
                self._skipped = True
                return None
            reply = await self._bmc.get(link, self._group)
        except BmcNotFoundError:
            self._bmc.note(link, "listed, but not there")
        except BmcLinkError:
            return None  # noted
        except (BmcAnswerError, BmcUnsupportedError, BmcNotReadyError) as exc:
            if isinstance(exc, BmcNotReadyError) and exc.named:
                raise
            self._bmc.note(link, f"listed, but cannot be read: {exc.message}")
        else:
            self._bytes += reply.size
            return reply.resource
        return None

    def _checked(self, path: str, member: Mapping[str, Any]) -> Resource | None:
        """An expanded member; one that is an error instead is noted and left out."""
        error = member.get("error")
        if isinstance(error, dict):
            told = said(Reply(path, 0, {}, member)).removeprefix("HTTP 0 ")
            self._bmc.note(link_of(member) or path, f"an error instead of a member: {told}")
            if len([name for name in member if not name.startswith(("@", "error"))]) == 0:
                return None
        elif "@Message.ExtendedInfo" in member:
            told = said(Reply(path, 0, {}, member)).removeprefix("HTTP 0 ")
            self._bmc.note(link_of(member) or path, f"read in part: {told}")
        return member


def is_bare(entry: Mapping[str, Any]) -> bool:
    """Whether a member is a mere link."""
    return all(name.startswith("@odata.") for name in entry)


def expand_query(root: Resource) -> str:
    """The ``$expand`` a service offers for one level, empty when it offers none (DSP0266, query parameters)."""
    offered = inner(root, "ProtocolFeaturesSupported", "ExpandQuery")
    sign = "*" if offered.get("ExpandAll") else "." if offered.get("NoLinks") else ""
    if not sign:
        return ""
    return f"$expand={sign}($levels=1)" if offered.get("Levels") else f"$expand={sign}"


def _unready(path: str) -> Callable[[Reply], str] | None:
    if path.partition("?")[0].rstrip("/") not in NEVER_EMPTY:
        return None
    return lambda reply: "" if reply.resource.get("Members") else f"{path} has no members"


async def each(work: list[Awaitable[Resource | None]]) -> list[Resource | None]:
    """Await all, in order; the first failure is raised when all have ended, so that none runs on unseen."""
    results = await asyncio.gather(*work, return_exceptions=True)
    kept: list[Resource | None] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        kept.append(result)
    return kept
