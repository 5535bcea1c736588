"""JSON text to values and back, without losing anything on the way."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from typing import Any

from .hints import given_name, members

MAX_SHOWN = 120
"""Characters of a value in a message."""


class NoJson(ValueError):
    """A value without JSON form."""


def parse(text: str) -> Any:
    """Reads JSON text; a number too large for a float is refused."""
    return json.loads(text, parse_float=_finite, parse_constant=_no_number)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large for a float")
    return number


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def plain(value: Any, path: str = "") -> Any:
    """Returns the value as JSON has it: dataclasses are objects, enums their values, tuples lists."""
    if value is None or isinstance(value, (bool, str)) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value, path)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NoJson(f"{_at(path)}{value} is no number of JSON")
        return float(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hints = members(type(value))
        names = {field.name: given_name(field.name, hints[field.name]) for field in dataclasses.fields(value)}
        return {name: plain(getattr(value, field), f"{path}.{name}") for field, name in names.items()}
    if isinstance(value, dict):
        return {_key(key, path): plain(member, f"{path}.{key}") for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member, f"{path}[{at}]") for at, member in enumerate(value)]
    name = type(value).__name__
    expected = "str, int, float, bool, None, list, dict or a dataclass"
    raise NoJson(f"{_at(path)}a {name} has no JSON form; expected {expected}")


def _key(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise NoJson(f"{_at(path)}the key {key!r} is no text; expected a dict with keys of type str")
    return key


def _at(path: str) -> str:
    return f"{path.lstrip('.')}: " if path else ""


def write(value: Any) -> str:
    """Writes what `plain` has returned."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def shown(value: Any) -> str:
    """A value in a message: its JSON type and, if that is short, itself."""
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            return f"integer `{shorten(str(value))}`"
        case float():
            return f"floating point `{value}`"
        case str():
            return shorten(f"string {json.dumps(value, ensure_ascii=False)}")
        case list():
            return "a list"
        case _:
            return "an object"


def shorten(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
