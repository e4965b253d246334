"""What configuration jobs do to a boot: POST takes as long as they run, and the server boots once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.idrac.jobs import JobQueue, JobState
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Moment, Tree

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc


def _post_started(bmc: SimBmc) -> None:
    running = [job for job in bmc.part(JobQueue) if job.on_reset and job.state is JobState.RUNNING]
    if not running:
        return
    # The boot in which a job runs is spent on it, and a one-time override with it: the next one is from disk
    # (ironcore-dev/metal-operator#81: "boots disk" after a PATCH that named the mode).
    bmc.power.extend_post(max(job.duration_s for job in running))
    if any(not job.foreign for job in running):
        bmc.power.reboot_after_post()


def install(tree: Tree, _profile: Profile) -> None:
    """Listen; after the job queue, which starts its jobs at the same moment."""
    tree.at(Moment.POST_STARTED, _post_started)
