"""What the schema found wrong, in words an operator acts on: key, expected, found, nearest valid word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ValidationError

from fabricctl.hostset import fold
from fabricctl.site.schema import Site
from fabricctl.site.yaml_lines import KeyPath


class Problem(NamedTuple):
    """One thing wrong. :param keys: where, as far as the file goes; :param text: one sentence."""

    keys: KeyPath
    text: str


def problems_of(error: ValidationError) -> list[Problem]:
    """The schema's errors as problems, in the schema's order."""
    return [_problem(item) for item in error.errors(include_url=False)]


def key_text(keys: KeyPath) -> str:
    """``("reserved_ports", 0, "for")`` -> ``reserved_ports[0].for``."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def nearest(word: str, valid: list[str]) -> str:
    """The tail of an "unknown word" sentence: the nearest valid word, else which words are valid."""
    close = get_close_matches(word, valid, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    if not valid:
        return "there is none to choose from"
    shown = ", ".join(valid) if len(valid) <= 12 else fold(valid)
    return f"expected one of {shown if len(shown) <= 200 else shown[:200] + '...'}"


def problem_at(keys: KeyPath, text: str) -> Problem:
    """A problem that names its key."""
    return Problem(keys, f"{key_text(keys)}: {text}")


def unknown_names(keys: KeyPath, what: str, names: Iterable[str], valid: Iterable[str]) -> Iterator[Problem]:
    """One problem for all names that are not valid ones: the set folded, the first one's nearest word."""
    known = dict.fromkeys(valid)
    strange = [name for name in names if name not in known]
    if strange:
        yield problem_at(keys, f"unknown {what} {fold(strange)!r}; {nearest(strange[0], list(known))}")


def _problem(item: Any) -> Problem:
    kind = item["type"]
    loc: KeyPath = tuple(item["loc"])
    of_key = bool(loc) and loc[-1] == "[key]"
    keys = loc[:-1] if of_key else loc
    if kind == "extra_forbidden":
        word = str(keys[-1])
        text = f"unknown key {word!r}; {nearest(word, _fields_at(keys[:-1]))}"
        return Problem(keys, _prefixed(keys[:-1], text))
    if kind == "missing":
        what = _description_of(keys)
        return Problem(keys, _prefixed(keys[:-1], f"key {str(keys[-1])!r} is missing{what}"))
    text = _sentence(kind, item, is_key=of_key)
    return Problem(keys, _prefixed(keys, text))


def _sentence(kind: str, item: Any, *, is_key: bool) -> str:
    context = item.get("ctx") or {}
    found = "found something else" if _is_secret(tuple(item["loc"])) else _found(item["input"])
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        words = [word.strip("'\"") for word in context["expected"].replace(" or ", ", ").split(", ")]
        return f"expected {context['expected']}, {found}" + _close(item["input"], words)
    expected = _EXPECTED.get(kind)
    if expected is None:
        return f"{item['msg'][:1].lower()}{item['msg'][1:]}, {found}"
    text = f"expected {expected.format(**context)}, {found}"
    return f"as a key, {text}" if is_key else text


def _is_secret(loc: KeyPath) -> bool:
    """Whether a value stands where people write passwords: it is not repeated, whatever else it may be."""
    return tuple(loc[:2]) in (("management", "bmc_access"), ("management", "secrets"))


_EXPECTED = {
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "list_type": "a list",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of reasonable size",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:g}",
    "string_too_short": "some text",
    "too_short": "at least {min_length} entries",
    "too_long": "at most {max_length} entries",
}
"""pydantic-core error type -> what was expected there."""


def _found(value: object) -> str:
    if value is None:
        return "found nothing"
    if isinstance(value, dict):
        return "found a mapping"
    if isinstance(value, list | tuple):
        return f"found a list of {len(value)}"
    return f"found {str(value)[:60]!r}"


def _close(value: object, words: list[str]) -> str:
    close = get_close_matches(str(value), words, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _prefixed(keys: KeyPath, text: str) -> str:
    where = key_text(keys)
    return f"{where}: {text}" if where else text


def _fields_at(keys: KeyPath) -> list[str]:
    """Keys the schema knows at a key path."""
    model = _model_at(keys)
    return [] if model is None else [field.alias or name for name, field in model.model_fields.items()]


def _description_of(keys: KeyPath) -> str:
    model = _model_at(keys[:-1])
    for name, field in model.model_fields.items() if model else ():
        if (field.alias or name) == keys[-1] and field.description:
            return f" ({field.description.rstrip('.')})"
    return ""


def _model_at(keys: KeyPath) -> type[BaseModel] | None:
    """The section that describes a key path: walks field types, through lists, mappings and optionals."""
    here: Any = Site
    for key in keys:
        if isinstance(here, type) and issubclass(here, BaseModel):
            fields = {field.alias or name: field for name, field in here.model_fields.items()}
            if key not in fields:
                return None
            here = _inside(fields[str(key)].annotation)
        elif get_origin(here) in (dict, list):
            here = _inside(get_args(here)[-1])
        else:
            return None
    return here if isinstance(here, type) and issubclass(here, BaseModel) else None


def _inside(annotation: Any) -> Any:
    """The one type of an optional."""
    options = [option for option in get_args(annotation) if option is not type(None)]
    optional = type(None) in get_args(annotation)
    return options[0] if optional and len(options) == 1 else annotation
