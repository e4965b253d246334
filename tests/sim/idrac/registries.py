"""Registries: the messages this BMC says, and the attributes of its BIOS."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.sim.idrac.bios import REGISTRY, REGISTRY_ID
from tests.sim.idrac.call import Body
from tests.sim.idrac.log_events import EVENTS
from tests.sim.idrac.messages import TEXTS
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import listed, resource
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import ROOT

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

REGISTRIES = f"{ROOT}/Registries"
EEMI = f"{REGISTRIES}/Messages/EEMIRegistry"
BASE = f"{REGISTRIES}/BaseMessages/BaseRegistry"
_MARK = re.compile(r"\{(\d+)\}")
_SEVERITY = {"Informational": "OK"}


def _dmtf(text: str) -> tuple[str, int]:
    """A text with ``%1`` for its arguments as registries write it, and how many there are."""
    numbers = {int(number) for number in _MARK.findall(text)}
    return _MARK.sub(lambda mark: f"%{int(mark[1]) + 1}", text), len(numbers)


def _message(text: str, resolution: str, severity: str) -> Body:
    written, count = _dmtf(text)
    said: Body = {
        "Description": written,
        "Message": written,
        "MessageSeverity": _SEVERITY.get(severity, severity),
        "NumberOfArgs": count,
        "Resolution": resolution,
        "Severity": _SEVERITY.get(severity, severity),
    }
    if count:
        said |= listed("ParamTypes", ["string"] * count)
    return said


def messages(*, base: bool) -> Body:
    """Messages of one registry by key."""
    found = {
        key: _message(text.text, text.resolution, text.severity)
        for key, text in TEXTS.items()
        if text.base is base
    }
    if not base:
        for key, event in EVENTS.items():
            numbered = event.text
            found.setdefault(key, _message(numbered, "No response action is required.", event.severity))
    return found


def _registry(path: str, prefix: str, version: str, about: str, *, base: bool) -> Body:
    return resource(
        path,
        "MessageRegistry",
        "v1_4_1",
        Description=about,
        Id=f"{prefix}.{version}",
        Language="en",
        Messages=messages(base=base),
        Name=f"{prefix} Message Registry",
        OwningEntity="DMTF" if base else "Dell",
        RegistryPrefix=prefix,
        RegistryVersion=version,
    )


def _file(name: str, registry: str, uri: str) -> Body:
    return resource(
        f"{REGISTRIES}/{name}",
        "MessageRegistryFile",
        "v1_1_0",
        Description=f"Registry Definition File for {registry}",
        Id=name,
        **listed("Languages", ["En"]),
        **listed("Location", [{"Language": "En", "Uri": uri}]),
        Name=f"{name} Registry Definition File",
        Registry=registry,
    )


def _split(prefixed: str) -> tuple[str, str]:
    """``IDRAC.2.9`` -> ``IDRAC``, ``2.9.0``."""
    prefix, _, version = prefixed.partition(".")
    return prefix, f"{version}.0"


def install(tree: Tree, profile: Profile) -> None:
    """The collection, its files and what they point at."""
    dell, dell_version = _split(profile.value.registry)
    base, base_version = _split(profile.value.base)
    files = (
        ("BaseMessages", f"{base}.{base_version}", BASE),
        ("Messages", f"{dell}.{dell_version}", EEMI),
        (REGISTRY_ID, REGISTRY_ID, REGISTRY),
    )
    tree.collection(
        REGISTRIES,
        "MessageRegistryFileCollection",
        [f"{REGISTRIES}/{name}" for name, _, _ in files],
        name="Registry File Collection",
        about="Registry Repository",
    )
    for name, registry, uri in files:
        tree.fixed(f"{REGISTRIES}/{name}", _file(name, registry, uri))

    def base_registry(_bmc: SimBmc) -> Body:
        return _registry(BASE, base, base_version, "Messages every service may say", base=True)

    def dell_registry(_bmc: SimBmc) -> Body:
        return _registry(EEMI, dell, dell_version, "Messages of this BMC", base=False)

    tree.live(BASE, base_registry)
    tree.live(EEMI, dell_registry)
