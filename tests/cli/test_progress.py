"""Progress on a terminal: whom a command waits for, and what is said after it."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

from fabricctl.cli.bmc.patience import Patience
from provision.bmc.target import Target, Trust


def target(host: str) -> Target:
    return Target(host, "192.0.2.1", 443, trust=Trust())


def test_progress_says_how_many_are_waited_for_and_for_how_long() -> None:
    lines: list[str] = []
    now = 0.0
    patience = Patience(lines.append, lambda: now)
    patience.say("reading clocks: 0 of 508 BMCs")
    patience.waiting(target("gpu001"), True)
    now = 20.0
    patience.waiting(target("gpu002"), True)
    now = 60.0
    patience.waiting(target("gpu001"), True)
    patience.say("reading clocks: 96 of 508 BMCs", "gpu003")
    patience.waiting(target("gpu001"), False)
    patience.say("reading clocks: 97 of 508 BMCs", "gpu002")
    assert lines == [
        "reading clocks: 0 of 508 BMCs",
        "reading clocks: 0 of 508 BMCs; gpu001 not ready for 0 s",
        "reading clocks: 0 of 508 BMCs; 2 not ready for 20 s",
        "reading clocks: 0 of 508 BMCs; 2 not ready for 60 s",
        "reading clocks: 96 of 508 BMCs; 2 not ready for 60 s",
        "reading clocks: 96 of 508 BMCs; gpu002 not ready for 40 s",
        "reading clocks: 97 of 508 BMCs",
    ]


PROGRAM = """
import time
from fabricctl.cli.console import say
from fabricctl.cli.progress import progress
try:
    with progress() as show:
        show("96 of 508 BMCs")
        time.sleep(20)
except KeyboardInterrupt:
    say("interrupted")
"""


def test_what_is_said_after_ctrl_c_stands_in_a_line_of_its_own() -> None:
    terminal, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    run = subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=end, env=environment)
    said = b""
    sent = False
    deadline = time.monotonic() + 20
    while b"interrupted" not in said and time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        said += os.read(terminal, 4096)
        if b"96 of 508" in said and not sent:
            os.write(end, b"^C")  # as a terminal echoes it
            run.send_signal(signal.SIGINT)
            sent = True
    run.wait(10)
    os.close(end)
    os.close(terminal)
    last = re.split(r"\r\x1b\[1A\x1b\[2K", said.decode())[-1]
    assert last.startswith("fabricctl: interrupted")
