"""Every discovery format of one fabric, written by the real tools in one run, gives the same fabric."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabricctl.discovery.model import Observation
from fabricctl.discovery.recognise import parse_any
from fabricctl.fabric import Fabric, Port
from tests.conftest import read_capture

FORMS = ("ibnetdiscover", "ibnetdiscover-p", "iblinkinfo", "iblinkinfo-l", "opensm-subnet")
COUNTS = {  # folder: switches, HCAs, links (the generator's own counts; faulty ones less their truth files' links)
    "imbue": (320, 4090, 12282),
    "imbue-faulty": (318, 4086, 12145),
    "imbue-islands": (40, 512, 1536),
    "medium": (80, 254, 766),
    "small2": (6, 16, 32),
    "small3": (20, 32, 96),
    "small3-faulty": (19, 31, 85),
}


def read(folder: Path, form: str) -> Observation:
    (file,) = [p for p in folder.iterdir() if p.name.split(".")[0] == form]
    return parse_any(read_capture(file), str(file))


def cables(fabric: Fabric) -> set[tuple[frozenset[tuple[str, int]], str]]:
    """Cables by node names: an HCA's key differs where a format prints port GUIDs only."""

    def end(port: Port) -> tuple[str, int]:
        return fabric.nodes[port.node].name, port.number

    return {(frozenset((end(link.a), end(link.b))), str(link.rate)) for link in fabric.each_link()}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name == "imbue-faulty" else name for name in COUNTS],
)
def test_every_form_of_one_fabric_is_the_same_fabric(captures: Path, name: str) -> None:
    folder = captures / "ibsim" / name
    forms = [form for form in FORMS if any(p.name.split(".")[0] == form for p in folder.iterdir())]
    assert len(forms) >= 4
    reference: set[tuple[frozenset[tuple[str, int]], str]] | None = None
    for form in forms:
        seen = read(folder, form)
        fabric = seen.fabric
        found = (len(list(fabric.switches())), len(list(fabric.hcas())), fabric.link_count)
        assert (form, *found) == (form, *COUNTS[name])
        assert (form, seen.problems) == (form, [])
        reference = cables(fabric) if reference is None else reference
        assert cables(fabric) == reference, form


def test_the_faulty_fabric_lacks_exactly_the_links_of_its_truth_file(captures: Path) -> None:
    faults = json.loads((captures / "ibsim" / "imbue-faulty.truth.json").read_text())
    assert faults
    healthy = {ends for ends, _ in cables(read(captures / "ibsim" / "imbue", "opensm-subnet").fabric)}
    faulty = {ends for ends, _ in cables(read(captures / "ibsim" / "imbue-faulty", "opensm-subnet").fabric)}
    assert (len(healthy - faulty), len(faulty - healthy)) == (149, 12)
    assert len(healthy) - len(faulty) == 137


@pytest.mark.parametrize("form", ["ibnetdiscover-p", "iblinkinfo", "iblinkinfo-l"])
def test_port_guids_lead_from_port_formats_to_the_default_format(captures: Path, form: str) -> None:
    folder = captures / "ibsim" / "small3"
    whole, ports = read(folder, "ibnetdiscover").fabric, read(folder, form).fabric
    of_port = {guid: node.key for node in whole.hcas() for _, guid in node.port_guids}
    for node in ports.hcas():
        ((_, guid),) = node.port_guids
        assert whole.nodes[of_port[guid]].name == node.name


def test_opensm_names_the_master_that_sminfo_names(captures: Path) -> None:
    folder = captures / "ibsim" / "small3"
    (told,) = read(folder, "sminfo").subnet_managers
    (master,) = read(folder, "opensm-subnet").subnet_managers
    assert (master.guid, master.lid, master.state) == (told.guid, told.lid, told.state)
