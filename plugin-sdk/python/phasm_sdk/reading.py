"""From type hints to shapes."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import types
import typing
from typing import Any, Callable

from .hints import Range, given_name, marked, members, unwrap
from .shapes import (
    ABSENT, Any_, Boolean, Choice, Either, Field, List, Map, Null, Number, Object, Optional, Shape, Text, of_enum,
)

SUPPORTED = (
    "expected str, int, float, bool, list[T], dict[str, T], T | None, Literal, an Enum, a dataclass, a TypedDict or Any"
)
LISTS = (list, collections.abc.Sequence, collections.abc.Iterable)
MAPS = (dict, collections.abc.Mapping)


def shape_of(hint: Any, place: str, above: tuple[Any, ...] = ()) -> Shape:
    """The shape that a hint means; `place` is named in errors.

    Raises `TypeError` for a hint that has none.
    """
    hint, marks = unwrap(hint)
    limits = marked(marks, Range)
    if limits and hint not in (int, float):
        raise TypeError(f"{place}: a Range is for int and float")
    if hint in (int, float):
        kinds = ("integer",) if hint is int else ("number",)
        return Number(kinds, limits and limits.minimum, limits and limits.maximum)
    simple = {str: Text, bool: Boolean, None: Null, type(None): Null, Any: Any_, object: Any_}
    if isinstance(hint, typing.Hashable) and hint in simple:
        return simple[hint]()
    if hint in above:
        raise TypeError(f"{place}: {hint.__name__} contains itself, which has no schema; use dict[str, Any]")
    return _compound(hint, place, above)


def _compound(hint: Any, place: str, above: tuple[Any, ...]) -> Shape:
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments, place, above)
    if origin is typing.Literal:
        return _literal(arguments, place)
    if origin in LISTS and len(arguments) <= 1:
        return List(shape_of(arguments[0], f"{place}[]", above) if arguments else Any_())
    if origin in MAPS and (not arguments or arguments[0] is str):
        return Map(shape_of(arguments[1], f"{place}.*", above) if arguments else Any_())
    if isinstance(hint, getattr(typing, "TypeAliasType", ())):
        return shape_of(getattr(hint, "__value__"), place, above)
    if isinstance(hint, typing.NewType):
        return shape_of(hint.__supertype__, place, above)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return of_enum(hint)
    if dataclasses.is_dataclass(hint) or typing.is_typeddict(hint):
        return _object(hint, place, (*above, hint))
    raise TypeError(f"{place}: {getattr(hint, '__name__', hint)} is not supported; {SUPPORTED}")


def _literal(choices: tuple[Any, ...], place: str) -> Shape:
    values = [choice for choice in choices if choice is not None]
    if not values or not all(isinstance(value, (str, int, bool)) for value in values):
        raise TypeError(f"{place}: expected a Literal of texts, integers or booleans")
    # Of equal keys, True and 1, a dict keeps one.
    if len({(type(value), value) for value in values}) != len(set(values)):
        raise TypeError(f"{place}: a Literal cannot tell True from 1")
    choice = Choice({value: value for value in values})
    return choice if len(values) == len(choices) else Optional(choice)


def _union(arguments: tuple[Any, ...], place: str, above: tuple[Any, ...]) -> Shape:
    shapes = [shape_of(argument, place, above) for argument in arguments if argument is not type(None)]
    shape = shapes[0] if len(shapes) == 1 else Either(shapes)
    if len(shapes) > 1 and (len(set(shape.kinds)) != len(shape.kinds) or not all(s.kinds for s in shapes)):
        raise TypeError(f"{place}: the types of a union must differ in JSON, where they are {', '.join(shape.kinds)}")
    return shape if len(shapes) == len(arguments) else Optional(shape)


def _object(hint: Any, place: str, above: tuple[Any, ...]) -> Object:
    hints = members(hint)
    if typing.is_typeddict(hint):
        fields = [
            _field(name, hints[name], ABSENT, f"{place}.{name}", above, optional=name in hint.__optional_keys__)
            for name in hints
        ]
        make: Callable[..., Any] = dict
    else:
        fields = [
            _field(member.name, hints[member.name], _default(member), f"{place}.{member.name}", above)
            for member in dataclasses.fields(hint) if member.init
        ]
        make = hint
    return Object(fields, make, description=_own_text(hint))


def _default(member: dataclasses.Field[Any]) -> Any:
    for default in (member.default, member.default_factory):
        if default is not dataclasses.MISSING:
            return default
    return ABSENT


def _own_text(hint: Any) -> str:
    # A dataclass without a text has its signature as one.
    text = hint.__dict__.get("__doc__") or ""
    return "" if text.startswith(f"{hint.__name__}(") or hint.__module__ == "builtins" else inspect.cleandoc(text)


def _field(
    python: str, hint: Any, default: Any, place: str, above: tuple[Any, ...] = (), *, optional: bool = False
) -> Field:
    shape = shape_of(hint, place, above)
    description = inspect.cleandoc(marked(unwrap(hint)[1], str) or "")
    return Field(given_name(python, hint), python, shape, default, optional, description)


def object_of(hint: Any, place: str) -> Object | None:
    """The shape of a type whose members have names; none for other types."""
    hint = unwrap(hint)[0]
    shape = shape_of(hint, place)
    return shape if isinstance(shape, Object) else None


def inputs_of(function: Callable[..., Any], call: type) -> tuple[Object, str | None]:
    """The shape of a function's inputs, and the name of the parameter that gets the call.

    Raises `TypeError` with every parameter that cannot be an input.
    """
    hints, fields, wrong = members(function), [], []
    rest: Shape | None = None
    takes_call: str | None = None
    for name, parameter in inspect.signature(function).parameters.items():
        place = f"parameter `{name}` of {function.__name__}"
        if name not in hints:
            wrong.append(f"{place}: it has no type hint; {SUPPORTED}")
        elif unwrap(hints[name])[0] is call:
            takes_call = name
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            wrong.append(f"{place}: inputs have names; expected a parameter that can be given by its name")
        else:
            try:
                if parameter.kind is parameter.VAR_KEYWORD:
                    rest = shape_of(hints[name], place)
                    continue
                default = ABSENT if parameter.default is parameter.empty else parameter.default
                field = _field(name, hints[name], default, place)
                field.schema()
                fields.append(field)
            except TypeError as error:
                wrong.append(str(error))
    if wrong:
        raise TypeError("; ".join(wrong))
    return Object(fields, dict, rest), takes_call
