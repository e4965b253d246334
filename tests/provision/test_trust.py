"""First contact with BMCs: what is recorded, what changed, what is shared; no password leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fabricctl.errors import InputError
from provision.bmc.certificates import (
    Expected,
    Recorded,
    Shown,
    Standing,
    findings_of,
    judge,
    parse_fingerprint,
    read_expected,
)
from provision.bmc.target import Target, Trust, Verify
from tests.provision.halls import Hall
from tests.sim.idrac import Simulator

NOW = datetime(2026, 3, 2, 10, 15, tzinfo=UTC)
A, B, C = "a" * 64, "b" * 64, "c" * 64


def shown(host: str, fingerprint: str, verify: Verify = Verify.PINNED, days: int = 100) -> Shown:
    target = Target(
        host, f"192.0.2.{host[-1]}", service_tag=f"AAAAAA{host[-1]}", trust=Trust(verify, ca_file="")
    )
    return Shown(target, fingerprint, "CN=idrac", "CN=idrac", NOW - timedelta(1), NOW + timedelta(days))


def standings(*args: object, **named: object) -> list[str]:
    return [one.standing.value for one in judge(*args, **named)]  # type: ignore[arg-type]


def test_new_same_and_changed() -> None:
    recorded = {"gpu002": Recorded(A, NOW, "ann@deploy"), "gpu003": Recorded(B, NOW, "ann@deploy")}
    seen = [shown("gpu001", C), shown("gpu002", A), shown("gpu003", A)]
    assert standings(seen, recorded) == ["new", "same", "changed"]


def test_a_changed_certificate_is_told_with_the_old_one_since_when_and_by_whom() -> None:
    judged = judge([shown("gpu001", B)], {"gpu001": Recorded(A, NOW, "ann@deploy")})
    (finding,) = findings_of(judged, NOW)
    assert (finding.kind, finding.expected, finding.found) == ("certificate-changed", A, B)
    assert f"expected {A} (recorded 2026-03-02 10:15 UTC by ann@deploy), found {B}" in finding.text
    assert "--replace --reason" in finding.text
    assert findings_of(judged, NOW, replace=True) == []


def test_a_certificate_recorded_for_another_host_points_to_crossed_cables() -> None:
    recorded = {"gpu001": Recorded(A, NOW, "ann"), "gpu002": Recorded(B, NOW, "ann")}
    first, second = findings_of(judge([shown("gpu001", B), shown("gpu002", A)], recorded), NOW)
    assert "the one recorded for gpu002: are the BMC cables crossed?" in first.text
    assert "the one recorded for gpu001: are the BMC cables crossed?" in second.text


def test_one_certificate_on_two_bmcs_is_said_once_with_both() -> None:
    judged = judge([shown("gpu001", A), shown("gpu002", A), shown("gpu003", B)], {})
    (finding,) = findings_of(judged, NOW)
    assert finding.kind == "certificate-shared"
    assert "2 BMCs show one and the same certificate" in finding.text
    assert "gpu[001-002]" in finding.text


def test_a_certificate_out_of_date_is_said() -> None:
    judged = judge([shown("gpu001", A, days=0)], {})
    assert [one.kind for one in findings_of(judged, NOW + timedelta(1))] == ["certificate-validity"]


def test_bmcs_that_are_trusted_otherwise_are_shown_and_not_recorded() -> None:
    assert standings([shown("gpu001", A, Verify.CA), shown("gpu002", B, Verify.OFF)], {}) == [
        "unused",
        "unused",
    ]


def colons(digits: str) -> str:
    return ":".join(digits[at : at + 2] for at in range(0, 64, 2)).upper()


@pytest.mark.parametrize(
    "text", [A, A.upper(), colons(A), f"sha256:{A}", f"SHA256 Fingerprint={colons(A)}", f" {A} "]
)
def test_fingerprints_as_tools_write_them(text: str) -> None:
    assert parse_fingerprint(text) == A


@pytest.mark.parametrize("text", ["", A[1:], A + "a", "g" * 64, colons(A)[:-1]])
def test_what_is_no_fingerprint(text: str) -> None:
    assert parse_fingerprint(text) is None


def test_an_expected_fingerprint_may_name_host_address_or_tag_or_nobody() -> None:
    text = f"# from the vendor\n\ngpu001 {A}\n192.0.2.2,{colons(B)}\nAAAAAA3;{C}\n{'d' * 64}  # spare\n"
    expected = read_expected(text, "pins")
    good = [shown("gpu001", A), shown("gpu002", B), shown("gpu003", C), shown("gpu004", "d" * 64)]
    assert standings(good, {}, expected) == ["new"] * 4
    assert standings([shown("gpu001", "d" * 64), shown("gpu004", A)], {}, expected) == ["unexpected"] * 2


def test_an_unexpected_certificate_is_a_finding_though_it_is_the_recorded_one() -> None:
    judged = judge([shown("gpu001", A)], {"gpu001": Recorded(A, NOW, "ann")}, Expected({}, frozenset({B})))
    assert judged[0].standing is Standing.UNEXPECTED
    assert [one.kind for one in findings_of(judged, NOW)] == ["certificate-unexpected"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gpu001 xyz", "p:1: expected .host. and a SHA-256 fingerprint"),
        (f"a b {A}", "p:1: "),
        (f"gpu001 {A}\ngpu001 {B}", "p:2: gpu001 has another fingerprint above"),
        ("# nothing\n", "p: has no fingerprint"),
    ],
)
def test_a_list_that_cannot_be_read_is_told_by_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_expected(text, "p")


# against simulated BMCs


@pytest.fixture
def hall(simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Hall:
    return Hall(tmp_path, simulator(3), capsys)


def rows(hall: Hall, *more: str) -> dict[str, str]:
    document = hall.document("bmc-trust", "trust", *more)
    return {row["host"]: row["certificate"] for row in document["certificates"]}


def test_certificates_are_recorded_once_and_then_there_is_nothing_to_do(hall: Hall) -> None:
    code, out, err = hall.run("trust")
    assert (code, "nothing was changed: confirm with --yes" in err) == (2, True)
    assert all(bmc.fingerprint in out for bmc in hall.sim)
    assert rows(hall, "--yes") == dict.fromkeys(hall.sim.hosts, "new")
    code, out, _ = hall.run("trust")
    assert (code, "nothing to do" in out) == (0, True)


def test_nothing_but_the_handshake_reaches_a_bmc(hall: Hall) -> None:
    hall.run("trust", "--yes")
    assert [list(bmc.requests) for bmc in hall.sim] == [[], [], []]


def test_each_recorded_certificate_is_an_event_with_who_and_why(
    hall: Hall, capsys: pytest.CaptureFixture[str]
) -> None:
    from fabricctl.cli.main import main

    hall.run("trust", "gpu001", "--yes", "--reason", "rack 7 arrived")
    main(["events", "--site", hall.path, "--format", "json"])
    (event,) = json.loads(capsys.readouterr()[0])["events"]
    assert (event["kind"], event["subject"], event["reason"]) == ("bmc.trust", "gpu001", "rack 7 arrived")
    assert hall.sim[0].fingerprint in event["after"]


def test_a_changed_certificate_is_exit_code_1_until_it_is_replaced_with_a_reason(hall: Hall) -> None:
    hall.run("trust", "--yes")
    old = hall.sim[1].fingerprint
    hall.sim[1].certificate.renew()
    code, out, _ = hall.run("trust", "--yes")
    assert code == 1
    assert f"expected {old} (recorded " in " ".join(out.split())
    assert hall.run("trust")[0] == 1
    code, _, err = hall.run("trust", "--replace", "--yes")
    assert (code, "--reason" in err) == (2, True)
    assert hall.run("trust", "--replace", "--reason", "board replaced", "--yes")[0] == 0
    assert hall.run("trust")[0] == 0


def test_shared_certificates_are_recorded_and_said(hall: Hall) -> None:
    one, other = hall.sim[1].certificate, hall.sim[2].certificate
    other._real, other._der = one.context(), one._der
    code, out, _ = hall.run("trust", "--yes")
    assert code == 1
    assert "2 BMCs show one and the same certificate" in out
    assert rows(hall) == dict.fromkeys(hall.sim.hosts, "same")


def test_only_expected_certificates_are_recorded(hall: Hall, tmp_path: Path) -> None:
    known = tmp_path / "pins"
    known.write_text("".join(f"{bmc.host} {bmc.fingerprint}\n" for bmc in list(hall.sim)[:2]))
    code, out, _ = hall.run("trust", "--expect", str(known), "--yes")
    assert code == 1
    assert "gpu003 (" in out
    assert "which the list of expected certificates does not have" in " ".join(out.split())
    assert rows(hall) == {"gpu001": "same", "gpu002": "same", "gpu003": "new"}


def test_a_bmc_that_is_away_is_exit_code_3_and_the_others_are_recorded(hall: Hall) -> None:
    import socket

    with socket.create_server(("127.31.0.99", 0)) as closed:
        port = closed.getsockname()[1]
    site = Path(hall.path)
    site.write_text(
        site.read_text()
        .replace(hall.sim.addresses[2], "127.31.0.99")
        .replace(f"gpu003: {{port: {hall.sim.port}", f"gpu003: {{port: {port}")
    )
    code, out, _ = hall.run("trust", "--yes")
    assert code == 3
    assert "could not tell: 1 BMC" in out
    assert "gpu003  no connection: connection refused" in out
    assert "2 certificates recorded" in out
