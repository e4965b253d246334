"""Installing: which system, and what is refused."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from tests.sim.maas import network, phases
from tests.sim.maas.call import Answer, Incoming, Refusal, invalid, ok, refused
from tests.sim.maas.forms import Form
from tests.sim.maas.machines import MachineRecord
from tests.sim.maas.states import ACTIONS, Status

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

KERNELS = {"jammy": ("ga-22.04", "hwe-22.04"), "noble": ("ga-24.04", "hwe-24.04")}
VERSIONS = {"22.04": "jammy", "24.04": "noble"}
"""An image is named by its version, too: ``ubuntu/22.04``, ``22.04``."""


def state(text: str) -> Refusal:
    """409: not in this status."""
    return Refusal(refused(409, text))


def acquire(double: MaasDouble, record: MachineRecord, form: Form) -> None:
    """Make a ready machine the user's."""
    record.owner, record.agent = double.user, form.get("agent_name")
    double.asked(record, "User acquiring node", form.get("comment"))
    double.set_status(record, Status.ALLOCATED)


def deploy(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    form = incoming.form
    if record.status not in ACTIONS["deploy"]:
        raise state(f"Can't deploy a machine that is in the '{record.status.value}' state")
    osystem, series = _image(double, form)
    kernel = _kernel(osystem, series, form.get("hwe_kernel"), record)
    user_data = _decoded(form.get("user_data"))
    if not double.reachable(record, "deploy"):
        raise Refusal(refused(500, f"Error determining BMC task queue for machine {record.system_id}"))
    if record.status is Status.READY:
        acquire(double, record, form)
    record.osystem, record.series, record.kernel = osystem, series, kernel
    record.user_data = user_data
    record.ephemeral = form.flag("ephemeral_deploy") or not record.storage.disks
    record.agent = form.get("agent_name", record.agent)
    phases.deploy(double, record, form.get("comment"))
    shown = record.json(double.around)
    network.give_addresses(double, record)
    return ok(shown)


def _image(double: MaasDouble, form: Form) -> tuple[str, str]:
    asked = form.get("distro_series")
    asked = VERSIONS.get(asked.removeprefix("ubuntu/"), asked)
    osystem = form.get("osystem")
    images = sorted(double.settings.images)
    if not asked:
        return "ubuntu", "noble" if "ubuntu/noble" in images else "jammy"
    found = asked if asked in images else next((one for one in images if one.partition("/")[2] == asked), "")
    if osystem and found and found.partition("/")[0] != osystem:
        found = ""
    if not found:
        choices = ", ".join(f"'{one}'" for one in ["", *images])
        text = f"'{asked}' is not a valid distro_series.  It should be one of: {choices}."
        raise Refusal(invalid({"distro_series": [text]}))
    name, _, series = found.partition("/")
    return name, series


def _kernel(osystem: str, series: str, asked: str, record: MachineRecord) -> str:
    kernels = KERNELS.get(series, ())
    if osystem == "ubuntu" and asked and asked not in kernels:
        text = f"{asked} is not available for {osystem}/{series} on {record.architecture}."
        raise Refusal(invalid({"hwe_kernel": [text]}))
    return asked or (kernels[0] if kernels else "")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except ValueError as problem:
        raise Refusal(refused(500, str(problem))) from None
