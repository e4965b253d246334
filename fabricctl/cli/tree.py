"""Groups of commands."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class Sorted(TyperGroup):
    """Commands by name; typer puts single commands before groups."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names, in the order of help."""
        return sorted(super().list_commands(ctx))
