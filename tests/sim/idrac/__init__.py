"""A simulated iDRAC: real HTTPS on loopback addresses, behaving as iDRAC9 and iDRAC10 do. Start at ``Simulator``.

How it is put together, for whoever adds to it:

- A *feature* is a module with ``install(tree: Tree, profile: Profile) -> None``, listed in ``features.FEATURES``. It is
  called once per profile, not per BMC: the tree is shared by all BMCs, so bodies and handlers are given the BMC.
- ``tree.fixed(path, body)``: a resource that is the same for all but for identities, which stand in it as
  ``own("mac", fqdd)`` (keys: :mod:`identity`). Serialised once; cheap for hundreds of BMCs. Prefer it.
- ``tree.mixed(path, body, live_of(bmc))``: fixed, with some fields computed at every request.
- ``tree.live(path, body_of(bmc))``: computed at every request; None means 404 now.
- ``tree.family(pattern, body_of(bmc, match))``: resources whose ids come and go (jobs, sessions, log entries).
- ``tree.collection(path, "JobCollection", members, paged=…)``: members are paths, or a function of the BMC.
  ``$expand``, ``$select``, ``$filter``, pages and so on are done for it.
- ``tree.on("POST", path, handler)``, ``tree.on_pattern("PATCH", regex, handler)``: ``handler(call) -> Answer``; raise
  ``messages.refused(call.bmc.profile, "SYS011")`` to say no. Login, JSON, If-Match were checked before. Texts of other
  message ids: ``messages.known(key, Text(...))``.
- State of a feature: a class that takes the BMC, had by ``bmc.part(Jobs)``; made at the first use.
- Time: ``bmc.now()`` (simulated seconds), ``bmc.time()`` (its own clock), ``bmc.after(seconds, action)``. Nothing runs
  by itself: what is due happens when somebody next looks (:mod:`clock`).
- Power and boot: ``tree.at(Moment.POST_STARTED | POST_DONE | POWERED_OFF, watcher(bmc))``.
- Hooks a feature provides to the core: ``tree.config_job`` and ``tree.lifecycle_log`` (see :class:`tree.Tree`).

What a test does to one BMC: ``bmc.fault(Fault(…))``, ``bmc.change(path, Field=…)``, ``bmc.remove(path)``,
``bmc.add(path, body, into=collection)``, ``bmc.replace_card(id)``, ``bmc.readiness``, ``bmc.power``, ``bmc.boot``,
``bmc.sessions``, ``bmc.jobs``, ``bmc.part(Etags)``; to the fleet: ``cross_cables``, ``duplicate``, ``clock.advance``.
By hand: ``python -m tests.sim.idrac``; from another process: :mod:`process` and :mod:`control`.
"""

from tests.sim.idrac.bmc import SimBmc
from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.faults import Fault, measured_latency, steady_latency
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.simulator import PASSWORD_VARIABLE, Simulator
from tests.sim.idrac.tree import Moment, Tree

__all__ = [
    "PASSWORD_VARIABLE",
    "Answer",
    "Body",
    "Call",
    "Fault",
    "Moment",
    "Profile",
    "SimBmc",
    "Simulator",
    "Tree",
    "measured_latency",
    "steady_latency",
]
