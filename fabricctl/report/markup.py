"""Text for HTML and SVG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from fabricctl.words import printable


def esc(text: object) -> str:
    """Any value as text, safe in HTML and SVG, in a quoted attribute too."""
    return escape(printable(str(text)), quote=True)


def joined(parts: Iterable[str]) -> str:
    """Lines of markup; empty ones are left out."""
    return "\n".join(part for part in parts if part)


def bulleted(texts: Iterable[str]) -> str:
    """A list."""
    return f"<ul>{''.join(f'<li>{esc(text)}</li>' for text in texts)}</ul>"


def _attributes(values: Mapping[str, object]) -> str:
    """``stroke_width=2`` as an attribute; numbers to a tenth of a pixel; None is left out."""
    parts = []
    for name, value in values.items():
        if value is not None and value != "":
            text = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else esc(value)
            parts.append(f' {name.replace("_", "-")}="{text}"')
    return "".join(parts)


def text_at(x: float, y: float, text: object, fill: str, **more: object) -> str:
    """SVG text."""
    return f"<text{_attributes({'x': float(x), 'y': float(y), 'fill': fill, **more})}>{esc(text)}</text>"


def rect(x: float, y: float, width: float, height: float, **more: object) -> str:
    """SVG rectangle."""
    box = {"x": float(x), "y": float(y), "width": float(width), "height": float(height)}
    return f"<rect{_attributes({**box, **more})}/>"


def path(shape: str, **more: object) -> str:
    """SVG path, empty for an empty shape."""
    return f'<path d="{shape}"{_attributes(more)}/>' if shape else ""


def box_shape(x: float, y: float, width: float, height: float) -> str:
    """A rectangle as a piece of a path: a thousand of them make one element."""
    return f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h-{width:.1f}z"
