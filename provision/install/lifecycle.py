"""What is to be done next with a machine, by what is asked for and what the provisioner says of it.

Everything is decided from the machine as it is, never from what somebody remembers: a run that was killed is run again
and goes on. A phase that failed ends in quarantine, and from there nothing leads back but an explicit wish.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from enum import StrEnum

from provision.install.machine import QUARANTINE_TAG, Machine, Phase, Stage


class Verb(StrEnum):
    """What is asked for."""

    COMMISSION = "commission"
    DEPLOY = "deploy"
    RELEASE = "release"


class Act(StrEnum):
    """What is to be done next."""

    DONE = "done"
    """It is as wanted."""
    START = "start"
    """Begin a phase."""
    WAIT = "wait"
    """A phase is under way: wait for its end."""
    RESTORE = "restore"
    """Have it marked as fixed where it is broken. It has the tag, or gets it, until it is as wanted."""
    QUARANTINE = "quarantine"
    """A phase failed, or a quarantine was begun and not finished: take it out of the pool."""
    FAIL = "fail"
    """It went back to where it was: it did not come to the phase."""
    REFUSE = "refuse"
    """Not possible, or not without being asked for."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of a machine.

    :param again: commission a machine that is ready, install one that is installed: it is released first, and every
        disk is wiped. :param from_quarantine: also a machine in quarantine, or one whose last phase failed.
    :param lately_too: with ``again``, also one that was installed within :data:`RECENT_S`.
    :param series: and ``kernel``: what is to be installed, empty where the machine does not tell it.
    """

    verb: Verb
    again: bool = False
    from_quarantine: bool = False
    lately_too: bool = False
    series: str = ""
    kernel: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done next. :param phase: which is begun or waited for; :param words: why, for people."""

    act: Act
    phase: Phase | None = None
    words: str = ""


_PHASE = {Verb.COMMISSION: Phase.COMMISSION, Verb.DEPLOY: Phase.DEPLOY, Verb.RELEASE: Phase.RELEASE}
_UNDER_WAY = {
    Stage.MANAGING: Phase.COMMISSION,
    Stage.DEPLOYING: Phase.DEPLOY,
    Stage.RELEASING: Phase.RELEASE,
}
_WAITS = {
    Verb.COMMISSION: frozenset({Stage.MANAGING, Stage.RELEASING}),
    Verb.DEPLOY: frozenset({Stage.MANAGING, Stage.DEPLOYING, Stage.RELEASING}),
    Verb.RELEASE: frozenset({Stage.RELEASING}),
}
RECENT_S = 6 * 3600.0
"""Who asks for another installation within so many seconds repeats a command that ended well on some hosts only."""
_IN_THE_POOL = frozenset({Stage.READY, Stage.ALLOCATED, Stage.FAILED})
"""Where a machine with the tag is not safe: somebody may be given it."""
_JUDGED: Mapping[Verb, frozenset[Stage]] = {
    Verb.COMMISSION: frozenset({Stage.NEW, Stage.READY, Stage.FAILED}),
    Verb.DEPLOY: frozenset({Stage.READY, Stage.DEPLOYED, Stage.FAILED}),
    Verb.RELEASE: frozenset(),
}
"""Where a machine that is to come out of quarantine is judged first; until then it has the tag."""
_HELD = frozenset({Stage.ALLOCATED, Stage.DEPLOYING, Stage.RELEASING, Stage.FAILED})
"""Where a machine of another user is left alone unless its release is asked for."""


def phase_of(verb: Verb) -> Phase:
    """The phase a verb is named after."""
    return _PHASE[verb]


def under_way(machine: Machine) -> Phase | None:
    """The phase it is in, None when it rests."""
    return _UNDER_WAY.get(machine.stage)


def decide(
    wish: Wish,
    machine: Machine,
    begun: Set[Phase] = frozenset(),
    *,
    ours: bool = False,
    installed_s: float | None = None,
    user: str = "",
    quarantined: bool = False,
) -> Step:
    """What is to be done next.

    :param begun: phases that this run saw begin on this machine. :param ours: we began to install it lately, and nobody
        saw the end, so that an allocation to us is what that left. :param installed_s: seconds since the installation
        was begun by which it is installed, None when that was not ours or is not known.
    :param user: as whom the provisioner knows us; where that is not known, no allocation counts as ours.
    :param quarantined: by its node record, whatever the provisioner says.
    """
    if machine.untold:
        return Step(Act.REFUSE, words=f"could not tell {', '.join(machine.untold)}: nothing is done to it")
    if machine.stage is Stage.OTHER:
        return Step(Act.REFUSE, words=f"it is {_state(machine)}: nothing is done to it")
    if _of_another(machine, user):
        if wish.verb is not Verb.RELEASE:
            return _others(machine)
        if machine.stage is Stage.FAILED and not wish.from_quarantine:
            words = f"it is {_state(machine)} for {machine.owner}; --from-quarantine releases it all the same"
            return Step(Act.REFUSE, words=words)
    if machine.stage in _UNDER_WAY and machine.stage in _WAITS[wish.verb]:
        return Step(Act.WAIT, _UNDER_WAY[machine.stage], _state(machine))
    quarantine = _quarantined(wish, machine, begun)
    if quarantine is None and quarantined and QUARANTINE_TAG not in machine.tags:
        quarantine = _by_record(wish, machine, begun, user)
    if quarantine is not None:
        return quarantine
    if machine.locked and not _satisfied(wish, machine):
        return Step(
            Act.REFUSE, words=f"it is {_state(machine)} and locked: unlock it in the provisioner first"
        )
    lately = "" if begun else _lately(wish, machine, installed_s)
    if lately:
        return Step(Act.DONE, words=lately)
    return _DECIDE[wish.verb](wish, machine, begun, ours and bool(user) and machine.owner == user)


def _of_another(machine: Machine, user: str) -> bool:
    """Whether another user holds it; who commissioned a machine does not."""
    if machine.stage not in _HELD or machine.failed is Phase.COMMISSION:
        return False
    return foreign(machine, user)


def foreign(machine: Machine, user: str) -> bool:
    """Whether it is known to be somebody else's. :param user: as whom the provisioner knows us, empty when unknown."""
    return bool(user and machine.owner and machine.owner != user)


def _others(machine: Machine) -> Step:
    """What is said of it."""
    if machine.stage is Stage.ALLOCATED:
        return Step(Act.REFUSE, words=f"it is {_state(machine)} to {machine.owner}: release it first")
    what = "release it first" if machine.stage is Stage.FAILED else "wait for its end"
    return Step(Act.REFUSE, words=f"it is {_state(machine)} for {machine.owner}: {what}")


def _quarantined(wish: Wish, machine: Machine, begun: Set[Phase]) -> Step | None:
    """What its quarantine asks for; None where there is none, or where it is to come back and is not broken any more.

    What comes back keeps its tag until it is as wanted, so that a run that is killed leaves it in quarantine.
    """
    tagged = QUARANTINE_TAG in machine.tags
    if not tagged and machine.stage is not Stage.BROKEN:
        return None
    if machine.stage in _UNDER_WAY:
        return Step(Act.REFUSE, words=f"it is {_state(machine)}, and in quarantine")
    if wish.from_quarantine and machine.stage is not Stage.BROKEN:
        return None
    if wish.from_quarantine and not begun:
        return Step(Act.RESTORE, words=f"in quarantine{_said(machine)}")
    if machine.stage in _IN_THE_POOL:
        return Step(Act.QUARANTINE, words="its quarantine was begun and not finished")
    state = "" if machine.stage is Stage.BROKEN else f" and {_state(machine)}"
    return Step(Act.REFUSE, words=f"in quarantine{state}{_said(machine)}; --from-quarantine takes it back")


def _by_record(wish: Wish, machine: Machine, begun: Set[Phase], user: str) -> Step | None:
    """Its node record says quarantined, and nothing in the provisioner does. To come back it gets the tag first."""
    if not wish.from_quarantine:
        words = (
            f"it is {_state(machine)}, and its node record says quarantined; --from-quarantine takes it back"
        )
        return Step(Act.REFUSE, words=words)
    if begun or foreign(machine, user) or machine.stage not in _JUDGED[wish.verb]:
        return None
    return Step(Act.RESTORE, words="in quarantine by its node record")


def _lately(wish: Wish, machine: Machine, installed_s: float | None) -> str:
    """Why it is not installed again; empty where it is, or where that is not asked for."""
    if wish.verb is not Verb.DEPLOY or not wish.again or machine.stage is not Stage.DEPLOYED:
        return ""
    if wish.lately_too or installed_s is None or installed_s > RECENT_S or not _same_system(wish, machine):
        return ""
    ago = "just now" if installed_s < 60 else f"{_ago(installed_s)} ago"
    return f"{_state(machine)}, its installation was begun {ago}; --again installs it again"


def _ago(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _same_system(wish: Wish, machine: Machine) -> bool:
    """Whether what is on it is what is asked for, as far as it tells."""
    series = not wish.series or machine.series in ("", wish.series)
    return series and (not wish.kernel or not machine.kernel or machine.kernel.startswith(wish.kernel))


def _satisfied(wish: Wish, machine: Machine) -> bool:
    """Whether a lock is in nobody's way: there is nothing to do."""
    return wish.verb is Verb.DEPLOY and machine.stage is Stage.DEPLOYED and not wish.again


def _commission(wish: Wish, machine: Machine, begun: Set[Phase], ours: bool) -> Step:  # noqa: ARG001
    done = Phase.COMMISSION in begun
    if machine.stage is Stage.NEW:
        return _back(machine) if done else Step(Act.START, Phase.COMMISSION, "never commissioned")
    if machine.stage is Stage.READY:
        if (wish.again or QUARANTINE_TAG in machine.tags) and not done:
            return Step(Act.START, Phase.COMMISSION, "commissioned again")
        return Step(Act.DONE, words=_state(machine))
    if machine.stage is Stage.FAILED:
        return _failed(wish, machine, begun, Phase.COMMISSION)
    return Step(Act.REFUSE, words=f"it is {_state(machine)}: release it first")


def _deploy(wish: Wish, machine: Machine, begun: Set[Phase], ours: bool) -> Step:
    done = Phase.DEPLOY in begun
    if machine.stage is Stage.READY:
        return _back(machine) if done else Step(Act.START, Phase.DEPLOY, "ready")
    if machine.stage is Stage.DEPLOYED:
        if wish.again and not done:
            return Step(Act.START, Phase.RELEASE, "installed; it is released first, then installed again")
        return Step(Act.DONE, words=_state(machine))
    if machine.stage is Stage.FAILED:
        return _failed(wish, machine, begun, Phase.RELEASE)
    if machine.stage is Stage.ALLOCATED and (done or ours):
        return Step(Act.QUARANTINE, words=f"its installation did not begin{_said(machine)}")
    if machine.stage is Stage.NEW:
        return Step(Act.REFUSE, words=f"it is {_state(machine)}: commission it first")
    owner = f" to {machine.owner}" if machine.owner else ""
    return Step(Act.REFUSE, words=f"it is {_state(machine)}{owner}: release it first")


def _release(wish: Wish, machine: Machine, begun: Set[Phase], ours: bool) -> Step:  # noqa: ARG001
    done = Phase.RELEASE in begun
    if machine.stage in (Stage.READY, Stage.NEW):
        return Step(Act.DONE, words=_state(machine))
    if machine.stage in (Stage.DEPLOYED, Stage.ALLOCATED):
        return _back(machine) if done else Step(Act.START, Phase.RELEASE, _state(machine))
    if machine.stage is Stage.FAILED:
        if machine.failed is Phase.COMMISSION:
            return Step(Act.REFUSE, words=f"it is {_state(machine)}: there is nothing to release")
        if wish.from_quarantine and not done:
            return Step(Act.START, Phase.RELEASE, _state(machine))
        return Step(Act.QUARANTINE, words=_state(machine) + _said(machine))
    return Step(Act.REFUSE, words=f"it is {_state(machine)}: it cannot be released now")


def _failed(wish: Wish, machine: Machine, begun: Set[Phase], again: Phase) -> Step:
    """A phase failed: into quarantine, unless it is asked to try again and has not been yet.

    :param again: the phase that leads out of the failure.
    """
    if not wish.from_quarantine or begun:
        return Step(Act.QUARANTINE, words=_state(machine) + _said(machine))
    if wish.verb is Verb.DEPLOY and machine.failed is Phase.COMMISSION:
        return Step(Act.REFUSE, words=f"it is {_state(machine)}: commission it first")
    if wish.verb is Verb.COMMISSION and machine.failed is not Phase.COMMISSION:
        return Step(Act.REFUSE, words=f"it is {_state(machine)}: release it first")
    if QUARANTINE_TAG not in machine.tags:
        return Step(Act.RESTORE, words=_state(machine) + _said(machine))
    return Step(Act.START, again, _state(machine))


def _back(machine: Machine) -> Step:
    return Step(Act.FAIL, words=f"it went back to {_state(machine)}{_said(machine)}")


def _state(machine: Machine) -> str:
    return machine.status or machine.stage.value


def _said(machine: Machine) -> str:
    return f": {machine.said}" if machine.said else ""


_DECIDE = {Verb.COMMISSION: _commission, Verb.DEPLOY: _deploy, Verb.RELEASE: _release}
