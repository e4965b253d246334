"""What only concerns python-libmaas: what it refuses, and where the API key goes.

This file asks for no fixture of a conftest.py, so that it also runs in a small environment of another Python
(see ``test_maas_pythons.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fabricctl.errors import (
    ProvisionerError,
    ProvisionerUnsupportedError,
)
from provision.bmc.secret import Secret
from provision.install.machine import Disk, Machine, Stage
from provision.install.spec import DeploySpec, EnrolSpec, Power
from tests.provision.maas.maas_clients import (
    MACS,
    Work,
    ask,
    libmaas,
    need_libmaas,
    since,
)
from tests.sim.maas.process import ServedDouble, maas_double


@pytest.fixture
def maas() -> Iterator[ServedDouble]:
    with maas_double() as double:
        yield double


REFUSED: list[tuple[str, Work[Any]]] = [
    (
        "create a machine without commissioning",
        lambda maas: maas.create(
            EnrolSpec("gpu001", MACS[:1], Power("redfish", "10.1.0.1", "u", Secret("p")))
        ),
    ),
    ("no skip_bmc_config", lambda maas: maas.manage("abcdef")),
    (
        "storage layout",
        lambda maas: maas.set_root(
            Machine("abcdef", "gpu001", Stage.READY, "Ready"), Disk("1", "sda", "S", "M", 1)
        ),
    ),
    ("deploy", lambda maas: maas.deploy("abcdef", DeploySpec("jammy", "ga", Secret("x")))),
]


@pytest.mark.parametrize(("what", "work"), REFUSED, ids=[what for what, _ in REFUSED])
def test_what_libmaas_cannot_do_is_refused_by_name_and_nothing_is_sent(
    maas: ServedDouble, what: str, work: Work[Any]
) -> None:
    need_libmaas()
    with pytest.raises(ProvisionerUnsupportedError, match=what) as caught:
        ask(libmaas, maas, work)
    assert "maas.client: own" in str(caught.value.hint)
    assert since(maas, 0) == []


def test_libmaas_does_not_send_the_key_where_somebody_elses_description_points(maas: ServedDouble) -> None:
    need_libmaas()
    maas.double.origin, origin = "http://127.0.0.2:9", maas.double.origin
    with pytest.raises(ProvisionerError, match=r"it names http://127\.0\.0\.2:9"):
        ask(libmaas, maas, lambda opened: opened.version(), url=f"{origin}/MAAS")


def test_without_the_library_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, maas: ServedDouble
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "maas.client.bones", None)
    with pytest.raises(ProvisionerUnsupportedError) as caught:
        ask(libmaas, maas, lambda opened: opened.version())
    assert "fabricctl[libmaas]" in str(caught.value.hint)
