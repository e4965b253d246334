"""What every mapping of a site file has in common."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Section(BaseModel):
    """One mapping of the site file: unknown keys are errors, and a key left empty means its default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _empty_is_default(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        optional = {
            field.alias or name for name, field in cls.model_fields.items() if not field.is_required()
        }
        return {key: value for key, value in data.items() if value is not None or key not in optional}


_REFERENCE = re.compile(r"(?:env|file):.+\Z")


def secret_reference(text: str, example: str) -> str:
    """A secret as a site file may name it. :raises ValueError: it may be the secret itself; it is not repeated."""
    if not _REFERENCE.match(text):
        raise ValueError(
            f"expected a reference such as {example} or file:PATH, found something else: passwords and keys do not "
            "belong into a site file"
        )
    return text
