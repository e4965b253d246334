"""What zpool prints.

``FUSE_*``: printed by zfs-fuse 0.7.0 for pools on files, folder names shortened to /dev/disk/by-id.
``SPARES``: https://github.com/openzfs/zfs/issues/3877. ``LIST_P``: bytes and tabs of the figures in
https://github.com/sebhildebrandt/systeminformation/issues/802, columns as asked for here.
"""

from __future__ import annotations

ID = "/dev/disk/by-id/nvme-Dell_Ent_NVMe_P5600_3.84TB_S60010"

FUSE_STATUS = f"""\
  pool: data
 state: ONLINE
 scrub: none requested
config:

\tNAME                                                 STATE     READ WRITE CKSUM
\tdata                                                 ONLINE       0     0     0
\t  raidz2-0                                           ONLINE       0     0     0
\t    {ID}1  ONLINE       0     0     0
\t    {ID}2  ONLINE       0     0     0
\t    {ID}3  ONLINE       0     0     0
\t    {ID}4  ONLINE       0     0     0
\tspares
\t  {ID}5    AVAIL\x20\x20\x20

errors: No known data errors

  pool: scratch
 state: ONLINE
 scrub: none requested
config:

\tNAME                                               STATE     READ WRITE CKSUM
\tscratch                                            ONLINE       0     0     0
\t  {ID}6  ONLINE       0     0     0

errors: No known data errors
"""
FUSE_LIST = (
    "data\t382M\t278K\tONLINE\t9027205745341830708\nscratch\t95.5M\t95.5K\tONLINE\t11278059513041156942\n"
)
FUSE_DEGRADED = f"""\
  pool: data
 state: DEGRADED
status: One or more devices has been taken offline by the administrator.
\tSufficient replicas exist for the pool to continue functioning in a
\tdegraded state.
action: Online the device using 'zpool online' or replace the device with
\t'zpool replace'.
 scrub: none requested
config:

\tNAME                                                 STATE     READ WRITE CKSUM
\tdata                                                 DEGRADED     0     0     0
\t  raidz2-0                                           DEGRADED     0     0     0
\t    {ID}1  ONLINE       0     0     0
\t    {ID}2  OFFLINE      0     0     0
\t    {ID}3  ONLINE       0     0     0
\t    {ID}4  ONLINE       0     0     0

errors: No known data errors
"""
SPARES = """\
  pool: zones
 state: ONLINE
  scan: resilvered 187G in 0h35m with 0 errors on Sat Oct  3 14:54:25 2015
config:

\tNAME                                                  STATE     READ WRITE CKSUM
\tzones                                                 ONLINE       0     0     0
\t  mirror-0                                            ONLINE       0     0     0
\t    ata-SAMSUNG_HD103SJ_S246J9DZC01225                ONLINE       0     0     0
\t    ata-SAMSUNG_HD103SJ_S246J9DZC01216                ONLINE       0     0     0
\t  mirror-1                                            ONLINE       0     0     0
\t    ata-SAMSUNG_HD103SJ_S246J9DZC01218                ONLINE       0     0     0
\t    ata-SAMSUNG_HD103SJ_S246J9DZC01222                ONLINE       0     0     0
\tlogs
\t  ata-INTEL_SSDSA2M040G2GC_CVGB0375006V040NGN         ONLINE       0     0     0
\tcache
\t  ata-Corsair_Force_3_SSD_11476510000011541375-part1  ONLINE       0     0     0
\tspares
\t  ata-SAMSUNG_HD103SJ_S246J9DZC01214                  AVAIL

errors: No known data errors
"""
REPLACING = """\
  pool: data
 state: DEGRADED
status: One or more devices is currently being resilvered.
  scan: resilver in progress since Mon Nov 30 10:00:00 2026
config:

\tNAME                                  STATE     READ WRITE CKSUM
\tdata                                  DEGRADED     0     0     0
\t  raidz1-0                            DEGRADED     0     0     0
\t    /dev/disk/by-id/nvme-A-part1      ONLINE       0     0     0
\t    replacing-1                       DEGRADED     0     0     0
\t      8467563453434345                UNAVAIL      0     0     0  was /dev/disk/by-id/nvme-B-part1
\t      /dev/disk/by-id/nvme-C-part1    ONLINE       0     0     0  (resilvering)
\t    /dev/disk/by-id/nvme-D-part1      FAULTED      3   225     0  too many errors

errors: No known data errors
"""
LIST_P = "pool_0\t1992864825344\t779701190656\tONLINE\t1\n"
