"""A pattern no cable of the declared kind can make: a finding of its own, with an id, that is gone when repaired."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabricctl.cli.main import main
from fabricctl.discovery.ibnetdiscover_writer import write
from tests.repair.plug_hall import Cable, Hall


def twins() -> Hall:
    """Eight twin cables planned: four between leaf1 and spines 1 to 4, four between leaf2 and spines 5 to 8."""
    hall = Hall()
    for leaf in (1, 2):
        for n in range(4):
            spine = f"spine{4 * leaf - 3 + n}"
            near = ((f"leaf{leaf}", 2 * n + 1), (f"leaf{leaf}", 2 * n + 2))
            hall.want("twin_dac", near, ((spine, 1), (spine, 2)))
    return hall


def turned(hall: Hall, *leaves: str) -> list[Cable]:
    """The links of these leaves lie turned by one port, which twin plugs cannot do."""
    cables: list[Cable] = []
    for leaf in ("leaf1", "leaf2"):
        links = [link for slot in hall.slots for link in slot.links() if link[0][0] == leaf]
        shift = int(leaf in leaves)
        for n, (near, _) in enumerate(links):
            cables.append(Cable("fibre_straight", [(near,), (links[(n + shift) % len(links)][1],)]))
    return cables


class Desk:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.hall, self._capsys = twins(), capsys
        self.plan, self.seen, self.state = (str(folder / n) for n in ("plan.csv", "seen.txt", "hall.sqlite"))
        rows = ["a_device,a_port,z_device,z_port,assembly"]
        rows += [
            f"{a},{p},{b},{q},{slot.type}" for slot in self.hall.slots for (a, p), (b, q) in slot.links()
        ]
        Path(self.plan).write_text("\n".join(rows) + "\n")

    def run(self, *words: str) -> tuple[int, str]:
        code = main([*words, "--state", self.state])
        return code, self._capsys.readouterr().out

    def look(self, *leaves: str) -> tuple[int, dict[str, Any]]:
        """verify-cabling with the links of these leaves turned."""
        seen = self.hall.fabric(turned(self.hall, *leaves), planned=False)
        seen.nodes.update({key: replace(node, ports=64) for key, node in seen.nodes.items()})
        Path(self.seen).write_text(write(seen))
        files = ("--plan", self.plan, "--discovered", self.seen)
        code, out = self.run("verify-cabling", *files, "--format", "json")
        return code, json.loads(out)

    def status(self) -> dict[str, str]:
        """Id -> status of the findings about kinds of cables."""
        report = json.loads(self.run("findings", "--format", "json")[1])
        found = [finding for series in report["series"] for finding in series["findings"]]
        return {one["id"]: one["status"] for one in found if one["kind"] == "cable_type"}


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


def of_type(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for finding in report["findings"] if finding["kind"] == "cable_type"]


def test_a_turned_leaf_is_a_finding_that_names_its_ports_and_another_leaf_another_finding(desk: Desk) -> None:
    code, report = desk.look("leaf1", "leaf2")
    assert (code, report["verdict"]) == (1, "findings")
    one, two = of_type(report)
    assert one["id"] != two["id"]
    assert {"leaf1", "leaf2"} == {device for f in (one, two) for device in f["devices"] if "leaf" in device}
    for finding in (one, two):
        assert "leaf" in finding["subject"]
        assert "/1" in finding["subject"]
        assert finding["expected"] == "twin dac"
        assert "one twin plug would fill the cage of leaf" in finding["found"]


def test_as_planned_there_is_no_such_finding(desk: Desk) -> None:
    code, report = desk.look()
    assert (code, report["verdict"], of_type(report)) == (0, "ok", [])


def test_its_id_stays_from_run_to_run_and_it_is_gone_when_repaired(desk: Desk) -> None:
    both = {finding["id"] for finding in of_type(desk.look("leaf1", "leaf2")[1])}
    assert desk.status() == dict.fromkeys(both, "new")
    [left] = of_type(desk.look("leaf2")[1])
    assert left["id"] in both
    assert desk.status() == {left["id"]: "open", (both - {left["id"]}).pop(): "gone"}
    desk.look()
    assert desk.status()[left["id"]] == "gone"
