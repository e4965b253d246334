"""Text for HTML."""

from __future__ import annotations

from html import escape

from fabricctl.report.words import printable


def esc(text: str) -> str:
    """Any text, safe as HTML text and in a quoted attribute."""
    return escape(printable(text), quote=True)
