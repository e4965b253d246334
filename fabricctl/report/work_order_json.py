"""A work order as JSON, and back. The form is that of ``fabricctl/repair/order_model.py``; import it late: pydantic.

Within one version keys are only added; unknown keys are passed over when reading, so that an older program reads what
a newer one wrote.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabricctl import __version__
from fabricctl.errors import InputError
from fabricctl.jsontext import json_of
from fabricctl.repair.order_check import OrderCheck, StepState, counts
from fabricctl.repair.order_model import WorkOrder
from fabricctl.words import clean

SCHEMA_NAME: Final = "fabricctl.work-order/1"
CHECK_SCHEMA_NAME: Final = "fabricctl.work-order-check/1"
ISLAND = "work-order"
"""Id of the script element that holds the JSON inside an HTML work order."""

_EMBEDDED = re.compile(rf'<script type="application/json" id="{ISLAND}">(.*?)</script>', re.DOTALL)
_VERSION = re.compile(r"fabricctl\.work-order/(\d+)\Z")


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)

    schema_name: Literal["fabricctl.work-order/1"] = Field(alias="schema")
    generator: str = Field(description="program and version")
    order: WorkOrder


class _CheckDocument(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)

    schema_name: Literal["fabricctl.work-order-check/1"] = Field(alias="schema")
    generator: str = Field(description="program and version")
    exit_code: int = Field(description="0 all done, 1 open or wrong, 3 could not tell")
    counts: dict[StepState, int]
    check: OrderCheck


def to_json(order: WorkOrder, *, indent: int | None = 1) -> str:
    """The order in the published form, with a newline at the end. :param indent: None for one line."""
    document = _Document(schema=SCHEMA_NAME, generator=f"fabricctl {__version__}", order=order)
    return _dumped(document, indent)


def check_to_json(result: OrderCheck) -> str:
    """What became of an order's steps."""
    document = _CheckDocument(
        schema=CHECK_SCHEMA_NAME,
        generator=f"fabricctl {__version__}",
        exit_code=result.exit_code,
        counts=counts(result),
        check=result,
    )
    return _dumped(document, 1)


def _dumped(document: BaseModel, indent: int | None) -> str:
    """Names may hold bytes that are no UTF-8; pydantic refuses them, so they are cleaned on the way."""
    import json

    body = document.model_dump(by_alias=True)
    separators = (",", ":") if indent is None else None
    return json.dumps(_cleaned(body), indent=indent, separators=separators, ensure_ascii=False) + "\n"


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {key: _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


def read_order(text: str, path: str) -> WorkOrder:
    """The order inside a JSON or HTML work order.

    :raises InputError: it is none, or of a version this program does not know, or damaged.
    """
    inside = text
    if text.lstrip()[:1] == "<":
        found = _EMBEDDED.search(text)
        if found is None:
            raise InputError("this page holds no work order", path=path, hint=_HINT)
        inside = "\n" * text.count("\n", 0, found.start(1)) + found[1]  # so that errors tell the page's line
    body = json_of(inside, path, "work order", hint=_HINT)
    named = body.get("schema") if isinstance(body, dict) else None
    version = _VERSION.match(named) if isinstance(named, str) else None
    if version is None:
        raise InputError(f"this is no work order: its schema is {named!r}", path=path, hint=_HINT)
    if named != SCHEMA_NAME:
        raise InputError(
            f"expected a work order of version {SCHEMA_NAME.rpartition('/')[2]}, found {version[1]}",
            path=path,
        )
    try:
        return _Document.model_validate(body).order
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"this work order is damaged: {where}: {first['msg']}", path=path) from exc


_HINT = "expected what `fabricctl work-order make` wrote as .json or .html"


def work_order_schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of a work order."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:fabricctl:work-order:1",
        **_Document.model_json_schema(by_alias=True, mode="serialization"),
        "title": SCHEMA_NAME,
        "description": "What to do to repair a cabling, step by step.",
    }
