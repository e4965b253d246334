"""What our harvest is compared with: three other ways to read the same BMCs, each a program of its own.

    python -m tests.bench.bmc_clients bare|crawl|threads < job.json > result.json

``bare``: an aiohttp loop that does nothing but send the requests of a plan, two at a time to a BMC, and parse the
answers: no reading of what they say, no checks, no retries, no store. ``crawl``: follows every link of every resource,
one request at a time to a BMC, up to ``most`` resources. ``threads``: the DMTF client, one thread per BMC, the plan's
requests one by one.

The job: ``bmcs`` (name -> [address, port]), ``plan`` (paths to GET, in order), ``atonce`` (BMCs at once),
``most``.
The password comes in the environment, as the site file of the simulator names it.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any

import aiohttp

from tests.sim.idrac import PASSWORD_VARIABLE

SESSIONS = "/redfish/v1/SessionService/Sessions"
DEADLINE_S = 30.0


@dataclass
class Result:
    """What a client did. :param finished: BMC -> seconds from the start to its last answer."""

    requests: int = 0
    finished: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


class Counting:
    """One BMC over a shared aiohttp session."""

    def __init__(self, http: aiohttp.ClientSession, address: str, port: int, result: Result) -> None:
        self._http, self._base, self._result = http, f"https://{address}:{port}", result
        self._headers: dict[str, str] = {}

    async def __aenter__(self) -> Counting:
        login = {"UserName": "root", "Password": os.environ[PASSWORD_VARIABLE]}
        async with self._http.post(self._base + SESSIONS, json=login) as answer:
            answer.raise_for_status()
            await answer.read()
            self._headers = {"X-Auth-Token": answer.headers["X-Auth-Token"]}
            self._session = answer.headers["Location"]
        self._result.requests += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        async with self._http.delete(self._base + self._session, headers=self._headers) as answer:
            await answer.read()
        self._result.requests += 1

    async def get(self, path: str) -> Any:
        async with self._http.get(self._base + path, headers=self._headers) as answer:
            body = await answer.read()
        self._result.requests += 1
        return json.loads(body) if answer.status < 300 else None


async def bare_one(bmc: Counting, job: Mapping[str, Any]) -> None:
    """The plan, two requests at a time."""
    todo = iter(job["plan"])

    async def worker() -> None:
        for path in todo:
            await bmc.get(path)

    async with bmc:
        await asyncio.gather(worker(), worker())


async def crawl_one(bmc: Counting, job: Mapping[str, Any]) -> None:
    """Everything that is linked from the service root, once, one by one."""
    seen, todo, read = {"/redfish/v1"}, deque(["/redfish/v1"]), 0
    async with bmc:
        while todo and read < job["most"]:
            read += 1
            for link in links(await bmc.get(todo.popleft())):
                path = link.split("#")[0].rstrip("/")
                if path.startswith("/redfish/v1") and path not in seen:
                    seen.add(path)
                    todo.append(path)


def links(body: Any) -> Iterator[str]:
    """Every ``@odata.id`` in a body."""
    if isinstance(body, dict):
        for name, value in body.items():
            if name == "@odata.id" and isinstance(value, str):
                yield value
            else:
                yield from links(value)
    elif isinstance(body, list):
        for value in body:
            yield from links(value)


async def with_aiohttp(job: dict[str, Any], one: Any) -> Result:
    """Each BMC of the job, so many at once."""
    result, gate, start = Result(), asyncio.Semaphore(job["atonce"]), time.monotonic()
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connector = aiohttp.TCPConnector(ssl=context, limit=2 * job["atonce"], limit_per_host=2)
    timeout = aiohttp.ClientTimeout(total=DEADLINE_S)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as http:

        async def run(name: str, address: str, port: int) -> None:
            async with gate:
                try:
                    await one(Counting(http, address, port, result), job)
                except (aiohttp.ClientError, TimeoutError, OSError) as problem:
                    result.failed[name] = repr(problem)
                else:
                    result.finished[name] = time.monotonic() - start

        await asyncio.gather(*(run(name, *where) for name, where in job["bmcs"].items()))
    return result


def with_threads(job: dict[str, Any]) -> Result:
    """The DMTF client as its documentation shows it, a thread per BMC."""
    import redfish

    result, start = Result(), time.monotonic()

    def one(name: str, address: str, port: int) -> None:
        try:
            client = redfish.redfish_client(
                base_url=f"https://{address}:{port}",
                username="root",
                password=os.environ[PASSWORD_VARIABLE],
                timeout=DEADLINE_S,
                max_retry=0,
            )
            client.login(auth="session")
            sent = sum(client.get(path).dict is not None for path in job["plan"])
            client.logout()
        except Exception as problem:  # noqa: BLE001  whatever the library raises is a failed BMC
            result.failed[name] = repr(problem)
        else:
            result.requests += sent + 3  # and the service root, login, logout
            result.finished[name] = time.monotonic() - start

    with ThreadPoolExecutor(job["atonce"]) as pool:
        for name, where in job["bmcs"].items():
            pool.submit(one, name, *where)
    return result


def main() -> int:
    job = json.load(sys.stdin)
    if sys.argv[1] == "threads":
        result = with_threads(job)
    else:
        result = asyncio.run(with_aiohttp(job, {"bare": bare_one, "crawl": crawl_one}[sys.argv[1]]))
    json.dump(asdict(result), sys.stdout)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
