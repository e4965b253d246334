"""python-libmaas works on Python 3.11 and 3.12, each with the extra as it is pinned, in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

import fabricctl
import provision

ROOT = Path(__file__).resolve().parents[3]
MOST_S = 600


def requirements() -> list[str]:
    """What our packages and the extra need, by pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["libmaas"]]


def python_of(version: str) -> str:
    """An interpreter of a version; skips when there is none, fails where nothing may be absent."""
    found = subprocess.run(
        ["sh", str(ROOT / "tests/tools/find_python.sh"), version], capture_output=True, text=True, timeout=60
    ).stdout.strip()
    if not found and os.environ.get("REQUIRE_TOOLS") == "1":
        pytest.fail(f"Python {version} is not installed", pytrace=False)
    if not found:
        pytest.skip(f"Python {version} is not installed")
    return found


def packages(folder: Path) -> Path:
    """A folder with the packages under test alone, wherever they are: not what is installed beside them."""
    folder.mkdir()
    for package in (fabricctl, provision):
        (folder / package.__name__).symlink_to(Path(str(package.__file__)).parent)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.11", "3.12"])
def test_both_clients_pass_the_same_contracts(version: str, tmp_path: Path) -> None:
    python = python_of(version)
    home = tmp_path / "venv"
    subprocess.run([python, "-m", "venv", str(home)], check=True, timeout=MOST_S)
    own = str(home / "bin" / "python")
    pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    installed = subprocess.run(
        [*pip, *requirements(), "pytest>=8.2"], capture_output=True, text=True, timeout=MOST_S
    )
    assert installed.returncode == 0, installed.stderr[-2000:]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))},
        "PYTHONPATH": os.pathsep.join((str(packages(tmp_path / "packages")), str(ROOT))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "REQUIRE_TOOLS": "1",
        "TEST_INSTALLED": "0",
    }
    folder = ROOT / "tests/provision/maas"
    tests = [folder / f"test_maas_{name}.py" for name in ("clients", "clients_trouble", "libmaas")]
    # fixtures of conftest.py would need all that the whole suite needs
    options = ["--noconftest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(ROOT)]
    run = subprocess.run(
        [own, "-m", "pytest", *options, *map(str, tests)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=MOST_S,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert "skipped" not in run.stdout
