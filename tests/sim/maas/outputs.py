"""What scripts that fail leave behind: how tools that commissioning and installing run complain."""

from __future__ import annotations

from dataclasses import dataclass

from tests.sim.maas.scripts import INSTALLATION, INVENTORY

_DISKS = (
    "error: Failed to retrieve resources: Failed to retrieve storage information: "
    'Failed to read "/sys/class/block/nvme3n1/device/serial": read error: Input/output error'
)
_CURTIN = """\
        start: cmd-install/stage-partitioning/builtin/cmd-block-meta: curtin command block-meta
        get_path_to_storage_volume for volume nvme0n1({'id': 'nvme0n1', 'type': 'disk', 'wipe': 'superblock'})
        wiping superblock on /dev/nvme0n1
        finish: cmd-install/stage-partitioning/builtin/cmd-block-meta: FAIL: curtin command block-meta
"""
_EXCEPTION = """\
Running command ['curtin', 'block-meta', 'simple'] with allowed return codes [0] (capture=False)
{steps}        {said}
curtin: Installation failed with exception: Unexpected error while running command.
Command: ['curtin', 'block-meta', 'simple']
Exit code: 3
Reason: -
Stdout: ''
Stderr: ''
"""


@dataclass(frozen=True)
class Left:
    """What MAAS keeps of a script. :param output: both together, as they came."""

    output: str = ""
    stdout: str = ""
    stderr: str = ""


NOTHING = Left()


def failed(name: str, said: str = "") -> Left:
    """Of a script that failed. :param said: the line that tells why, empty: a usual one.

    The log of an installation is uploaded whole: MAAS has it as ``output`` alone.
    """
    if name == INSTALLATION:
        return Left(_EXCEPTION.format(steps=_CURTIN, said=said or "OSError: [Errno 5] Input/output error"))
    if name == INVENTORY:
        stderr = f"{said or _DISKS}\n"
        return Left(stderr, "", stderr)
    started, stderr = f"INFO: Running {name}\n", f"{said or f'ERROR: {name} ended with 1'}\n"
    return Left(started + stderr, started, stderr)
