"""Node records and events as an operator meets them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest

from fabricctl.cli.main import main

SITE = """\
name: hall
node_models:
  m: {hcas: [mlx5_0]}
nodes:
  gpu[001-100]: {model: m}
"""


class Desk:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        self.site = str(folder / "site.yaml")
        self.state = folder / "hall.sqlite"
        Path(self.site).write_text(SITE + "state: {url: hall.sqlite}\n")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "--site", self.site])
        out, err = self._capsys.readouterr()
        return code, out, err

    def set(self, hosts: str, to: str, *more: str) -> tuple[int, str, str]:
        return self.run("node", "set", hosts, "--to", to, "--reason", "because", "--yes", *more)

    def states(self) -> dict[str, str]:
        nodes = json.loads(self.run("node", "list", "--format", "json")[1])["nodes"]
        return {node["name"]: node["state"] for node in nodes}


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


def test_nodes_of_the_site_are_planned_before_anything_is_stored(desk: Desk) -> None:
    code, out, _ = desk.run("node", "list")
    assert (code, out) == (0, "planned         100  gpu[001-100]\n")
    assert not desk.state.exists()
    assert "planned in the site file" in desk.run("node", "show", "gpu001")[1]
    assert "no event" in desk.run("events")[1]


def test_a_node_from_crate_to_service_and_back(desk: Desk) -> None:
    for state in ("provisioning", "ready", "in service", "draining", "repair", "provisioning"):
        assert desk.set("gpu[001-002]", state)[0] == 0
    assert desk.states()["gpu002"] == "provisioning"
    _, out, _ = desk.run("node", "list", "--state-is", "provisioning", "--format", "csv")
    assert [row["node"] for row in csv.DictReader(io.StringIO(out))] == ["gpu001", "gpu002"]
    events = json.loads(desk.run("events", "--subject", "gpu001", "--format", "json")[1])["events"]
    assert [(e["before"], e["after"]) for e in events] == [
        ("planned", "provisioning"),
        ("provisioning", "ready"),
        ("ready", "in_service"),
        ("in_service", "draining"),
        ("draining", "repair"),
        ("repair", "provisioning"),
    ]
    assert {e["reason"] for e in events} == {"because"}
    assert all("@" in e["who"] for e in events)


def test_without_yes_the_plan_is_shown_and_nothing_is_done(desk: Desk) -> None:
    code, out, err = desk.run("node", "set", "gpu[001-003]", "--to", "provisioning", "--reason", "first")
    assert code == 2
    assert out == "gpu[001-003]  planned -> provisioning\n3 of 3 nodes; reason: first\n"
    assert "nothing was changed: confirm with --yes" in err
    assert set(desk.states().values()) == {"planned"}


def test_what_is_there_already_is_not_done_again(desk: Desk) -> None:
    desk.set("gpu[001-002]", "provisioning")
    _, out, _ = desk.set("gpu[001-003]", "provisioning")
    assert "gpu[001-002]  provisioning already" in out
    assert "done: 1 changed" in out
    assert desk.set("gpu[001-003]", "provisioning")[1].endswith("0 of 3 nodes; reason: because\n")
    assert len(json.loads(desk.run("events", "--format", "json")[1])["events"]) == 3


def test_a_node_in_service_is_not_taken_for_repair_without_force(desk: Desk) -> None:
    for state in ("provisioning", "ready", "in service"):
        desk.set("gpu001", state)
    code, _, err = desk.set("gpu001", "repair")
    assert code == 2
    assert "gpu001 is in service and cannot become repair without a drain" in err
    assert desk.states()["gpu001"] == "in_service"
    code, out, _ = desk.set("gpu001", "repair", "--force-in-service")
    assert code == 0
    assert "FORCED" in out
    assert "in service -> repair, forced" in desk.run("events")[1]


def test_one_command_changes_at_most_what_the_site_allows(desk: Desk) -> None:
    code, _, err = desk.set("gpu[001-065]", "provisioning")
    assert code == 2
    assert "would change 65 nodes; at most 64 may be changed at once" in err
    assert desk.set("gpu[001-064]", "provisioning")[0] == 0
    assert desk.set("gpu[001-070]", "provisioning")[0] == 0  # six are left to change
    text = Path(desk.site).read_text()
    Path(desk.site).write_text(text + "gates: {max_nodes_per_change: 2}\n")
    assert desk.set("gpu[001-003]", "ready")[0] == 2


def test_identities_are_kept_canonical_with_source_and_history(desk: Desk) -> None:
    words = ("--service-tag", "7xk4qz3", "--mac", "bmc=0C42.A100.12EF", "--guid", "mlx5_0=c42a10300b3c4d5")
    assert desk.run("node", "set", "gpu001", *words)[0] == 0
    new = ("--guid", "mlx5_0=0x0c42a10300b3c4d6", "--retire", "0C-42-A1-00-12-EF", "--reason", "card swapped")
    assert desk.run("node", "set", "gpu001", *new)[0] == 0
    _, out, _ = desk.run("node", "show", "gpu001", "--json")
    node = json.loads(out)["nodes"][0]
    assert [(i["kind"], i["part"], i["value"], i["until"] is None) for i in node["identities"]] == [
        ("service_tag", "", "7XK4QZ3", True),
        ("mac", "bmc", "0c:42:a1:00:12:ef", False),
        ("guid", "mlx5_0", "0x0c42a10300b3c4d5", False),
        ("guid", "mlx5_0", "0x0c42a10300b3c4d6", True),
    ]
    assert {i["source"] for i in node["identities"]} == {"operator"}
    assert node["events"][-1]["reason"] == "card swapped"
    assert node["state"] == "planned"
    page = desk.run("node", "show", "gpu001")[1]
    assert "GUID of mlx5_0" in page
    assert "until" in page


def test_json_keeps_to_its_schemas(desk: Desk) -> None:
    desk.set("gpu001", "provisioning")
    desk.run("node", "set", "gpu001", "--mac", "0c42a10012ef")
    capsys, listed = desk._capsys, ("node", "list", "--format", "json")
    for schema, words in {"nodes": listed, "events": ("events", "--format", "json")}.items():
        main(["schema", schema])
        told = json.loads(capsys.readouterr()[0])
        jsonschema.Draft202012Validator.check_schema(told)
        jsonschema.Draft202012Validator(told).validate(json.loads(desk.run(*words)[1]))
    main(["schema", "nodes"])
    told = json.loads(capsys.readouterr()[0])
    jsonschema.Draft202012Validator(told).validate(
        json.loads(desk.run("node", "show", "gpu[001-002]", "--json")[1])
    )


def test_events_since_a_date(desk: Desk) -> None:
    desk.set("gpu001", "provisioning")
    assert "gpu001" in desk.run("events", "--since", "2020-01-01")[1]
    assert "no event" in desk.run("events", "--since", "2999-01-01")[1]
    assert "| gpu001 |" in desk.run("events", "--format", "markdown")[1]


def test_a_store_without_a_site_wants_nodes_entered_first(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(desk.folder / "other.sqlite")

    def node_set(*words: str) -> tuple[int, str]:
        code = main(["node", "set", "gpu001", "--reason", "x", "--yes", "--state", store, *words])
        return code, capsys.readouterr()[1]

    code, err = node_set("--to", "ready")
    assert (code, Path(store).exists()) == (2, False)
    assert node_set("--to", "planned")[0] == 0
    code, err = node_set("--to", "ready")
    assert "cannot become ready; from there: provisioning" in err
    assert node_set("--to", "provisioning")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["set", "gpu001"], "nothing to change"),
        (["set", "gpu001", "--to", "ready", "--yes"], "say why"),
        (["set", "gpu001", "--to", "broken", "--reason", "x"], "expected one of planned, provisioning"),
        (["set", "gpu01", "--to", "repair", "--reason", "x"], "did you mean gpu0"),
        (["set", "gpu[001-002]", "--mac", "0c42a10012ef"], "identities belong to one node"),
        (["set", "gpu001", "--mac", "nonsense"], "is no MAC; expected six pairs"),
        (
            ["set", "gpu001", "--to", "repair", "--mac", "0c42a10012ef", "--reason", "x"],
            "one after the other",
        ),
        (["list", "gpu[1"], "brackets do not pair"),
        (["list", "--state-is", "gone"], "no node state 'gone'"),
        (["show", "gpu101"], "the site has no node 'gpu101'"),
    ],
)
def test_wrong_usage_is_one_line_and_changes_nothing(desk: Desk, words: list[str], said: str) -> None:
    code, _, err = desk.run("node", *words)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert not desk.state.exists()


def test_a_list_of_events_that_is_cut_says_how_many_there_are(desk: Desk) -> None:
    for state in ("provisioning", "ready", "in service"):
        desk.set("gpu[001-002]", state)
    code, out, err = desk.run("events", "--limit", "4")
    assert (code, len(out.splitlines())) == (0, 5)
    assert err == "fabricctl: the latest 4 of 6 events; --limit 6 shows all\n"
    code, out, err = desk.run("events", "--limit", "1", "--subject", "gpu001", "--format", "json")
    assert "the latest 1 of 3 events" in err
    document = json.loads(out)
    assert (document["total"], len(document["events"])) == (3, 1)
    assert desk.run("events", "--limit", "6")[2] == ""
