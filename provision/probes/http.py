"""HTTP GETs of the doctor: through a proxy, and of the metadata service."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import time

from provision.install.doctor_seen import HttpSeen, NoAnswer, ProxySeen, Why
from provision.probes.failing import why_of

_MOST = 16_384
"""Bytes of a page that are read: an archive's Release file names its series at its beginning."""


async def get(url: str, *, proxy: str = "", ca_file: str = "", answer_s: float = 10.0) -> HttpSeen | NoAnswer:
    """GET a page without following it elsewhere.

    :param proxy: URL of the proxy it goes through; NoAnswer is then the proxy's.
    :param ca_file: PEM of authorities, default the system's; :param answer_s: seconds for all of it.
    """
    import aiohttp

    begun = time.monotonic()
    try:
        context = ssl.create_default_context(cafile=ca_file or None)
        async with (
            asyncio.timeout(answer_s),
            aiohttp.ClientSession(trust_env=False, headers={"User-Agent": "fabricctl"}) as session,
            session.get(url, proxy=proxy or None, ssl=context, allow_redirects=False) as answer,
        ):
            body = await answer.content.read(_MOST)
            headers = {name.lower(): value for name, value in answer.headers.items()}
            text = body.decode("utf-8", "replace")
            return HttpSeen(url, answer.status, text, headers, time.monotonic() - begun)
    except TimeoutError:
        return NoAnswer(Why.SILENT, f"no answer in {answer_s:g} s")
    except aiohttp.ClientHttpProxyError as error:  # it refused to connect us to an https page
        return HttpSeen(url, error.status, error.message, {}, time.monotonic() - begun)
    except aiohttp.ClientConnectorCertificateError:
        return NoAnswer(Why.UNTRUSTED, "its certificate is not vouched for by the authorities")
    except aiohttp.ClientConnectorError as error:
        return _connecting(error.os_error)
    except (aiohttp.ServerDisconnectedError, ConnectionError):
        return NoAnswer(Why.REFUSED, "it ended the connection without an answer")
    except (aiohttp.ClientError, ValueError) as error:
        return NoAnswer(Why.GARBLED, f"no answer of HTTP: {type(error).__name__}")
    except OSError as error:
        return why_of(error)


def _connecting(error: OSError) -> NoAnswer:
    if isinstance(error, ssl.SSLError):
        return NoAnswer(Why.UNTRUSTED, f"no TLS connection: {error.reason or error}")
    if error.errno is None or error.errno < 0 or isinstance(error, socket.gaierror):
        return (
            why_of(error) if isinstance(error, socket.gaierror) else NoAnswer(Why.REFUSED, str(error).lower())
        )
    if error.errno == errno.EHOSTUNREACH:
        return NoAnswer(Why.SILENT, "no host answers at that address")
    return why_of(error)


async def ask_proxy(proxy: str, url: str, *, answer_s: float = 10.0) -> ProxySeen:
    """GET a page through a proxy; when the proxy's answer is an error, also without it, to tell who is down."""
    through = await get(url, proxy=proxy, answer_s=answer_s)
    if isinstance(through, NoAnswer) or through.status in (200, 403, 407):
        return ProxySeen(proxy, url, through)
    return ProxySeen(proxy, url, through, await get(url, answer_s=answer_s))
