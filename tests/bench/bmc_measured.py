"""A fleet of simulated BMCs in another process, clients that read it, what each took, and whether it truly read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from fabricctl.adapters.store.location import parse_location
from fabricctl.adapters.store.pins import Pin
from fabricctl.adapters.store.store import open_store
from tests.bench.measure import Usage, run
from tests.sim.idrac import PASSWORD_VARIABLE
from tests.sim.idrac.users import ROOT_PASSWORD

ROOT = Path(__file__).resolve().parents[2]
BMCS, AT_ONCE = 511, 128
REFUSING, WRONG_PASSWORD, HANGING = 15, 5, 5
SICK = ("--refusing", str(REFUSING), "--wrong-password", str(WRONG_PASSWORD), "--hanging", str(HANGING))
ERRORS = {"refusing": "BmcUnreachable", "wrong password": "BmcLogin", "hanging": "BmcDeadline"}
"""Sickness -> what a harvest calls it."""
HARVEST = ("bmc", "harvest", "all", "--quick", "--format", "json")
MAX_CPU, MAX_WALL, MAX_MIB = 2.0, 1.5, 400.0
NO_END = 1 << 30


class Seen(NamedTuple):
    """What the fleet has seen of one client. :param last: BMC -> monotonic seconds of its last answer."""

    requests: Mapping[str, int]
    last: Mapping[str, float]
    sessions: int
    cpu_s: float
    log: Sequence[Sequence[Any]]


class Fleet:
    """A running fleet, the site file that names it, and a state store with the certificates of all."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self.told = self._line()
        self.sick: Mapping[str, str] = self.told["sick"]
        self.site, self.state = folder / "site.yaml", folder / "state.sqlite"
        self.site.write_text(self._site_text(), "utf-8")
        self.environment = {
            **os.environ,
            PASSWORD_VARIABLE: ROOT_PASSWORD,
            "XDG_STATE_HOME": str(folder / "home"),
        }
        self.forget()

    def _line(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def _site_text(self) -> str:
        addresses = "\n".join(f"    {host}: {address}" for host, address in self.told["addresses"].items())
        hosts = f"gpu[001-{len(self.told['addresses']):03d}]"
        return (
            "name: bench\nnode_models: {m: {hcas: [mlx5_0], gpus: 8}}\n"
            f"nodes: {{'{hosts}': {{model: m}}}}\n"
            f"gates: {{max_nodes_per_change: {BMCS}}}\n"
            f"management:\n  bmc_addresses:\n{addresses}\n"
            f"  bmc_access: {{'{hosts}': {{user: root, password: 'env:{PASSWORD_VARIABLE}', "
            f"port: {self.told['port']}}}}}\n"
        )

    def forget(self) -> None:
        """A new state store, which knows the certificates and nothing else; those that refuse had some once."""
        self.state.unlink(missing_ok=True)
        pins = [
            Pin(host, address, self.told["fingerprints"].get(host, "0" * 64), datetime.now(UTC), "bench")
            for host, address in self.told["addresses"].items()
        ]
        with open_store(parse_location(str(self.state), said_by="bench"), site="bench") as store:
            store.pins.record(pins, "first contact")

    def seen(self) -> Seen:
        """What it saw since it was asked last."""
        assert self._process.stdin is not None
        self._process.stdin.write("seen\n")
        self._process.stdin.flush()
        return Seen(**self._line())

    @property
    def healthy(self) -> list[str]:
        """BMCs without a sickness."""
        return [host for host in self.told["addresses"] if host not in self.sick]

    def plan(self) -> list[str]:
        """The GETs of a quick harvest of one BMC, with their queries, in order."""
        self.seen()
        one = self.fabricctl("bmc", "harvest", self.healthy[0], "--quick")
        assert one.code == 0, one.out + one.err
        log = self.seen().log
        self.forget()
        return [f"{path}?{query}" if query else path for method, path, query, _ in log if method == "GET"]

    def fabricctl(self, *words: str) -> Usage:
        """One command about all of them."""
        place = ("--site", str(self.site), "--state", str(self.state))
        argv = [sys.executable, "-m", "fabricctl", *words, *place]
        return run(argv, cwd=ROOT, env=self.environment, apart=True)

    def library(self) -> Usage:
        """Our harvest without the command line around it."""
        argv = [sys.executable, "-m", "tests.bench.bmc_ours", str(self.site), str(self.state)]
        return run(argv, cwd=ROOT, env=self.environment, apart=True)

    def client(self, name: str, hosts: Sequence[str], plan: Sequence[str] = (), most: int = NO_END) -> Usage:
        """One of the clients we are compared with (:mod:`tests.bench.bmc_clients`)."""
        bmcs = {host: [self.told["addresses"][host], self.told["port"]] for host in hosts}
        job = {"bmcs": bmcs, "plan": list(plan), "atonce": AT_ONCE, "most": most}
        argv = [sys.executable, "-m", "tests.bench.bmc_clients", name]
        return run(argv, cwd=ROOT, env=self.environment, text=json.dumps(job), apart=True)


@contextmanager
def fleet_of(count: int, folder: Path, *words: str) -> Iterator[Fleet]:
    folder.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "tests.bench.bmc_fleet", str(count), *words]
    with subprocess.Popen(
        argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Fleet(process, folder)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()
    assert process.returncode == 0, "mistakes of the simulator; they stand in its standard error"


class Row(NamedTuple):
    """One client's figures."""

    name: str
    requests: float
    healthy_s: float
    wall_s: float
    cpu_s: float
    peak_mib: float

    def scaled(self, name: str, work: float, time: float) -> Row:
        """For more work, which takes more time. :param name: says so."""
        return Row(
            name,
            self.requests * work,
            self.healthy_s * time,
            self.wall_s * time,
            self.cpu_s * work,
            self.peak_mib,
        )


class Measured(NamedTuple):
    """A run of a client: its figures, what it said, what the fleet saw."""

    row: Row
    usage: Usage
    seen: Seen


def measured(fleet: Fleet, name: str, usage_of: Callable[[], Usage], *, of: Sequence[str] = ()) -> Measured:
    """Run a client. :param of: the BMCs it was given, all healthy ones when left out."""
    fleet.seen()
    start = time.monotonic()
    usage = usage_of()
    seen = fleet.seen()
    answers = [seen.last[host] - start for host in of or fleet.healthy if host in seen.last]
    assert answers, usage.out + usage.err
    assert seen.sessions == 0, f"{name} left {seen.sessions} sessions"
    row = Row(name, sum(seen.requests.values()), max(answers), usage.wall_s, usage.cpu_s, usage.peak_mib)
    return Measured(row, usage, seen)


def assert_harvested(fleet: Fleet, usage: Usage) -> None:
    """A harvest has every MAC and GUID of every healthy BMC, and says of every other one what was wrong."""
    assert usage.code == 3, usage.err
    document = json.loads(usage.out)
    assert document["exit_code"] == 3
    hosts = {host["host"]: host for host in document["hosts"]}
    assert list(hosts) == fleet.healthy
    assert all(host["stored"] for host in hosts.values())
    assert {name: _values(host, "mac_permanent") for name, host in hosts.items()} == {
        name: fleet.told["macs"][name] for name in hosts
    }
    assert {name: _values(host, "node_guid") for name, host in hosts.items()} == {
        name: fleet.told["guids"][name] for name in hosts
    }
    assert {len(_values(host, "mac_permanent")) for host in hosts.values()} <= {13, 14}
    assert {len(_values(host, "node_guid")) for host in hosts.values()} == {8}
    failures = {one["host"]: one["error"] for one in document["could_not_tell"]}
    assert failures == {host: ERRORS[kind] for host, kind in fleet.sick.items()}
    assert len(hosts) + len(failures) == len(fleet.told["addresses"])


def failures_by_kind(usage: Usage) -> Counter[str]:
    """Of a harvest."""
    return Counter(one["error"] for one in json.loads(usage.out)["could_not_tell"])


def _values(host: Mapping[str, Any], field: str) -> list[str]:
    """What a harvest read of a field, in all parts of a host."""
    parts = [part for family in ("nic", "bmc") for part in host["parts"][family]]
    return sorted(part[field]["value"] for part in parts if part.get(field, {}).get("value"))


def assert_read(run: Measured, hosts: Sequence[str]) -> None:
    """A client has read every BMC that it was given; otherwise its figures mean nothing."""
    assert run.usage.code == 0, run.usage.err
    result = json.loads(run.usage.out)
    assert result["failed"] == {}
    assert sorted(result["finished"]) == sorted(hosts)
    assert result["requests"] == sum(run.seen.requests[host] for host in hosts)


def assert_as_many(ours: Measured, other: Measured, hosts: Sequence[str]) -> None:
    """Both have asked these BMCs about the same number of times: within 1 %."""
    mine, its = (sum(one.seen.requests[host] for host in hosts) for one in (ours, other))
    assert abs(its / mine - 1) < 0.01, (mine, its)
