"""MAAS behind the provisioner interface by python-libmaas 0.6.8, for those who have to use that library.

It carries requests by the library's own description of the API (its module ``bones``); what they mean is read as with
our client. Each request opens a connection of its own. The library follows redirects, and knows the system's
authorities only. Its licence is not certain: its metadata say ``UNKNOWN`` beside a classifier for the AGPL, its files
carry the Apache licence; therefore nothing of it is installed unless the extra ``libmaas`` is asked for.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NoReturn
from urllib.parse import urlsplit

import aiohttp

from fabricctl.errors import ProvisionerError, ProvisionerUnreachableError, ProvisionerUnsupportedError
from provision.bmc.secret import Secret
from provision.install.machine import Disk, Machine
from provision.install.spec import DeploySpec, EnrolSpec
from provision.maas.answers import Asked
from provision.maas.lost import unreadable
from provision.maas.provisioner import MaasProvisioner
from provision.maas.retry import Patience, Sleep, disturbance, refusal
from provision.maas.settings import MaasSettings, api_key
from provision.maas.wire import Answer, Ask, masked, pairs

DESCRIBE = Asked("GET", "describe/")
INSTEAD = "maas.client: own in the site file"
HANDLERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (r"machines/", "Machines", ()),
    (r"machines/([^/]+)/", "Machine", ("system_id",)),
    (r"nodes/([^/]+)/interfaces/([^/]+)/", "Interface", ("system_id", "id")),
    (r"nodes/([^/]+)/devices/", "NodeDevices", ("system_id",)),
    (r"nodes/([^/]+)/results/", "NodeScriptResults", ("system_id",)),
    (r"events/", "Events", ()),
    (r"tags/", "Tags", ()),
    (r"tags/([^/]+)/", "Tag", ("name",)),
    (r"users/", "Users", ()),
    (r"version/", "Version", ()),
    (r"boot-resources/", "BootResources", ()),
    (r"rackcontrollers/", "RackControllers", ()),
    (r"subnets/", "Subnets", ()),
)
"""Path under the API's address -> the library's name of it, and of its parts."""
_PLAIN = {"GET": "read", "POST": "create", "PUT": "update", "DELETE": "delete"}


class LibmaasTransport:
    """Carries requests with a session of the library. :param session: ``maas.client.bones.SessionAPI``."""

    def __init__(self, session: Any, settings: MaasSettings, patience: Patience) -> None:
        self.requests = 1  # its description of the API was fetched
        self._session = session
        self._settings = settings
        self._key = api_key(settings.key)
        self._patience = patience
        self._free = asyncio.Semaphore(settings.requests)

    async def send(self, ask: Ask) -> Answer:
        """Send a request; see :class:`provision.maas.wire.Sender`.

        :raises ProvisionerUnsupportedError: the library has no name for it; nothing was sent.
        """
        return await self._patience.with_(lambda: self._once(ask))

    async def _once(self, ask: Ask) -> Answer:
        from maas.client.bones import CallError

        call, data = self._call(ask)
        deadline_s = ask.deadline_s or self._settings.answer_s
        async with self._free:
            self.requests += 1
            try:
                async with asyncio.timeout(deadline_s):
                    result = await call.call(**data)
            except CallError as exc:
                text = "" if ask.quiet else self._masked(ask, exc.content.decode("utf-8", "replace"))
                raise refusal(ask.asked, exc.status, _lower(exc.response.headers), text) from None
            except ValueError:
                raise unreadable(ask.asked, "expected JSON, found something else") from None
            except (aiohttp.ClientError, TimeoutError, OSError) as exc:
                raise disturbance(ask.asked, exc, deadline_s) from exc
        body = result.data.decode("utf-8", "replace") if isinstance(result.data, bytes) else result.data
        return Answer(result.response.status, _lower(result.response.headers), body)

    def _call(self, ask: Ask) -> tuple[Any, dict[str, Any]]:
        """The library's call and its data for a request."""
        for pattern, name, parts in HANDLERS:
            match = re.fullmatch(pattern, ask.path)
            handler = getattr(self._session, name, None) if match else None
            action = getattr(handler, ask.op or _PLAIN[ask.method], None)
            if match and action is not None:
                params = dict(zip(parts, match.groups(), strict=True))
                return action.bind(**params), _data(ask)
        raise ProvisionerUnsupportedError(
            f"python-libmaas has no name for {ask.asked}", host=ask.host, hint=INSTEAD
        )

    def _masked(self, ask: Ask, text: str) -> str:
        return masked(text, (*ask.hidden, self._key.secret, Secret(self._key.token)))

    async def close(self) -> None:
        """Nothing stays open: the library closes the connection of each request."""


def _lower(headers: Any) -> dict[str, str]:
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _data(ask: Ask) -> dict[str, Any]:
    """Fields as the library takes them: a list for what comes several times."""
    data: dict[str, Any] = {}
    for name, value in (*ask.query, *pairs(ask.form)):
        data.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in data.items()}


class LibmaasProvisioner(MaasProvisioner):
    """One MAAS by python-libmaas: connects, finds, reads, tags, sets power parameters, aborts, releases.

    What the library has no option for is refused before anything is sent. Made by :func:`open_libmaas`.
    """

    name = "MAAS (python-libmaas)"

    async def create(self, spec: EnrolSpec) -> Machine:
        """Refused. :raises ProvisionerUnsupportedError: the library's create begins to commission at once."""
        _refuse("create a machine without commissioning it at once", spec.host)

    async def manage(self, id: str) -> None:
        """Refused. :raises ProvisionerUnsupportedError: the library's commission overwrites BMC users."""
        _refuse("commission without setting up a BMC user (no skip_bmc_config)", self._host(id))

    async def set_root(self, machine: Machine, disk: Disk) -> Machine:  # noqa: ARG002 - the interface's
        """Refused. :raises ProvisionerUnsupportedError: the library knows no storage layout."""
        _refuse("set the boot disk's storage layout", machine.hostname)

    async def deploy(self, id: str, spec: DeploySpec) -> None:  # noqa: ARG002 - the interface's
        """Refused. :raises ProvisionerUnsupportedError: no operating system can be named, no disk made sure of."""
        _refuse("deploy with an operating system and a disk that are named", self._host(id))


def _refuse(what: str, host: str) -> NoReturn:
    raise ProvisionerUnsupportedError(f"python-libmaas cannot {what}", host=host, hint=INSTEAD)


@asynccontextmanager
async def open_libmaas(
    settings: MaasSettings, *, sleep: Sleep = asyncio.sleep, dice: Callable[[], float] = random.random
) -> AsyncIterator[LibmaasProvisioner]:
    """A MAAS by python-libmaas. It asks MAAS at once what its API is (half a megabyte); the key is not checked yet.

    :raises ProvisionerUnsupportedError: the library is not installed, or an authority of one's own is asked for.
    :raises ProvisionerLoginError: the key is none. :raises ProvisionerUnreachableError: no connection.
    """
    patience = Patience(settings.conflicts, sleep, dice)
    session = await patience.with_(lambda: _connect(settings))
    yield LibmaasProvisioner(LibmaasTransport(session, settings, patience), answer_s=settings.answer_s)


async def _connect(settings: MaasSettings) -> Any:
    try:
        from maas.client.bones import SessionAPI, SessionError
        from maas.client.bones.helpers import ConnectError, RemoteError
    except ImportError as exc:
        raise ProvisionerUnsupportedError(
            f"python-libmaas cannot be loaded: {exc}", hint="pip install 'fabricctl[libmaas]', or " + INSTEAD
        ) from exc
    if settings.ca_file:
        raise ProvisionerUnsupportedError(
            "python-libmaas trusts the system's authorities only, maas.ca cannot be used", hint=INSTEAD
        )
    api_key(settings.key)
    try:
        async with asyncio.timeout(settings.answer_s):
            _, session = await SessionAPI.connect(
                settings.api.removesuffix("api/2.0/"), apikey=settings.key.reveal().strip()
            )
    except (SessionError, ConnectError, RemoteError) as exc:
        raise ProvisionerUnreachableError(f"no description of MAAS's API: {exc}") from exc
    except ValueError as exc:
        raise unreadable(DESCRIBE, "expected JSON, found something else") from exc
    except (aiohttp.ClientError, TimeoutError, OSError) as exc:
        raise disturbance(DESCRIBE, exc, settings.answer_s) from exc
    _same_host(settings, session)
    return session


def _same_host(settings: MaasSettings, session: Any) -> None:
    """The library sends the key wherever the description says the API is; anybody may have written that.

    :raises ProvisionerError: elsewhere than the site says.
    """
    wanted = urlsplit(settings.api).netloc
    for _, handler in session.handlers:
        found = urlsplit(handler.uri).netloc
        if found != wanted:
            raise ProvisionerError(
                f"expected MAAS's API at {wanted}, found that it names {found}; the API key was not sent",
                hint=f"give MAAS's own address as maas.url, or {INSTEAD}",
            )
