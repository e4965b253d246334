"""``--debug`` shows more, and changes no exit code."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from fabricctl.cli.main import main


@pytest.mark.parametrize(
    "arguments",
    [
        ["maas", "status", "--site", "{missing}"],
        ["maas", "status", "--no-such-option"],
        ["site", "check", "{folder}"],
    ],
)
def test_the_exit_code_is_the_same_with_debug(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    words = [word.format(missing=tmp_path / "none.yaml", folder=tmp_path) for word in arguments]
    plain = main(words)
    said = capsys.readouterr().err
    assert main(words, debug=True) == plain
    debugged = capsys.readouterr().err
    assert "Traceback (most recent call last)" in debugged
    assert debugged.endswith(said)


def test_what_debugging_logs_ends_with_the_command(tmp_path: Path) -> None:
    logger = logging.getLogger("provision")
    before = (logger.level, list(logger.handlers))
    main(["site", "check", str(tmp_path)], debug=True)
    assert (logger.level, list(logger.handlers)) == before
