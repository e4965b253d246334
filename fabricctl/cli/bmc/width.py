"""How wide a report is."""

from __future__ import annotations

import shutil


def width() -> int:
    """Columns of the terminal, 100 where there is none."""
    return max(60, min(160, shutil.get_terminal_size((100, 40)).columns))
