"""Text for HTML and SVG."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from fabricctl.report.words import printable


def esc(text: object) -> str:
    """Any value as text, safe in HTML and SVG, in a quoted attribute too."""
    return escape(printable(str(text)), quote=True)


def joined(parts: Iterable[str]) -> str:
    """Lines of markup; empty ones are left out."""
    return "\n".join(part for part in parts if part)


def bulleted(texts: Iterable[str]) -> str:
    """A list."""
    return f"<ul>{''.join(f'<li>{esc(text)}</li>' for text in texts)}</ul>"
