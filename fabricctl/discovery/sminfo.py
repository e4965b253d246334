"""Parser of ``sminfo``: the master subnet manager of the port it ran on.

Grammar: rdma-core ``infiniband-diags/sminfo.c``: ``sminfo: sm lid 1 sm guid 0x.., activity count 1400 priority 0
state 3 SMINFO_MASTER``. It names no cable, so the observation's fabric is empty.
"""

from __future__ import annotations

import re

from fabricctl.discovery.model import DiscoveryFormat, Observation, Source, SubnetManager
from fabricctl.discovery.noise import complaint, is_noise
from fabricctl.discovery.textlines import lines_of, shown
from fabricctl.errors import DiscoveryError
from fabricctl.fabric import Fabric

_LINE = re.compile(
    r"sminfo: sm lid ([0-9]{1,6}) sm guid 0x([0-9a-fA-F]{1,16}), activity count [0-9]+ "
    r"priority ([0-9]{1,6}) state [0-9]+ (\S+)\Z"
)
_EXAMPLE = "'sminfo: sm lid 1 sm guid 0x.., activity count 1 priority 0 state 3 SMINFO_MASTER'"
_STATES = {
    "SMINFO_NOTACT": "not active",
    "SMINFO_DISCOVER": "discovering",
    "SMINFO_STANDBY": "standby",
    "SMINFO_MASTER": "master",
}


def parse(text: str, path: str = "") -> Observation:
    """Read one or several answers of ``sminfo``; a failed one is a ``Problem``.

    :raises DiscoveryError: a line that is not understood, or neither an answer nor a complaint.
    """
    found: list[SubnetManager] = []
    observation = Observation(
        Fabric(origin=path), [Source(path, DiscoveryFormat.SMINFO)], subnet_managers=found
    )
    for number, line in enumerate(lines_of(text, path), 1):
        match = _LINE.match(line)
        if match is not None:
            lid, guid, priority, word = match.groups()
            state = _STATES.get(word)
            if state is None:
                raise DiscoveryError(f"{shown(word)} is none of {', '.join(_STATES)}", path=path, line=number)
            found.append(SubnetManager(f"0x{guid.lower():0>16}", state, int(priority), int(lid)))
        elif is_noise(line):
            doubt = complaint(line, number)
            if doubt is not None:
                observation.problems.append(doubt)
        elif line:
            text = f"not understood: {shown(line)}; expected {_EXAMPLE}"
            raise DiscoveryError(text, path=path, line=number)
    if not found and not observation.problems:
        raise DiscoveryError("no answer of sminfo found", path=path)
    return observation
