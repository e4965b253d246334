"""What a second harvest says of the first: replaced, moved, vanished and copied things. Nothing is lost silently."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.provision.rack import CARDS, HOST_INTERFACES, Rack
from tests.sim.idrac import Fault, Simulator
from tests.sim.idrac.identity import swap

CARD = ("mac:InfiniBand.Slot.31-1", "virtual_mac:InfiniBand.Slot.31-1", "guid:InfiniBand.Slot.31-1")
SERIAL = "serial:InfiniBand.Slot.31"


@pytest.fixture
def rack(simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Rack:
    made = Rack(tmp_path, simulator(2, first="127.33.1.1"), capsys)
    made.depth = "--quick"
    assert made.harvest()[0] == 0
    return made


def held(rack: Rack, host: str, place: str) -> set[str]:
    return {i.fact.value for i in rack.records()[host].current() if i.fact.part == place}


def test_a_second_harvest_of_the_same_machines_finds_nothing_and_only_confirms(rack: Rack) -> None:
    before, events = rack.records(), len(rack.events())
    code, out, _ = rack.harvest()
    assert (code, "changed" in out, "finding" in out) == (0, False, False)
    after = rack.records()
    assert len(rack.events()) == events
    for host, record in after.items():
        assert [(i.fact, i.since, i.until) for i in record.identities] == [
            (i.fact, i.since, i.until) for i in before[host].identities
        ]
        assert all(i.confirmed > i.since for i in record.identities)
        assert record.version == before[host].version


def test_a_replaced_card_is_a_finding_with_old_and_new(rack: Rack) -> None:
    own = rack.sim[0].identity
    old = own[CARD[0]].lower()
    own.update({CARD[0]: "B8:3F:D2:00:00:01", CARD[1]: "B8:3F:D2:00:00:01", SERIAL: "MT24NEWCARD1"})
    own[CARD[2]] = "B8:3F:D2:03:00:00:00:01"
    code, out, _ = rack.harvest()
    assert code == 1
    assert f"gpu001: the card in InfiniBand.Slot.31 was replaced: MAC {old} -> b8:3f:d2:00:00:01" in " ".join(
        out.split()
    )
    assert held(rack, "gpu001", "InfiniBand.Slot.31-1") == {"b8:3f:d2:00:00:01", "0xb83fd20300000001"}
    every = {i.fact.value: i.until for i in rack.records()["gpu001"].identities}
    assert every[old] is not None  # kept, with its end
    assert rack.harvest()[0] == 0  # said once: it is the record now


def test_a_card_that_changed_its_slot_is_one_card_that_moved(rack: Rack) -> None:
    own = rack.sim[0].identity
    for kind in ("mac", "virtual_mac", "guid"):
        a, b = f"{kind}:InfiniBand.Slot.31-1", f"{kind}:InfiniBand.Slot.32-1"
        own[a], own[b] = own[b], own[a]
    document = rack.json()
    moved = [f for f in document["findings"] if f["kind"] == "card-moved"]
    assert {(f["expected"], f["found"]) for f in moved} == {
        ("InfiniBand.Slot.31", "InfiniBand.Slot.32"),
        ("InfiniBand.Slot.32", "InfiniBand.Slot.31"),
    }
    assert held(rack, "gpu001", "InfiniBand.Slot.31-1") == {
        own["mac:InfiniBand.Slot.31-1"].lower(),
        "0x" + own["guid:InfiniBand.Slot.31-1"].replace(":", "").lower(),
    }


def test_cards_that_changed_machines_are_moved_in_the_record_and_said(rack: Rack) -> None:
    first, second = rack.sim[0].identity, rack.sim[1].identity
    swap(first, second, [*CARD, SERIAL])
    code, out, _ = rack.harvest()
    assert code == 1
    mac = first[CARD[0]].lower()
    assert f"MAC {mac} moved from gpu002 InfiniBand.Slot.31-1 to gpu001 InfiniBand.Slot.31-1" in " ".join(
        out.split()
    )
    for host, own in (("gpu001", first), ("gpu002", second)):
        assert own[CARD[0]].lower() in held(rack, host, "InfiniBand.Slot.31-1")
    assert rack.harvest()[0] == 0


def test_what_is_recorded_of_a_machine_that_was_not_read_is_not_taken_from_it(rack: Rack) -> None:
    first, second = rack.sim[0].identity, rack.sim[1].identity
    swap(first, second, [*CARD, SERIAL])
    document = rack.json("gpu001")
    kinds = rack.kinds(document)
    assert "recorded-elsewhere" in kinds
    mac = first[CARD[0]].lower()
    assert mac in held(rack, "gpu002", "InfiniBand.Slot.31-1")
    assert mac not in held(rack, "gpu001", "InfiniBand.Slot.31-1")


def test_a_mac_on_two_machines_is_a_finding_and_stays_whose_it_was(rack: Rack) -> None:
    mac = rack.sim[0].identity["mac:NIC.Embedded.1-1-1"]
    rack.sim[1].identity.update({"mac:NIC.Embedded.2-1-1": mac, "virtual_mac:NIC.Embedded.2-1-1": mac})
    document = rack.json()
    (finding,) = [f for f in document["findings"] if f["kind"] == "duplicate-mac"]
    assert "gpu001 NIC.Embedded.1-1-1 and gpu002 NIC.Embedded.2-1-1" in finding["text"]
    assert mac.lower() in held(rack, "gpu001", "NIC.Embedded.1-1-1")
    assert mac.lower() not in held(rack, "gpu002", "NIC.Embedded.2-1-1")


def test_another_machine_behind_a_bmc_address_is_not_stored_until_accepted(rack: Rack) -> None:
    own = rack.sim[0].identity
    before = rack.records()["gpu001"]
    old = own["tag"]
    swap(own, rack.sim[1].identity, [key for key in own if key not in ("address",)])
    rack.sim[1].identity["tag"] = "ZZZZZZ2"
    code, out, _ = rack.harvest("gpu001")
    assert code == 1
    assert f"another machine answers: service tag {own['tag']}, recorded is {old}" in " ".join(out.split())
    assert "not stored, another machine answered: gpu001" in out
    now = rack.records()["gpu001"]
    assert now.identities == before.identities
    code, out, _ = rack.harvest("--accept-replaced")
    assert code == 1  # it is still said
    assert held(rack, "gpu001", "") == {own["tag"]}


def test_a_service_tag_that_contradicts_the_site_is_never_stored(rack: Rack) -> None:
    rack.write("  service_tags: {gpu001: WRONGT1}\n")
    before = rack.records()["gpu001"]
    code, out, _ = rack.harvest("--accept-replaced")
    assert code == 1
    tag = rack.sim[0].service_tag
    assert f"service tag {tag} answers where the site expects WRONGT1" in " ".join(out.split())
    assert rack.records()["gpu001"].identities == before.identities
    assert {i.confirmed for i in rack.records()["gpu001"].identities} == {
        i.confirmed for i in before.identities
    }


def test_a_new_system_board_in_the_same_chassis_is_said(rack: Rack) -> None:
    own = rack.sim[0].identity
    assert rack.harvest("--default")[0] == 0
    own.update(bmc_mac="b0:7b:25:00:00:99", board="CNIVC00NEW0001")
    document = rack.json("--default")
    (finding,) = [f for f in document["findings"] if f["kind"] == "board-replaced"]
    assert "CNIVC00NEW0001" in finding["text"]
    assert held(rack, "gpu001", "bmc") == {"b0:7b:25:00:00:99"}


def test_a_replaced_gpu_and_drive_are_findings_of_a_full_harvest(rack: Rack) -> None:
    assert rack.harvest("--full")[0] == 0
    own = rack.sim[0].identity
    gpu = next(key for key in own if key.startswith("serial:Video."))
    drive = next(key for key in own if key.startswith("serial:Disk."))
    own.update({gpu: "1650000000001", drive: "NEWDRIVE1"})
    document = rack.json("--full")
    found = {(f["kind"], f["part"], f["found"]) for f in document["findings"]}
    assert ("gpu-replaced", gpu.partition(":")[2], "1650000000001") in found
    assert ("drive-replaced", drive.partition(":")[2], "NEWDRIVE1") in found


def test_a_card_that_is_gone_is_said_until_somebody_retires_it(rack: Rack) -> None:
    own = rack.sim[0].identity
    card = f"{CARDS}/NIC.Slot.36"
    for path in (card, f"{HOST_INTERFACES}/NIC.Slot.36-1"):
        rack.sim[0].remove(path)
    for _ in range(2):
        document = rack.json()
        assert "mac-vanished" in rack.kinds(document)
    mac = own["mac:NIC.Slot.36-1"].lower()
    assert mac in held(rack, "gpu001", "NIC.Slot.36-1")
    assert rack.run("node", "set", "gpu001", "--retire", mac)[0] == 0
    assert "mac-vanished" not in rack.kinds(rack.json())


def test_a_card_that_could_not_be_read_is_no_card_that_is_gone(rack: Rack) -> None:
    rack.sim[0].fault(Fault(method="GET", path=rf"{CARDS}/NIC.Slot.36/NetworkDeviceFunctions.*", status=500))
    document = rack.json()
    assert rack.kinds(document) == []
    assert document["exit_code"] == 3
    assert [one["what"] for one in document["hosts"][0]["unread"]] == ["functions of NIC.Slot.36"]


def test_fewer_hcas_than_the_node_model_has_are_a_finding(rack: Rack) -> None:
    rack.sim[0].remove(f"{CARDS}/InfiniBand.Slot.40")
    document = rack.json()
    (finding,) = [f for f in document["findings"] if f["kind"] == "hca-count"]
    assert (finding["host"], finding["expected"], finding["found"]) == ("gpu001", "8", "7")


def test_a_changed_link_is_a_change_and_no_finding(rack: Rack) -> None:
    nics = rack.json("--default")["hosts"][0]["parts"]["nic"]
    port, adapter = next((nic["id"], nic["adapter"]) for nic in nics if nic["link"]["value"] == "up")
    for kind, down in (("Ports", "LinkDown"), ("NetworkPorts", "Down")):
        rack.sim[0].change(f"{CARDS}/{adapter}/{kind}/{port}", LinkStatus=down)
    document = rack.json("--default")
    assert document["exit_code"] == 0
    assert document["changes"] == [
        {"host": "gpu001", "part": port, "field": "nic.link", "before": "up", "after": "down"}
    ]


def test_nothing_that_was_ever_known_is_forgotten(rack: Rack) -> None:
    own = rack.sim[0].identity
    first = {i.fact.value for i in rack.records()["gpu001"].identities}
    own.update({CARD[0]: "B8:3F:D2:00:00:01", SERIAL: "MT24NEWCARD1"})
    rack.harvest()
    own.update({CARD[0]: "B8:3F:D2:00:00:02"})
    rack.harvest()
    every = {i.fact.value for i in rack.records()["gpu001"].identities}
    assert first | {"b8:3f:d2:00:00:01", "b8:3f:d2:00:00:02"} <= every


def test_accepting_a_replaced_machine_against_the_site_file_says_what_must_be_changed(rack: Rack) -> None:
    rack.write("  service_tags: {gpu001: OLDTAG1}\n")
    assert "--accept-replaced" not in rack.harvest()[1]
    code, out, _ = rack.harvest("--accept-replaced")
    assert code == 1
    said = " ".join(out.split())
    assert f"--accept-replaced changes the node record, not {rack.site}: correct service_tags there" in said
