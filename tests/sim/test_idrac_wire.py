"""The simulated iDRAC on the wire: TLS, faults, a process of its own."""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import ssl
import time
from collections.abc import Iterator
from typing import Any

import pytest

from fabricctl.site.load import load_site
from provision.bmc.target import Verify
from provision.workflows.targets import site_targets
from tests.sim.idrac import Fault, Profile, Simulator, steady_latency
from tests.sim.idrac.bmc import SimBmc
from tests.sim.idrac.process import SimProcess
from tests.sim.idrac.simulator import SimulatorBugsError
from tests.sim.idrac_asker import RESET, SESSIONS, SYSTEM

FIRST = "127.32.0.1"


@pytest.fixture
def fleet() -> Iterator[Simulator]:
    with Simulator(count=2, first=FIRST) as running:
        yield running


@pytest.mark.parametrize(
    ("key", "said"), [("SYS446", "parameter {0} is missing"), ("IDRAC.2.8.SYS403", "{0}")]
)
def test_a_fault_answers_with_its_message_and_the_path_where_it_lacks_an_argument(
    fleet: Simulator, key: str, said: str
) -> None:
    fleet[0].fault(Fault("GET", SYSTEM, status=500, message_id=key))
    status, body = Client(fleet[0], fleet.port).ask("GET", SYSTEM)
    (info,) = body["error"]["@Message.ExtendedInfo"]
    assert (status, info["MessageId"].rpartition(".")[2]) == (500, key.rpartition(".")[2])
    assert said.format(SYSTEM) in info["Message"]
    assert info["MessageArgs"] == [SYSTEM]
    assert [(one.path, one.status) for one in fleet[0].requests] == [(SYSTEM, 500)]


def test_a_mistake_of_the_simulator_fails_the_test_that_met_it() -> None:
    running = Simulator(1, first=FIRST).start()
    running[0].latency = lambda method, path, dice: 1 / 0
    client = http.client.HTTPSConnection(running[0].address, running.port, timeout=5, context=blind())
    client.request("GET", "/redfish/v1/Systems/x?y=1")
    assert client.getresponse().status == 500
    assert running[0].requests[-1].status == 500
    with pytest.raises(SimulatorBugsError) as caught:
        running.stop()
    (bug,) = caught.value.exceptions
    assert isinstance(bug, ZeroDivisionError)
    assert bug.__notes__ == ["while it answered GET /redfish/v1/Systems/x?y=1 for gpu001"]


def blind() -> ssl.SSLContext:
    """A context that accepts whatever comes."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Client:
    """One connection to one BMC, logged in."""

    def __init__(self, bmc: SimBmc, port: int, timeout: float = 5) -> None:
        self.connection = http.client.HTTPSConnection(bmc.address, port, timeout=timeout, context=blind())
        self.headers: dict[str, str] = {"X-Auth-Token": bmc.sessions.make("root", "test").token}

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, {**self.headers, "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None


def fingerprint_at(address: str, port: int, context: ssl.SSLContext | None = None) -> str:
    with (
        socket.create_connection((address, port), 5) as plain,
        (context or blind()).wrap_socket(plain) as tls,
    ):
        return hashlib.sha256(tls.getpeercert(binary_form=True) or b"").hexdigest()


def test_each_bmc_has_a_certificate_of_its_own_that_can_be_renewed(fleet: Simulator) -> None:
    first, second = fleet
    seen = [fingerprint_at(bmc.address, fleet.port) for bmc in fleet]
    assert seen == [first.fingerprint, second.fingerprint]
    assert seen[0] != seen[1]
    assert first.certificate.renew() == fingerprint_at(first.address, fleet.port) != seen[0]


def test_its_certificate_verifies_against_itself(fleet: Simulator) -> None:
    context = ssl.create_default_context(cadata=fleet[0].certificate.pem)
    connection = http.client.HTTPSConnection(fleet[0].address, fleet.port, timeout=5, context=context)
    connection.request("GET", "/redfish/v1")
    assert connection.getresponse().status == 200


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_old_bmc_speaks_old_tls_only(fleet: Simulator) -> None:
    fleet[0].certificate.limit("1.1")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        fingerprint_at(fleet[0].address, fleet.port)
    lowered = blind()
    lowered.minimum_version = ssl.TLSVersion.TLSv1
    lowered.set_ciphers("DEFAULT:@SECLEVEL=0")
    assert fingerprint_at(fleet[0].address, fleet.port, lowered) == fleet[0].fingerprint


def test_a_login_works_over_the_wire(fleet: Simulator) -> None:
    client = Client(fleet[0], fleet.port)
    client.headers = {}
    status, body = client.ask("POST", SESSIONS, {"UserName": "root", "Password": fleet.password})
    assert status == 201
    assert body["ClientOriginIPAddress"].startswith("127.")


def test_a_lost_answer_is_of_a_command_that_was_carried_out(fleet: Simulator) -> None:
    fault = fleet[0].fault(Fault("POST", r".*ComputerSystem\.Reset", drop_answer=True, times=1))
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        Client(fleet[0], fleet.port).ask("POST", RESET, {"ResetType": "ForceOff"})
    assert fault.hits == 1
    assert fleet[0].power.actions == ["ForceOff"]
    assert [entry.status for entry in fleet[0].asked("POST")] == [0]


def test_a_reset_connection_carries_nothing_out(fleet: Simulator) -> None:
    fleet[0].fault(Fault("POST", reset=True, times=1))
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        Client(fleet[0], fleet.port).ask("POST", RESET, {"ResetType": "ForceOff"})
    assert fleet[0].power.actions == []


def test_a_cut_body_ends_early(fleet: Simulator) -> None:
    fleet[0].fault(Fault("GET", SYSTEM, cut_body=True, times=1))
    client = Client(fleet[0], fleet.port)
    with pytest.raises(http.client.IncompleteRead):
        client.ask("GET", SYSTEM)
    assert Client(fleet[0], fleet.port).ask("GET", SYSTEM)[0] == 200


def test_a_hanging_bmc_does_not_hold_up_another(fleet: Simulator) -> None:
    fleet[0].fault(Fault("GET", SYSTEM, hang=True))
    with pytest.raises(TimeoutError):
        Client(fleet[0], fleet.port, timeout=0.2).ask("GET", SYSTEM)
    assert Client(fleet[1], fleet.port).ask("GET", SYSTEM)[0] == 200


def test_a_fault_answers_with_its_message_so_many_times_after_so_many(fleet: Simulator) -> None:
    fleet[0].fault(Fault("GET", SYSTEM, message_id="RAC0679", retry_after=5, times=1, after=1))
    client = Client(fleet[0], fleet.port)
    answers = [client.ask("GET", SYSTEM) for _ in range(3)]
    assert [status for status, _ in answers] == [200, 503, 200]
    assert answers[1][1]["error"]["@Message.ExtendedInfo"][0]["MessageId"] == "IDRAC.2.9.RAC0679"


def test_latency_delays_answers_and_faults_may_add_to_it(fleet: Simulator) -> None:
    fleet[0].latency = steady_latency(0.05)
    fleet[0].fault(Fault("GET", f"{SYSTEM}/Memory", delay_s=0.1))
    client = Client(fleet[0], fleet.port)
    start = time.monotonic()
    client.ask("GET", SYSTEM)
    middle = time.monotonic()
    client.ask("GET", f"{SYSTEM}/Memory")
    assert 0.05 <= middle - start < 0.15
    assert time.monotonic() - middle >= 0.15


def test_a_restarting_bmc_takes_no_requests(fleet: Simulator) -> None:
    fleet[0].readiness.restart(60)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        Client(fleet[0], fleet.port).ask("GET", SYSTEM)
    fleet.clock.advance(61)
    assert Client(fleet[0], fleet.port).ask("GET", SYSTEM)[0] == 200


def test_how_many_requests_were_under_way_at_once_is_counted(fleet: Simulator) -> None:
    fleet[0].latency = steady_latency(0.2)
    clients = [Client(fleet[0], fleet.port) for _ in range(3)]
    for client in clients:
        client.connection.request("GET", SYSTEM, headers=client.headers)
    for client in clients:
        client.connection.getresponse().read()
    clients[0].ask("PATCH", SYSTEM, {"AssetTag": "a"})
    assert fleet[0].most_in_flight == {"reads": 3, "writes": 1}
    assert fleet[0].in_flight == {"reads": 0, "writes": 0}


def test_profiles_may_be_mixed() -> None:
    with Simulator(2, [Profile.IDRAC9_6, Profile.IDRAC10], FIRST) as fleet:
        firmware = [
            Client(bmc, fleet.port).ask("GET", "/redfish/v1/Managers/iDRAC.Embedded.1")[1]["FirmwareVersion"]
            for bmc in fleet
        ]
    assert firmware == ["6.00.30.00", "1.30.10.50"]


def test_addresses_that_are_no_loopback_are_refused() -> None:
    with pytest.raises(ValueError, match="loopback"):
        Simulator(count=2, first="192.0.2.1")


def test_a_process_of_its_own_is_controlled_over_a_port() -> None:
    with SimProcess("--count", "3", "--first", "127.33.0.1", "--speed", "0") as process:
        assert process.addresses == ["127.33.0.1", "127.33.0.2", "127.33.0.3"]
        process.post("/set", hosts=["gpu002"], power="Off")
        assert [process.get(f"/bmc/{host}")["power"] for host in process.hosts] == ["On", "Off", "On"]
        process.post("/fault", hosts=["gpu003"], path="/redfish/v1", status=500)
        connection = http.client.HTTPSConnection("127.33.0.3", process.port, timeout=5, context=blind())
        connection.request("GET", "/redfish/v1")
        assert connection.getresponse().status == 500
        assert process.get("/totals") == {
            "requests": 1,
            "statuses": {"500": 1},
            "sessions_open": 0,
            "sessions_made": 0,
            "most_at_one_bmc": 0,
        }
        assert process.get("/bmc/gpu003/requests")[0]["path"] == "/redfish/v1"
        with pytest.raises(RuntimeError, match="expected fields"):
            process.post("/fault", colour="red")


@pytest.mark.parametrize("whole", [True, False])
def test_the_site_text_names_every_bmc_and_is_valid(whole: bool) -> None:
    fleet = Simulator(count=3, port=8443)
    text = fleet.site_text(whole=whole, verify="off", tags=True)
    nodes = "name: hall\nnode_models: {m: {hcas: [mlx5_0]}}\nnodes: {'gpu[001-003]': {model: m}}\n"
    targets = site_targets(load_site(text if whole else nodes + text, "site.yaml"))
    assert [(target.host, target.address, target.port) for target in targets] == [
        (host, address, 8443) for host, address in zip(fleet.hosts, fleet.addresses, strict=True)
    ]
    assert [target.service_tag for target in targets] == [bmc.service_tag for bmc in fleet]
    assert {target.trust.verify for target in targets} == {Verify.OFF}
