"""A plan of any format, recognised from its content."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from fabricctl.adapters.files import decode, read_input
from fabricctl.errors import InputError, PlanError
from fabricctl.plan.model import Plan, PortNumbers

if TYPE_CHECKING:
    from fabricctl.site.schema import Site

ACCEPTED = (
    "a cabling CSV or XLSX, a UFM NDT list, a YAML plan (fat-tree: or rules:), a site file, "
    "or a saved discovery taken as the reference"
)
_YAML_PLAN = re.compile(r"^(?:fat-tree|rules)\s*:", re.MULTILINE)
_SITE_FILE = re.compile(r"^fabrics\s*:", re.MULTILINE)


def load_plan_file(path: str, site: Site | None = None, port_numbers: PortNumbers | None = None) -> Plan:
    """Read and recognise a plan.

    :param path: a file, or ``-`` for standard input; :param site: helps to read port labels and places.
    :param port_numbers: what plain port numbers of a table are, where the operator or the site file says.
    :raises InputError: it cannot be read or understood.
    """
    data = read_input(path)
    if _is_workbook(data):
        from fabricctl.plan.xlsx import parse_xlsx

        return parse_xlsx(data, path, site=_names(site), port_numbers=port_numbers)
    return parse_plan_text(decode(data, path), path, site, port_numbers)


def load_named_plan(
    path: str, site_path: str = "", fabric: str = "", port_numbers: PortNumbers | None = None
) -> Plan:
    """A plan file, or one named fabric of a site file.

    :param site_path: site file that explains a plan file's labels; :param fabric: of the site file given as
        ``path`` (or as ``site_path`` when that is the same file).
    """
    from fabricctl.site.load import load_site

    site = load_site(decode(read_input(site_path), site_path), site_path) if site_path else None
    if fabric and path != "-" and is_site_text(path):
        whole = load_site(decode(read_input(path), path), path)
        return plan_of_fabric(whole, choose_fabric(whole, fabric), port_numbers)
    return load_plan_file(path, site, port_numbers)


def estimate_lengths(plan: Plan, path: str, site_path: str) -> tuple[dict[float, int], int] | None:
    """Lengths estimated from rack places; None when no site file tells where racks stand."""
    from fabricctl.plan.lengths import estimated_lengths
    from fabricctl.site.load import load_site
    from fabricctl.site.use import rack_spots

    where = site_path or (path if path != "-" and is_site_text(path) else "")
    if not where:
        return None
    spots = rack_spots(load_site(decode(read_input(where), where), where))
    return estimated_lengths(plan, spots) if spots else None


def parse_plan_text(
    text: str, path: str, site: Site | None = None, port_numbers: PortNumbers | None = None
) -> Plan:
    """Recognise a plan's text and parse it."""
    from fabricctl.plan.ndt import looks_like_ndt, looks_like_table

    head = text[:20_000]
    if not head.strip():
        raise PlanError("the file is empty", path=path, hint=f"expected {ACCEPTED}")
    if looks_like_ndt(head):
        from fabricctl.plan.ndt import parse_ndt

        return parse_ndt(text, path, site=_names(site), port_numbers=port_numbers)
    if _YAML_PLAN.search(head):
        from fabricctl.plan.yaml_doc import parse_plan_document

        return parse_plan_document(text, path)
    from fabricctl.discovery.recognise import parse_any, recognise

    if recognise(text) is not None:
        from fabricctl.plan.snapshot import plan_from_observation

        try:
            return plan_from_observation(parse_any(text, path), path)
        except InputError as exc:
            raise PlanError(exc.message, path=exc.path or path, line=exc.line, hint=exc.hint) from exc
    if _SITE_FILE.search(text):
        from fabricctl.site.load import load_site

        whole = load_site(text, path)
        return plan_of_fabric(whole, choose_fabric(whole, ""), port_numbers)
    if looks_like_table(head) or head.count(",") + head.count(";") + head.count("\t") >= 3:
        from fabricctl.plan.table import parse_csv

        return parse_csv(text, path, site=_names(site), port_numbers=port_numbers)
    first = next(line for line in head.splitlines() if line.strip())
    raise PlanError(
        f"this is no plan known here; it begins with {first.strip()[:60]!r}",
        path=path,
        hint=f"expected {ACCEPTED}",
    )


def is_site_text(path: str) -> bool:
    """Whether a plan file is really a site file (then its identities, places and reservations count too)."""
    data = read_input(path)
    return not _is_workbook(data) and _SITE_FILE.search(data[:400_000].decode("utf-8", "replace")) is not None


def _is_workbook(data: bytes) -> bool:
    """Whether a file is a zip archive; no other plan is one."""
    return data.startswith(b"PK\x03\x04")


def choose_fabric(site: Site, fabric: str) -> str:
    """Name of the site's fabric that is meant.

    :raises InputError: no such fabric, or several and none named.
    """
    from difflib import get_close_matches

    names = list(site.fabrics)
    if fabric:
        if fabric in names:
            return fabric
        near = get_close_matches(fabric, names, n=1)
        hint = f"did you mean {near[0]}?" if near else ""
        raise PlanError(
            f"the site has no fabric {fabric!r}; it has {', '.join(names) or 'none'}",
            path=site.path,
            hint=hint,
        )
    if len(names) == 1:
        return names[0]
    what = "no fabric" if not names else f"several fabrics ({', '.join(names)})"
    raise PlanError(f"the site has {what}", path=site.path, hint="say which with --fabric" if names else "")


def plan_of_fabric(site: Site, fabric: str, port_numbers: PortNumbers | None = None) -> Plan:
    """The plan of one fabric of a site: inline, or a file beside the site file.

    :param port_numbers: what plain port numbers of that file are, before what the site file says.
    """
    entry = site.fabrics[fabric]
    if entry.plan.inline is not None:
        from fabricctl.plan.yaml_doc import plan_from_mapping

        plan = plan_from_mapping(entry.plan.inline, site.path)
    else:
        folder = os.path.dirname(site.path) if site.path != "-" else ""
        word = entry.plan.port_numbers
        said = port_numbers or (PortNumbers(word) if word else None)
        plan = load_plan_file(os.path.join(folder, entry.plan.file or ""), site, said)
    return complete_plan(plan, site)


def complete_plan(plan: Plan, site: Site) -> Plan:
    """The plan with what the site knows of its devices where the plan itself does not tell.

    Reserved ports; places; tier, rail and scalable unit of switches; rail and unit of HCAs.
    """
    from dataclasses import replace

    from fabricctl.site.use import hca_rails, host_units, places, plan_reserved, switch_roles

    plan.reserved.update(plan_reserved(site, plan))
    known, roles, units, rails = places(site), switch_roles(site), host_units(site), hca_rails(site)
    nodes = plan.fabric.nodes
    for key, node in nodes.items():
        role, host = roles.get(node.name), node.host or ""
        rail, unit, tier = (role.rail, role.unit, role.tier) if role else (None, units.get(host), None)
        if node.hca is not None and host in rails and not plan.declares_rails:
            rail = rails[host].get(
                node.hca
            )  # a plan that declares rails knows better, guests on other rails included
        place = known.get(node.host or node.name)
        if (place, tier, rail, unit) != (None, None, None, None):
            nodes[key] = replace(
                node,
                place=node.place or place,
                tier=tier if node.tier is None else node.tier,
                rail=rail if node.rail is None else node.rail,
                unit=unit if node.unit is None else node.unit,
            )
    return plan


def _names(site: Site | None) -> SiteContext | None:
    if site is None:
        return None
    from fabricctl.workflows.site_context import SiteContext

    return SiteContext(site)


if TYPE_CHECKING:
    from fabricctl.workflows.site_context import SiteContext
