"""Logins of the simulated iDRAC: what public issues and captures say of a real one."""

from __future__ import annotations

import pytest

from tests.sim.idrac import Profile, Simulator
from tests.sim.idrac_asker import SESSIONS, SYSTEM, Asker, basic


def one(profile: Profile = Profile.IDRAC9_7) -> tuple[Simulator, Asker]:
    simulator = Simulator(profile=profile, speed=0)
    return simulator, Asker(simulator[0], user="")


def test_the_root_tells_tag_and_mac_without_login() -> None:
    simulator, nobody = one()
    said = nobody.get("/redfish/v1/")
    assert said.status == 200
    assert said.body["Oem"]["Dell"]["ServiceTag"] == simulator[0].service_tag
    assert said.body["Oem"]["Dell"]["ManagerMACAddress"] == simulator[0].identity["bmc_mac"]


def test_everything_else_wants_a_login() -> None:
    _, nobody = one()
    said = nobody.get(SYSTEM)
    assert said.status == 401
    assert said.keys == ["AccessDenied"]


def test_a_login_opens_a_session_and_a_logout_closes_it() -> None:
    simulator, nobody = one()
    said = nobody.login(simulator.password)
    assert said.status == 201
    assert said.headers["Location"].startswith(f"{SESSIONS}/")
    assert said.body["UserName"] == "root"
    assert said.body["ClientOriginIPAddress"] == "198.51.100.7"
    nobody.headers["x-auth-token"] = said.headers["X-Auth-Token"]
    assert nobody.get(SYSTEM).status == 200
    assert nobody.delete(said.headers["Location"]).status == 200
    assert nobody.get(SYSTEM).status == 401
    assert len(simulator[0].sessions) == 0


def test_the_ninth_session_is_refused_with_rac0218() -> None:
    simulator, nobody = one()
    for _ in range(8):
        assert nobody.login(simulator.password).status == 201
    said = nobody.login(simulator.password)
    assert (said.status, said.keys) == (503, ["RAC0218"])
    assert len(simulator[0].sessions) == 8


def test_an_idle_session_ends_after_its_timeout() -> None:
    simulator, nobody = one()
    token = nobody.login(simulator.password).headers["X-Auth-Token"]
    nobody.headers["x-auth-token"] = token
    simulator.clock.advance(1700)
    assert nobody.get(SYSTEM).status == 200
    simulator.clock.advance(1700)
    assert nobody.get(SYSTEM).status == 200, "a request keeps it"
    simulator.clock.advance(1801)
    assert nobody.get(SYSTEM).status == 401


def test_failed_logins_block_the_address_for_a_while() -> None:
    simulator, nobody = one()
    for _ in range(3):
        assert nobody.login("wrong").status == 401
    assert nobody.login(simulator.password).status == 401
    assert Asker(simulator[0], user="", client="198.51.100.8").login(simulator.password).status == 201
    simulator.clock.advance(61)
    assert nobody.login(simulator.password).status == 201


@pytest.mark.parametrize(
    ("profile", "status"), [(Profile.IDRAC9_6, 200), (Profile.IDRAC9_7, 200), (Profile.IDRAC10, 401)]
)
def test_basic_works_on_idrac9_and_is_unadvertised_on_idrac10(profile: Profile, status: int) -> None:
    simulator, nobody = one(profile)
    assert nobody.get(SYSTEM, authorization=basic("root", simulator.password)).status == status


def test_the_factory_password_must_be_changed_first() -> None:
    simulator, nobody = one()
    simulator[0].sessions.change_required = True
    said = nobody.login(simulator.password)
    assert said.status == 201
    nobody.headers["x-auth-token"] = said.headers["X-Auth-Token"]
    refused = nobody.get(SYSTEM)
    assert refused.status == 403
    assert "SWC1908" in refused.keys
    assert nobody.delete(said.headers["Location"]).status == 200


def test_with_the_host_header_check_only_the_address_is_known() -> None:
    simulator, nobody = one()
    simulator[0].readiness.host_header_check = True
    who = Asker(simulator[0])
    assert who.get(SYSTEM, host="bmc-gpu001.example:443").status == 400
    assert who.get(SYSTEM, host=f"{simulator[0].address}:8443").status == 200
    assert nobody.get("/redfish/v1", host="bmc-gpu001.example").status == 400


def test_a_restart_of_the_bmc_ends_every_session() -> None:
    simulator, nobody = one()
    nobody.headers["x-auth-token"] = nobody.login(simulator.password).headers["X-Auth-Token"]
    reset = "/redfish/v1/Managers/iDRAC.Embedded.1/Actions/Manager.Reset"
    assert nobody.post(reset, {"ResetType": "GracefulRestart"}).status == 204
    assert nobody.get(SYSTEM).status == 401
