"""Server Configuration Profiles: import, as clients use it to boot from virtual media once.

The Lifecycle Controller takes one at a time: RAC0679 while a job runs, LC068 while a configuration job waits
(dellemc-openmanage-ansible-modules#113 and #273).
"""

from __future__ import annotations

import re
from dataclasses import replace

from tests.sim.idrac.boot import Override
from tests.sim.idrac.call import Answer, Call
from tests.sim.idrac.job_resources import accepted, refuse_when_running
from tests.sim.idrac.jobs import JobQueue
from tests.sim.idrac.messages import refused
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import MANAGER

IMPORT = f"{MANAGER}/Actions/Oem/EID_674_Manager.ImportSystemConfiguration"
IMPORT_S = 40.0
_ATTRIBUTE = re.compile(r'<Attribute Name="(?P<name>[\w.#]+)">(?P<value>[^<]*)</Attribute>')
_DEVICES = {
    "VCD-DVD": "Cd",
    "PXE": "Pxe",
    "HDD": "Hdd",
    "BIOS": "BiosSetup",
    "Normal": "None",
    "vFDD": "Floppy",
}


def _import(call: Call) -> Answer:
    bmc = call.bmc
    buffer, share = call.body.get("ImportBuffer"), call.body.get("ShareParameters")
    action = "OemManager.ImportSystemConfiguration"
    if not isinstance(share, dict):
        raise refused(bmc.profile, "ActionParameterMissing", action, "ShareParameters")
    if not isinstance(buffer, str):
        raise refused(bmc.profile, "ActionParameterMissing", action, "ImportBuffer")
    refuse_when_running(bmc)
    queue = bmc.part(JobQueue)
    if queue.committed("BIOSConfiguration"):
        raise refused(bmc.profile, "LC068")
    wanted = {match["name"]: match["value"] for match in _ATTRIBUTE.finditer(buffer)}

    def work() -> bool:
        device = _DEVICES.get(wanted.get("ServerBoot.1#FirstBootDevice", ""))
        if device is not None:
            once = wanted.get("ServerBoot.1#BootOnce", "Enabled") == "Enabled"
            enabled = "Disabled" if device == "None" else "Once" if once else "Continuous"
            new: Override = replace(bmc.boot.override, target=device, enabled=enabled)
            bmc.boot.override = new
        return True

    name = "Configure: Import Server Configuration Profile"
    job = queue.schedule("ImportConfiguration", name, work=work, on_reset=False, duration_s=IMPORT_S)
    return accepted(bmc, job)


def install(tree: Tree, _profile: Profile) -> None:
    """The action."""
    tree.on("POST", IMPORT, _import)
