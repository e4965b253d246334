"""Configuration files, written by code, and the certificate of the emulator."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bcrypt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.sim.ironic.systems import BmcSystem

API_USER = "fabricctl"
BMC_USER = "admin"


def ironic_text(folder: Path, port: int, images_port: int) -> str:
    """ironic.conf: one process, SQLite, HTTP basic; nothing leaves loopback.

    Of the redfish hardware type only the deploy interfaces direct and ramdisk are allowed; ramdisk needs no agent.
    """
    return f"""\
[DEFAULT]
auth_strategy = http_basic
http_basic_auth_user_file = {folder}/api.htpasswd
rpc_transport = none
host = judge
my_ip = 127.0.0.1
log_file = {folder}/ironic.log
state_path = {folder}
tempdir = {folder}/scratch
enabled_hardware_types = redfish
enabled_boot_interfaces = ipxe,pxe,redfish-virtual-media
default_boot_interface = ipxe
enabled_deploy_interfaces = direct,ramdisk
enabled_management_interfaces = redfish
enabled_power_interfaces = redfish
enabled_inspect_interfaces = no-inspect,redfish
default_inspect_interface = no-inspect
enabled_bios_interfaces = no-bios
enabled_raid_interfaces = no-raid
enabled_network_interfaces = noop
enabled_vendor_interfaces = no-vendor
enabled_console_interfaces = no-console
enabled_firmware_interfaces = no-firmware
enabled_storage_interfaces = noop
enabled_rescue_interfaces = no-rescue
[api]
host_ip = 127.0.0.1
port = {port}
public_endpoint = http://127.0.0.1:{port}
[conductor]
automated_clean = true
sync_power_state_interval = 3600
power_state_change_timeout = 60
file_url_allowed_paths = {folder}/http
[database]
connection = sqlite:///{folder}/ironic.sqlite
[service_catalog]
endpoint_override = http://127.0.0.1:{port}
[dhcp]
dhcp_provider = none
[pxe]
tftp_root = {folder}/tftp
images_path = {folder}/images
tftp_server = 127.0.0.1
[deploy]
http_root = {folder}/http
http_url = http://127.0.0.1:{images_port}
[oslo_concurrency]
lock_path = {folder}/scratch
[json_rpc]
host_ip = 127.0.0.1
"""


def emulator_text(folder: Path, port: int, systems: Sequence[BmcSystem]) -> str:
    """emulator.conf, which is Python: servers that are off, behind TLS and a password."""
    played = [
        {
            "uuid": system.uuid,
            "name": system.name,
            "power_state": "Off",
            "external_notifier": False,
            "nics": [{"mac": system.mac, "ip": "172.22.0.10"}],
        }
        for system in systems
    ]
    return f"""\
SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'
SUSHY_EMULATOR_LISTEN_PORT = {port}
SUSHY_EMULATOR_STATE_DIR = '{folder}/emulator'
SUSHY_EMULATOR_AUTH_FILE = '{folder}/bmc.htpasswd'
SUSHY_EMULATOR_SSL_CERT = '{folder}/bmc.pem'
SUSHY_EMULATOR_SSL_KEY = '{folder}/bmc.key'
SUSHY_EMULATOR_FAKE_DRIVER = True
SUSHY_EMULATOR_FAKE_SYSTEMS = {played!r}
"""


def password_line(user: str, password: str) -> str:
    """A line of an htpasswd file (bcrypt, the cheapest)."""
    return f"{user}:{bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()}\n"


def write_certificate(folder: Path, addresses: Iterable[str]) -> None:
    """``bmc.pem`` and ``bmc.key``: one self-signed certificate for all addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "emulated BMCs")])
    now = datetime.now(UTC)
    alternatives = [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "bmc.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    (folder / "bmc.key").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
