"""No secret in files: what a test of its own uses; the whole suite is searched by ``tests/hunt.py``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.hunt import patterns


def assert_no_secret(paths: Iterable[Path], secrets: Iterable[str], *, but: Iterable[str] = ()) -> None:
    """Fail where a secret stands in a file, plain or inside base64.

    :param paths: files and folders; :param but: names of files that may hold one.
    """
    wanted, exempt = patterns(secrets), set(but)
    for path in paths:
        files = [path] if path.is_file() else [item for item in path.rglob("*") if item.is_file()]
        for file in files:
            if file.name not in exempt:
                data = file.read_bytes()
                assert not any(pattern in data for pattern in wanted), f"a secret stands in {file}"
