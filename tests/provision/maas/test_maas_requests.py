"""What the client sends to change something, against a scripted server."""

from __future__ import annotations

import asyncio
import base64

import pytest

from fabricctl.errors import (
    OtherMachineError,
    ProvisionerAnswerError,
    ProvisionerForbiddenError,
    ProvisionerPowerError,
    ProvisionerUnsupportedError,
)
from fabricctl.mac import Mac
from provision.bmc.secret import Secret
from provision.install.machine import Disk, Machine, Stage
from provision.install.provisioner import Provisioner
from provision.install.spec import DeploySpec, EnrolSpec, Power
from provision.maas.provisioner import MaasProvisioner, power_fields
from tests.provision.maas.maas_script import MACHINE, as_json, asked, lines, plain, scripted

READY = Machine("abcdef", "gpu001", Stage.READY, "Ready")
PASSWORD = "calvin-but-better"  # noqa: S105 - of nobody
POWER = Power("redfish", "10.1.0.1", "maas", Secret(PASSWORD))
SPEC = EnrolSpec("gpu001", (Mac("52:54:00:00:00:01"), Mac("52:54:00:00:00:02")), POWER, pool="gpu")


def test_the_client_is_a_provisioner() -> None:
    async def run() -> None:
        async with scripted(as_json([])) as script:
            maas: Provisioner = MaasProvisioner(script.transport())
            assert (maas.name, maas.requests) == ("MAAS", 0)
            await maas.close()

    asyncio.run(run())


def test_a_machine_is_created_without_being_commissioned() -> None:
    machine, script = asked(lambda maas: maas.create(SPEC), as_json(MACHINE))
    assert isinstance(machine, Machine)
    assert lines(script) == ["POST machines/"]
    assert sorted(script.got[0].form) == sorted(
        [
            ("hostname", "gpu001"),
            ("architecture", "amd64/generic"),
            ("mac_addresses", "52:54:00:00:00:01"),
            ("mac_addresses", "52:54:00:00:00:02"),
            ("commission", "false"),
            ("pool", "gpu"),
            ("power_type", "redfish"),
            ("power_parameters_power_address", "10.1.0.1"),
            ("power_parameters_power_user", "maas"),
            ("power_parameters_power_pass", PASSWORD),
            ("power_parameters_node_id", "System.Embedded.1"),
        ]
    )


def test_a_mac_of_another_machine_is_refused_with_its_name() -> None:
    refusal = as_json({"mac_addresses": ["MAC address 52:54:00:00:00:01 already in use on gpu009."]}, 400)
    error, script = asked(lambda maas: maas.create(SPEC), refusal)
    assert isinstance(error, OtherMachineError)
    assert "gpu009" in str(error)
    assert len(script.got) == 1


def test_ipmi_has_no_redfish_fields_and_another_port_is_part_of_the_address() -> None:
    assert power_fields(Power("ipmi", "10.1.0.2", "maas", Secret("x"))) == {
        "power_type": "ipmi",
        "power_parameters_power_address": "10.1.0.2",
        "power_parameters_power_user": "maas",
        "power_parameters_power_pass": "x",
    }
    redfish = power_fields(Power("redfish", "2001:db8::1", "maas", Secret("x"), port=8443))
    assert redfish["power_parameters_power_address"] == "[2001:db8::1]:8443"
    with pytest.raises(ProvisionerUnsupportedError):
        power_fields(Power("virsh", "10.1.0.2", "maas", Secret("x")))


def test_commissioning_leaves_bmc_users_alone_and_tests_nothing() -> None:
    _, script = asked(lambda maas: maas.manage("abcdef"), as_json(MACHINE))
    assert lines(script) == ["POST machines/abcdef/ commission"]
    assert script.got[0].form == (("skip_bmc_config", "1"), ("enable_ssh", "0"), ("testing_scripts", "none"))


def test_the_root_disk_is_the_boot_disk_and_read_again() -> None:
    disk = Disk("4", "nvme3n1", "BOSS001", "Dell BOSS-N1", 1)
    machine, script = asked(lambda maas: maas.set_root(READY, disk), plain(200, "OK"), as_json(MACHINE))
    assert isinstance(machine, Machine)
    assert lines(script) == [
        "POST nodes/abcdef/blockdevices/4/ set_boot_disk",
        "POST machines/abcdef/ set_storage_layout",
        "GET machines/abcdef/",
    ]
    assert script.got[1].form == (("storage_layout", "flat"), ("root_device", "4"))


@pytest.mark.parametrize(
    ("series", "kernel", "name"),
    [
        ("jammy", "ga", "ga-22.04"),
        ("jammy", "hwe", "hwe-22.04"),
        ("noble", "ga", "ga-24.04"),
        ("noble", "hwe", "hwe-24.04"),
    ],
)
def test_a_deployment_names_series_and_kernel_and_holds_the_user_data(
    series: str, kernel: str, name: str
) -> None:
    text = "#cloud-config\nusers: [größe]\n"
    spec = DeploySpec(series, kernel, Secret(text), comment="wave 1")
    _, script = asked(lambda maas: maas.deploy("abcdef", spec), as_json(MACHINE))
    form = dict(script.got[0].form)
    assert base64.b64decode(form.pop("user_data")).decode() == text
    assert form == {
        "osystem": "ubuntu",
        "distro_series": f"ubuntu/{series}",
        "hwe_kernel": name,
        "agent_name": "fabricctl",
        "comment": "wave 1",
    }


def test_an_unknown_series_is_refused_before_anything_is_sent() -> None:
    spec = DeploySpec("focal", "ga", Secret("x"))
    error, script = asked(lambda maas: maas.deploy("abcdef", spec), as_json(MACHINE))
    assert isinstance(error, ProvisionerUnsupportedError)
    assert script.got == []


def test_a_deployment_without_a_rack_controller_tells_that_nothing_was_begun() -> None:
    spec = DeploySpec("jammy", "ga", Secret("x"))
    error, script = asked(
        lambda maas: maas.deploy("abcdef", spec),
        plain(500, "Error determining BMC task queue for machine abcdef"),
    )
    assert isinstance(error, ProvisionerPowerError)
    assert "nothing was begun" in str(error)
    assert len(script.got) == 1


TAGGED = as_json({"added": 1, "removed": 0})


def test_a_quarantine_tags_first_and_allocates_what_has_no_owner() -> None:
    _, script = asked(lambda maas: maas.quarantine(READY, "no disks"), TAGGED, as_json(MACHINE))
    assert lines(script) == [
        "POST tags/fabricctl-quarantine/ update_nodes",
        "POST machines/ allocate",
        "POST machines/abcdef/ mark_broken",
    ]
    assert script.got[0].form == (("add", "abcdef"),)
    assert dict(script.got[1].form)["system_id"] == "abcdef"
    assert script.got[2].form == (("comment", "no disks"),)


def test_a_quarantine_of_a_failed_machine_does_not_allocate_it() -> None:
    failed = Machine("abcdef", "gpu001", Stage.FAILED, "Failed deployment", owner="admin")
    _, script = asked(lambda maas: maas.quarantine(failed, "bad psu"), TAGGED, as_json(MACHINE))
    assert lines(script)[1:] == ["POST machines/abcdef/ mark_broken"]


def test_a_machine_of_somebody_else_is_tagged_and_the_refusal_is_told() -> None:
    foreign = Machine("abcdef", "gpu001", Stage.DEPLOYED, "Deployed", owner="eve")
    error, script = asked(lambda maas: maas.quarantine(foreign, "x"), TAGGED, plain(403))
    assert isinstance(error, ProvisionerForbiddenError)
    assert len(script.got) == 2


def test_a_new_machine_is_in_no_pool_so_that_its_tag_is_enough() -> None:
    new = Machine("abcdef", "gpu001", Stage.NEW, "New")
    outcome, _ = asked(lambda maas: maas.quarantine(new, "x"), TAGGED, plain(403))
    assert outcome is None


def test_marking_as_fixed_leaves_the_tag_on() -> None:
    broken = Machine("abcdef", "gpu001", Stage.BROKEN, "Broken")
    _, script = asked(lambda maas: maas.restore(broken), as_json(MACHINE))
    assert lines(script) == ["POST machines/abcdef/ mark_fixed"]


def test_a_tag_that_is_not_there_is_made() -> None:
    _, script = asked(
        lambda maas: maas.tag(["abcdef"], "rack-a1"),
        plain(404, "No Tag matches the given query."),
        as_json({"name": ["Tag with this Name already exists."]}, 400),  # somebody was faster
        TAGGED,
    )
    assert lines(script) == [
        "POST tags/rack-a1/ update_nodes",
        "POST tags/",
        "POST tags/rack-a1/ update_nodes",
    ]


def test_a_tag_that_was_silently_not_put_on_is_an_error() -> None:
    error, _ = asked(lambda maas: maas.tag(["abcdef", "zzzzzz"], "rack-a1"), TAGGED)
    assert isinstance(error, ProvisionerAnswerError)
    assert "expected 2 machines to get it, found 1" in str(error)


def test_a_nics_mac_is_changed_and_the_machine_read_again() -> None:
    _, script = asked(
        lambda maas: maas.set_mac(READY, "2", Mac("52:54:00:aa:00:02")), as_json({}), as_json(MACHINE)
    )
    assert lines(script) == ["PUT nodes/abcdef/interfaces/2/", "GET machines/abcdef/"]
    assert script.got[0].form == (("mac_address", "52:54:00:aa:00:02"),)
