"""The manifest is derived from the hints."""

import types
import unittest
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from phasm_sdk import Call, Name, Outcome, Range, executor
from phasm_sdk.definition import definition, only_in


@dataclass
class Proxy:
    """Way to the server."""

    host: Annotated[str, "Name of the host."]
    port: Annotated[int, Range(1, 65535)] = 8080


class Page(TypedDict):
    status: Annotated[int, "Status of the response."]
    content_type: NotRequired[Annotated[str, Name("contentType")]]


@executor(wants={"http": ["GET https://a.example/*"], "wall_clock": "real"}, max_runtime="1m", retry={"limit": 2})
def fetch(
    call: Call,
    urls: Annotated[list[str], "Addresses."],
    method: Literal["GET", "POST"] = "GET",
    proxy: Proxy | None = None,
    headers: dict[str, str] = {},
    either: int | str | None = None,
    mixed: list[int] | str = "",
    anything: Any = None,
) -> Page | Outcome:
    """Fetches pages
    one by one.

    More about it.
    """
    return Outcome.failed(f"{call} {urls} {method} {proxy} {headers} {either} {mixed} {anything}")


def manifest(function: Any) -> dict[str, Any]:
    return definition(executor(function)).manifest


class Manifest(unittest.TestCase):
    def test_it_says_what_the_function_says(self) -> None:
        self.assertEqual(definition(fetch).manifest, {
            "description": "Fetches pages one by one.",
            "wants": {"http": ["GET https://a.example/*"], "wall-clock": "real"},
            "maxRuntime": "1m",
            "retry": {"limit": 2},
            "inputs": {
                "type": "object",
                "properties": {
                    "urls": {"type": "array", "items": {"type": "string"}, "description": "Addresses."},
                    "method": {"type": ["string", "null"], "enum": ["GET", "POST", None], "default": "GET"},
                    "proxy": {
                        "type": ["object", "null"],
                        "properties": {
                            "host": {"type": "string", "description": "Name of the host."},
                            "port": {"type": ["integer", "null"], "minimum": 1, "maximum": 65535, "default": 8080},
                        },
                        "required": ["host"],
                        "additionalProperties": False,
                        "description": "Way to the server.",
                    },
                    "headers": {"type": ["object", "null"], "additionalProperties": {"type": "string"}, "default": {}},
                    "either": {"type": ["integer", "string", "null"]},
                    "mixed": {
                        "anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}, {"type": "null"}],
                        "default": "",
                    },
                    "anything": {},
                },
                "required": ["urls"],
                "additionalProperties": False,
            },
            "outputs": {
                "type": "object",
                "properties": {
                    "status": {"type": "integer", "description": "Status of the response."},
                    "contentType": {"type": ["string", "null"]},
                },
                "required": ["status"],
                "additionalProperties": False,
            },
        })

    def test_outputs_without_a_declaration_may_be_any(self) -> None:
        def untyped():  # type: ignore[no-untyped-def]
            return {}

        def outcome() -> Outcome:
            return Outcome.succeeded()

        def nothing(**rest: int) -> None: ...

        def any_numbers() -> dict[str, int]:
            return {}

        self.assertNotIn("outputs", manifest(untyped))
        self.assertNotIn("outputs", manifest(outcome))
        self.assertEqual(manifest(nothing)["outputs"]["additionalProperties"], False)
        self.assertEqual(manifest(nothing)["inputs"]["additionalProperties"], {"type": "integer"})
        self.assertEqual(manifest(any_numbers)["outputs"], {"type": "object", "additionalProperties": {"type": "integer"}})

    def test_every_parameter_that_cannot_be_an_input_is_named(self) -> None:
        def wrong(a, b: set[int], c: dict[int, str], /, *d: int, e: list[int] | list[str] = [], f: int = object()) -> None:  # type: ignore
            ...

        with self.assertRaises(TypeError) as caught:
            manifest(wrong)
        for says in [
            "parameter `a` of wrong: it has no type hint; expected str, int",
            "parameter `b` of wrong: inputs have names",
            "parameter `d` of wrong: inputs have names",
            "parameter `e` of wrong: the types of a union must differ",
            "the default of `f`: a object has no JSON form",
        ]:
            self.assertIn(says, str(caught.exception))

    def test_hints_without_a_schema_are_refused(self) -> None:
        def recursive(node: "Node") -> None: ...

        def number() -> int:
            return 1

        def keys(a: dict[int, str]) -> None: ...

        def doubtful(a: Literal[1, True]) -> None: ...

        for function, says in [
            (recursive, "Node contains itself"), (number, "has no names; expected a TypedDict"),
            (keys, "is not supported"), (doubtful, "cannot tell True from 1"),
        ]:
            with self.assertRaisesRegex(TypeError, says):
                manifest(function)

    def test_a_module_has_one_executor(self) -> None:
        module = types.ModuleType(fetch.__module__)
        with self.assertRaisesRegex(TypeError, "found none"):
            only_in(module)
        module.__dict__.update(fetch=fetch, again=fetch)
        self.assertIs(only_in(module).function, fetch)
        module.__dict__["other"] = executor(lambda: None)
        with self.assertRaisesRegex(TypeError, "expected one function"):
            only_in(module)

    def test_codes_and_examples_are_part_of_it(self) -> None:
        @executor(codes={2: "Not found."}, deterministic=True, examples=[{"inputs": {"a": 1}, "code": 2}])
        def find(a: int) -> None: ...

        found = definition(find).manifest
        self.assertEqual(found["codes"], [{"code": 2, "meaning": "Not found."}])
        self.assertIs(found["deterministic"], True)
        self.assertEqual(found["examples"], [{"inputs": {"a": 1}, "code": 2}])

    def test_the_decorator_takes_what_a_manifest_has(self) -> None:
        with self.assertRaisesRegex(TypeError, "max_time is not known; expected wants, retry"):
            executor(max_time=3)(lambda: None)  # type: ignore[call-overload]
        with self.assertRaisesRegex(TypeError, "expected a function"):
            executor(3)  # type: ignore[type-var]


@dataclass
class Node:
    below: "list[Node]"


if __name__ == "__main__":
    unittest.main()
