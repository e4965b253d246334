"""What is written to Ironic, and what is refused before anything is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import ProvisionerRefusedError, ProvisionerUnsupportedError
from fabricctl.mac import Mac
from provision.bmc.secret import Secret
from provision.install.machine import Disk
from provision.install.spec import DeploySpec, EnrolSpec, Power
from provision.ironic import bodies
from provision.ironic.parse import machine_of
from provision.ironic.settings import IronicImages, IronicSettings

POWER = Power("redfish", "192.0.2.7", "root", Secret("hidden word"), verify_ca=False)
BOSS = Disk("BOSS1", "nvme8n1", "BOSS1", "Dell BOSS-N1", 480 * 10**9)
DATA = Disk("S1", "nvme0n1", "S1", "Dell NVMe", 3840 * 10**9)


def spec(**more: object) -> EnrolSpec:
    return EnrolSpec("gpu007", (Mac("52:54:00:00:00:07"),), POWER, **more)  # type: ignore[arg-type]


def test_a_node_says_how_its_bmc_is_reached() -> None:
    body = bodies.node_body(
        spec(service_tag="7XYZ123"), IronicSettings("http://192.0.2.1:6385", inspect="agent")
    )
    assert body["driver_info"] == {
        "redfish_address": "https://192.0.2.7",
        "redfish_system_id": "/redfish/v1/Systems/System.Embedded.1",
        "redfish_username": "root",
        "redfish_password": "hidden word",
        "redfish_verify_ca": False,
    }
    assert (body["driver"], body["inspect_interface"]) == ("redfish", "agent")
    assert body["properties"] == {"cpu_arch": "x86_64"}
    assert "boot_interface" not in body


@pytest.mark.parametrize("address", ["2001:db8::7", "192.0.2.7", "bmc.example"])
def test_the_address_of_a_bmc_comes_back_as_it_was_given(address: str) -> None:
    power = Power("redfish", address, "root", Secret("hidden word"), port=8443)
    node = {"uuid": "u", "driver_info": bodies.driver_info(power)}
    assert machine_of(node, []).bmc_address == address


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"pool": "fast"}, "Ironic has no pools: 'fast'"),
        ({"zone": "hall-2"}, "no zones"),
        ({"domain": "example"}, "no DNS domains"),
    ],
)
def test_what_ironic_has_no_place_for_is_refused(more: dict[str, str], words: str) -> None:
    with pytest.raises(ProvisionerUnsupportedError, match=words):
        bodies.node_body(spec(**more), IronicSettings("http://192.0.2.1:6385"))


def test_a_tag_that_ironic_would_not_take_is_refused() -> None:
    with pytest.raises(ProvisionerRefusedError, match="letters, digits"):
        bodies.tag_patch("a.b", on=True)


def test_a_disk_is_hinted_by_its_serial_number() -> None:
    assert bodies.root_hint(BOSS, [BOSS, DATA]) == {"serial": "BOSS1"}


def test_two_disks_with_one_serial_number_are_told_apart_by_path_or_refused() -> None:
    path = "/dev/disk/by-path/pci-0000:01:00.0-nvme-1"
    twin = Disk("x", "nvme1n1", "boss1", "", 1)  # Ironic compares in lower case
    with pytest.raises(ProvisionerRefusedError, match="2 disks have serial number BOSS1"):
        bodies.root_hint(BOSS, [BOSS, twin])
    with_path = Disk("BOSS1", "nvme8n1", "BOSS1", "", 1, id_path=path)
    assert bodies.root_hint(with_path, [with_path, twin]) == {"by_path": path}


@pytest.mark.parametrize("serial", ["", "  ", "<or> a", "s== a", "!= a", ">= 1"])
def test_a_serial_number_that_ironic_would_not_compare_is_not_hinted(serial: str) -> None:
    with pytest.raises(ProvisionerRefusedError, match="nothing that stays"):
        bodies.root_hint(Disk("x", "nvme1n1", serial, "", 1), [])


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1))
def test_a_hinted_serial_number_is_read_back_as_it_was(serial: str) -> None:
    hint = bodies.root_hint(Disk("x", "nvme1n1", serial, "", 1), [])
    assert bodies.hinted({"root_device": hint}) == (serial, "")


DIRECT = IronicImages(image="http://192.0.2.1/jammy.raw")
HINT = {"root_device": {"serial": "BOSS1"}}


def test_an_image_is_never_written_where_ironic_would_choose_the_disk() -> None:
    with pytest.raises(ProvisionerRefusedError, match="smallest disk"):
        bodies.refuse_undeployable(DeploySpec("jammy", "ga", Secret("")), DIRECT, {})


def test_an_image_is_never_written_to_another_disk_than_asked_for() -> None:
    wanted = DeploySpec("jammy", "ga", Secret(""), root_serial="S1")
    with pytest.raises(
        ProvisionerRefusedError, match="expected the system on disk S1, found root device hint BOSS1"
    ):
        bodies.refuse_undeployable(wanted, DIRECT, HINT)
    bodies.refuse_undeployable(DeploySpec("jammy", "ga", Secret(""), root_serial="boss1"), DIRECT, HINT)


@pytest.mark.parametrize(
    ("series", "kernel", "words"),
    [("noble", "ga", "noble was asked for"), ("jammy", "hwe", "hwe was asked for")],
)
def test_what_is_not_in_the_image_is_refused(series: str, kernel: str, words: str) -> None:
    with pytest.raises(ProvisionerUnsupportedError, match=words):
        bodies.refuse_undeployable(DeploySpec(series, kernel, Secret("")), DIRECT, HINT)


def test_user_data_are_refused_where_ironic_would_drop_them() -> None:
    seeded = DeploySpec("jammy", "ga", Secret("#cloud-config\n"))
    with pytest.raises(ProvisionerUnsupportedError, match="no user data"):
        bodies.refuse_undeployable(seeded, IronicImages("ramdisk", "ipxe"), {})
    bodies.refuse_undeployable(seeded, IronicImages("ramdisk", "redfish-virtual-media"), {})


def test_a_checksum_is_sha256_or_the_url_of_a_list() -> None:
    digest = "AB" * 32
    (patch, *_) = bodies.instance_patch(IronicImages(image="http://192.0.2.1/i.raw", checksum=digest))
    assert patch["value"] == {
        "image_source": "http://192.0.2.1/i.raw",
        "image_os_hash_algo": "sha256",
        "image_os_hash_value": digest.lower(),
    }
    (patch, *_) = bodies.instance_patch(
        IronicImages(image="http://192.0.2.1/i.raw", checksum="http://192.0.2.1/SUMS")
    )
    assert patch["value"]["image_checksum"] == "http://192.0.2.1/SUMS"


@pytest.mark.parametrize("interface", ["direct", "ramdisk"])
def test_an_installation_without_an_image_is_refused(interface: str) -> None:
    with pytest.raises(ProvisionerRefusedError, match=r"ironic\.image"):
        bodies.instance_patch(IronicImages(interface))


def test_an_inventory_tells_disks_memory_and_the_service_tag() -> None:
    inventory = {
        "inventory": {
            "memory": {"physical_mb": 2097152},
            "cpu": {"count": 96},
            "system_vendor": {"serial_number": "7XYZ123"},
            "disks": [
                {"name": "/dev/nvme8n1", "serial": "BOSS1", "model": "Dell BOSS-N1", "size": 480 * 10**9},
                {"name": "/dev/nvme0n1", "serial": "S1", "wwn": "eui.1", "size": 3840 * 10**9},
                {"name": "/dev/nvme1n1", "serial": "S1", "wwn": "eui.2", "size": 3840 * 10**9},
            ],
        }
    }
    node = {"uuid": "u", "name": "gpu007", "inspect_interface": "agent", "properties": HINT}
    machine = machine_of(node, [], inventory)
    assert (machine.service_tag, machine.memory_mib, machine.cpus) == ("7XYZ123", 2097152, 96)
    assert [disk.id for disk in machine.disks] == ["BOSS1", "eui.1", "eui.2"]
    assert machine.disks[0].name == "nvme8n1"
    assert machine.root_disk == "BOSS1"
    by_redfish = machine_of({**node, "inspect_interface": "redfish"}, [], inventory)
    assert by_redfish.service_tag == "", "on a Dell that is the number of its board"


def test_nics_are_the_ports_and_what_inspection_saw_beside_them() -> None:
    ports = [{"uuid": "p1", "address": "52:54:00:00:00:07"}]
    seen = [
        {"name": "eno1", "mac_address": "52:54:00:00:00:07"},
        {"name": "eno2", "mac_address": "52:54:00:00:00:08"},
    ]
    seen.append({"name": "ib0", "mac_address": "80:00:00:48:fe:80:00:00:00:00:00:00:b8:3f:d2:03:00:a4:1b:d2"})
    machine = machine_of({"uuid": "u"}, ports, {"inventory": {"interfaces": seen}})
    assert [(nic.id, nic.mac) for nic in machine.nics] == [
        ("p1", "52:54:00:00:00:07"),
        ("", "52:54:00:00:00:08"),
    ]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: (
            st.lists(x)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "inventory",
                        "disks",
                        "serial",
                        "size",
                        "memory",
                        "driver_info",
                        "redfish_address",
                        "extra",
                    ]
                ),
                x,
            )
        ),
    )
)
def test_any_node_and_any_inventory_can_be_read(value: object) -> None:
    node = value if isinstance(value, dict) else {"extra": value, "properties": value, "driver_info": value}
    assert machine_of(node, [{"address": value}], value).id == ""
