"""Shapes of JSON values: their schemas, and how values are checked against them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping

from . import jsontext

BAD: Any = object()
"""Stands for a value that did not fit."""
ABSENT: Any = object()
"""Stands for a default that there is none."""

Problems = list[str]


class Shape:
    """What values are allowed. `kinds` are their JSON types, as a schema names them; none for any."""

    kinds: tuple[str, ...] = ()
    expected = "a value"

    def schema(self) -> dict[str, Any]:
        """The JSON Schema."""
        return {"type": self.kinds[0] if len(self.kinds) == 1 else list(self.kinds)} if self.kinds else {}

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        """Returns the value as Python has it, or `BAD` after a line in `problems`."""
        if not self.kinds or kind_of(value) in self.kinds:
            return value
        return self.refuse(value, path, problems)

    def refuse(self, value: Any, path: str, problems: Problems) -> Any:
        """Notes that the value does not fit."""
        problems.append(f"{path}: expected {self.expected}, got {jsontext.shown(value)}")
        return BAD


def kind_of(value: Any) -> str:
    """The JSON type of a value; floats without a fraction are numbers, too."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


class Any_(Shape):
    """Any value."""


class Text(Shape):
    """A text."""

    kinds = ("string",)
    expected = "a string"


class Boolean(Shape):
    """True or false."""

    kinds = ("boolean",)
    expected = "a boolean"


class Null(Shape):
    """Nothing."""

    kinds = ("null",)
    expected = "null"


@dataclass
class Number(Shape):
    """An integer or a float, within bounds."""

    kinds: tuple[str, ...]
    minimum: float | None = None
    maximum: float | None = None

    @property
    def expected(self) -> str:  # type: ignore[override]
        word = "an integer" if self.kinds == ("integer",) else "a number"
        match self.minimum, self.maximum:
            case None, None:
                return word
            case low, None:
                return f"{word} from {low} on"
            case None, high:
                return f"{word} up to {high}"
            case low, high:
                return f"{word} from {low} to {high}"

    def schema(self) -> dict[str, Any]:
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        return super().schema() | {name: bound for name, bound in bounds.items() if bound is not None}

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        whole = self.kinds == ("integer",)
        if kind_of(value) not in (("integer",) if whole else ("integer", "number")):
            return self.refuse(value, path, problems)
        low, high = self.minimum, self.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            return self.refuse(value, path, problems)
        if whole or isinstance(value, float):
            return value
        return self._float(value, path, problems)

    def _float(self, value: int, path: str, problems: Problems) -> Any:
        try:
            number = float(value)
        except OverflowError:
            number = 0.0
        if int(number) == value:
            return number
        problems.append(f"{path}: expected a number that a float keeps, got {jsontext.shown(value)}")
        return BAD


class Choice(Shape):
    """One of a few values, each with what it stands for."""

    def __init__(self, choices: Mapping[Any, Any]) -> None:
        self.choices = [(value, meaning) for value, meaning in choices.items()]
        self.kinds = tuple(dict.fromkeys(kind_of(value) for value, _ in self.choices))
        words = [f"`{value if isinstance(value, str) else jsontext.write(value)}`" for value, _ in self.choices]
        self.expected = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"

    def schema(self) -> dict[str, Any]:
        return super().schema() | {"enum": [value for value, _ in self.choices]}

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        for choice, meaning in self.choices:
            if kind_of(choice) == kind_of(value) and choice == value:
                return meaning
        return self.refuse(value, path, problems)


@dataclass
class List(Shape):
    """A list."""

    items: Shape
    kinds = ("array",)
    expected = "a list"

    def schema(self) -> dict[str, Any]:
        return super().schema() | {"items": self.items.schema()}

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            return self.refuse(value, path, problems)
        return [self.items.read(item, inside(path, f"[{at}]"), problems) for at, item in enumerate(value)]


@dataclass
class Map(Shape):
    """An object with any names."""

    values: Shape
    kinds = ("object",)
    expected = "an object"

    def schema(self) -> dict[str, Any]:
        return super().schema() | {"additionalProperties": self.values.schema()}

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return self.refuse(value, path, problems)
        return {name: self.values.read(item, inside(path, f".{name}"), problems) for name, item in value.items()}


@dataclass
class Optional(Shape):
    """A value or null."""

    shape: Shape

    def __post_init__(self) -> None:
        self.kinds = self.shape.kinds and (*self.shape.kinds, "null")
        self.expected = self.shape.expected

    def schema(self) -> dict[str, Any]:
        schema = self.shape.schema()
        if "anyOf" in schema:
            return schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
        if "type" in schema:
            types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            schema["type"] = [*types, "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
        return schema

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        return None if value is None else self.shape.read(value, path, problems)


class Either(Shape):
    """One of several shapes with different JSON types."""

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self.shapes = list(shapes)
        self.kinds = tuple(kind for shape in self.shapes for kind in shape.kinds)
        self.expected = " or ".join(shape.expected for shape in self.shapes)

    def schema(self) -> dict[str, Any]:
        schemas = [shape.schema() for shape in self.shapes]
        if all(list(schema) == ["type"] for schema in schemas):
            return {"type": list(self.kinds)}
        return {"anyOf": schemas}

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        kind = kind_of(value)
        exact = next((shape for shape in self.shapes if kind in shape.kinds), None)
        as_number = (shape for shape in self.shapes if kind == "integer" and "number" in shape.kinds)
        shape = exact or next(as_number, None)
        return shape.read(value, path, problems) if shape else self.refuse(value, path, problems)


@dataclass
class Field:
    """A member of an object, or an input."""

    name: str
    """The name in workflows."""
    python: str
    """The name in Python."""
    shape: Shape
    default: Any = ABSENT
    """A default, or a function that makes it."""
    optional: bool = False
    """Whether it may be absent without a default."""
    description: str = ""

    @property
    def required(self) -> bool:
        """Whether it has to be given."""
        return self.default is ABSENT and not self.optional and not isinstance(self.shape, Optional)

    def schema(self) -> dict[str, Any]:
        """The schema of the member; one that may be absent may also be null."""
        may_be_null = not self.required and not isinstance(self.shape, Optional)
        schema = (Optional(self.shape) if may_be_null else self.shape).schema()
        if self.description:
            schema["description"] = self.description
        if self.default is not ABSENT and self.default is not None and not callable(self.default):
            try:
                schema["default"] = jsontext.plain(self.default)
            except jsontext.NoJson as error:
                raise TypeError(f"the default of `{self.name}`: {error}") from error
        return schema

    def absent(self) -> Any:
        """The value of a member that is not given; `ABSENT` if its default is left to its class."""
        return None if self.default is ABSENT and not self.optional else ABSENT


@dataclass
class Object(Shape):
    """An object with known members."""

    fields: list[Field]
    make: Callable[..., Any]
    rest: Shape | None = None
    """The shape of other members, if there may be any."""
    description: str = ""
    kinds = ("object",)
    expected = "an object"

    def schema(self) -> dict[str, Any]:
        schema = super().schema()
        schema["properties"] = {field.name: field.schema() for field in self.fields}
        schema["required"] = [field.name for field in self.fields if field.required]
        schema["additionalProperties"] = (self.rest.schema() or True) if self.rest else False
        if self.description:
            schema["description"] = self.description
        return schema

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return self.refuse(value, path, problems)
        before = len(problems)
        members = self.members(value, lambda name: inside(path, f".{name}"), problems)
        known = self.names()
        problems += [f"{inside(path, '.' + name)} is not known; expected {known}" for name in self.others(value)]
        if len(problems) > before:
            return BAD
        try:
            return self.make(**members)
        except (TypeError, ValueError) as error:  # A class may check more than its hints say.
            problems.append(f"{path}: {error}")
            return BAD

    def members(self, value: Mapping[str, Any], path: Callable[[str], str], problems: Problems) -> dict[str, Any]:
        """Reads the members by their names in Python."""
        found: dict[str, Any] = {}
        for field in self.fields:
            given = value.get(field.name)
            if given is not None:
                found[field.python] = field.shape.read(given, path(field.name), problems)
            elif field.required:
                problems.append(f"{path(field.name)} is missing; expected {field.shape.expected}")
            elif (absent := field.absent()) is not ABSENT:
                found[field.python] = absent
        if self.rest:
            found |= self._rest(value, self.rest, path, problems)
        return found

    def _rest(
        self, value: Mapping[str, Any], rest: Shape, path: Callable[[str], str], problems: Problems
    ) -> dict[str, Any]:
        known, taken = {field.name for field in self.fields}, {field.python: field.name for field in self.fields}
        others = {name: item for name, item in value.items() if name not in known}
        problems += [f"{path(name)} is not known; expected `{taken[name]}`" for name in others if name in taken]
        return {name: rest.read(item, path(name), problems) for name, item in others.items()}

    def others(self, value: Mapping[str, Any]) -> list[str]:
        """The names that are not known."""
        known = {field.name for field in self.fields}
        return [] if self.rest else [name for name in value if name not in known]

    def names(self) -> str:
        """The names of the members, for messages."""
        return ", ".join(f"`{field.name}`" for field in self.fields) or "none"


def inside(path: str, member: str) -> str:
    """The path of a member: paths end with a backtick."""
    return f"{path.removesuffix('`')}{member.removesuffix('`')}`"


def of_enum(kind: type[enum.Enum]) -> Choice:
    """One of the values of an enum, read as its member."""
    return Choice({jsontext.plain(member): member for member in kind})
