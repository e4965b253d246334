"""The picture as one HTML file that needs nothing else: no network, no font, no library.

A content security policy lets the page load nothing and run only its own script and style (by hash), whatever a node
description holds. The data stands in a script element that is not run; ``<`` is escaped in it, and the script only
ever sets text. The paper is the same report without script: it is printed, and read where scripts are off.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from functools import cache
from importlib.resources import files

from fabricctl.picture.data import PictureData
from fabricctl.picture.former import DATA_OPEN
from fabricctl.picture.paper import paper
from fabricctl.report.markup import esc

SCRIPTS = (
    "base",
    "state",
    "paint",
    "map",
    "map_boxes",
    "map_use",
    "matrix",
    "findings",
    "detail",
    "faces",
    "views",
    "main",
)
"""Files of the script in their order; they share one scope."""
_NO_SCRIPT = "Scripts are off: this is the report without map, search and filters."
_STYLES = ("page", "paper")


@cache
def _file(name: str) -> str:
    return files("fabricctl.picture").joinpath(name).read_text("utf-8")


@cache
def script() -> str:
    """The page's script."""
    return "(() => {\n'use strict';\n" + "\n".join(_file(f"{name}.js") for name in SCRIPTS) + "})();\n"


@cache
def style() -> str:
    """The page's style sheet."""
    return "\n".join(_file(f"{name}.css") for name in _STYLES)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def policy() -> str:
    """The content security policy: nothing from outside, only the page's own script and style."""
    return (
        f"default-src 'none'; script-src {_hash(script())}; style-src {_hash(style())}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def encoded(data: PictureData) -> str:
    """The data as JSON of plain ASCII that cannot end the element it stands in."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def render(data: PictureData) -> str:
    """The whole page.

    :param data: as :func:`fabricctl.picture.data.picture_data` makes it.
    """
    report = data["report"]
    where = f"{data['site']}: " if data["site"] else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{esc(where)}{esc(report['title'])}: {esc(report['headline'])}</title>\n"
        f"<style>{style()}</style>\n</head>\n<body>\n{_file('page.html')}"
        f'<div id="paper">\n<noscript><p class="dim">{_NO_SCRIPT}</p></noscript>\n{paper(data)}\n</div>\n'
        f"{DATA_OPEN}{encoded(data)}</script>\n<script>{script()}</script>\n</body>\n</html>\n"
    )
