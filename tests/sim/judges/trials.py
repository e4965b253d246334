"""Runs of the judges against one simulated BMC, and what they complained about."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.sim.idrac import SimBmc, Simulator
from tests.sim.judges.environments import BADFISH, PROTOCOL, SERVICE, SUSHY, environment

VISIT = Path(__file__).with_name("sushy_visit.py")
_QUIET_NET = (
    "import sys, redfish, redfish.discovery\n"
    "import redfish_protocol_validator.utils as utils\n"
    "utils.discover_ssdp = lambda **named: {}\n"  # SSDP is multicast, and nothing leaves loopback here
    "from redfish_protocol_validator.console_scripts import main\n"
    "sys.exit(main())\n"
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something a judge does not like. :param where: method and path; :param text: what it says."""

    rule: str
    where: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.rule} | {self.where} | {self.text}"


@dataclass(frozen=True, slots=True)
class Bench:
    """One BMC to be judged, and a folder for what judges need and leave."""

    simulator: Simulator
    bmc: SimBmc
    folder: Path

    @property
    def url(self) -> str:
        """Of its service."""
        return f"https://{self.bmc.address}:{self.simulator.port}"

    @property
    def authority(self) -> Path:
        """Its certificate as a file: judges verify TLS."""
        path = self.folder / "authority.pem"
        path.write_text(self.bmc.certificate.pem, encoding="ascii")
        return path

    def secret_file(self, name: str, text: str) -> Path:
        """A file only its owner reads; passwords go this way, never as an argument."""
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
        return path

    def run(
        self, command: Sequence[str | Path], timeout_s: float, more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of a judge in the folder, with a small environment of its own."""
        authority = str(self.authority)
        variables = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "REQUESTS_CA_BUNDLE": authority,
            "SSL_CERT_FILE": authority,
            **(more or {}),
        }
        return subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            cwd=self.folder,
            env=variables,
            check=False,
        )


def _config(bench: Bench, *, service: bool) -> Path:
    """Configuration of a DMTF validator."""
    lines = [
        *("[Authentication]", "user = root", f"password = {bench.simulator.password}"),
        *("[Connection]", f"rhost = {bench.url}"),
    ]
    if service:
        lines += ["[Paths]", f"logdir = {bench.folder}", f"schema_directory = {bench.folder / 'schemas'}"]
        lines += ["[Validation]", "skipschema = yes"]
    else:
        lines += [f"ca-bundle = {bench.authority}", "avoid-http-redirect = yes"]
        lines += ["[Reporting]", f"report-dir = {bench.folder}", "report-type = tsv"]
    return bench.secret_file("service.secrets" if service else "protocol.secrets", "\n".join(lines) + "\n")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a validator found. :param passed: checks that passed; :param warned: and that could not be made or warn."""

    passed: int
    warned: int
    complaints: tuple[Complaint, ...]


def judge_protocol(bench: Bench) -> Verdict:
    """DMTF's protocol validator: every rule that did not pass, once for each place."""
    home = environment(PROTOCOL)
    command: list[str | Path] = [
        home / "bin" / "python",
        "-c",
        _QUIET_NET,
        "-c",
        _config(bench, service=False),
    ]
    run = bench.run(command, 150.0)
    reports = sorted(bench.folder.glob("RedfishProtocolValidationReport*.tsv"))
    if not reports:
        raise RuntimeError(f"the protocol validator left no report: {run.stdout[-500:]} {run.stderr[-500:]}")
    with reports[-1].open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    complaints = tuple(
        Complaint(row["Assertion"], f"{row['Method']} {row['URI']}", row["Message"])
        for row in rows
        if row["Result"] in ("FAIL", "WARN")
    )
    passed = sum(row["Result"] == "PASS" for row in rows)
    return Verdict(passed, sum(row["Result"] == "NOT_TESTED" for row in rows), complaints)


_DEAD = re.compile(r"Could not access (?P<path>/redfish\S+); HTTP status: (?P<status>\d+)")
_COUNTS = re.compile(r"\|\s+(\d+)\s+\|\s+(\d+)\s+\|\s+(\d+)\s+\|\s+(\d+)\s+\|")


def judge_service(bench: Bench) -> Verdict:
    """DMTF's service validator without schemas: it visits every resource and says which links are dead.

    Its schemas are downloaded from DMTF's site, which no test may need; no package of them exists. Without them it
    cannot check one property, and says so with a warning per resource.
    """
    (bench.folder / "schemas").mkdir(exist_ok=True)
    home = environment(SERVICE)
    command: list[str | Path] = [home / "bin" / "rf_service_validator", "-c", _config(bench, service=True)]
    run = bench.run(command, 150.0)
    counts = _COUNTS.search(run.stdout)
    if counts is None:
        raise RuntimeError(f"the service validator gave no result: {run.stdout[-500:]} {run.stderr[-500:]}")
    said = run.stdout + "".join(path.read_text(encoding="utf-8") for path in bench.folder.rglob("*.log"))
    dead = {(match["path"], match["status"]) for match in _DEAD.finditer(said)}
    complaints = tuple(Complaint("DEAD_LINK", path, status) for path, status in sorted(dead))
    return Verdict(int(counts[1]), int(counts[2]), complaints)


def visit_with_sushy(bench: Bench) -> dict[str, Any]:
    """What sushy (OpenStack's Redfish library) sees and does: see :mod:`sushy_visit`."""
    home = environment(SUSHY)
    command: list[str | Path] = [home / "bin" / "python", VISIT, bench.url, bench.authority]
    run = bench.run(command, 60.0, {"FABRICCTL_SIM_PASSWORD": bench.simulator.password})
    if run.returncode != 0:
        raise RuntimeError(f"sushy failed: {run.stderr.strip()[-1500:]}")
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def ask_badfish(bench: Bench, *options: str, timeout_s: float = 60.0) -> str:
    """What badfish prints, stripped of its log levels."""
    home = environment(BADFISH)
    command: list[str | Path] = [
        home / "bin" / "badfish",
        "-H",
        f"{bench.bmc.address}:{bench.simulator.port}",
        *options,
    ]
    login = {"BADFISH_USERNAME": "root", "BADFISH_PASSWORD": bench.simulator.password}
    run = bench.run(command, timeout_s, login)
    return "\n".join(re.sub(r"^- \w+\s+- ", "", line) for line in (run.stdout + run.stderr).splitlines())
