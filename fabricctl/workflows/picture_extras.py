"""What a picture shows beside the verdict: panels, the work order, the site's racks, an earlier report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from fabricctl.adapters.files import decode, read_input
from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.verdict import Verdict
from fabricctl.discovery.model import Observation
from fabricctl.discovery.names import name_key
from fabricctl.errors import InputError
from fabricctl.history.looked import Looked
from fabricctl.picture.extras import Extras
from fabricctl.picture.former import Former, LookedAt, other_fabric, read_former
from fabricctl.repair.order_model import Spot, Step
from fabricctl.report.repair_words import repair_summary
from fabricctl.site.schema import Site
from fabricctl.workflows.verify_cabling import Intent

FULL_STEPS = 500
"""Up to here a step in the page has everything the paper has; of longer orders it shows what is moved from where to
where, since the page would grow by kilobytes a step."""


def load_former(path: str) -> Former:
    """An earlier report.

    :raises InputError: the file cannot be read, or is none.
    """
    return read_former(decode(read_input(path), path), path)


def picture_extras(
    intent: Intent,
    verdict: Verdict,
    *,
    made: datetime,
    former: Former | None = None,
    observation: Observation | None = None,
) -> Extras:
    """Panels and the work order of a verdict; site name, racks, heights and serials where a site file tells them.

    :param made: when the fabric was judged. :param observation: what the verdict was made of; with it an earlier
        finding that this run could not show is told from one that is gone.
    """
    found = Extras(
        made=made.strftime("%Y-%m-%d %H:%M:%S %Z").strip(),
        former=former,
        looked=_looked(intent, verdict, observation) if former is not None else None,
    )
    comparison, repair = verdict.comparison, verdict.repair
    told: dict[str, Any] = {}
    if comparison is not None:
        nodes = comparison.binding.plan.fabric.nodes
        faces = ((key, comparison.ends.panel(key)) for key in nodes)
        told["panels"] = {key: panel for key, panel in faces if panel is not None}
    if comparison is not None and repair is not None:
        from fabricctl.workflows.work_order import order_of

        steps = order_of(verdict, intent, made).steps
        told["steps"] = list(_steps(steps, comparison))
        told["moves"] = repair_summary(repair) or "none"
    if intent.site is not None:
        from fabricctl.site.use import heights, rack_spots

        told |= {"site": intent.site.name, "racks": rack_spots(intent.site), "heights": heights(intent.site)}
        if comparison is not None:
            told["serials"] = _serials(intent.site, comparison)
    return Extras(**{**vars(found), **told})


def check_former(former: Former, verdict: Verdict, path: str) -> None:
    """Refuse a report of another fabric.

    :raises InputError: hardly a switch of it is in this run.
    """
    if verdict.comparison is None:
        return
    nodes = [*verdict.comparison.binding.plan.fabric.switches(), *verdict.comparison.seen.switches()]
    why = other_fabric(former, (node.name for node in nodes))
    if why:
        raise InputError(why, path=path)


def _looked(intent: Intent, verdict: Verdict, observation: Observation | None) -> LookedAt | None:
    if observation is None or verdict.comparison is None:
        return None
    return Looked(verdict, observation, intent.options).at


def _serials(site: Site, comparison: Comparison) -> dict[str, str]:
    """Plan node key -> serial, of the devices that the site file declares by serial."""
    from fabricctl.site.use import identities, identity_guid

    serials = {name_key(name): key for key, name in identities(site).items() if not identity_guid(key)}
    nodes = comparison.binding.plan.fabric.nodes
    named = ((key, serials.get(name_key(node.name))) for key, node in nodes.items())
    return {key: serial for key, serial in named if serial}


def _steps(steps: tuple[Step, ...], comparison: Comparison) -> Iterator[Mapping[str, Any]]:
    """Steps as the page takes them; devices under their plan keys."""
    keys: dict[str, str] = {}
    for key, node in comparison.binding.plan.fabric.nodes.items():
        keys.setdefault(node.name, key)
    for step in steps:
        spots = (*step.sources, *step.targets)
        ports = [(keys[p.name], p.port) for spot in spots for p in spot.ports if p.name in keys]
        entry: dict[str, Any] = {
            "number": step.number,
            "id": step.id,
            "component": step.group,
            "from": _place(step.sources),
            "to": _place(step.targets),
            "devices": list(dict.fromkeys(key for key, _ in ports)),
            "ports": ports,
        }
        if len(steps) <= FULL_STEPS:
            entry |= {
                "do": " ".join((*step.first, step.text)),
                "label": step.label_here,
                "cable": step.cable_words,
                "expect": step.expect,
                "hosts": step.hosts_words,
                "minutes": f"{step.minutes:g}",
                "stop if": step.stop_if,
                "undo": step.undo,
            }
        yield entry


def _place(spots: tuple[Spot, ...]) -> str:
    return " and ".join(spot.words for spot in spots)
