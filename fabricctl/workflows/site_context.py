"""A site file in the shapes that plans and the verdict ask for."""

from __future__ import annotations

from datetime import date
from functools import cached_property

from fabricctl.cable_kinds import AssemblyType
from fabricctl.cabling.binding import Names
from fabricctl.cabling.ends import Knowledge
from fabricctl.cabling.verdict import KindOfClass, Options, RateOfClass
from fabricctl.fabric import Place
from fabricctl.model_tables import find_model
from fabricctl.models import NodeModel, SwitchModel
from fabricctl.panel_tables import panel_of_model
from fabricctl.panels import Panel
from fabricctl.rates import Rate
from fabricctl.site.panels import panels_by_device, site_panels
from fabricctl.site.schema import Site
from fabricctl.site.use import (
    expected_absent,
    identities,
    link_class,
    models_by_switch,
    node_models,
    places,
    reserved_ports,
    switch_models,
)


class SiteContext:
    """Answers about one site; every table is made once, when first asked for."""

    def __init__(self, site: Site) -> None:
        self.site = site

    @cached_property
    def _switch_models(self) -> dict[str, SwitchModel]:
        return models_by_switch(self.site)

    @cached_property
    def _all_models(self) -> dict[str, SwitchModel]:
        return switch_models(self.site)

    @cached_property
    def _node_models(self) -> dict[str, NodeModel]:
        return node_models(self.site)

    @cached_property
    def _places(self) -> dict[str, Place]:
        return places(self.site)

    def switch_model(self, device: str) -> SwitchModel | None:
        """Model of a switch."""
        return self._switch_models.get(device)

    def node_model(self, host: str) -> NodeModel | None:
        """Model of a host."""
        return self._node_models.get(host)

    def place(self, device: str) -> Place | None:
        """Where a device stands."""
        return self._places.get(device)

    def options(self, fabric: str | None, mapped: dict[str, str], today: date) -> Options:
        """What the verdict should know of this site. :param fabric: whose link classes and managers count."""
        entry = self.site.fabrics.get(fabric) if fabric else None
        absent = expected_absent(self.site, today)
        rate_of: RateOfClass | None = None
        kind_of: KindOfClass | None = None
        if entry is not None and entry.link_classes:

            def rate_of_class(low: int | None, high: int | None, devices: tuple[str, str]) -> Rate | None:
                found = link_class(entry, low, high, devices)
                return found[1] if found else None

            def kind_of_class(
                named: str, low: int | None, high: int | None, devices: tuple[str, str]
            ) -> AssemblyType | None:
                found = link_class(entry, low, high, devices)
                own = entry.link_classes.get(named or (found[0] if found else ""))
                return AssemblyType(own.cable) if own is not None and own.cable else None

            rate_of = rate_of_class
            if any(one.cable for one in entry.link_classes.values()):
                kind_of = kind_of_class
        return Options(
            names=Names(identities(self.site), mapped, self._node_models),
            knowledge=Knowledge(self._places, self.model_of, self.panel_of),
            rate_of_class=rate_of,
            kind_of_class=kind_of,
            expected_absent=absent.devices,
            absent_ports=absent.ports,
            reserved=reserved_ports(self.site),
            gate=self.site.gates.bad_link_share,
            manager_hosts=(entry.subnet_managers or "") if entry is not None else "",
        )

    @cached_property
    def _all_panels(self) -> dict[str, Panel]:
        return site_panels(self.site)

    @cached_property
    def _panels(self) -> dict[str, Panel]:
        return panels_by_device(self.site, self._all_panels)

    def panel_of(self, device: str, model: str) -> Panel | None:
        """Panel by the site's word for a switch or host, else by what the plan or the switch calls its model."""
        return self._panels.get(device) or (panel_of_model(model, self._all_panels) if model else None)

    def model_of(self, device: str, model: str) -> SwitchModel | None:
        """Model by the site's word, else by what the plan or the switch itself calls it."""
        return self._switch_models.get(device) or (find_model(model, self._all_models) if model else None)
