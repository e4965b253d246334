"""Firmware of one BMC's inventory: what is installed, and whether it is what the site wants."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricctl.hostset import natural_key
from provision.bmc.firmware_id import entry_id
from provision.bmc.outcome import BmcFinding
from provision.bmc.versions import Key, Relation, relation, version_key

_MAC_TAIL = re.compile(r"\s*-\s*(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\s*\Z")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PLAIN = re.compile(r"[a-z]+|[0-9]+")
_PLACE = re.compile(r"[\s._:#-]+(?:(?:in|Slot|Bay|SXM)[\s._]+)*[0-9]+\Z", re.IGNORECASE)
NOT_TOLD = "not told"
_OWN = {
    "bios": ("BIOS.", ("bios", "hostbios")),
    "idrac": ("iDRAC.", ("hostbmc",)),
    "bmc": ("iDRAC.", ("hostbmc",)),
}
"""Component words that mean one part: FQDD's beginning on an iDRAC, names elsewhere (HostBIOS_0 on a DGX H100, whose
EROT_BIOS_0 is the root of trust beside it and has versions of its own)."""


@dataclass(frozen=True, slots=True)
class Component:
    """One entry of ``UpdateService/FirmwareInventory``.

    :param name: as the BMC writes it, without the MAC some names end in; :param fqdd: where it sits (``NIC.Slot.5-1``),
        empty where the BMC has no such names. :param state: ``installed`` (what runs), ``current`` (the copy kept for a
        reinstall), ``previous`` (what a rollback would bring back), ``available``.
    :param component_id: Dell's number of the kind of part; 0 for NVMe drives and HCAs, empty elsewhere.
    """

    id: str
    name: str
    version: str
    fqdd: str = ""
    state: str = "installed"
    component_id: str = ""
    updateable: bool | None = None

    @property
    def installed(self) -> bool:
        """Whether it is what runs."""
        return self.state == "installed"

    @property
    def kind(self) -> str:
        """What parts of one kind share: the name up to its first comma (versions may follow) without slot and bay."""
        words, before = self.name.partition(",")[0].strip(), ""
        while words != before:
            words, before = _PLACE.sub("", words), words
        return words or self.name


def read_components(members: Iterable[Mapping[str, Any]]) -> list[Component]:
    """Entries in the order of their places. An entry without version is kept with an empty one: not known."""
    found = [_component(body) for body in members]
    return sorted(found, key=lambda part: (natural_key(part.fqdd or part.name), part.state, part.id))


def _component(body: Mapping[str, Any]) -> Component:
    own = str(body.get("Id") or str(body.get("@odata.id") or "").rpartition("/")[2])
    told = entry_id(own)
    name = _MAC_TAIL.sub("", str(body.get("Name") or own))
    can = body.get("Updateable")
    return Component(
        id=own,
        name=name,
        version=str(body.get("Version") or told.version),
        fqdd=told.fqdd,
        state=told.state,
        component_id=told.component,
        updateable=can if isinstance(can, bool) else None,
    )


def matching(word: str, components: Iterable[Component]) -> list[Component]:
    """Installed components a baseline's word means: one written id or FQDD, BIOS, iDRAC, or words that follow each
    other in the name or FQDD (``ConnectX-6``, ``Power Supply``, ``HGX_FW_GPU``), case aside."""
    installed = [part for part in components if part.installed]
    exact = [part for part in installed if word.lower() in (part.id.lower(), part.fqdd.lower())]
    if exact:
        return exact
    own = _OWN.get(word.strip().lower())
    if own is not None:
        start, names = own
        found = [p for p in installed if p.fqdd.startswith(start) or (not p.fqdd and p.kind.lower() in names)]
        if found:
            return found
    return [part for part in installed if _says(part.name, word) or (part.fqdd and _says(part.fqdd, word))]


def _says(text: str, phrase: str) -> bool:
    split, whole = _WORDS.findall(text), _PLAIN.findall(text.lower())
    return _runs([w.lower() for w in split], [w.lower() for w in _WORDS.findall(phrase)]) or _runs(
        whole, _PLAIN.findall(phrase.lower())
    )


def _runs(words: Sequence[str], part: Sequence[str]) -> bool:
    size = len(part)
    return bool(part) and any(
        list(words[at : at + size]) == list(part) for at in range(len(words) - size + 1)
    )


@dataclass(frozen=True, slots=True)
class JudgedVersion:
    """One line of a baseline against one host.

    :param component: the baseline's word; :param part: FQDD or name of what was compared, empty when nothing matched.
    :param relation: of ``have`` to ``want``; None when it could not be told.
    """

    host: str
    component: str
    want: str
    part: str = ""
    have: str = ""
    relation: Relation | None = None

    @property
    def right(self) -> bool:
        """Whether it is what the site wants."""
        return self.relation is Relation.SAME

    @property
    def words(self) -> str:
        """``older``, ``newer``, ``differs``, ``as wanted`` or ``could not tell``."""
        if self.relation is None:
            return "could not tell"
        return {"same": "as wanted", "other": "differs"}.get(self.relation.value, self.relation.value)


def judge(host: str, components: Sequence[Component], baseline: Mapping[str, str]) -> list[JudgedVersion]:
    """Every line of the baseline; where several parts match, each must have the version."""
    found: list[JudgedVersion] = []
    for word, want in baseline.items():
        parts = matching(word, components)
        if not parts:
            found.append(JudgedVersion(host, word, want))
        for part in parts:
            how = relation(part.version, want) if part.version else None
            found.append(JudgedVersion(host, word, want, part.fqdd or part.name, part.version, how))
    return found


def firmware_findings(judged: Iterable[JudgedVersion]) -> list[BmcFinding]:
    """One finding per host, line of the baseline and wrong version, with the parts that have it."""
    groups: dict[tuple[str, str, str], list[JudgedVersion]] = {}
    for one in judged:
        if one.relation is not None and not one.right:
            groups.setdefault((one.host, one.component, one.have), []).append(one)
    findings = []
    for (host, component, have), found in groups.items():
        parts = ", ".join(one.part for one in found)
        text = f"{component} should be {found[0].want}, is {have} ({found[0].words}): {parts}"
        findings.append(BmcFinding(host, "firmware-differs", f"{host}: {text}", parts, found[0].want, have))
    return findings


@dataclass(frozen=True, slots=True)
class Spread:
    """Versions of one kind of part across hosts of one model.

    :param versions: version -> hosts that have it, the most common first, then newest first. A host whose parts of
        this kind have several versions has them joined: ``0.0.7 + 1.0.7`` (the PCIe switches of a DGX H100).
    """

    model: str
    kind: str
    versions: Mapping[str, tuple[str, ...]]

    @property
    def odd(self) -> Mapping[str, tuple[str, ...]]:
        """All but the version most hosts have; every version when two are equally common."""
        rows = list(self.versions.items())
        if len(rows) < 2:
            return {}
        tie = len(rows[0][1]) == len(rows[1][1])
        return dict(rows if tie else rows[1:])


def spreads(hosts: Mapping[str, Sequence[Component]], models: Mapping[str, str]) -> list[Spread]:
    """What runs, by model and kind of part: Dell's component id where there is one, else the name.

    :param models: host -> model, absent where unknown.
    """
    names: dict[tuple[str, str], str] = {}
    written: dict[Key, str] = {}
    table: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for host, components in hosts.items():
        own: dict[tuple[str, str], set[str]] = defaultdict(set)
        for part in components:
            if part.installed:
                kind = part.component_id if part.component_id.strip("0") else part.kind
                key = (models.get(host, ""), kind)
                names.setdefault(key, part.kind)
                version = part.version or NOT_TOLD
                own[key].add(written.setdefault(version_key(version), version))
        for key, versions in own.items():
            table[key][" + ".join(sorted(versions, key=version_key))].append(host)
    rows = [Spread(key[0], names[key], _ordered(table[key])) for key in table]
    return sorted(rows, key=lambda row: (row.model, row.kind.lower(), row.kind))


def _ordered(versions: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    newest = sorted(versions, key=version_key, reverse=True)
    return {text: tuple(versions[text]) for text in sorted(newest, key=lambda text: -len(versions[text]))}
