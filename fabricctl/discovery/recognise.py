"""Which tool wrote a text, from what is in it (never from the file's name)."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import cast

from fabricctl.discovery.model import DiscoveryFormat, Observation
from fabricctl.discovery.noise import is_noise
from fabricctl.discovery.textlines import LONGEST_LINE, shown
from fabricctl.errors import DiscoveryError

_LOOK = 200
"""How many lines that are neither blank nor noise are looked at."""

_SIGNS: tuple[tuple[DiscoveryFormat, re.Pattern[str]], ...] = (
    (DiscoveryFormat.SMINFO, re.compile(r"sminfo: ")),
    (
        DiscoveryFormat.IBNETDISCOVER_PORTS,
        re.compile(r"\s*(?:CA|SW|RT|\?\?)\s+[0-9]+\s+[0-9]+\s+0x[0-9a-fA-F]{1,16}\s+(?:[0-9]+x|\?\?)\s"),
    ),
    (
        DiscoveryFormat.IBLINKINFO_LINES,
        re.compile(r'0x[0-9a-fA-F]{1,16}\s+".*"\s+[0-9]+\s+[0-9]+\[\s*[0-9]*\]\s*==\('),
    ),
    (DiscoveryFormat.IBLINKINFO, re.compile(r".*[0-9]\[\s*[0-9]*\]\s*==\(")),
    (
        DiscoveryFormat.IBLINKINFO,
        re.compile(r"(?:Switch:?\s+0x[0-9a-fA-F]{1,16}\s.*|(?:CA|Router):\s.*):\s*\Z"),
    ),
    (DiscoveryFormat.SUBNET_LST, re.compile(r"\{ (?:SW|CA|Rt|\*\*)(?:-SM)? Ports:")),
    (DiscoveryFormat.DB_CSV, re.compile(r"START_[A-Z][A-Z0-9_]*\s*\Z")),
    (DiscoveryFormat.NET_DUMP, re.compile(r'".*"\s*,[^,]*,\s*0x[0-9a-fA-F]{1,16}\s*,\s*LID\s+[0-9]')),
    (DiscoveryFormat.NET_DUMP, re.compile(r"\s*#\s*:\s*IB#\s*:")),
    (DiscoveryFormat.IBNETDISCOVER, re.compile(r"# Topology file: generated on|# Initiated from node ")),
    (DiscoveryFormat.IBNETDISCOVER, re.compile(r'(?:Switch|Ca|Hca|Rt|\?\?\?)\s*[0-9]+\s*"')),
    (DiscoveryFormat.IBNETDISCOVER, re.compile(r"(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=")),
    (
        DiscoveryFormat.IBNETDISCOVER,
        re.compile(r'\[[0-9]+\](?:\[ext [0-9]+\])?(?:\([0-9a-fA-F]+\))?\s*"[SHR?]-'),
    ),
)
_LIST = re.compile(r"(?:Switch|Ca|Router)\s*: 0x[0-9a-fA-F]{1,16} ports [0-9]")
_NAME_MAP = re.compile(r'\s*0x[0-9a-fA-F]{1,16}\s+"[^"]*"\s*(?:#.*)?\Z')
_HTML = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)
_LINK_KEY = re.compile(r'"source_guid"\s*:')

_MODULES = {
    DiscoveryFormat.IBNETDISCOVER: "ibnetdiscover",
    DiscoveryFormat.IBNETDISCOVER_PORTS: "ibnetdiscover_ports",
    DiscoveryFormat.IBLINKINFO: "iblinkinfo",
    DiscoveryFormat.IBLINKINFO_LINES: "iblinkinfo",
    DiscoveryFormat.SUBNET_LST: "subnet_lst",
    DiscoveryFormat.NET_DUMP: "net_dump",
    DiscoveryFormat.DB_CSV: "db_csv",
    DiscoveryFormat.UFM_LINKS: "ufm_links",
    DiscoveryFormat.SMINFO: "sminfo",
}


def recognise(text: str) -> DiscoveryFormat | None:
    """Name the format of a text by its first telling line, None when no line tells."""
    if _opens_list(text):
        return DiscoveryFormat.UFM_LINKS
    for line in _first_lines(text):
        for form, sign in _SIGNS:
            if sign.match(line):
                return form
    return None


def parse_any(text: str, path: str = "") -> Observation:
    """Recognise a text and parse it.

    :raises DiscoveryError: nothing known, with what it seems to be; or the parser's own error.
    """
    form = recognise(text)
    if form is None:
        raise _unrecognised(text, path)
    module = importlib.import_module(f"fabricctl.discovery.{_MODULES[form]}")
    parse = cast("Callable[[str, str], Observation]", module.parse)
    return parse(text, path)


def _opens_list(text: str) -> bool:
    """A JSON list whose first object names a link's source."""
    head = text[:1].strip("\ufeff") + text[1:4000]
    head = head.lstrip()
    return head.startswith("[") and re.match(r"\[\s*\{", head) is not None and bool(_LINK_KEY.search(head))


def _first_lines(text: str) -> list[str]:
    """The first lines worth a look; sminfo's complaint is its answer, so it is kept."""
    lines: list[str] = []
    start = 0
    while start < len(text) and len(lines) < _LOOK:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start : min(end, start + LONGEST_LINE)].rstrip("\r")
        start = end + 1
        if line.strip() and (not is_noise(line) or line.startswith("sminfo: ")):
            lines.append(line)
    return lines


def _unrecognised(text: str, path: str) -> DiscoveryError:
    accepted = "accepted are " + ", ".join(form.value for form in DiscoveryFormat)
    number, first = next(
        ((n, line) for n, line in enumerate(text.split("\n", 2000)[:2000], 1) if line.strip()), (0, "")
    )
    if not first:
        return DiscoveryError("the file is empty", path=path, hint=f"a discovery is expected; {accepted}")
    seems = _seems(text, first)
    what = f"this is {seems}, not a discovery" if seems else "this is no discovery known here"
    return DiscoveryError(f"{what}; it begins with {shown(first, 60)}", path=path, line=number, hint=accepted)


def _seems(text: str, first: str) -> str:
    """Name what is often given by mistake, empty when it is nothing known."""
    lines = _first_lines(text)
    if "\0" in text[:4000]:
        return "binary data"
    if not lines:
        return "nothing but a tool's error messages"
    if _HTML.match(first):
        return "an HTML page"
    if first.lstrip()[0] in "{[":
        return _seems_json(text)
    if _NAME_MAP.match(lines[0]):
        return "a node name map"
    if _LIST.match(lines[0]):
        return "a list of nodes (ibhosts, ibswitches, ibnetdiscover -l) without cables"
    commas = [line.count(",") for line in lines if not line.startswith("#")][:5]
    if (commas and min(commas) >= 3) or first.lower().startswith("#fields:"):
        return "a CSV table, perhaps a cabling plan (option --plan)"
    return ""


def _seems_json(text: str) -> str:
    head = text[:4000]
    own = re.search(r'"schema"\s*:\s*"(fabricctl\.([a-z-]+)/[0-9]+)"', head)
    if own:
        what = {"identify": "an identification", "work-order": "a work order"}
        return f"{what.get(own[2], 'a report')} of fabricctl ({own[1]}), no discovery"
    if re.search(r'"(?:error|message|detail|status)"\s*:', head) and text.lstrip()[0] == "{":
        return "a JSON answer that reports an error"
    return "JSON of another kind than UFM's list of links"
