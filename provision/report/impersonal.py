"""Sentences about a host without its name, so that those of many hosts are one; commands in them stay commands."""

from __future__ import annotations

import re

LONGEST = 32
"""Characters of folded host names that stand before a row; longer ones stand behind it."""
_COMMAND = re.compile(r"(?<![\w./-])(?:fabricctl|getent|ssh|ssh-keygen|ping|maas) [A-Za-z-][^;,()]*")
"""What is to be typed into a shell: it goes on to the end of the clause."""
_HOSTS = "HOSTS"


def impersonal(text: str, host: str) -> str:
    """With "it" for the host's name, and HOSTS where a command names it. Its name before a sentence is left out."""
    text = re.sub(rf"(\A|: ){re.escape(host)}: ", r"\1", text)
    name = re.compile(rf"(?<![\w./:-]){re.escape(host)}(?![\w/:-]|\.\w)")
    text = _COMMAND.sub(lambda command: name.sub(_HOSTS, command[0]), text)
    return name.sub("it", text)


def filled(text: str, who: str) -> str:
    """Commands with their hosts, as they can be pasted into a shell; HOSTS stays where they are many."""
    if len(who) > LONGEST:
        return text
    hosts = f"'{who}'" if "[" in who else who
    return _COMMAND.sub(lambda command: re.sub(rf"\b{_HOSTS}\b", lambda _: hosts, command[0]), text)
