"""Boot overrides and boot order: the smallest change, proven by reading back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import BmcOutcomeUnknownError, BmcUnsupportedError, UsageError
from provision.bmc.boot import (
    BootOption,
    BootSource,
    Consumed,
    Override,
    consumed,
    decide_order,
    decide_override,
    read_boot,
    read_option,
    wanted_override,
)
from provision.bmc.boot_device import check_fqdd, device_change
from provision.bmc.boot_fate import fate_words
from provision.bmc.outcome import Change
from provision.bmc.power import ResetType
from provision.bmc.reply import Reply
from provision.workflows.boot import read_state, set_order, set_override, watch_consumed
from tests.provision.stateful_bmc import DELL, DGX, StatefulBmc, refusal, run

SYSTEM = "/redfish/v1/Systems/System.Embedded.1"
SETTINGS = f"{SYSTEM}/Settings"
R750 = "dell_r750_h100_ib_idrac9_6.00.30.json"
H100 = "nvidia_dgx_h100_8xCX7.json"


@pytest.fixture
def r750(captures: Path) -> Any:
    return json.loads((captures / "redfish" / R750).read_text())


@pytest.fixture
def h100(captures: Path) -> Any:
    return json.loads((captures / "redfish" / H100).read_text())


def system(
    target: str = "None", enabled: str = "Disabled", mode: str = "UEFI", **boot: Any
) -> dict[str, Any]:
    allowed = [
        "None",
        "Pxe",
        "Floppy",
        "Cd",
        "Hdd",
        "BiosSetup",
        "Utilities",
        "UefiTarget",
        "SDCard",
        "UefiHttp",
    ]
    return {
        "@odata.id": SYSTEM,
        "PowerState": "Off",
        "Boot": {
            "BootSourceOverrideTarget": target,
            "BootSourceOverrideEnabled": enabled,
            "BootSourceOverrideMode": mode,
            "BootSourceOverrideTarget@Redfish.AllowableValues": allowed,
            **boot,
        },
    }


class Host:
    """A server whose boot override a test watches. :param stores: what it makes of a PATCH."""

    def __init__(self, layout: Any = DELL, **boot: Any) -> None:
        self.body = system(**boot)
        self.bmc = StatefulBmc({SYSTEM: lambda now: self.body}, layout)
        self.bmc.handlers["PATCH", SYSTEM] = self.store
        self.bmc.handlers["POST", f"{DELL.manager}/Oem/Dell/DellLCService/Actions/"
                          "DellLCService.GetRemoteServicesAPIStatus"] = lambda _: Reply(
            "", 200, body={"LCStatus": "Ready", "RTStatus": "Ready", "ServerStatus": "PoweredOff", "Status": "Ready"}
        )  # fmt: skip

    def store(self, body: Any) -> Any:
        self.body["Boot"].update(body["Boot"])
        return Reply("", 200)

    @property
    def patches(self) -> list[Any]:
        return [body for method, _, body in self.bmc.sent if method == "PATCH"]

    def pxe(self, **more: Any) -> Change:
        return run(set_override(self.bmc, BootSource.PXE, clock=lambda: 0.0, **more))


def test_only_target_and_enabled_are_written() -> None:
    host = Host()
    result = host.pxe(mode="UEFI")
    assert host.patches == [
        {"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}
    ]
    assert (result.before, result.after, result.reached) == ("none", "Pxe, once", True)


def test_the_mode_is_written_only_where_it_differs() -> None:
    host = Host(mode="Legacy")
    host.pxe(mode="UEFI")
    (patch,) = host.patches
    assert patch["Boot"]["BootSourceOverrideMode"] == "UEFI"


def test_what_is_set_already_is_not_written_again() -> None:
    host = Host(target="Pxe", enabled="Once")
    assert host.pxe(mode="UEFI") == Change("Pxe, once", "Pxe, once")
    assert host.bmc.sent == []


def test_a_server_that_stores_continuous_is_noticed() -> None:
    # sushy-emulator answers 204 to Once and stores Continuous
    host = Host()
    host.bmc.handlers["PATCH", SYSTEM] = lambda body: host.store(
        {"Boot": {**body["Boot"], "BootSourceOverrideEnabled": "Continuous"}}
    )
    result = host.pxe()
    assert not result.reached
    assert result.after == "Pxe, continuous"


def test_a_patch_that_changes_nothing_is_noticed() -> None:
    host = Host()
    host.bmc.handlers["PATCH", SYSTEM] = lambda _: Reply("", 204)
    result = host.pxe()
    assert (result.reached, result.after) == (False, "none")
    assert result.said


def test_a_lost_answer_is_settled_by_reading() -> None:
    host = Host()

    def lost(body: Any) -> Any:
        host.store(body)
        return BmcOutcomeUnknownError("lost", bmc="gpu001")

    host.bmc.handlers["PATCH", SYSTEM] = lost
    result = host.pxe()
    assert result.reached
    assert len(host.patches) == 1


def test_where_the_system_refuses_the_override_its_settings_take_it() -> None:
    # https://github.com/ansible-collections/community.general/issues/11297: iDRAC10
    host = Host()
    host.bmc.handlers["PATCH", SYSTEM] = lambda _: refusal(405, "SYS428")
    host.bmc.handlers["PATCH", SETTINGS] = host.store
    assert host.pxe().reached


def test_a_target_the_bmc_does_not_know_is_refused_before_anything_is_written() -> None:
    host = Host()
    host.body["Boot"]["BootSourceOverrideTarget@Redfish.AllowableValues"] = ["None", "Hdd"]
    with pytest.raises(BmcUnsupportedError, match="Hdd, None"):
        host.pxe()
    assert host.bmc.sent == []


sources = st.sampled_from([source for source in BootSource if source is not BootSource.NONE])
overrides = st.builds(Override, st.sampled_from([s.value for s in BootSource]), st.sampled_from(
    ["", "Disabled", "Once", "Continuous"]))  # fmt: skip


@given(
    overrides, sources, st.booleans(), st.sampled_from(["", "UEFI", "Legacy"]), st.sampled_from(["", "UEFI"])
)
def test_a_change_is_as_small_as_can_be_and_brings_what_is_wanted(
    now: Override, source: BootSource, continuous: bool, mode: str, present: str
) -> None:
    wanted = wanted_override(source, continuous=continuous)
    body = system(now.target, now.enabled, present)
    change = decide_override(read_boot(body, None), wanted, mode)
    if change.body is None:
        assert now.same(wanted)
        assert mode in ("", present)
        return
    patch = change.body["Boot"]
    body["Boot"].update(patch)
    after = read_boot(body, None)
    assert after.override.same(wanted)
    assert ("BootSourceOverrideMode" in patch) is (mode not in ("", present))
    assert decide_override(after, wanted, mode).body is None


@pytest.mark.parametrize(
    ("after", "fate"),
    [
        (Override("None", "Disabled"), Consumed.YES),
        (Override("Pxe", "Disabled"), Consumed.YES),
        (Override("Pxe", "Once"), Consumed.NO),
        (Override("Hdd", "Once"), Consumed.CHANGED),
    ],
)
def test_an_override_is_consumed_when_it_is_off_after_the_boot(after: Override, fate: Consumed) -> None:
    assert consumed(Override("Pxe", "Once"), after) is fate


def test_the_boot_is_watched_until_it_takes_the_override() -> None:
    host = Host(target="Pxe", enabled="Once")
    spent = system()
    host.bmc.resources[SYSTEM] = lambda now: spent if now >= 240 else host.body
    fate, now = run(watch_consumed(host.bmc, Override("Pxe", "Once"), clock=lambda: 0.0))
    assert fate is Consumed.YES
    assert now.off
    assert 240 <= host.bmc.now <= 260


def test_a_boot_that_never_takes_the_override_is_said_so() -> None:
    host = Host(target="Pxe", enabled="Once")
    fate, _ = run(watch_consumed(host.bmc, Override("Pxe", "Once"), bound_s=300, clock=lambda: 0.0))
    assert fate is Consumed.NO
    assert host.bmc.now <= 310


SET_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "reset_after_s", "words"),
    [
        (Override("Pxe", "Once"), None, "Pxe, once: not consumed yet"),
        (Override(), 60, "Pxe, once: consumed"),
        (Override(), None, "Pxe, once: consumed"),
        (Override(), -60, "Pxe, once: gone, but by the BMC's clock no reset since"),
        (Override("Hdd", "Once"), 60, "Pxe, once: replaced by Hdd, once"),
    ],
)
def test_boot_status_says_what_became_of_the_last_override(
    now: Override, reset_after_s: float | None, words: str
) -> None:
    reset = "" if reset_after_s is None else (SET_AT + timedelta(seconds=reset_after_s)).isoformat()
    assert fate_words(SET_AT, "Pxe, once", now, reset) == words


@pytest.mark.parametrize(
    ("reset", "words"),
    [
        ("2026-3-1T11:00:00+00:00", "Pxe, once: gone, but by the BMC's clock no reset since"),
        ("2026-03-01T11:00:00", "Pxe, once: consumed"),
        ("2026-02-27T11:00:00", "Pxe, once: gone, but by the BMC's clock no reset since"),
        ("some time ago", "Pxe, once: consumed"),
    ],
)
def test_a_time_that_may_be_later_raises_no_doubt(reset: str, words: str) -> None:
    assert fate_words(SET_AT, "Pxe, once", Override(), reset) == words


@pytest.mark.captures
def test_the_boot_of_the_r750_capture(r750: Any) -> None:
    boot = read_boot(r750[SYSTEM], None, idrac=True)
    assert boot.override.off
    assert boot.mode == "UEFI"
    assert boot.paths == (SYSTEM, SETTINGS)
    assert "UefiHttp" in (boot.targets or ())
    assert boot.order == ("Boot0000", "Boot0001", "Boot0003", "Boot0004", "Boot0002")


@pytest.mark.captures
def test_power_and_boot_of_both_captures_are_read(r750: Any, h100: Any) -> None:
    for dump, layout in ((r750, DELL), (h100, DGX)):
        state = run(read_state(StatefulBmc(dump, layout)))
        assert state.system.power.value == "On"
        assert state.boot.override.off
        assert state.system.accepts(ResetType.GRACEFUL_SHUTDOWN)


@pytest.mark.captures
def test_the_boot_options_of_the_r750_are_told_by_their_names(r750: Any) -> None:
    options = [read_option(body) for path, body in r750.items() if path.startswith(f"{SYSTEM}/BootOptions/")]
    kinds = {option.reference: option.source for option in options if option is not None}
    assert kinds == {
        "Boot0000": BootSource.HTTP,  # HTTP Device 1: NIC in Slot 5 Port 1, behind VenHw
        "Boot0001": None,  # Unavailable: ubuntu
        "Boot0002": BootSource.HDD,  # PCIe SSD in Slot 2 in Bay 1
        "Boot0003": None,
        "Boot0004": None,
    }


@pytest.mark.captures
def test_the_boot_of_the_dgx_capture_is_written_to_its_settings(h100: Any) -> None:
    boot = read_boot(h100["/redfish/v1/Systems/DGX"], h100["/redfish/v1/Systems/DGX/SD"])
    assert boot.paths == ("/redfish/v1/Systems/DGX/SD", "/redfish/v1/Systems/DGX")
    assert boot.override.off
    assert boot.enabling == frozenset({"Disabled", "Once", "Continuous"})
    assert boot.order[0] == "Boot0026"


@pytest.mark.captures
def test_pxe_on_the_dgx_leaves_out_the_usb_network_of_its_bmc(h100: Any) -> None:
    members = [b for p, b in h100.items() if "/Systems/DGX/BootOptions/" in p and not p.endswith("/SD")]
    options = [option for body in members if (option := read_option(body)) is not None]
    pxe = [option.reference for option in options if option.source is BootSource.PXE]
    assert sorted(pxe) == ["Boot0003", "Boot0005", "Boot0006", "Boot000A", "Boot000B", "Boot0026"]
    order = decide_order(h100["/redfish/v1/Systems/DGX"]["Boot"]["BootOrder"], options, BootSource.PXE)
    assert order[:6] == ("Boot0026", "Boot000B", "Boot000A", "Boot0006", "Boot0005", "Boot0003")
    assert len(order) == 21


references = st.lists(st.sampled_from([f"Boot{number:04X}" for number in range(8)]), unique=True, min_size=1)


@given(references, st.dictionaries(st.sampled_from([f"Boot{n:04X}" for n in range(8)]), st.booleans()))
def test_a_boot_order_keeps_every_entry_and_both_groups_in_order(
    order: list[str], network: dict[str, bool]
) -> None:
    options = [
        BootOption(name, "", "/MAC(5CFF35FE04B1,0x1)" if pxe else "/HD(1)") for name, pxe in network.items()
    ]
    new = decide_order(order, options, BootSource.PXE)
    if isinstance(new, str):
        assert not any(network.get(name) for name in order)
        return
    assert sorted(new) == sorted(order)
    first = [name for name in order if network.get(name)]
    assert list(new[: len(first)]) == first
    assert list(new[len(first) :]) == [name for name in order if name not in first]


def test_without_options_of_that_kind_the_override_becomes_continuous() -> None:
    host = Host()
    result = run(set_order(host.bmc, BootSource.PXE, clock=lambda: 0.0))
    assert (result.after, result.reached) == ("Pxe, continuous", True)
    assert [note.text for note in host.bmc.notes]


def test_another_vendors_boot_order_is_written_and_read_back() -> None:
    host = Host(DGX, BootOrder=["Boot0001", "Boot0002"], BootOptions={"@odata.id": f"{SYSTEM}/BootOptions"})
    host.bmc = StatefulBmc({DGX.system: lambda now: host.body}, DGX)
    host.bmc.handlers["PATCH", SYSTEM] = host.store
    disk = {"BootOptionReference": "Boot0001", "Alias": "Hdd", "UefiDevicePath": "", "Name": "disk"}
    pxe = {"BootOptionReference": "Boot0002", "Alias": "Pxe", "UefiDevicePath": "", "Name": "net"}
    host.bmc.resources[f"{SYSTEM}/BootOptions"] = {"Members": [disk, pxe]}
    result = run(set_order(host.bmc, BootSource.PXE, clock=lambda: 0.0))
    assert host.patches == [{"Boot": {"BootOrder": ["Boot0002", "Boot0001"]}}]
    assert result.reached
    assert result.after == "Boot0002 (net), Boot0001"
    again = run(set_order(host.bmc, BootSource.PXE, clock=lambda: 0.0))
    assert not again.written
    assert len(host.patches) == 1


@pytest.mark.captures
def test_a_port_becomes_a_boot_device_without_its_mac(r750: Any) -> None:
    attributes = r750[f"{SYSTEM}/Bios"]["Attributes"]
    assert device_change(attributes, BootSource.HTTP, "NIC.Slot.5-1") == {}
    assert device_change(attributes, BootSource.PXE, "NIC.Slot.5-1") == {
        "PxeDev1EnDis": "Enabled",
        "PxeDev1Interface": "NIC.Slot.5-1",
    }
    both = {**attributes, "PxeDev1EnDis": "Enabled", "PxeDev2EnDis": "Enabled"}
    assert device_change(both, BootSource.PXE, "NIC.Integrated.1-1-1") == {
        "PxeDev1Interface": "NIC.Integrated.1-1-1",
        "PxeDev2Interface": "NIC.Embedded.1-1-1",
    }
    assert device_change({}, BootSource.PXE, "NIC.Slot.5-1") is None


@pytest.mark.parametrize(
    "text", ["NIC.Slot.5-1", "InfiniBand.Slot.7-1", "NIC.Embedded.1-1-1", "NIC.Integrated.1-2-1"]
)
def test_fqdds_of_ports_are_accepted(text: str) -> None:
    assert check_fqdd(text) == text


@pytest.mark.parametrize("text", ["", "eth0", "b8:3f:d2:a4:1b:d2", "NIC.Slot.5-1; rm", "Disk.Bay.0"])
def test_anything_else_is_no_port(text: str) -> None:
    with pytest.raises(UsageError):
        check_fqdd(text)
