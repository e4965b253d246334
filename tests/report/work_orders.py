"""Work orders for the tests of their forms: a real small one, and one in which every text is of one kind."""

from __future__ import annotations

from fabricctl.fabric import Place
from fabricctl.repair.model import AssemblyType, OrderKind, TypeSource
from fabricctl.repair.order_model import (
    About,
    FarEnd,
    Joint,
    LookFirst,
    Part,
    PortId,
    Spot,
    Step,
    StepKind,
    WorkOrder,
)
from tests.repair.plug_hall import Hall
from tests.repair.technician import knowledge, order_of


def small(pairs: int = 3, site: str = "hall one") -> WorkOrder:
    """Two steps per leaf, in racks, with panels."""
    hall, racks, models = Hall(), {"core": Place("Z1", "40")}, {"core": "QM9700"}
    for leaf in range(pairs):
        name, far = f"leaf{leaf}", f"gpu{leaf}"
        racks[name], racks[far] = Place(f"A{leaf // 8 + 1}", f"{leaf % 8 * 2 + 1}"), Place(f"B{leaf}", "3")
        models[name] = "QM9700"
        one = hall.want("fibre_straight", ((name, 27),), (("core", leaf % 64 + 1),))
        two = hall.want("fibre_straight", ((name, 29),), ((f"{far} mlx5_0", 1),))
        hall.swap((one, 0), (two, 0))
    head = About(site, "cabling.csv", ("ibnetdiscover.txt",), "2026-01-02T03:04+00:00")
    return order_of(hall, knowledge(racks, models), head)


def hostile(name: str) -> WorkOrder:
    """One step of every kind, a separate order of every kind and a thing to look at, every text being ``name``."""
    port = PortId(name, 1, name)
    spot = Spot(name, name, name, name, name, name, name, name, name, name, (port,))
    steps = tuple(
        Step(
            number=number,
            id=f"W-{number}",
            kind=kind,
            group=number,
            place_in_group=1,
            group_size=1,
            text=name,
            first=(name,),
            hangs_since=0,
            sources=() if kind is StepKind.LAY else (spot,),
            targets=() if kind is StepKind.PULL else (spot,),
            others=(FarEnd(spot, spot, 2, name), FarEnd(spot, None, 0, "end")),
            label_here=name,
            label_far=name,
            label_now=name,
            plan_label=name,
            cable=AssemblyType.FIBRE,
            cable_words=name,
            type_from=TypeSource.PLAN,
            expect=name,
            hosts=name,
            hosts_words=name,
            minutes=1.5,
            stop_if=(name,),
            undo=name,
            joints=(Joint(port, port, (port,)),),
        )
        for number, kind in enumerate(StepKind, 1)
    )
    parts = tuple(Part(f"P-{kind}", kind, name, name, name, (spot, spot), (spot, None)) for kind in OrderKind)
    return WorkOrder(
        site=name,
        plan=name,
        discoveries=(name, name),
        made=name,
        steps=steps,
        parts=parts,
        look_first=(LookFirst(name, (spot,)),),
        not_covered=(name,),
        notes=(name,),
        limited_to=name,
    )
