"""Creating and changing machines: what is checked, and how it is refused."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.sim.maas import commissioning
from tests.sim.maas.call import Answer, Incoming, Refusal, invalid, ok
from tests.sim.maas.forms import Form
from tests.sim.maas.machines import MachineRecord
from tests.sim.maas.network import Interface

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

REQUIRED = "This field is required."
CHOICE = "Select a valid choice. {} is not one of the available choices."
ARCHITECTURES = ("amd64/generic",)
_LABEL = re.compile(r"[a-zA-Z0-9-]+\Z")
Errors = dict[str, list[str]]

NEEDED = {
    "redfish": {
        "power_address": "Redfish address",
        "power_user": "Redfish user",
        "power_pass": "Redfish password",
    },
    "ipmi": {"power_address": "IP address"},
    "manual": {},
    "virsh": {"power_address": "Address", "power_id": "Virsh VM ID"},
    "webhook": {
        "power_on_uri": "URI to power on the node",
        "power_off_uri": "URI to power off the node",
        "power_query_uri": "URI to query the nodes power status",
    },
}
"""Power types the double knows -> their required parameters with the names MAAS has for them."""
DEFAULTS: dict[str, dict[str, Any]] = {
    "redfish": {"power_user": "", "power_pass": "", "power_address": "", "node_id": ""},
    "ipmi": {
        "power_user": "",
        "power_pass": "",
        "power_driver": "LAN_2_0",
        "power_address": "",
        "power_off_mode": "hard",
        "cipher_suite_id": "3",
        "power_boot_type": "auto",
        "privilege_level": "OPERATOR",
        "workaround_flags": ["opensesspriv"],
        "k_g": "",
        "mac_address": "",
    },
}


def serve(double: MaasDouble, incoming: Incoming) -> Answer:
    """``POST machines/``: unless told otherwise the machine is commissioned at once."""
    record = make(double, incoming.form)
    if incoming.form.flag("commission", default=True):
        commissioning.commission(double, record, incoming.form)
    return ok(record.json(double.around))


def make(double: MaasDouble, form: Form) -> MachineRecord:
    """Create a machine. :raises Refusal: fields that are wrong."""
    errors: Errors = {}
    macs = _macs(double, form, errors)
    architecture = _architecture(form, errors)
    power_type, power = _power(form, errors, macs)
    hostname = _hostname(double, form, None, errors)
    chosen = _places(double, form, errors)
    if errors:
        raise Refusal(invalid(errors))
    number = double.new_id("machine")
    hostname = hostname or f"machine-{number}"
    record = MachineRecord(
        double.new_system_id(),
        hostname,
        double.settings.hardware(hostname, macs),
        double.new_storage(),
        number,
    )
    record.architecture = architecture
    record.description = form.get("description")
    record.min_hwe_kernel = form.get("min_hwe_kernel")
    record.power_type, record.power = power_type, power
    record.wires = double.settings.wires
    for name, value in chosen.items():
        setattr(record, name, value)
    record.nics = [
        Interface(double.new_id("interface"), f"eth{place}", mac) for place, mac in enumerate(macs)
    ]
    record.boot_nic = record.nics[0].id if record.nics else None
    double.records[record.system_id] = record
    return record


def update(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    """``PUT machines/ID/``."""
    form, errors = incoming.form, Errors()
    hostname = _hostname(double, form, record, errors) if form.has("hostname") else record.hostname
    architecture = _architecture(form, errors) if form.has("architecture") else record.architecture
    power_type = form.get("power_type", record.power_type)
    power = dict(record.power) if power_type == record.power_type else _defaults(power_type)
    power |= _given(form, power_type, errors)
    _check_power(power_type, power, errors)
    chosen = _places(double, form, errors)
    if errors:
        raise Refusal(invalid(errors))
    record.hostname, record.architecture = hostname, architecture
    record.power_type, record.power = power_type, power
    for name, value in chosen.items():
        setattr(record, name, value)
    for name in ("description", "min_hwe_kernel"):
        if form.has(name):
            setattr(record, name, form.get(name))
    record.changed()
    return ok(record.json(double.around))


def _macs(double: MaasDouble, form: Form, errors: Errors) -> list[str]:
    given = [one for text in form.all("mac_addresses") for one in text.split(",") if one.strip()]
    if not given:
        errors["mac_addresses"] = [REQUIRED]
        return []
    found: list[str] = []
    for text in given:
        mac = double.mac(text)
        if mac is None:
            errors.setdefault("mac_addresses", []).append(f"'{text}' is not a valid MAC address.")
            continue
        other = next((one for one in double.records.values() if mac in one.macs), None)
        if other is not None:
            said = f"MAC address {mac} already in use on {other.hostname}."
            errors.setdefault("mac_addresses", []).append(said)
        elif mac not in found:
            found.append(mac)
    return [] if "mac_addresses" in errors else found


def _architecture(form: Form, errors: Errors) -> str:
    text = form.get("architecture")
    if text and "/" not in text:
        text = f"{text}/{form.get('subarchitecture') or 'generic'}"
    if not text:
        errors["architecture"] = [REQUIRED]
    elif text not in ARCHITECTURES:
        choices = ", ".join(f"'{one}'" for one in ARCHITECTURES)
        errors["architecture"] = [f"'{text}' is not a valid architecture.  It should be one of: {choices}."]
    return text


def _hostname(double: MaasDouble, form: Form, own: MachineRecord | None, errors: Errors) -> str:
    text = form.get("hostname").strip()
    for label in text.split("."):
        if text and not _LABEL.match(label):
            errors["hostname"] = [f"Label contains disallowed characters: '{label}'."]
            return text
    name = text.partition(".")[0]
    if name and any(one.hostname == name and one is not own for one in double.records.values()):
        errors["hostname"] = ["Node with this Hostname already exists."]
    return name


def _places(double: MaasDouble, form: Form, errors: Errors) -> dict[str, str]:
    known = {"zone": double.places.zones, "pool": double.places.pools, "domain": double.places.domains}
    chosen = {}
    for name, among in known.items():
        asked = form.get(name)
        if asked and asked not in among:
            errors[name] = ["Select a valid choice. That choice is not one of the available choices."]
        elif asked:
            chosen[name] = asked
    return chosen


def _power(form: Form, errors: Errors, macs: list[str]) -> tuple[str, dict[str, Any]]:
    kind = form.get("power_type")
    if kind and kind not in NEEDED:
        errors["power_type"] = [CHOICE.format(kind)]
        return kind, {}
    if not kind:
        return "", {}
    given = _given(form, kind, errors)
    if not given and NEEDED[kind]:
        errors["power_parameters"] = [REQUIRED]
    elif "power_parameters" not in errors:
        _check_power(kind, given, errors)
    if "mac_addresses" in errors and form.all("mac_addresses"):
        errors["power_type"] = [f"Can't set power type to {kind} without network interfaces"]
    return kind, _defaults(kind) | given


def _defaults(kind: str) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, list) else value
        for name, value in DEFAULTS.get(kind, {}).items()
    }


def _given(form: Form, kind: str, errors: Errors) -> dict[str, Any]:
    """Parameters of a form: one field each, or all of them as JSON."""
    given: dict[str, Any] = {}
    if form.get("power_parameters"):
        try:
            given |= json.loads(form.get("power_parameters"))
        except ValueError:
            errors["power_parameters"] = ["Failed to parse JSON power_parameters"]
    prefix = "power_parameters_"
    for name, values in form.fields.items():
        if name.startswith(prefix) and name != "power_parameters_skip_check":
            key = name.removeprefix(prefix)
            given[key] = values if key == "workaround_flags" else values[-1]
    return given


def _check_power(kind: str, given: dict[str, Any], errors: Errors) -> None:
    if kind and kind not in NEEDED:
        errors["power_type"] = [CHOICE.format(kind)]
        return
    lacking = [label for name, label in NEEDED.get(kind, {}).items() if not given.get(name)]
    if lacking:
        errors["power_parameters"] = [f"{label}: {REQUIRED}" for label in lacking]
