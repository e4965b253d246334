"""The list of how the double is compared with recordings, ``maas_deviations.txt``."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

LISTED = Path(__file__).with_name("maas_deviations.txt")
_COLUMNS = {"differences": 3, "by type": 2, "by shape": 2, "beside the API": 2, "rebuilt": 2}


@dataclass
class Listed:
    """The file.

    :param differences: (recording, place), both patterns; :param by_type: places, patterns; :param by_shape: ends of
        URLs; :param beside: recordings; :param rebuilt: recordings.
    """

    differences: list[tuple[str, str]] = field(default_factory=list)
    by_type: list[str] = field(default_factory=list)
    by_shape: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    rebuilt: list[str] = field(default_factory=list)

    def knows(self, recording: str, at: str) -> bool:
        """Whether a difference is listed."""
        return any(
            fnmatchcase(recording, name) and fnmatchcase(at, place) for name, place in self.differences
        )

    def by_type_at(self, at: str) -> str | None:
        """The pattern by which only the type is compared at a place."""
        return next((one for one in self.by_type if fnmatchcase(at, one)), None)


def read_listed(path: Path = LISTED) -> Listed:
    """Read the file. :raises ValueError: a line without a reason, or in no section."""
    listed, section = Listed(), ""
    for line in path.read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip().strip("[]")
            continue
        columns = _COLUMNS[section]
        parts = [part.strip() for part in line.split("|", columns - 1)]
        if len(parts) != columns or not all(parts):
            raise ValueError(f"{path.name}: {section}: expected {columns} columns, the last a reason: {line}")
        names = [name.strip() for name in parts[0].split(",")]
        match section:
            case "differences":
                listed.differences += [(name, parts[1]) for name in names]
            case "by type":
                listed.by_type.append(parts[0])
            case "by shape":
                listed.by_shape.append(parts[0])
            case "beside the API":
                listed.beside += names
            case "rebuilt":
                listed.rebuilt += names
    return listed
