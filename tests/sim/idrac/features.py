"""Which features a simulated BMC has. A feature is a module with ``install(tree, profile)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.sim.idrac import root, sessions
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Tree

Install = Callable[[Tree, Profile], None]

FEATURES: list[Install] = [root.install, sessions.install]


def grown(profile: Profile, more: Sequence[Install] = ()) -> Tree:
    """The tree of BMCs of one profile."""
    tree = Tree()
    for install in [*FEATURES, *more]:
        install(tree, profile)
    return tree
