"""Marks for `Annotated`. A text is the description."""

from __future__ import annotations

import functools
import typing
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Name:
    """The name in the workflow, where it is not a name of Python: `Annotated[int, Name("maxBytes")]`."""

    name: str


@dataclass(frozen=True)
class Range:
    """Least and greatest value of a number: `Annotated[int, Range(1, 10)]`."""

    minimum: float | None = None
    maximum: float | None = None


@functools.cache
def members(holder: Any) -> dict[str, Any]:
    """Hints of a function's or a class's members, with their marks."""
    return typing.get_type_hints(holder, include_extras=True)


def unwrap(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A hint without `Annotated`, `Required`, `NotRequired` and `ReadOnly`, and its marks."""
    marks: tuple[Any, ...] = ()
    while True:
        match typing.get_origin(hint):
            case typing.Annotated:
                hint, marks = hint.__origin__, marks + hint.__metadata__
            case typing.Required | typing.NotRequired:
                hint = typing.get_args(hint)[0]
            case origin if origin is not None and origin is getattr(typing, "ReadOnly", None):
                hint = typing.get_args(hint)[0]
            case _:
                return hint, marks


def marked(marks: tuple[Any, ...], kind: type) -> Any:
    """The first mark of a kind."""
    return next((mark for mark in marks if isinstance(mark, kind)), None)


def given_name(member: str, hint: Any) -> str:
    """The name of a member in workflows."""
    name = marked(unwrap(hint)[1], Name)
    return name.name if name else member
