"""The metadata service: what a booting machine reads there, and what it tells about its scripts and itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.sim.maas import changes, curtin, network, phases
from tests.sim.maas.auth import parameters
from tests.sim.maas.call import Answer, Refusal, absent, done_text, good, refused
from tests.sim.maas.custom_layout import UnsupportedError
from tests.sim.maas.forms import Form
from tests.sim.maas.outputs import Left
from tests.sim.maas.scripts import FAILED, INVENTORY, PASSED
from tests.sim.maas.seen import addresses, parse
from tests.sim.maas.states import Status

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble
    from tests.sim.maas.machines import MachineRecord

METADATA = "/MAAS/metadata/"
VERSIONS = ("2012-03-01", "latest")
ITEMS = ("instance-id", "local-hostname", "vendor-data", "x509")
_BYTES = "application/octet-stream"
_YAML = "application/x-yaml; charset=utf-8"
_ERROR = "Script result lookup or storage error"
_LISTENING = frozenset(
    {
        *(Status.BROKEN, Status.FAILED_COMMISSIONING, Status.FAILED_DEPLOYMENT, Status.READY),
        *(Status.FAILED_ENTERING_RESCUE_MODE, Status.RESCUE_MODE, Status.ENTERING_RESCUE_MODE),
        *(Status.DISK_ERASING, Status.TESTING),
    }
)
"""Statuses in which a signal is taken and nothing comes of it."""


def boot(double: MaasDouble, record: MachineRecord) -> dict[str, str]:
    """A machine asks for its preseed: from then on it has a key of its own."""
    if record.token is None:
        record.token = {
            "token_key": double.new_secret(18),
            "token_secret": double.new_secret(32),
            "consumer_key": double.new_secret(18),
        }
    return record.token


def serve(double: MaasDouble, method: str, path: str, authorization: str, form: Form) -> Answer:
    """Answer a request to ``/MAAS/metadata/``. :param authorization: with the machine's own key."""
    said = parameters(authorization).get("token")
    record = next(
        (one for one in double.records.values() if one.token and one.token["token_key"] == said), None
    )
    if record is None:
        return refused(401, "No token" if said is None else "Unknown token")
    parts = path.removeprefix(METADATA).strip("/").split("/")
    if parts[0] == "status":
        return refused(500, "api_twisted.StatusHandlerResource.render_POST should be used instead.")
    installer = parts[0] == "curtin"
    version, *rest = parts[1:] if installer else parts
    if version not in VERSIONS:
        return absent("version")
    try:
        if method == "POST":
            return _told(double, record, form)
        return _read(double, record, rest, installer)
    except Refusal as refusal:
        return refusal.answer


def _read(double: MaasDouble, record: MachineRecord, rest: list[str], installer: bool) -> Answer:
    match rest:
        case ["user-data"]:
            return good(200, _user_data(double, record, installer), _BYTES)
        case ["meta-data"]:
            return done_text("\n".join(ITEMS))
        case ["meta-data", "local-hostname"]:
            return done_text(record.fqdn)
        case ["meta-data", "instance-id"]:
            return done_text(record.system_id)
        case ["meta-data", "vendor-data"]:
            return good(200, curtin.vendor_data().encode(), _YAML)
    return absent("page")


def _user_data(double: MaasDouble, record: MachineRecord, installer: bool) -> bytes:
    """Curtin's, or what the user gave; an installed system that reads it has been installed."""
    if installer:
        return curtin.installer(record).encode()
    if record.status is not Status.DEPLOYING:
        return curtin.power_off_script()
    given = record.user_data
    phases.deployed(double, record, logged=False)
    return given


def _told(double: MaasDouble, record: MachineRecord, form: Form) -> Answer:
    match form.get("op"):
        case "netboot_off":
            record.netboot = False
        case "netboot_on":
            record.netboot = True
        case "signal":
            _signal(double, record, form)
        case other:
            return refused(400, f"Unrecognised signature: method=POST op={other or None}")
    record.changed()
    return done_text("OK")


def _signal(double: MaasDouble, record: MachineRecord, form: Form) -> None:
    """``op=signal``. :raises Refusal: 409 in a status that listens to none."""
    status = form.get("status")
    if form.get("script_result_id") or form.get("script_name"):
        _script(double, record, form)
    if record.status is Status.COMMISSIONING or record.status is Status.DEPLOYED:
        if status in ("OK", "FAILED", "TIMEDOUT"):
            _commissioned(double, record, status)
    elif record.status is Status.DEPLOYING:
        if status == "FAILED":
            phases.fail(double, record, form.get("error") or "Installation failed.")
    elif record.status not in _LISTENING:
        raise Refusal(refused(409, f"Machine status isn't valid (status is {record.status.value})"))


def _script(double: MaasDouble, record: MachineRecord, form: Form) -> None:
    """A script ended; a result that is not of the current commissioning is found by the script's name."""
    current = record.script_set("commissioning")
    if current is None or not form.has("exit_status"):
        return
    wanted = form.get("script_result_id")
    result = next((one for one in current.results if str(one.id) == wanted), None) or current.named(
        form.get("script_name")
    )
    if result is None:
        return
    told = form.get("exit_status") or "0"
    exit_status = int(told) if told.lstrip("-").isdecimal() else 1
    output, stderr = (
        b"".join(form.files.get(f"{result.name}.{kind}", [])).decode("utf-8", "replace")
        for kind in ("out", "err")
    )
    failed = exit_status != 0
    if result.name == INVENTORY and output and not failed:
        failed = not _inventory(double, record, output)
    status = FAILED if failed else PASSED
    if failed:
        result.end(status, exit_status, double.time.wall(), output + stderr, output, stderr)
        double.event(record, "INFO", "Script", f"{result.name} failed")
    else:
        phases.ended(double, record, result.name, status, exit_status, Left(output + stderr, output, stderr))


def _inventory(double: MaasDouble, record: MachineRecord, output: str) -> bool:
    """What 50-maas-01-commissioning tells. :returns: whether MAAS could take it."""
    try:
        document: dict[str, Any] = json.loads(output)
        hardware = parse(document)
    except (KeyError, ValueError, TypeError) as problem:
        return _not_taken(double, record, str(problem))
    record.hardware = record.commissioned = hardware
    network.found(double, record)
    for nic in record.nics:
        nic.address = addresses(document).get(nic.name, "")
    try:
        text = record.storage.commission(hardware)
    except UnsupportedError as problem:
        return _not_taken(double, record, str(problem))
    if text:
        double.event(record, "INFO", "Configuring storage", text)
    return True


def _not_taken(double: MaasDouble, record: MachineRecord, why: str) -> bool:
    double.event(record, "ERROR", _ERROR, f"Failed processing commissioning data: {why}")
    where = f"{record.fqdn}({record.system_id})"
    text = f"{where}: commissioning script '{INVENTORY}' failed during post-processing."
    double.event(record, "ERROR", _ERROR, text)
    return False


def _commissioned(double: MaasDouble, record: MachineRecord, status: str) -> None:
    """The last signal: Ready, unless a script failed. A machine that is installed already becomes Ready too."""
    phases.stop(record)
    current = record.script_set("commissioning")
    bad = [one for one in current.results if one.status == FAILED] if current else []
    if status != "OK" or bad:
        double.event(record, "INFO", "Failed commissioning")
        changes.force(double, record, Status.FAILED_COMMISSIONING)
        return
    phases.cycle_power(record, on=False)
    record.owner, record.error_description, record.token = None, "", None
    double.event(record, "INFO", "Ready")
    changes.force(double, record, Status.READY)
