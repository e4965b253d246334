"""Virtual media and identify lights: which drive, which light, and whether there is anything to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import BmcNotReadyError, BmcUnsupportedError, UsageError
from provision.bmc.gate import STATUS_ACTION
from provision.bmc.locate import read_light
from provision.bmc.media import VirtualDrive, check_image, decide_eject, decide_insert, read_drive
from provision.bmc.reply import Reply
from provision.workflows.locate import set_light
from provision.workflows.media import eject, insert
from tests.provision.stateful_bmc import DELL, StatefulBmc, refusal, run

ISO, OTHER = "http://192.0.2.10/node.iso", "http://192.0.2.10/other.iso"
STATUS = f"{DELL.manager}/{STATUS_ACTION}"
CD = frozenset({"CD", "DVD"})


def drive(image: str = "", name: str = "1", types: frozenset[str] = CD) -> VirtualDrive:
    return VirtualDrive(
        f"/v/{name}", name, types, bool(image), image, f"/v/{name}/insert", f"/v/{name}/eject"
    )


@pytest.mark.parametrize(
    "url",
    [
        ISO,
        "https://192.0.2.10:8443/a/b.iso",
        "nfs://192.0.2.10/export/a.iso",
        "192.0.2.10:/export/a.iso",
        "cifs://192.0.2.10/share/a.iso",
        "//192.0.2.10/share/a.iso",
        "http://[2001:db8::1]/a.iso",
    ],
)
def test_addresses_that_a_bmc_can_fetch_are_accepted(url: str) -> None:
    assert check_image(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "node.iso",
        "/srv/node.iso",
        "ftp://192.0.2.10/a.iso",
        "http://192.0.2.10",
        "http:///a.iso",
        "http://h/a b",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(UsageError):
        check_image(url)


@pytest.mark.parametrize(
    "url", ["http://u:p@192.0.2.10/a.iso", "cifs://u@192.0.2.10/s/a.iso", "//u:p@192.0.2.10/s/a.iso"]
)
def test_credentials_in_an_address_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_image(url)
    assert "u:p" not in str(caught.value)


def test_an_image_that_is_in_the_drive_needs_nothing() -> None:
    decision = decide_insert([drive(ISO)], ISO)
    assert (decision.insert, decision.eject, decision.refused) == (None, None, "")


def test_another_image_is_taken_out_only_when_asked() -> None:
    assert "--replace" in decide_insert([drive(OTHER)], ISO).refused
    decision = decide_insert([drive(OTHER)], ISO, replace=True)
    assert decision.eject == decision.insert == drive(OTHER)


def test_only_a_cd_drive_takes_an_image() -> None:
    usb = drive(name="RemovableDisk", types=frozenset({"USBStick"}))
    decision = decide_insert([usb, drive(name="CD")], ISO)
    assert decision.insert is not None
    assert decision.insert.name == "CD"
    assert decide_insert([usb], ISO).refused


images = st.sampled_from(["", ISO, OTHER])


@given(st.lists(st.builds(drive, images, st.sampled_from(["1", "2"])), max_size=3), st.booleans())
def test_no_image_is_taken_out_unasked(drives: list[VirtualDrive], replace: bool) -> None:
    decision = decide_insert(drives, ISO, replace=replace)
    assert decision.eject is None or (replace and decision.eject.image == OTHER)
    if any(one.image == ISO for one in drives):
        assert decision.insert is None
    elif drives and (replace or not any(one.inserted for one in drives)):
        assert decision.insert is not None


@pytest.mark.captures
def test_the_drives_of_the_r750_capture_are_empty(captures: Path) -> None:
    dump = json.loads((captures / "redfish" / "dell_r750_h100_ib_idrac9_6.00.30.json").read_text())
    path = f"{DELL.system}/VirtualMedia/1"
    one = read_drive(dump[path])
    assert one.optical
    assert not one.inserted
    assert one.insert_path == f"{path}/Actions/VirtualMedia.InsertMedia"
    assert read_drive(dump[f"{DELL.manager}/VirtualMedia/RemovableDisk"]).optical is False
    assert decide_eject([one]) == ()


class Drives:
    """A BMC with one drive, shown under its system or its manager, or both."""

    def __init__(self, *owners: str) -> None:
        self.image = ""
        self.bmc = StatefulBmc({DELL.system: {"PowerState": "On"}})
        self.lc = "Ready"
        self.bmc.handlers["POST", STATUS] = lambda _: Reply("", 200, body={"LCStatus": self.lc})
        for owner in owners:
            path = f"{owner}/VirtualMedia/1"
            self.bmc.resources[f"{owner}/VirtualMedia"] = {"Members": [{"@odata.id": path}]}
            self.bmc.resources[path] = lambda now, path=path: self.body(path)
            self.bmc.handlers["POST", f"{path}/Actions/VirtualMedia.InsertMedia"] = self.insert
            self.bmc.handlers["POST", f"{path}/Actions/VirtualMedia.EjectMedia"] = self.eject

    def body(self, path: str) -> dict[str, Any]:
        actions = {
            f"#VirtualMedia.{verb}Media": {"target": f"{path}/Actions/VirtualMedia.{verb}Media"}
            for verb in ("Insert", "Eject")
        }
        return {"@odata.id": path, "MediaTypes": ["CD", "DVD"], "Inserted": bool(self.image),
                "Image": self.image or None, "Actions": actions}  # fmt: skip

    @property
    def sent(self) -> list[str]:
        """Where something was written."""
        return [path for _, path, _ in self.bmc.sent if path != STATUS]

    def insert(self, body: Any) -> Any:
        if self.image:
            return refusal(500, "VRM0012")
        self.image = body["Image"]
        return Reply("", 204)

    def eject(self, body: Any) -> Any:
        if not self.image:
            return refusal(500, "VRM0009")
        self.image = ""
        return Reply("", 204)


@pytest.mark.parametrize("owners", [(DELL.system,), (DELL.manager,), (DELL.system, DELL.manager)])
def test_an_image_is_inserted_once_and_read_back_wherever_the_drive_is(owners: tuple[str, ...]) -> None:
    drives = Drives(*owners)
    result = run(insert(drives.bmc, ISO))
    assert (result.before, result.after, result.reached) == ("empty", ISO, True)
    assert not run(insert(drives.bmc, ISO)).written
    assert len(drives.sent) == 1


def test_the_managers_drive_is_taken_where_the_systems_does_not_take_it() -> None:
    drives = Drives(DELL.system, DELL.manager)
    drives.bmc.handlers["POST", f"{DELL.system}/VirtualMedia/1/Actions/VirtualMedia.InsertMedia"] = lambda _: (
        refusal(404, "SYS403")
    )
    assert run(insert(drives.bmc, ISO)).reached


def test_an_image_the_bmc_cannot_fetch_is_said_with_its_words() -> None:
    drives = Drives(DELL.system)
    path = f"{DELL.system}/VirtualMedia/1/Actions/VirtualMedia.InsertMedia"
    drives.bmc.handlers["POST", path] = lambda _: refusal(400, "RAC0904")
    result = run(insert(drives.bmc, ISO))
    assert not result.reached
    assert "HTTP 400" in result.said


def test_another_image_is_refused_and_left_where_it_is() -> None:
    drives = Drives(DELL.system)
    drives.image = OTHER
    with pytest.raises(BmcUnsupportedError, match="--replace"):
        run(insert(drives.bmc, ISO))
    assert drives.sent == []
    assert run(insert(drives.bmc, ISO, replace=True)).reached


def test_a_drive_shown_twice_is_emptied_once() -> None:
    drives = Drives(DELL.system, DELL.manager)
    drives.image = ISO
    result = run(eject(drives.bmc))
    assert (result.before, result.after, result.reached) == (ISO, "empty", True)
    assert len(drives.sent) == 1
    assert not run(eject(drives.bmc)).written


@pytest.mark.parametrize("image", ["", ISO])
def test_no_drive_is_touched_while_the_lifecycle_controller_is_not_ready(image: str) -> None:
    drives = Drives(DELL.system)
    drives.image, drives.lc = image, "InUse"
    with pytest.raises(BmcNotReadyError, match="nothing was changed"):
        run(eject(drives.bmc) if image else insert(drives.bmc, ISO))
    assert drives.sent == []


def test_an_address_is_kept_without_its_query() -> None:
    assert drive(f"{ISO}?token=abc").words == ISO


@pytest.mark.parametrize(
    ("shown", "idrac", "on"),
    [
        ({"LocationIndicatorActive": True, "IndicatorLED": "Lit"}, True, True),
        ({"LocationIndicatorActive": False}, True, False),
        ({"IndicatorLED": "Lit"}, True, False),
        ({"IndicatorLED": "Blinking"}, True, True),
        ({"IndicatorLED": "Lit"}, False, True),
        ({"IndicatorLED": "Off"}, False, False),
    ],
)
def test_whether_a_light_marks_the_node(shown: dict[str, Any], idrac: bool, on: bool) -> None:
    light = read_light({"@odata.id": "/s", **shown}, idrac=idrac)
    assert light is not None
    assert light.on is on


def test_a_resource_without_a_light_shows_none() -> None:
    assert read_light({"@odata.id": "/s", "IndicatorLED": None}) is None


class Lamp:
    """A BMC whose system shows a light that only its chassis can switch."""

    def __init__(self, *writable: str) -> None:
        self.led = "Lit"
        self.bmc = StatefulBmc({})
        for path in (DELL.system, DELL.chassis[0]):
            self.bmc.resources[path] = lambda now, path=path: {"@odata.id": path, "IndicatorLED": self.led}
            if path in writable:
                self.bmc.handlers["PATCH", path] = self.store

    def store(self, body: Any) -> Any:
        self.led = body["IndicatorLED"]
        return Reply("", 200)


def test_a_light_is_switched_where_it_can_be_and_read_back() -> None:
    lamp = Lamp(DELL.chassis[0])
    result = run(set_light(lamp.bmc, True))
    assert (result.before, result.after) == ("off", "on")
    assert lamp.led == "Blinking"
    assert not run(set_light(lamp.bmc, True)).written
    run(set_light(lamp.bmc, False))
    assert lamp.led == "Lit"


def test_a_light_that_nothing_switches_is_said_so() -> None:
    result = run(set_light(Lamp().bmc, True))
    assert (result.after, result.reached) == ("off", False)
    assert "HTTP" in result.said or "not allowed" in result.said


def test_a_bmc_without_lights_is_unsupported() -> None:
    with pytest.raises(BmcUnsupportedError):
        run(set_light(StatefulBmc({}), True))


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ({"LocationIndicatorActive": False}, "off"),
        ({"IndicatorLED": "Lit"}, "off, shown as Lit"),
        ({"IndicatorLED": "Blinking"}, "on, shown as Blinking"),
    ],
)
def test_a_light_is_named_on_or_off_in_the_plan_as_in_the_result(shown: dict[str, Any], words: str) -> None:
    light = read_light({"@odata.id": "/s", **shown}, idrac=True)
    assert light is not None
    assert light.words == words
