"""Sets of scripts that ran on a machine, and their results."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

PENDING, RUNNING, PASSED, FAILED, TIMEDOUT, ABORTED, SKIPPED = 0, 1, 2, 3, 4, 5, 9
STATUS_NAMES = {
    -1: "Unknown",
    PENDING: "Pending",
    RUNNING: "Running",
    PASSED: "Passed",
    FAILED: "Failed",
    TIMEDOUT: "Timed out",
    ABORTED: "Aborted",
    SKIPPED: "Skipped",
}
KINDS = {
    "commissioning": (0, "Commissioning"),
    "installation": (1, "Installation"),
    "testing": (2, "Testing"),
}
BMC_CONFIG = "30-maas-01-bmc-config"
INVENTORY = "50-maas-01-commissioning"
_LEVELS = (("USER", "User"), ("OPERATOR", "Operator"), ("ADMIN", "Administrator"))
BMC_PARAMETERS: dict[str, Any] = {
    "maas_auto_ipmi_user": {
        "type": "string",
        "max": 20,
        "value": "maas",
        "argument_format": "--username={input}",
    },
    "maas_auto_ipmi_cipher_suite_id": {
        "type": "string",
        "max": 2,
        "value": "3",
        "argument_format": "--ipmi-cipher-suite-id={input}",
    },
    "maas_auto_ipmi_user_privilege_level": {
        "type": "choice",
        "value": "ADMIN",
        "choices": [list(level) for level in _LEVELS],
        "argument_format": "--ipmi-privilege-level={input}",
    },
}
"""What the script that writes MAAS's own user into the BMC is run with."""
COMMISSIONING: dict[str, tuple[int, int]] = {
    "20-maas-01-install-lldpd": (1, 30),
    "20-maas-02-dhcp-unconfigured-ifaces": (2, 10),
    BMC_CONFIG: (3, 60),
    "20-maas-03-machine-resources": (4, 60),
    "40-maas-01-machine-config-hints": (5, 60),
    INVENTORY: (6, 60),
    "maas-support-info": (7, 300),
    "maas-lshw": (8, 300),
    "maas-list-modaliases": (9, 10),
    "maas-get-fruid-api-data": (10, 60),
    "maas-kernel-cmdline": (11, 10),
    "maas-serial-ports": (12, 10),
    "maas-capture-lldpd": (13, 60),
}
"""The usual scripts by number: name -> (number, seconds it is expected to take)."""
INSTALLATION = "/tmp/install.log"  # noqa: S108 - the name MAAS gives the result of an installation


@dataclass
class ScriptResult:
    """What one script did."""

    id: int
    name: str
    script_id: int
    created: datetime
    status: int = PENDING
    exit_status: int | None = None
    started: datetime | None = None
    ended: datetime | None = None
    updated: datetime | None = None
    estimated_s: int = 10
    output: str = ""
    """Both streams together, as they came."""
    stdout: str = ""
    stderr: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)

    def end(
        self,
        status: int,
        exit_status: int,
        at: datetime,
        output: str = "",
        stdout: str = "",
        stderr: str = "",
    ) -> None:
        """It ended."""
        self.status, self.exit_status = status, exit_status
        self.output, self.stdout, self.stderr = output, stdout, stderr
        self.started = self.started or at
        self.ended = self.updated = at

    @property
    def printed(self) -> dict[str, str]:
        """What ``include_output`` adds, in base64."""
        kept = {"output": self.output, "stdout": self.stdout, "stderr": self.stderr, "result": ""}
        return {name: b64encode(text.encode()).decode() for name, text in kept.items()}

    def shown(self) -> dict[str, Any]:
        """As the API shows it."""
        ran = (self.ended - self.started) if self.started and self.ended else None
        return {
            "id": self.id,
            "created": stamp(self.created),
            "updated": stamp(self.updated or self.created),
            "name": self.name,
            "status": self.status,
            "status_name": STATUS_NAMES[self.status],
            "exit_status": self.exit_status,
            "started": stamp(self.started),
            "ended": stamp(self.ended),
            "runtime": _length(ran) if ran is not None else "",
            "starttime": self.started.timestamp() if self.started else "",
            "endtime": self.ended.timestamp() if self.ended else "",
            "estimated_runtime": _length(
                timedelta(0) if ran is not None else timedelta(seconds=self.estimated_s)
            ),
            "parameters": self.parameters,
            "script_id": self.script_id,
            "script_revision_id": self.script_id if self.status != PENDING else None,
            "suppressed": False,
        }


@dataclass
class ScriptSet:
    """The scripts of one commissioning, test or installation. :param kind: of :data:`KINDS`."""

    id: int
    kind: str
    system_id: str
    created: datetime
    results: list[ScriptResult]

    @property
    def status(self) -> int:
        """The worst of its results; pending until all have ended; unknown where there are none."""
        if not self.results:
            return -1
        states = {one.status for one in self.results}
        for bad in (RUNNING, PENDING, FAILED, TIMEDOUT, ABORTED):
            if bad in states:
                return bad
        return PASSED

    def named(self, name: str) -> ScriptResult | None:
        """One result."""
        return next((one for one in self.results if one.name == name), None)

    def shown(self, *, printed: bool = False, only: Collection[str] = ()) -> dict[str, Any]:
        """As the API shows it. :param printed: with what they printed; :param only: scripts, by name."""
        number, word = KINDS[self.kind]
        ends = [one.ended for one in self.results if one.ended and one.status != SKIPPED]
        done = self.status not in (PENDING, RUNNING) and ends
        return {
            "type_name": word,
            "id": self.id,
            "status_name": STATUS_NAMES[self.status],
            "status": self.status,
            "system_id": self.system_id,
            "started": stamp(self.created),
            "ended": stamp(max(ends)) if done else None,
            "runtime": _length(max(ends) - self.created) if done else "",
            "results": [
                {**one.shown(), **(one.printed if printed else {})}
                for one in sorted(self.results, key=lambda one: one.name)
                if not only or one.name in only
            ],
            "type": number,
            "last_ping": stamp(max(ends)) if ends else None,
            "resource_uri": f"/MAAS/api/2.0/nodes/{self.system_id}/results/{self.id}/",
        }


def stamp(at: datetime | None) -> str | None:
    """As results show times."""
    return at.strftime("%a, %d %b %Y %H:%M:%S +0000") if at else None


def _length(span: timedelta) -> str:
    return str(timedelta(seconds=int(span.total_seconds())))
