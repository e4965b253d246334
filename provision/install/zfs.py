"""ZFS pools of a host that answers, read before it is installed anew: what will be lost, in a form that can be kept.

Formats: zpool-list(8) with ``-Hp`` (tabs, bytes) and zpool-status(8) with ``-P`` (full paths).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricctl.nodes.facts import Value
from provision.install.disk_identity import DiskIdentity, size_words, stable_name

FIELD = "install.zfs_pools"
"""Field of the node fact that holds the pools as they were last seen."""
VERSION = 1
LIST_COMMAND = ("zpool", "list", "-Hp", "-o", "name,size,allocated,health,guid")
STATUS_COMMAND = ("zpool", "status", "-P")

_GROUP = re.compile(r"(?:mirror|raidz[123]?|draid[123]?(?::\S+)?|spare|replacing|indirect)-\d+\Z")
_CLASSES = {"logs": "log", "cache": "cache", "spares": "spare", "special": "special", "dedup": "dedup"}
_PART = re.compile(r"(?:-part\d+)\Z")
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)([KMGTPE]?)\Z")
_STEPS = " KMGTPE"


@dataclass(frozen=True, slots=True)
class Member:
    """A disk of a pool. :param path: as the pool names it, without the partition; where it is missing, as it was.

    :param role: ``data``, ``log``, ``cache``, ``spare``, ``special``, ``dedup``; :param state: the pool's word.
    """

    path: str
    role: str
    state: str

    @property
    def by_id(self) -> str:
        """Name under ``/dev/disk/by-id``, empty when the pool names it otherwise."""
        name = stable_name(self.path)
        return "" if name.startswith("/") or name == self.path else name


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool. :param size: and ``used``: bytes, None when not told; :param state: ``ONLINE``, ``DEGRADED``, ..."""

    name: str
    state: str
    size: int | None = None
    used: int | None = None
    guid: str = ""
    members: tuple[Member, ...] = ()

    @property
    def words(self) -> str:
        """``pool data (8 disks, ONLINE, 112 TB used)``."""
        disks = len({member.path for member in self.members})
        count = "disks not known" if not disks else f"{disks} disk{'' if disks == 1 else 's'}"
        used = "use not known" if self.used is None else f"{size_words(self.used)} used"
        return f"pool {self.name} ({count}, {self.state}, {used})"

    @property
    def lost(self) -> str:
        """For a plan."""
        return f"{self.words} will be lost"


@dataclass(frozen=True, slots=True)
class Pools:
    """What a host told. :param unread: what could not be told, in words; with any of these there may be more."""

    pools: tuple[Pool, ...] = ()
    unread: tuple[str, ...] = ()

    def as_value(self) -> Value:
        """For the state store."""
        return {
            "version": VERSION,
            "pools": [_pool_value(pool) for pool in self.pools],
            "unread": list(self.unread),
        }


def _pool_value(pool: Pool) -> Value:
    told: dict[str, Value] = {"name": pool.name, "state": pool.state, "guid": pool.guid}
    told |= {name: size for name, size in (("size", pool.size), ("used", pool.used)) if size is not None}
    members: list[Value] = [{"path": m.path, "role": m.role, "state": m.state} for m in pool.members]
    return {**told, "members": members}


def read_pools(listed: str, status: str) -> Pools:
    """Pools by the output of :data:`LIST_COMMAND` and :data:`STATUS_COMMAND`. No pools is no lines, and no finding."""
    blocks = {block.name: block for block in _blocks(status)}
    pools: list[Pool] = []
    unread: list[str] = []
    for line in filter(None, listed.splitlines()):
        fields = line.split("\t")
        if len(fields) != len(LIST_COMMAND[-1].split(",")) or not all(map(str.isprintable, fields)):
            unread.append(f"a line of zpool list that is not understood: {line[:80]!r}")
            continue
        name, size, used, state, guid = fields
        block = blocks.pop(name, _Block(name))
        unread += _missing(block)
        pools.append(Pool(name, state, _bytes(size), _bytes(used), guid, block.members))
    for block in blocks.values():
        if not block.name or not block.name.isprintable():
            unread.append("a pool without a name of its own")
            continue
        unread += [*_missing(block), f"size and use of pool {block.name}"]
        pools.append(Pool(block.name, block.state or "state not known", members=block.members))
    return Pools(tuple(sorted(pools, key=lambda pool: pool.name)), tuple(unread))


@dataclass(frozen=True, slots=True)
class _Block:
    """What zpool status says of a pool. :param whole: its last line is there."""

    name: str
    state: str = ""
    members: tuple[Member, ...] = ()
    whole: bool = False


def _missing(block: _Block) -> list[str]:
    return [] if block.members and block.whole else [f"disks of pool {block.name}"]


def _bytes(text: str) -> int | None:
    """Bytes, or a rounded figure with its letter: older versions do not know ``-p``."""
    found = _AMOUNT.match(text.strip())
    return None if found is None else round(float(found[1]) * 1024 ** _STEPS.index(found[2] or " "))


def _blocks(status: str) -> Iterator[_Block]:
    for text in re.split(r"(?m)^\s*pool:\s*", status)[1:]:
        name = text.partition("\n")[0].strip()
        state = re.search(r"(?m)^\s*state:\s*(\S+)", text)
        config = re.search(r"(?ms)^\s*config:\s*$(.*?)(^\s*errors:|\Z)", text)
        members = tuple(_members(config[1], name)) if config else ()
        yield _Block(name, state[1] if state else "", members, bool(config and config[2]))


def _members(config: str, pool: str) -> Iterator[Member]:
    """Leaves of the tree: the pool's own line, groups and headings are none."""
    role, seen_pool = "data", False
    for line in config.splitlines():
        words = line.split()
        if not words or words[0] == "NAME":
            continue
        if len(words) == 1 and words[0] in _CLASSES:
            role = _CLASSES[words[0]]
        elif not seen_pool and line.strip().startswith(pool):
            seen_pool = True
        elif len(words) > 1 and not _GROUP.match(words[0]):
            was = words[words.index("was") + 1] if "was" in words[2:-1] else words[0]
            yield Member(_PART.sub("", was), role, words[1])


def read_record(value: object) -> Pools | None:
    """Pools out of the state store; None when it is of another version or no such record."""
    if not isinstance(value, dict) or value.get("version") != VERSION:
        return None
    pools, unread = value.get("pools"), value.get("unread")
    if not isinstance(pools, list) or not isinstance(unread, list):
        return None
    try:
        return Pools(tuple(_read_pool(pool) for pool in pools), tuple(str(one) for one in unread))
    except (KeyError, TypeError):
        return None


def _read_pool(told: Mapping[str, object]) -> Pool:
    size, used, members = told.get("size"), told.get("used"), told["members"]
    if not isinstance(members, list):
        raise TypeError
    return Pool(
        str(told["name"]),
        str(told["state"]),
        size if isinstance(size, int) else None,
        used if isinstance(used, int) else None,
        str(told["guid"]),
        tuple(Member(str(one["path"]), str(one["role"]), str(one["state"])) for one in members),
    )


def belongs(member: Member, disk: DiskIdentity) -> bool:
    """Whether a pool's member is a disk, by its name under by-id or the serial number in it; never by kernel names."""
    name = member.by_id.casefold()
    if not name:
        return False
    if name == disk.by_id.casefold():
        return True
    return (
        bool(disk.serial)
        and re.search(rf"(?:\A|_|-){re.escape(disk.serial_key)}(?:_\d+)?\Z", name) is not None
    )
