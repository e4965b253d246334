"""What a picture shows beside the verdict: panels, the work order, the site's racks, an earlier report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from fabricctl.adapters.files import decode, read_input
from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.directory import plan_index
from fabricctl.cabling.serials import serials_of
from fabricctl.cabling.verdict import Verdict
from fabricctl.discovery.model import Observation
from fabricctl.errors import InputError
from fabricctl.history.looked import Looked
from fabricctl.picture.extras import Extras
from fabricctl.picture.former import Former, LookedAt, other_fabric, read_former
from fabricctl.repair.order_model import Spot, Step
from fabricctl.report.repair_words import repair_summary
from fabricctl.workflows.verify_cabling import Intent

if TYPE_CHECKING:
    from fabricctl.site.schema import Site

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
    """Panels and the work order of a verdict; site name, racks, heights and serials where a file tells them.

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
        told["serials"] = {
            comparison.binding.plan_of[key]: text
            for key, text in serials_of(comparison.seen, intent.serials).items()
            if key in comparison.binding.plan_of
        }
    if comparison is not None and repair is not None:
        from fabricctl.workflows.work_order import order_of

        steps = order_of(verdict, intent, made).steps
        told["steps"] = list(_steps(steps, comparison))
        told["moves"] = repair_summary(repair) or "none"
    if intent.site is not None:
        from fabricctl.site.use import heights, rack_spots

        if comparison is not None:
            told["serials"] = {**_serials(intent.site, comparison), **told["serials"]}
        told |= {"site": intent.site.name, "racks": rack_spots(intent.site), "heights": heights(intent.site)}
    return Extras(**{**vars(found), **told})


def _serials(site: Site, comparison: Comparison) -> dict[str, str]:
    """Plan key -> serial number, of devices a site file declares by it."""
    from fabricctl.site.use import identity_guid

    planned = plan_index(comparison.binding.plan.fabric.nodes.values())
    declared = {text.strip(): name for text, name in site.identities.items() if identity_guid(text) is None}
    return {key: serial for serial, name in declared.items() for key in planned.exact(name)}


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


def _steps(steps: tuple[Step, ...], comparison: Comparison) -> Iterator[Mapping[str, Any]]:
    """Steps as the page takes them; devices under their plan keys."""
    keys: dict[str, str] = {}
    for key, node in comparison.binding.plan.fabric.nodes.items():
        keys.setdefault(node.name, key)
    for step in steps:
        spots = (*step.sources, *step.targets)
        named = [p for spot in spots for p in spot.ports if p.name in keys]
        ports = [comparison.ends.at_own_number(keys[p.name], p.port) for p in named]
        entry: dict[str, Any] = {
            "number": step.number,
            "id": step.id,
            "component": step.group,
            "from": _place(step.sources),
            "to": _place(step.targets),
            "devices": list(dict.fromkeys(port.node for port in ports)),
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
