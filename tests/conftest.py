"""Shared fixtures: captures of real fabrics, found by path and never copied; real tools on simulated fabrics."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import hunt
from tests.sim.ibsim import Ibsim, missing_tools, simulated
from tests.sim.postgres import Postgres, find_program

hunt.new_marker()  # before any simulator is imported: conftest.py of a folder may do so before pytest_configure
ROOT = Path(__file__).resolve().parent.parent
NO_CAPTURES = "captures not found"
NO_TOOLS = "tools not installed"
# how long an example takes is the machine's matter: it may be busy with something else
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """TEST_INSTALLED=1: the packages must be the installed ones."""
    if os.environ.get("TEST_INSTALLED") != "1":
        return
    import fabricctl
    import provision

    for package in (fabricctl, provision):
        where = Path(str(package.__file__))
        if "site-packages" not in where.parts:
            pytest.exit(f"{package.__name__} is imported from {where}, not from the installed wheel", 3)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """What pytest captured of a test is searched for passwords like everything else."""
    hunt.heard(
        f"captured output of {report.nodeid}", *(text for _, text in report.sections), report.longreprtext
    )


@pytest.fixture(scope="session", autouse=True)
def _secret_hunt(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """After the last test: no password of a simulated BMC stands where none may be (see ``tests/hunt.py``)."""
    if not any("provision" in item.path.parts for item in request.session.items):
        yield
        return
    with hunt.Hunt(hunt.marker(), more=hunt.passwords_set).listening() as session:
        yield
        session.search(tmp_path_factory.getbasetemp())
    if session.found:
        listed = "\n".join(f"  {where}" for where in session.found)
        pytest.fail(f"passwords of simulated BMCs were found in\n{listed}", pytrace=False)


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test writes a state store into the home of whoever runs it, or reads one there."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))
    monkeypatch.delenv("FABRICCTL_STATE", raising=False)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A running PostgreSQL; skips when it is not installed, fails instead when REQUIRE_TOOLS=1."""
    if find_program("postgres") is None or find_program("initdb") is None:
        _absent(f"{NO_TOOLS}: postgres; `make setup` as root installs it", "REQUIRE_TOOLS")
    with Postgres() as server:
        yield server


CHROMIUM_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The Debian package's browser; skips without it, fails instead when REQUIRE_TOOLS=1.

    Not for the whole session: while it is there, an event loop runs in this thread, and nobody else can run one.
    """
    program = shutil.which("chromium")
    if program is None:
        _absent(f"{NO_TOOLS}: chromium; `make setup` as root installs it", "REQUIRE_TOOLS")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        yield launched
        launched.close()


def captures_root() -> Path:
    """Folder of the captures: FABRICCTL_CAPTURES, or the neighbour folder where the team keeps them."""
    return Path(os.environ.get("FABRICCTL_CAPTURES", ROOT.parent / "shared" / "data"))


def _absent(message: str, required_by: str) -> None:
    """Skip, or fail where the environment says that nothing may be absent."""
    if os.environ.get(required_by) == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture
def captures() -> Path:
    """The captures' folder; skips when absent, fails instead when REQUIRE_CAPTURES=1."""
    root = captures_root()
    if not root.is_dir():
        _absent(f"{NO_CAPTURES} at {root}; set FABRICCTL_CAPTURES", "REQUIRE_CAPTURES")
    return root


@pytest.fixture
def need_tools() -> Callable[..., None]:
    """Call it with names of programs; skips the test when one is absent, fails it when REQUIRE_TOOLS=1."""

    def need(*tools: str) -> None:
        absent = missing_tools(*tools)
        if absent:
            _absent(f"{NO_TOOLS}: {', '.join(absent)}; `make setup` as root installs them", "REQUIRE_TOOLS")

    return need


@pytest.fixture
def ibsim(need_tools: Callable[..., None]) -> Callable[..., AbstractContextManager[Ibsim]]:
    """:func:`tests.sim.ibsim.simulated`, on machines that have ibsim, OpenSM and ibnetdiscover."""
    need_tools("opensm", "ibnetdiscover")
    return simulated


def read_capture(path: Path) -> str:
    """Text of a capture, .gz or plain; bytes that are not UTF-8 survive as surrogates."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return data.decode("utf-8", "surrogateescape")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """End the run with how many tests were skipped, and for want of what; right under pytest-xdist too."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    for word, remedy in ((NO_CAPTURES, "set FABRICCTL_CAPTURES"), (NO_TOOLS, "run make setup as root")):
        count = sum(word in reason for reason in reasons)
        if count:
            terminalreporter.write_line(f"{count} tests skipped: {word} ({remedy})")
