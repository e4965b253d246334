"""A site file, and a state store, that name the emulated servers and their Ironic."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from fabricctl.adapters.store.location import find_location
from fabricctl.adapters.store.store import open_store
from fabricctl.hostset import fold
from fabricctl.nodes.facts import FactTelling, NodeFact
from tests.sim.idrac import PASSWORD_VARIABLE
from tests.sim.ironic.services import IronicServices
from tests.sim.ironic.systems import BmcSystem

SITE = """\
name: hall
node_models: {{m: {{hcas: [mlx5_0]}}}}
nodes: {{'{hosts}': {{model: m}}}}
state: {{url: hall.sqlite}}
management:
  bmc_addresses:
{addresses}
  bmc_access:
    '{hosts}': {{user: {user}, password: 'env:{variable}', port: {port}, verify: ca, ca: {ca}}}
ironic:
  url: {url}
  user: {api_user}
  password: file:api.password
  inspect: 'no'
  image: {{deploy_interface: ramdisk, boot_interface: ipxe, kernel: {images}/kernel, ramdisk: {images}/ramdisk}}
  limits: {{poll_s: 1, deploy_min: 8}}
  hosts:
{boots}
"""


def write_site(services: IronicServices, folder: Path, systems: Sequence[BmcSystem]) -> Path:
    """``site.yaml``, ``api.password`` and ``hall.sqlite`` in a folder. :returns: the site file.

    The store says where each system is behind its BMC, as a harvest would; the emulator is too plain for a real one.
    """
    secret = folder / "api.password"
    secret.touch(mode=0o600)
    secret.write_text(services.password)
    site = folder / "site.yaml"
    site.write_text(
        SITE.format(
            addresses="\n".join(f"    {one.name}: {one.address}" for one in systems),
            boots="\n".join(f"    {one.name}: {{boot_nic: '{one.mac}'}}" for one in systems),
            hosts=fold([one.name for one in systems]),
            user=services.bmc_user,
            variable=PASSWORD_VARIABLE,
            port=systems[0].port,
            ca=services.folder / "bmc.pem",
            url=services.url,
            api_user=services.user,
            images=services.images,
        )
    )
    with open_store(find_location(str(folder / "hall.sqlite")), site="hall") as store:
        read = [(one.name, f"redfish {one.system_id}") for one in systems]
        told = [FactTelling(host, [NodeFact("", "system.model", "emulated", at)]) for host, at in read]
        store.facts.tell(told, who="emulator", reason="where systems are", now=datetime.now(UTC))
    return site
