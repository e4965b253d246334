"""MAAS behind the provisioner interface by python-libmaas 0.6.8, for those who have to use that library.

Requests are named, written and signed by the library (its module ``bones``) from MAAS's own description of the API.
What answers mean is read as with our client, and our session carries them: no redirect is followed, and no write is
sent twice. The library's licence is not certain: its metadata say ``UNKNOWN`` beside a classifier for the AGPL, its
files carry the Apache licence; therefore nothing of it is installed unless the extra ``libmaas`` is asked for.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NoReturn
from urllib.parse import urlsplit

from yarl import URL

from fabricctl.errors import ProvisionerError, ProvisionerUnsupportedError
from provision.http.asked import shorten
from provision.http.edge import Request
from provision.http.lost import unreadable
from provision.install.machine import Disk, Machine
from provision.install.spec import DeploySpec, EnrolSpec
from provision.maas.provisioner import MaasProvisioner
from provision.maas.retry import Patience, Sleep
from provision.maas.settings import MaasSettings, api_key
from provision.maas.transport import MaasTransport
from provision.maas.wire import Ask, pairs

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
)
"""Path under the API's address -> the library's name of it, and of its parts."""
_PLAIN = {"GET": "read", "POST": "create", "PUT": "update", "DELETE": "delete"}


class LibmaasTransport(MaasTransport):
    """Requests as the library writes and signs them. :param session: ``maas.client.bones.SessionAPI``.

    They are carried by our own session: the library's follows redirects with the key, and sends a PUT or DELETE whose
    connection breaks a second time.
    """

    def __init__(self, session: Any, settings: MaasSettings, patience: Patience) -> None:
        super().__init__(settings, sleep=patience.sleep, dice=patience.dice)
        self._session = session

    def _request(self, ask: Ask) -> Request:
        """What the library sends for it.

        :raises ProvisionerUnsupportedError: the library has no name for it; nothing was sent.
        :raises ProvisionerError: it would go elsewhere than to the site's MAAS; nothing was sent.
        """
        call, data = self._call(ask)
        url, body, headers = call.prepare(data)
        _same_place(self._settings, url)
        left_out = {"content-length"}
        if ask.asked.write and not data:  # MAAS answers 400 to a multipart body of no parts
            left_out.add("content-type")
            body = b""
        kept = {name: value for name, value in headers.items() if name.lower() not in left_out}
        return Request(ask.method, url, kept, body)

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

    :raises ProvisionerUnsupportedError: the library is not installed.
    :raises ProvisionerLoginError: the key is none. :raises ProvisionerUnreachableError: no connection.
    """
    patience = Patience(sleep, dice)
    session = await _connect(settings, patience)
    maas = LibmaasProvisioner(LibmaasTransport(session, settings, patience), answer_s=settings.answer_s)
    try:
        yield maas
    finally:
        await maas.close()


async def _connect(settings: MaasSettings, patience: Patience) -> Any:
    """A session of the library, by MAAS's description of its API."""
    try:
        from maas.client.bones import SessionAPI
        from maas.client.utils.creds import Credentials
    except ImportError as exc:
        raise ProvisionerUnsupportedError(
            f"python-libmaas cannot be loaded: {exc}", hint="pip install 'fabricctl[libmaas]', or " + INSTEAD
        ) from exc
    key = api_key(settings.key)
    ask = Ask("GET", "describe/")
    transport = MaasTransport(settings, sleep=patience.sleep, dice=patience.dice)
    try:
        description = (await transport.send(ask)).body
    finally:
        await transport.close()
    try:
        session = SessionAPI(description, Credentials(key.consumer, key.token, key.secret.reveal()))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise unreadable(ask.asked, "expected a description of MAAS's API, found something else") from None
    session.scheme = urlsplit(settings.api).scheme
    _same_host(settings, session)
    return session


def _same_host(settings: MaasSettings, session: Any) -> None:
    """The library sends the key wherever the description says the API is; anybody may have written that.

    Its scheme is not taken from there: behind a proxy that ends TLS, MAAS writes http where https was asked for.
    :raises ProvisionerError: elsewhere than the site says.
    """
    for _, handler in session.handlers:
        url = urlsplit(handler.uri)
        _same_place(settings, url._replace(scheme=getattr(session, "scheme", url.scheme)).geturl())


def _same_place(settings: MaasSettings, url: str) -> None:
    """Refuse an address of another scheme, host or port. :raises ProvisionerError: it is; the key was not sent."""
    wanted, found = _origin(settings.api), _origin(url)
    if found != wanted:
        raise ProvisionerError(
            f"expected MAAS's API at {wanted}, found that it names {found}; the API key was not sent",
            hint=f"give MAAS's own address as maas.url, or {INSTEAD}",
        )


def _origin(url: str) -> str:
    """Scheme, host and port, without a port that is the scheme's own."""
    try:
        return str(URL(url).origin())
    except ValueError:
        return shorten(url, 60)
