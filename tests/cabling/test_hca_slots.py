"""Which card sits in which slot, learned from most hosts of a model."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.cabling.hca_slots import check_slots
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.slot_inventory import SlotEntry, parse_slots, pci_address, slot_name
from fabricctl.cabling.verdict import Options, VerdictWord
from fabricctl.cabling.verify import verify
from fabricctl.errors import InputError
from fabricctl.fabric import Fabric
from tests.cabling import fabrics as make

SLOTS = {"31": ("mlx5_0", "19:00.0"), "32": ("mlx5_1", "3b:00.0"), "38": ("mlx5_2", "9a:00.0")}
NOWHERE = Fabric()


def hosts(count: int, model: str = "XE9680") -> list[SlotEntry]:
    return [
        SlotEntry(f"gpu{n}", model, slot, hca, pci)
        for n in range(1, count + 1)
        for slot, (hca, pci) in SLOTS.items()
    ]


def moved(entries: list[SlotEntry], host: str, old: str, new: str, pci: str = "dc:00.0") -> list[SlotEntry]:
    return [e._replace(slot=new, pci=pci) if (e.host, e.slot) == (host, old) else e for e in entries]


def test_hosts_that_agree_teach_the_model_and_nothing_deviates() -> None:
    check = check_slots(hosts(4), NOWHERE)
    assert check.usual == {
        "XE9680": {
            "31": "mlx5_0 at PCI 19:00.0",
            "32": "mlx5_1 at PCI 3b:00.0",
            "38": "mlx5_2 at PCI 9a:00.0",
        }
    }
    assert (check.deviations, check.doubts, check.hosts) == ([], [], {"XE9680": 4})


def test_a_card_in_another_slot_is_one_finding_that_says_where_it_belongs() -> None:
    plan = make.two_tier()
    entries = moved(hosts(5), "gpu3", "38", "40")
    verdict = verify(make.plan(plan), make.seen(plan), Options(hca_slots=tuple(entries)))
    (finding,) = verdict.findings
    assert finding.kind is FindingKind.CARD_SLOT
    assert finding.devices == ("gpu3",)
    assert finding.headline == "gpu3: slots 38, 40 not as in most hosts of model XE9680"
    assert finding.expected.startswith(
        "slot 38: mlx5_2 at PCI 9a:00.0 (as 4 of 5 hosts of model XE9680); slot 40: nothing"
    )
    assert finding.found == "slot 38: nothing; slot 40: mlx5_2 at PCI dc:00.0"
    assert finding.fix == "move the card of gpu3 from slot 40 to slot 38, and its cable with it"
    assert verdict.word is VerdictWord.FINDINGS


def test_two_cards_exchanged_are_a_deviation_of_both_slots() -> None:
    entries = [
        e._replace(hca={"mlx5_0": "mlx5_1", "mlx5_1": "mlx5_0"}.get(e.hca, e.hca)) if e.host == "gpu2" else e
        for e in hosts(4)
    ]
    check = check_slots(entries, NOWHERE)
    assert [(d.host, d.slot, d.share) for d in check.deviations] == [
        ("gpu2", "31", "3 of 4"),
        ("gpu2", "32", "3 of 4"),
    ]


def test_two_hosts_have_no_majority_and_that_is_said() -> None:
    plan = make.two_tier()
    entries = moved(hosts(2), "gpu2", "38", "40")
    verdict = verify(make.plan(plan), make.seen(plan), Options(hca_slots=tuple(entries)))
    assert verdict.findings == []
    assert verdict.word is VerdictWord.COULD_NOT_TELL
    assert verdict.doubts == [
        "HCA slots of XE9680: gpu[1-2] are the only hosts listed, and a majority needs 3"
    ]


def test_a_tie_could_not_tell() -> None:
    entries = hosts(4)
    for host in ("gpu1", "gpu2"):
        entries = moved(entries, host, "38", "40")
    check = check_slots(entries, NOWHERE)
    assert check.deviations == []
    assert check.doubts == ["HCA slots of XE9680: no majority of its 4 hosts for slot 38, 40"]


def test_models_do_not_vote_for_each_other() -> None:
    other = [e._replace(host=f"b{e.host}", slot=str(int(e.slot) - 30)) for e in hosts(3, "821GE")]
    check = check_slots([*hosts(4), *other], NOWHERE)
    assert (check.deviations, check.doubts) == ([], [])
    assert check.hosts == {"XE9680": 4, "821GE": 3}


def test_what_a_host_does_not_tell_is_no_difference() -> None:
    entries = [e._replace(pci="") if e.host == "gpu1" else e for e in hosts(4)]
    entries = [e._replace(hca="") if e.host == "gpu2" else e for e in entries]
    assert check_slots(entries, NOWHERE).deviations == []


def test_the_guid_finds_the_card_in_the_discovery() -> None:
    seen = make.seen(make.two_tier()).fabric
    entries = [
        SlotEntry(f"gpu{n}", "X", slot, "", "", make.guid(f"gpu{n} mlx5_{hca}"))
        for n in range(1, 5)
        for hca, slot in ((0, "31"), (1, "32"))
    ]
    a, b = (next(e for e in entries if (e.host, e.slot) == ("gpu2", slot)) for slot in ("31", "32"))
    exchanged = [e._replace(slot={"31": "32", "32": "31"}[e.slot]) if e in (a, b) else e for e in entries]
    verdict = verify(
        make.plan(make.two_tier()), make.seen(make.two_tier()), Options(hca_slots=tuple(exchanged))
    )
    (finding,) = verdict.findings
    assert f"slot 31: mlx5_1 (GUID {make.guid('gpu2 mlx5_1')}, cabled to leaf2/2)" in finding.found
    check = check_slots([e._replace(host="gpu9") if e == a else e for e in entries], seen)
    assert any("name different hosts" in note for note in check.notes)


def test_only_limits_it_to_chosen_hosts() -> None:
    plan = make.two_tier()
    entries = tuple(moved(hosts(5), "gpu3", "38", "40"))
    chosen = verify(make.plan(plan), make.seen(plan), Options(hca_slots=entries, only="gpu1"))
    assert chosen.findings == []


# -- reading --------------------------------------------------------------------------------------------------

CSV = """# from Redfish
Hostname;Server Model;NIC Slot;RDMA device;PCI BDF;GUID
gpu1;XE9680;NIC.Slot.38-1-1;MLX5_2;0000:9A:00.0;0xa088c20300abcdef

gpu1;XE9680;31;;;a0:88:c2:03:00:ab:cd:ee
"""


def test_csv_headers_are_read_by_their_words() -> None:
    one, two = parse_slots(CSV, "slots.csv")
    assert one == SlotEntry("gpu1", "XE9680", "38", "mlx5_2", "9a:00.0", "0xa088c20300abcdef", 3)
    assert two == SlotEntry("gpu1", "XE9680", "31", "", "", "0xa088c20300abcdee", 5)


@pytest.mark.parametrize(
    "data",
    [
        [{"host": "gpu1", "slot": 38, "rdma_name": "mlx5_2"}],
        {"gpu1": [{"Slot": "38", "HCA": "mlx5_2"}]},
        {"hosts": {"gpu1": [{"pcie slot": "PCIe Slot 38", "ibdev": "mlx5_2", "ports": [1, 2]}]}},
    ],
)
def test_json_of_several_shapes(data: object) -> None:
    assert parse_slots(json.dumps(data), "slots.json") == (SlotEntry("gpu1", "", "38", "mlx5_2"),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "s: the inventory of HCA slots is empty"),
        ("a,b\n1,2\n", "s:1: an inventory of HCA slots needs a column host and one of slot, hca, pci, guid"),
        ("host,slot,guid\ngpu1,1,xyz\n", "s:2: GUID 'xyz' is not understood"),
        ("host,slot\ngpu1,\n", "s:2: a card needs its host and one of slot, hca, pci, guid; found host gpu1"),
        ("[1]", "s: expected a list of cards"),
        ("{", "s:1: this is no JSON"),
        ('[\n{"host": }]', "s:2: this is no JSON"),
        (f"host,slot\n\ngpu1,1\ngpu1,{'x' * 140_000}\n", "s:4: this row cannot be read: field larger than"),
        (f"\n# c\n{'x' * 140_000},slot\ngpu1,1\n", "s:3: this row cannot be read: field larger than"),
        (f'\nhost,{"slot," * 40_000}\ngpu1,1,"{"y" * 140_000}"\n', "s:3: this row cannot be read: field"),
        ('host,slot,guid\ngpu1,1,\ngpu1,"2\n",\ngpu1,3,xyz\n', "s:5: GUID 'xyz' is not understood"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_file_and_line(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_slots(text, "s")
    assert str(caught.value).startswith(words)


def test_slot_names_and_addresses_have_one_spelling() -> None:
    assert [slot_name(text) for text in ("NIC.Slot.38-1", "Slot 07", "12", "OCP mezz")] == [
        "38",
        "7",
        "12",
        "OCP mezz",
    ]
    assert pci_address("0001:3B:00.1") == "0001:3b:00.1"


@given(st.text(max_size=120))
@settings(deadline=None)
def test_any_text_is_read_or_refused_as_input(text: str) -> None:
    with contextlib.suppress(InputError):
        parse_slots(text, "s")


@settings(max_examples=60, deadline=None)
@given(
    st.integers(3, 9),
    st.lists(st.tuples(st.integers(1, 9), st.sampled_from(["31", "32", "38"])), max_size=3, unique=True),
)
def test_exactly_the_hosts_that_differ_from_the_majority_are_found(
    count: int, changes: list[tuple[int, str]]
) -> None:
    entries = hosts(count)
    for number, slot in changes:
        entries = moved(entries, f"gpu{number}", slot, f"9{slot}")
    changed = {(f"gpu{n}", s) for n, s in changes if n <= count}
    per_slot = {slot: sum(s == slot for _, s in changed) for slot in SLOTS}
    check = check_slots(entries, NOWHERE)
    expected = set()
    for slot, number in per_slot.items():
        if 2 * number < count:
            expected |= {(h, s) for h, s in changed if s == slot}
        elif 2 * number > count:
            expected |= {(f"gpu{n}", slot) for n in range(1, count + 1)} - changed
    assert {(d.host, d.slot.removeprefix("9")) for d in check.deviations} == expected
    assert bool(check.doubts) == any(2 * number == count for number in per_slot.values())
