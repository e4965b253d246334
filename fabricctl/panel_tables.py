"""The packaged panels: one CSV per device model in ``fabricctl/tables/``, read when first asked for.

A table begins with ``# key: value`` lines, then comes a header and one row per port. Keys:

``name``, ``kind`` (switch or host), ``height_u``, ``cage_type``, ``side``, ``note``
    as in ``Panel``; an empty value is an unknown one.
``also``
    another model with this face: ``model | status of its port numbers | source``.
``status ASPECT``, ``source ASPECT``
    how sure an aspect is and which document says so. Words: *confirmed* (a vendor's document or source code),
    *inferred* (follows from one), *usual* (convention, no document: printed as usual), *unknown*.

Columns: ``cage,port,number`` and any of ``split_ready,lanes,row,column,hca,pci,gpu`` and ``label NAME``. The facts are
the sources' named in each table; the arrangement is ours.
"""

from __future__ import annotations

import csv
import pkgutil
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from fabricctl.panels import Panel, PanelPort

FILES = ("qm9700", "qm8700", "sb7800", "sx6036", "q3400", "dgx-h100")
"""Names of the tables, without ``.csv``."""

STATUS_WORDS = ("confirmed", "inferred", "usual", "unknown")

_MODEL_WORD = re.compile(r"M?((?:QM|SB|SX)\d{4}|Q\d{4}(?:-[A-Z]{2})?)[FT]?(?:[-_/].*)?\Z")


class Table(NamedTuple):
    """A table as read. :param also: model, status of its numbers, source of that."""

    panel: Panel
    also: tuple[tuple[str, str, str], ...]


def read_table(text: str) -> Table:
    """Read one table's text.

    :raises ValueError: a line that is no key, a status that is none of ``STATUS_WORDS``, a cell that is no number.
    """
    one: dict[str, str] = {}
    many: dict[str, list[str]] = {"also": [], "note": []}
    about: dict[str, dict[str, str]] = {"status": {}, "source": {}}
    lines = text.splitlines()
    count = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    for line in lines[:count]:
        key, colon, value = line[1:].strip().partition(": ")
        word, _, aspect = key.removesuffix(":").partition(" ")
        if key in many:
            many[key].append(value.strip())
        elif aspect and word in about:
            about[word][aspect] = value.strip()
        elif colon or key.endswith(":"):
            one[key.removesuffix(":")] = value.strip()
        else:
            raise ValueError(f"expected '# key: value', found {line!r}")
    strange = [word for word in about["status"].values() if word not in STATUS_WORDS]
    if strange:
        raise ValueError(f"expected a status of {', '.join(STATUS_WORDS)}, found {strange[0]!r}")
    also = tuple(_also(value) for value in many["also"])
    panel = Panel(
        name=one["name"],
        ports=tuple(_ports(csv.DictReader(lines[count:]))),
        aliases=tuple(model for model, _, _ in also),
        side=one.get("side", ""),
        cage_type=one.get("cage_type", ""),
        status=about["status"],
        sources={aspect: source for aspect, source in about["source"].items() if source},
        kind=one.get("kind", "switch"),
        height_u=int(one.get("height_u") or 0),
        notes=tuple(many["note"]),
    )
    return Table(panel, also)


def _also(value: str) -> tuple[str, str, str]:
    model, status, source = (part.strip() for part in value.split("|"))
    return model, status, source


def _ports(rows: Iterable[Mapping[str, str]]) -> Iterable[PanelPort]:
    for row in rows:
        split, gpu = row.get("split_ready"), row.get("gpu")
        yield PanelPort(
            cage=row["cage"],
            port=int(row["port"]),
            number=int(row["number"] or 0),
            split_ready=int(split) if split else None,
            lanes=row.get("lanes", ""),
            row=row.get("row", ""),
            column=int(row.get("column") or 0),
            hca=row.get("hca", ""),
            labels={key[6:]: value for key, value in row.items() if key.startswith("label ") and value},
            pci=row.get("pci", ""),
            gpu=int(gpu) if gpu else None,
        )


@cache
def builtin_panels() -> Mapping[str, Panel]:
    """Model name -> panel: every table under its own name and under the names of the models with the same face."""
    panels: dict[str, Panel] = {}
    for name in FILES:
        data = pkgutil.get_data("fabricctl", f"tables/{name}.csv")
        assert data is not None, f"the package lacks tables/{name}.csv"
        panel, also = read_table(data.decode("utf-8"))
        panels[panel.name] = panel
        family = (panel.name, *panel.aliases)
        for model, status, source in also:
            panels[model] = replace(
                panel,
                name=model,
                aliases=tuple(other for other in family if other != model),
                status={**panel.status, "number": status},
                sources={**panel.sources, "number": source},
            )
    return panels


def panel_of_model(name: str, panels: Mapping[str, Panel] | None = None) -> Panel | None:
    """The panel of the model a text names: ``MQM9700``, ``QM9700-NS2F``, ``dgx-h100``, ``Q3400_RA``; None when none.

    :param panels: where to look, the built-in ones unless given.
    """
    known = builtin_panels() if panels is None else panels
    by_key = {_key(model): panel for model, panel in known.items()}
    wanted = _key(name)
    for text in (wanted, wanted.removeprefix("M")):
        if text in by_key:
            return by_key[text]
    for word in re.split(r"[\s,;()]+", name.strip().upper()):
        match = _MODEL_WORD.match(word.replace("_", "-"))
        if match is not None and match[1] in by_key:
            return by_key[match[1]]
    return None


def _key(text: str) -> str:
    return re.sub(r"[\s_-]+", "", text.strip().upper())
