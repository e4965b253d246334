"""The site file: what stands where, what it is, and which fabrics it should form.

Values only: what one field can tell alone is checked here, references between fields in
``site/references.py``, and the site against its plans in ``site/check.py``.
"""

from __future__ import annotations

import re
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from fabricctl.site.fields import Day, HostSet, LinkRate, PlanMapping, PortText
from fabricctl.site.management import Management
from fabricctl.site.provisioning import BootDisk, Install, Ironic, Maas
from fabricctl.site.section import Section
from fabricctl.site.yaml_lines import Document

Tier = Literal["leaf", "spine", "core"]
LinkEnd = Literal["host", "leaf", "spine", "core"]
CableKind = Literal[
    "fibre_straight",
    "fibre_split_1x2",
    "twin_dac",
    "twin_acc",
    "dac_split_1x2",
    "dac_split_1x4",
    "single_dac",
]
TIER_NUMBER: dict[str, int] = {"host": 0, "leaf": 1, "spine": 2, "core": 3}
"""Tier word -> ``Node.tier``."""


class Racks(Section):
    """Racks that stand side by side."""

    row: str = Field(default="", description="Row or hall the racks stand in.")
    first_position: int = Field(
        default=1, ge=1, description="Position of the first rack in its row; the rest follow."
    )
    units: int = Field(default=48, ge=1, le=100, description="Rack units per rack.")


class PlaceRule(Section):
    """Fills racks in written order, each from its first unit upwards."""

    racks: HostSet = Field(description="Racks to fill, in this order.")
    per_rack: int = Field(default=1, ge=1, description="Devices per rack.")
    first_unit: int = Field(default=1, ge=1, description="Lowest rack unit of a rack's first device.")
    step: int = Field(
        default=1, ge=1, description="Rack units from one device's lowest unit to the next one's."
    )


class UnitPlace(Section):
    """Where one device stands."""

    rack: str = Field(description="Rack name.")
    unit: int = Field(ge=1, description="Lowest rack unit the device takes.")


class Placed(Section):
    """A group of devices and where they stand."""

    place: PlaceRule | None = Field(default=None, description="Where the group's devices stand.")
    places: dict[str, UnitPlace] = Field(
        default_factory=dict, description="Device -> place, comes before the rule."
    )


class PanelEntry(Section):
    """The face of a model, where it differs from the built-in table or has none; a name alone means like."""

    like: str | None = Field(
        default=None, description="Built-in panel to start from, for example dgx-h100 (fabricctl panel list)."
    )
    side: Literal["front", "rear"] | None = Field(
        default=None, description="Side of the rack the ports are on."
    )
    cage_type: str | None = Field(
        default=None,
        description="Kind of cage, for example QSFP56; of OSFP with finned or flat: twin-port OSFP (flat) of a "
        "liquid-cooled switch.",
    )
    rows: dict[str, list[str]] = Field(
        default_factory=dict,
        description="Row (top, bottom, or a number) -> its cages from left to right: names, 1-16, or 1-31/2.",
    )
    ports: dict[str, str] = Field(
        default_factory=dict,
        description="Cage and port (14/1, OSFP1/2) or cage -> InfiniBand port number of a switch, HCA of a host.",
    )
    labels: dict[str, str] = Field(
        default_factory=dict, description="Cage and port -> what stands beside it on the face."
    )

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, data: Any) -> Any:
        return {"like": str(data)} if isinstance(data, str) else data


class NodeModel(Section):
    """A host model."""

    hcas: list[str] = Field(min_length=1, description="HCA names in rail order, rail 1 first.")
    rails: int | None = Field(
        default=None,
        ge=1,
        description="Rails; default one per HCA. HCA i (from 0) is on rail i modulo rails, plus 1.",
    )
    ports_per_hca: int = Field(default=1, ge=1, le=4, description="InfiniBand ports used per HCA.")
    gpus: int = Field(default=0, ge=0, description="GPUs per host.")
    height_u: int = Field(default=1, ge=1, description="Height in rack units.")
    panel: PanelEntry | None = Field(
        default=None, description="Its face: the name of a built-in panel (dgx-h100) or what differs."
    )
    bios: dict[str, str] = Field(
        default_factory=dict,
        description="BIOS attribute -> value these hosts should have, for example SysProfile: PerfOptimized.",
    )
    firmware: dict[str, str] = Field(
        default_factory=dict,
        description="Component -> version these hosts should have: BIOS, iDRAC, or words of the component's name.",
    )

    boot_disk: BootDisk | None = Field(
        default=None, description="Which disk of these hosts gets the operating system."
    )
    disks: int | None = Field(default=None, ge=1, description="Disks per host, the boot disk among them.")
    memory_gib: float | None = Field(
        default=None, gt=0, description="Memory per host in GiB, as installed: the sum of its modules."
    )

    @field_validator("hcas")
    @classmethod
    def _hcas_differ(cls, hcas: list[str]) -> list[str]:
        for hca in hcas:
            if hcas.count(hca) > 1:
                raise ValueError(f"expected each HCA once, found {hca!r} {hcas.count(hca)} times")
        return hcas


class SwitchModelEntry(Section):
    """A switch model that is not built in, or changes to one that is."""

    like: str | None = Field(default=None, description="Built-in model to start from, for example QM9700.")
    ports: int | None = Field(
        default=None, ge=1, le=1024, description="InfiniBand ports, aggregation ports not counted."
    )
    labels: dict[str, int] = Field(default_factory=dict, description="Port label -> InfiniBand port number.")
    shown: dict[int, str] = Field(
        default_factory=dict, description="InfiniBand port number -> label to print."
    )
    aliases: list[str] = Field(default_factory=list, description="Other spellings of the model's name.")
    height_u: int = Field(default=1, ge=1, description="Height in rack units.")
    panel: PanelEntry | None = Field(default=None, description="Its face, where it differs.")

    @model_validator(mode="after")
    def _ports_known(self) -> Self:
        panel = self.panel
        if self.ports is None and self.like is None and not (panel and (panel.like or panel.ports)):
            raise ValueError("expected ports (a number) or like (a built-in model), found neither")
        return self


class Nodes(Placed):
    """A group of hosts."""

    model: str = Field(description="Name of an entry of node_models.")
    hosts_per_su: int | None = Field(
        default=None,
        ge=1,
        description="Hosts per scalable unit, counted in written order; the first unit is 1.",
    )


class Switches(Placed):
    """A group of switches."""

    model: str = Field(description="Built-in switch model or name of an entry of switch_models.")
    tier: Tier = Field(description="leaf, spine or core.")
    rail: int | None = Field(default=None, ge=1, description="Rail all switches of the group belong to.")
    su: int | None = Field(
        default=None, ge=1, description="Scalable unit all switches of the group belong to."
    )
    named: str | None = Field(
        default=None,
        description="Name pattern that tells rail and scalable unit, for example leaf-su{su}-r{rail}; any other "
        "{word} stands for a number too.",
    )


class PlanSource(Section):
    """Where a fabric's plan comes from: exactly one of its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)

    file: str | None = Field(default=None, description="Plan file of any format, relative to the site file.")
    fat_tree: PlanMapping | None = Field(
        default=None, alias="fat-tree", description="Parameters of the fat-tree generator."
    )
    rules: PlanMapping | None = Field(default=None, description="A rules plan.")
    port_numbers: Literal["infiniband", "cage"] | None = Field(
        default=None,
        description="Of a file: what its plain port numbers are, infiniband or cage, where the file does not say.",
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [key for key in ("file", "fat_tree", "rules") if getattr(self, key) is not None]
        if len(given) != 1:
            found = " and ".join(key.replace("_", "-") for key in given) or "none"
            raise ValueError(f"expected exactly one of file, fat-tree and rules, found {found}")
        return self

    @property
    def inline(self) -> dict[str, Any] | None:
        """The inline plan as a plan file would hold it (``{"fat-tree": {...}}``), None for a file."""
        if self.fat_tree is not None:
            return {"fat-tree": self.fat_tree}
        return None if self.rules is None else {"rules": self.rules}


class LinkClass(Section):
    """Links that share an expected rate. With neither tiers nor devices it holds only where named."""

    rate: LinkRate = Field(description="Expected width and speed.")
    tiers: list[LinkEnd] | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="The two tiers the links join, for example [host, leaf].",
    )
    devices: HostSet | None = Field(
        default=None, description="Links with one of these hosts or switches at an end."
    )
    cable: CableKind | None = Field(
        default=None, description="Kind of cable these links are made with, where the plan does not tell."
    )


class FabricEntry(Section):
    """One fabric of the site."""

    plan: PlanSource = Field(description="The intended cabling.")
    link_classes: dict[str, LinkClass] = Field(
        default_factory=dict, description="Class name -> links and rate; the first that fits a link counts."
    )
    default_class: str | None = Field(default=None, description="Class of links that no other class fits.")
    subnet_managers: HostSet | None = Field(
        default=None, description="Hosts the master subnet manager may run on."
    )
    viewers: list[str] = Field(
        default_factory=list,
        description="Where to discover from: local, or ssh://user@host[,host][?hca=mlx5_0&port=1].",
    )

    @field_validator("viewers")
    @classmethod
    def _viewer_scheme(cls, viewers: list[str]) -> list[str]:
        for viewer in viewers:
            if viewer != "local" and not (viewer.startswith("ssh://") and len(viewer) > len("ssh://")):
                raise ValueError(f"expected local or ssh://user@host, found {viewer!r}")
        return viewers


class Reserved(Section):
    """Switch ports kept for certain hosts; any other device on them is a finding."""

    devices: HostSet = Field(description="Switches.")
    ports: list[PortText] = Field(
        min_length=1, description="Port numbers, ranges (25-32) or labels of the model."
    )
    for_hosts: HostSet = Field(alias="for", description="Hosts that may be there.")


class Absent(Section):
    """Devices or ports that are not installed yet: their absence is expected."""

    devices: HostSet = Field(description="Hosts or switches.")
    ports: list[PortText] = Field(
        default_factory=list,
        description="Switch port numbers, ranges or labels; none means the whole device.",
    )
    reason: str = Field(min_length=1, description="Why, for the report.")
    until: Day | None = Field(default=None, description="Last day this holds.")


class Gates(Section):
    """When a fabric counts as unusable, and how much one command may change."""

    bad_link_share: float = Field(
        default=0.10, ge=0, le=1, description="Share of bad links at which adaptive routing no longer copes."
    )
    max_nodes_per_change: int = Field(
        default=64,
        ge=1,
        description="Most nodes whose state, power, boot or settings one command may change: the blast radius.",
    )


class State(Section):
    """Where findings' history and node records are kept."""

    url: str = Field(
        min_length=1,
        description="A file relative to the site file, postgresql://user@host/database without a password, or "
        "env:NAME where an environment variable holds one of these.",
    )

    @field_validator("url")
    @classmethod
    def _no_password(cls, url: str) -> str:
        if _PASSWORD.search(url):
            raise ValueError(
                "expected a URL without a password, found one with it: use PGPASSFILE or ?passfile=FILE, or write "
                "env:NAME and put the URL into that environment variable"
            )
        return url


_PASSWORD = re.compile(r"://[^/@]*:[^/@]*@|[?&](?:ssl)?password=", re.IGNORECASE)


class Site(Section):
    """The whole site file."""

    name: str = Field(min_length=1, description="Name of the site, for reports.")
    racks: dict[HostSet, Racks] = Field(default_factory=dict, description="Racks by host set.")
    node_models: dict[str, NodeModel] = Field(default_factory=dict, description="Host models by name.")
    switch_models: dict[str, SwitchModelEntry] = Field(
        default_factory=dict, description="Switch models by name, beside or instead of the built-in ones."
    )
    nodes: dict[HostSet, Nodes] = Field(default_factory=dict, description="Hosts by host set.")
    switches: dict[HostSet, Switches] = Field(default_factory=dict, description="Switches by host set.")
    fabrics: dict[str, FabricEntry] = Field(default_factory=dict, description="Fabrics by name.")
    identities: dict[str, str] = Field(
        default_factory=dict,
        description="GUID (0x and 16 digits) or serial -> switch, or host and HCA (gpu001 mlx5_0).",
    )
    reserved_ports: list[Reserved] = Field(default_factory=list, description="Ports kept for certain hosts.")
    expected_absent: list[Absent] = Field(default_factory=list, description="Planned maintenance.")
    management: Management = Field(default_factory=Management, description="BMC network.")
    install: Install = Field(default_factory=Install, description="What is installed on hosts.")
    maas: Maas | None = Field(default=None, description="MAAS, which installs it.")
    ironic: Ironic | None = Field(default=None, description="Ironic, for sites without MAAS.")
    gates: Gates = Field(default_factory=Gates, description="Limits of verdicts and changes.")
    state: State | None = Field(
        default=None,
        description="State store; default a file named after the site in $XDG_STATE_HOME/fabricctl.",
    )

    _document: Document = PrivateAttr(default_factory=Document)
    _path: str = PrivateAttr(default="")

    @property
    def path(self) -> str:
        """The file the site came from, as the operator wrote it."""
        return self._path

    def line_of(self, *keys: str | int) -> int:
        """Line of a key in the site file: ``site.line_of("fabrics", "compute")``; 1 when not written."""
        return self._document.line_of(keys)

    def read_from(self, document: Document, path: str) -> Self:
        """Remember where the site was read; called once by the loader. Returns the site itself."""
        self._document, self._path = document, path
        return self
