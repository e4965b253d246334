"""Reading an inventory of HCA slots: which card sits in which slot of which host.

Sources such inventories come from: Redfish network adapters (``NIC.Slot.38``), ``dmidecode -t 9`` bus addresses, sysfs,
``ibstat``. CSV with a header, or JSON: a list of objects, or an object of host -> list of them. Of the fields only the
host and one of slot, HCA, PCI address and GUID are needed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from fabricctl.errors import InputError
from fabricctl.guid import parse_guid
from fabricctl.jsontext import json_of
from fabricctl.plan.labels import canonical_hca

if TYPE_CHECKING:
    import _csv

FIELDS = {
    "host": "host,hostname,host name,node,node name,name,server,server name,system",
    "model": "model,host model,server model,system model,node model,product,product name",
    "slot": "slot,slot id,slot number,slot name,nic slot,pcie slot,pci slot,location,designation",
    "hca": "hca,hca name,rdma,rdma device,rdma name,ib device,ibdev,device,adapter,nic,mlx",
    "pci": "pci,pci address,pcie address,bdf,pci bdf,bus,bus address,address,pci id",
    "guid": "guid,node guid,port guid,hca guid,sys image guid",
}
_FIELD = {re.sub(r"\W", "", name): field for field, names in FIELDS.items() for name in names.split(",")}
_SLOT = re.compile(r"slot\W*0*([0-9]+)|\A0*([0-9]+)\Z", re.I)
_PCI = re.compile(r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])\Z", re.I)
_BLANK = frozenset(("", "-", "n/a", "na", "none", "null", "unknown", "?"))


class SlotEntry(NamedTuple):
    """One card. :param slot: ``38``; :param hca: ``mlx5_3``; :param pci: ``dc:00.0``; empty where not told."""

    host: str
    model: str = ""
    slot: str = ""
    hca: str = ""
    pci: str = ""
    guid: str = ""
    line: int = 0


def parse_slots(text: str, path: str) -> tuple[SlotEntry, ...]:
    """Read an inventory.

    :raises InputError: it is no such inventory, or a row that is not understood, with file and line.
    """
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise InputError("the inventory of HCA slots is empty", path=path)
    records = _json_records(text, path) if text.lstrip()[:1] in "[{" else _csv_records(text, path)
    entries = tuple(_entry(record, line, path) for line, record in records)
    if not entries:
        raise InputError("the inventory of HCA slots holds no card", path=path)
    return entries


def _key(name: str) -> str:
    return _FIELD.get(re.sub(r"[\W_]", "", name.lower()), "")


def _csv_records(text: str, path: str) -> Iterator[tuple[int, dict[str, str]]]:
    lines = text.splitlines()
    at = next((n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), 0)
    delimiter = max(",;\t|", key=lines[at].count)
    reader = csv.reader(io.StringIO("\n".join(lines[at:])), delimiter=delimiter, skipinitialspace=True)
    rows = _rows(reader, path, at)
    header = [_key(cell) for cell in next(rows, [])]
    _needed(header, f"found {lines[at][:80]!r}", path, at + 1)
    for row in rows:
        if not any(cell.strip() for cell in row) or row[0].lstrip().startswith("#"):
            continue
        record: dict[str, str] = {}
        for field, cell in zip(header, row, strict=False):
            if field:
                record.setdefault(field, cell)
        yield at + reader.line_num, record


def _rows(reader: _csv.Reader, path: str, at: int) -> Iterator[list[str]]:
    """Rows, the header among them; an error tells the line a row begins on."""
    while True:
        line = at + reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as exc:
            raise InputError(f"this row cannot be read: {exc}", path=path, line=line) from exc
        if row is None:
            return
        yield row


def _needed(fields: list[str], found: str, path: str, line: int) -> None:
    if "host" not in fields or not {"slot", "hca", "pci", "guid"} & set(fields):
        raise InputError(
            f"an inventory of HCA slots needs a column host and one of slot, hca, pci, guid; {found}",
            path=path,
            line=line,
        )


def _json_records(text: str, path: str) -> Iterator[tuple[int, dict[str, str]]]:
    data = json_of(text, path)
    if isinstance(data, Mapping):
        hosts = data.get("hosts", data)
        pairs = list(hosts.items()) if isinstance(hosts, Mapping) else [("", hosts)]
    else:
        pairs = [("", data)]
    for host, cards in pairs:
        if not isinstance(cards, list) or not all(isinstance(card, Mapping) for card in cards):
            raise InputError(
                "expected a list of cards, or host -> list of cards, each with slot, hca, pci or guid",
                path=path,
            )
        for card in cards:
            record = {"host": str(host)} if host else {}
            for name, value in card.items():
                field = _key(str(name))
                if field and isinstance(value, str | int):
                    record.setdefault(field, str(value))
            yield 0, record


def _entry(record: Mapping[str, str], line: int, path: str) -> SlotEntry:
    told = {field: text.strip() for field, text in record.items() if text.strip().lower() not in _BLANK}
    if "host" not in told or not {"slot", "hca", "pci", "guid"} & told.keys():
        shown = ", ".join(f"{key} {value}" for key, value in told.items()) or "nothing"
        raise InputError(
            f"a card needs its host and one of slot, hca, pci, guid; found {shown}", path=path, line=line
        )
    guid = told.get("guid", "")
    known = parse_guid(guid) if guid else ""
    if known is None:
        raise InputError(f"GUID {guid!r} is not understood", path=path, line=line)
    return SlotEntry(
        told["host"],
        told.get("model", ""),
        slot_name(told.get("slot", "")),
        canonical_hca(told.get("hca", "")),
        pci_address(told.get("pci", "")),
        known,
        line,
    )


def slot_name(text: str) -> str:
    """``NIC.Slot.38-1-1``, ``PCIe Slot 38`` and ``38`` -> ``38``; other names as written."""
    match = _SLOT.search(text.strip())
    return (match[1] or match[2]) if match is not None else " ".join(text.split())


def pci_address(text: str) -> str:
    """``0000:DC:00.0`` -> ``dc:00.0``; another domain stays."""
    match = _PCI.match(text.strip())
    if match is None:
        return text.strip().lower()
    domain = "" if match[1] in (None, "0000") else f"{match[1]}:"
    return f"{domain}{match[2]}:{match[3]}.{match[4]}".lower()
