from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.nodes.facts import as_text
from provision.install.disk_identity import identity_of
from provision.install.disk_loss import wiped
from provision.install.disk_rule import DiskRule
from provision.install.disks import choose_boot_disk
from provision.install.machine import Disk
from provision.install.zfs import Member, Pool, Pools, belongs, read_pools, read_record
from tests.provision.install.disk_makers import BOSS, DATA, DISKS, disk_sets
from tests.provision.install.zpool_texts import (
    FUSE_DEGRADED,
    FUSE_LIST,
    FUSE_STATUS,
    ID,
    LIST_P,
    REPLACING,
    SPARES,
)

ROOT = choose_boot_disk(DISKS, DiskRule(model="*BOSS*")).identity


def members(status: str) -> list[tuple[str, str, str]]:
    (pool,) = read_pools("", status).pools
    return [(member.path, member.role, member.state) for member in pool.members]


def test_two_pools_with_their_disks_states_and_sizes() -> None:
    read = read_pools(FUSE_LIST, FUSE_STATUS)
    data, scratch = read.pools
    assert read.unread == ()
    assert (data.name, data.state, data.size, data.used) == ("data", "ONLINE", 382 << 20, 278 << 10)
    assert [(m.path, m.role) for m in data.members] == [
        *((f"{ID}{number}", "data") for number in range(1, 5)),
        (f"{ID}5", "spare"),
    ]
    assert [m.path for m in scratch.members] == [f"{ID}6"]


def test_the_plan_names_what_will_be_lost() -> None:
    eight = tuple(Member(f"{ID}{number}", "data", "ONLINE") for number in range(1, 9))
    assert Pool("data", "ONLINE", used=112_000_000_000_000, members=eight).lost == (
        "pool data (8 disks, ONLINE, 112 TB used) will be lost"
    )


def test_sizes_in_bytes_are_exact() -> None:
    (pool,) = read_pools(LIST_P, "").pools
    assert (pool.size, pool.used) == (1992864825344, 779701190656)


def test_a_disk_that_is_offline_is_a_member_all_the_same() -> None:
    assert members(FUSE_DEGRADED)[1] == (f"{ID}2", "data", "OFFLINE")


def test_logs_cache_and_spares_have_their_roles() -> None:
    assert [(path.rpartition("_")[2], role) for path, role, _ in members(SPARES)] == [
        ("S246J9DZC01225", "data"),
        ("S246J9DZC01216", "data"),
        ("S246J9DZC01218", "data"),
        ("S246J9DZC01222", "data"),
        ("CVGB0375006V040NGN", "log"),
        ("11476510000011541375", "cache"),
        ("S246J9DZC01214", "spare"),
    ]


def test_a_missing_disk_is_told_by_the_name_it_had() -> None:
    assert [(path, state) for path, _, state in members(REPLACING)] == [
        ("/dev/disk/by-id/nvme-A", "ONLINE"),
        ("/dev/disk/by-id/nvme-B", "UNAVAIL"),
        ("/dev/disk/by-id/nvme-C", "ONLINE"),
        ("/dev/disk/by-id/nvme-D", "FAULTED"),
    ]


@pytest.mark.parametrize("name", ["data", "raid", "mirror-0", "logs", "cache", "spares", "was"])
def test_a_pool_may_have_any_name(name: str) -> None:
    text = FUSE_DEGRADED.replace("pool: data", f"pool: {name}").replace("\tdata ", f"\t{name} ")
    assert len(members(text)) == 4


def test_no_pools_are_no_finding() -> None:
    assert read_pools("", "no pools available\n") == Pools()


def test_a_pool_without_its_disks_is_said() -> None:
    assert read_pools(FUSE_LIST, FUSE_DEGRADED).unread == ("disks of pool scratch",)
    assert "disks not known" in read_pools(FUSE_LIST, "").pools[0].words


def test_a_pool_without_its_sizes_is_said() -> None:
    read = read_pools("", FUSE_STATUS)
    assert read.unread == ("size and use of pool data", "size and use of pool scratch")
    assert read.pools[0].words == "pool data (5 disks, ONLINE, use not known)"


def test_a_line_that_is_not_understood_is_said_never_dropped() -> None:
    read = read_pools("data 1 2\n", "")
    assert read.pools == ()
    assert read.unread == ("a line of zpool list that is not understood: 'data 1 2'",)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_read_without_an_error_and_survives_the_store(listed: str, status: str) -> None:
    read = read_pools(listed, f"pool: x\nconfig:\n{status}")
    assert read_record(json.loads(as_text(read.as_value()))) == read


@given(st.integers(0, len(FUSE_STATUS)))
def test_a_text_cut_short_is_said_or_tells_the_same(length: int) -> None:
    read = read_pools(FUSE_LIST, FUSE_STATUS[:length])
    assert read.unread or read == read_pools(FUSE_LIST, FUSE_STATUS)
    assert {"data", "scratch"} <= {pool.name for pool in read.pools}


NO_RECORD: tuple[object, ...] = (
    *(None, {}, {"version": 2}),
    {"version": 1, "pools": [{}], "unread": []},
    {"version": 1, "pools": [], "unread": ""},
)


@pytest.mark.parametrize("value", NO_RECORD)
def test_what_is_no_record_is_not_read(value: object) -> None:
    assert read_record(value) is None


@pytest.mark.parametrize(
    ("path", "ours"),
    [
        ("/dev/disk/by-id/nvme-Dell_BOSS-N1_BOSS001", True),
        ("/dev/disk/by-id/NVME-DELL_BOSS-N1_BOSS001", True),
        ("/dev/disk/by-id/nvme-Dell_BOSS-N1_BOSS001_1", True),
        ("/dev/disk/by-id/nvme-Other_BOSS001", True),
        ("/dev/disk/by-id/nvme-Dell_BOSS-N1_BOSS0011", False),
        ("/dev/disk/by-id/nvme-eui.0025", False),
        ("/dev/nvme0n1", False),
        ("nvme0n1", False),
    ],
)
def test_a_member_is_a_disk_by_its_stable_name_or_serial_only(path: str, ours: bool) -> None:
    assert belongs(Member(path, "data", "ONLINE"), identity_of(BOSS)) is ours


def test_an_installation_wipes_every_disk_and_the_root_comes_first() -> None:
    losses = wiped(DISKS, ROOT, read_pools(FUSE_LIST, FUSE_STATUS).pools)
    assert [loss.root for loss in losses] == [True, *[False] * 8]
    assert losses[0].words == (
        "Dell BOSS-N1 (960 GB, serial BOSS001): gets the operating system, everything on it is lost"
    )
    assert losses[1].words == (
        "Dell Ent NVMe P5600 3.84TB (3.84 TB, serial S600101), which belongs to ZFS pool data: "
        "labels of file systems, RAID, LVM and ZFS are wiped"
    )
    assert [loss.pools for loss in losses[1:]] == [("data",)] * 5 + [("scratch",)] + [()] * 2


@given(disk_sets(), st.sampled_from((None, "*")))
def test_every_physical_disk_is_on_the_list_once_and_at_most_one_is_root(
    disks: list[Disk], model: str | None
) -> None:
    choice = choose_boot_disk(disks, DiskRule(model=model) if model else None)
    losses = wiped(disks, choice.identity)
    hard = [disk for disk in disks if disk.kind == "physical"]
    assert sorted(loss.disk for loss in losses) == sorted(identity_of(disk) for disk in hard)
    assert sum(loss.root for loss in losses) == (choice.disk is not None)


def test_without_a_root_every_disk_is_a_data_disk() -> None:
    assert not any(loss.root for loss in wiped(DATA, None))
