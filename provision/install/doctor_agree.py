"""Whether site, harvest, MAAS and BMC agree on who a machine is: MAC, addresses, host name, service tag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from provision.install.doctor import Question, Role, Verdict
from provision.install.machine import Machine

UNSET_NAMES = frozenset({"", "localhost", "ubuntu", "minwinpc", "linux", "(none)"})
"""What a BMC repeats as its host's name when no system of ours has told it one."""


@dataclass(frozen=True, slots=True)
class View:
    """What one source says of a host; empty where it says nothing.

    :param macs: of the host's network cards; :param bmc_address: where its BMC is.
    """

    hostname: str = ""
    macs: frozenset[str] = frozenset()
    bmc_address: str = ""
    service_tag: str = ""


@dataclass(frozen=True)
class Told:
    """What all sources say of one host.

    :param site: the site file and what was harvested before; :param maas: its machines there: none, one, or several.
    :param bmc: as its BMC answers now, None when it was not asked; :param bmc_error: why it did not answer.
    """

    host: str
    site: View
    maas: tuple[Machine, ...] = ()
    bmc: View | None = None
    bmc_error: str = ""


def judge_host(told: Told, owner_of: Mapping[str, str]) -> list[Verdict]:
    """Each disagreement with what every source says, or one verdict that all agree.

    :param owner_of: MAC -> host it belongs to by site and harvest.
    """
    asked = _question(
        told.host, "whether site, MAAS and BMC agree", "the same MAC, addresses, name and tag everywhere"
    )
    if not told.maas:
        return [
            asked.finding(
                "not-enrolled", "no machine of it in MAAS", f"enrol it: fabricctl maas enrol {told.host}"
            )
        ]
    if len(told.maas) > 1:
        ids = " and ".join(f"{one.id} ({one.hostname})" for one in told.maas)
        return [
            asked.finding(
                "twice", f"MAAS has it {len(told.maas)} times: {ids}", "delete the wrong one in MAAS"
            )
        ]
    machine = told.maas[0]
    found = [
        *_name(told, machine),
        *_macs(told, machine, owner_of),
        *_address(told, machine),
        *_tag(told, machine),
    ]
    if told.bmc_error:
        found.append(asked.doubt(f"its BMC did not answer: {told.bmc_error}"))
    return found or [
        asked.ok("they agree" if told.bmc is not None else "site and MAAS agree; the BMC was not asked")
    ]


def judge_strangers(machines: Sequence[Machine], known: int) -> list[Verdict]:
    """Machines of MAAS that the site does not know. :param known: how many it knows, for the verdict when all are."""
    if not machines:
        return [
            Question(Role.AGREEMENT, "MAAS", "whose machines MAAS has", "only hosts of the site").ok(
                f"no stranger beside {known:,}"
            )
        ]
    return [
        _question(one.hostname or one.id, "whose machine this is", "a host of the site").finding(
            "stranger",
            f"MAAS has {one.id} ({one.hostname}, {one.status}, BMC {one.bmc_address or 'unknown'}), the site does not",
            "add it to the site file, or delete it in MAAS",
        )
        for one in machines
    ]


def _name(told: Told, machine: Machine) -> Iterable[Verdict]:
    told_bmc = told.bmc.hostname.partition(".")[0].lower() if told.bmc is not None else ""
    names = {"site": told.host, "MAAS": machine.hostname, "BMC": "" if told_bmc in UNSET_NAMES else told_bmc}
    yield from _differing(told.host, "host name", names, "rename it where it is wrong")


def _address(told: Told, machine: Machine) -> Iterable[Verdict]:
    addresses = {
        "site": told.site.bmc_address,
        "MAAS": machine.bmc_address,
        "BMC": told.bmc.bmc_address if told.bmc is not None else "",
    }
    yield from _differing(
        told.host,
        "BMC address",
        addresses,
        "MAAS would power another machine: correct the wrong one before any install",
    )


def _tag(told: Told, machine: Machine) -> Iterable[Verdict]:
    tags = {
        "site": told.site.service_tag.upper(),
        "MAAS": machine.service_tag.upper(),
        "BMC": told.bmc.service_tag.upper() if told.bmc is not None else "",
    }
    yield from _differing(
        told.host, "service tag", tags, "another machine stands there, or BMC cables are crossed"
    )


def _differing(host: str, what: str, values: Mapping[str, str], todo: str) -> Iterable[Verdict]:
    said = {source: value for source, value in values.items() if value}
    if len({value.lower() for value in said.values()}) > 1:
        yield _question(host, f"the {what}", "the same by all").finding(
            what.replace(" ", "-").lower(), _all(values), todo
        )


def _macs(told: Told, machine: Machine, owner_of: Mapping[str, str]) -> Iterable[Verdict]:
    """MAAS's MACs must be the machine's: none of them another host's, and one at least known here."""
    there = {str(mac) for mac in machine.macs}
    question = _question(told.host, "the MACs", "those MAAS boots it by among the machine's own")
    strange = {mac: owner_of[mac] for mac in sorted(there) if owner_of.get(mac, told.host) != told.host}
    every = {
        "site": told.site.macs,
        "MAAS": frozenset(there),
        "BMC": told.bmc.macs if told.bmc is not None else frozenset(),
    }
    shown = {source: _few(macs) for source, macs in every.items()}
    if strange:
        owners = ", ".join(f"{mac} is {owner}'s" for mac, owner in strange.items())
        yield question.finding(
            "mac", f"{_all(shown)}; {owners}", "give MAAS this machine's MACs: fabricctl maas replace"
        )
        return
    for source in ("BMC", "site"):
        if every[source] and there and not every[source] & there:
            yield question.finding(
                "mac", _all(shown), "the NIC was replaced, or it is another machine: fabricctl maas replace"
            )
            return


def _few(macs: Iterable[str]) -> str:
    listed = sorted(macs)
    return " ".join(listed[:4]) + (f" and {len(listed) - 4} more" if len(listed) > 4 else "")


def _all(values: Mapping[str, str]) -> str:
    return ", ".join(f"{source} says {value or 'nothing'}" for source, value in values.items())


def _question(host: str, asked: str, expected: str) -> Question:
    return Question(Role.AGREEMENT, host, asked, expected)
