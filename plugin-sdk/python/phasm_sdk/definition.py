"""The decorator `executor`."""

from __future__ import annotations

import functools
import inspect
import typing
from typing import Any, Callable, Mapping, Sequence, TypeVar, overload

from . import host, jsontext
from .call import RESUMED_BY, Call
from .hints import members, unwrap
from .outcome import Failed, Outcome
from .reading import inputs_of, object_of, shape_of
from .shapes import Map, Object, Shape

ATTRIBUTE = "__phasm_executor__"
F = TypeVar("F", bound=Callable[..., Any])


class Definition:
    """A function with what the manifest says of it."""

    def __init__(self, function: Callable[..., Any], members: dict[str, Any]) -> None:
        self.function = function
        self.members = members

    @functools.cached_property
    def inputs(self) -> tuple[Object, str | None]:
        """The shape of the inputs, and the parameter that gets the call."""
        return inputs_of(self.function, Call)

    @functools.cached_property
    def outputs(self) -> Shape | None:
        """The shape of the outputs; none where any are allowed."""
        return _outputs(self.function)

    @property
    def manifest(self) -> dict[str, Any]:
        """The members of the manifest that the function says."""
        manifest = dict(self.members)
        text = inspect.getdoc(self.function)
        if text:
            manifest["description"] = text.split("\n\n")[0].replace("\n", " ")
        manifest["inputs"] = self.inputs[0].schema()
        if self.outputs is not None:
            manifest["outputs"] = self.outputs.schema()
        return manifest

    def run(self, call: Call, given: Mapping[str, Any]) -> Outcome:
        """Calls the function; inputs that do not fit never reach it."""
        shape, takes_call = self.inputs
        config = {name: value for name, value in call.config.items() if name != RESUMED_BY}
        known = {field.name for field in shape.fields}
        values = {name: config[name] for name in config if name in known} | {
            name: value for name, value in given.items() if value is not None or name not in config
        }
        problems: list[str] = []
        arguments = shape.members(values, lambda name: f"input `{name}`", problems)
        if problems:
            return Outcome.error("; ".join(problems)).kind("input").retryable(False)
        for name in shape.others(values):
            host.warn(f"input `{name}` is not used; this executor knows {shape.names()}")
        if takes_call:
            arguments[takes_call] = call
        return self._outcome(self.function(**arguments))

    def _outcome(self, returned: Any) -> Outcome:
        if not isinstance(returned, Outcome):
            outputs = {} if returned is None else written(lambda: jsontext.plain(returned))
            if not isinstance(outputs, dict):
                shown = type(returned).__name__
                name, expected = self.function.__name__, "a dict, a dataclass, None or an Outcome"
                raise _bad(f"{name} returned a {shown}; expected {expected}")
            returned = Outcome(0, "", outputs)
        outcome = finished(returned)
        if outcome.code == 0:
            self._check(outcome)
        return outcome

    def _check(self, outcome: Outcome) -> None:
        if self.outputs is None:
            return
        problems: list[str] = []
        if isinstance(self.outputs, Object):
            self.outputs.members(outcome.outputs, lambda name: f"output `{name}`", problems)
            names = self.outputs.names()
            problems += [
                f"output `{name}` is not declared; expected {names}" for name in self.outputs.others(outcome.outputs)
            ]
        else:
            for name, value in outcome.outputs.items():
                self.outputs.values.read(value, f"output `{name}`", problems)  # type: ignore[attr-defined]
        if problems:
            raise _bad("; ".join(problems))


def finished(outcome: Outcome) -> Outcome:
    """The outcome with all values as JSON has them."""
    outputs = {name: written(lambda: jsontext.plain(value), name) for name, value in outcome.outputs.items()}
    detail = written(lambda: jsontext.plain(outcome.details))
    return Outcome(outcome.code, outcome.message, outputs, detail)


def written(write: Callable[[], Any], name: str | None = None) -> Any:
    """Returns what `write` makes of a value; one without JSON form is an error of the executor."""
    try:
        return write()
    except (jsontext.NoJson, RecursionError) as error:
        why = "it contains itself" if isinstance(error, RecursionError) else str(error)
        value = "the outcome" if name is None else f"output `{name}`"
        raise _bad(f"{value} cannot be written as JSON: {why}") from None


def _bad(message: str) -> Failed:
    return Failed(message, code=3, kind="output", retryable=False)


def _outputs(function: Callable[..., Any]) -> Shape | None:
    hint = members(function).get("return", Any)
    place = f"the outputs of {function.__name__}"
    plain = unwrap(hint)[0]
    parts = typing.get_args(plain) if typing.get_origin(plain) in _UNIONS else (plain,)
    others = [part for part in parts if part is not Outcome and part is not type(None)]
    if others in ([], [Any]):
        # An outcome may have any outputs, and without a hint there may be any, too.
        return None if Outcome in parts or others else Object([], dict)
    if len(others) == 1:
        found = object_of(others[0], place)
        shape = found or shape_of(others[0], place)
        if isinstance(shape, (Object, Map)):
            return shape
    raise TypeError(f"{place}: {hint} has no names; expected a TypedDict, a dataclass, dict[str, T], None or Outcome")


_UNIONS = (typing.Union, type(int | str))


@overload
def executor(function: F, /) -> F: ...


@overload
def executor(
    *,
    wants: Mapping[str, Any] | None = None,
    retry: Mapping[str, Any] | None = None,
    max_runtime: str | int | None = None,
    max_inactivity: str | int | None = None,
    deadline: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    suspends: bool = False,
    codes: Mapping[int, str] | None = None,
    deterministic: bool = False,
    examples: Sequence[Mapping[str, Any]] | None = None,
) -> Callable[[F], F]: ...


def executor(function: Any = None, /, *, suspends: bool = False, deterministic: bool = False, **said: Any) -> Any:
    """Makes a function the executor of its module.

    `wants` are the grants that it asks for, the others are policies of tasks that have none of their own, each as in a
    workflow; `suspends` says that its attempts may wait for people, and `deterministic` that the same inputs always have
    the same outcome. `codes` are the codes that it returns with their meanings. `examples` are calls that
    `phasm plugin test` makes, each with `inputs`, the `code` (0 if there is none) and some `outputs` or a part of the `message`.
    """
    if function is None:
        flags = {"suspends": suspends, "deterministic": deterministic}
        return functools.partial(_define, said=said | {name: True for name, is_set in flags.items() if is_set})
    return _define(function, said)


_WORDS = {
    "wants": "wants",
    "retry": "retry",
    "max_runtime": "maxRuntime",
    "max_inactivity": "maxInactivity",
    "deadline": "deadline",
    "limits": "limits",
    "suspends": "suspends",
    "codes": "codes",
    "deterministic": "deterministic",
    "examples": "examples",
}


def _define(function: Callable[..., Any], said: Mapping[str, Any]) -> Any:
    unknown = [name for name in said if name not in _WORDS]
    if unknown:
        raise TypeError(f"executor: {', '.join(unknown)} is not known; expected {', '.join(_WORDS)}")
    if not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
        raise TypeError("executor: expected a function, not async")
    members = {_WORDS[name]: value for name, value in said.items() if value is not None}
    for name in ("wants", "limits"):
        if name in members:
            members[name] = {key.replace("_", "-"): value for key, value in members[name].items()}
    if "codes" in members:
        members["codes"] = [{"code": code, "meaning": meaning} for code, meaning in members["codes"].items()]
    setattr(function, ATTRIBUTE, Definition(function, members))
    return function


def definition(function: Callable[..., Any]) -> Definition:
    """The definition of a decorated function."""
    found = getattr(function, ATTRIBUTE, None)
    if not isinstance(found, Definition):
        raise TypeError(f"{getattr(function, '__name__', function)} is no executor; expected @executor above it")
    return found


def only_in(module: Any) -> Definition:
    """The executor of a module.

    Raises `TypeError` unless there is exactly one.
    """
    found = [value for value in vars(module).values() if isinstance(getattr(value, ATTRIBUTE, None), Definition)]
    own = [value for value in dict.fromkeys(found) if value.__module__ == module.__name__] or list(dict.fromkeys(found))
    if len(own) == 1:
        return definition(own[0])
    names = ", ".join(value.__name__ for value in own) or "none"
    raise TypeError(f"{module.__name__}: expected one function with @executor, found {names}")
