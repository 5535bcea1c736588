"""Inputs are read by the hints of the function, and everything that is wrong is said at once."""

import enum
import unittest
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from phasm_sdk import Call, Name, Outcome, Range, executor, testing


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Proxy:
    host: str
    port: Annotated[int, Range(1, 65535)] = 8080
    tags: list[str] = field(default_factory=list)
    max_hops: Annotated[int | None, Name("maxHops")] = None


    def __post_init__(self) -> None:
        if self.host == "":
            raise ValueError("expected a host")


class Person(TypedDict):
    name: str
    nick: NotRequired[str]


seen: dict[str, Any] = {}


@executor
def sample(
    text: str,
    how_many: Annotated[int, Name("how-many"), Range(0)] = 2,
    ratio: float = 0.5,
    choice: Literal["one", "two", "three"] | None = None,
    colour: Colour = Colour.RED,
    numbers: list[int] = [],
    weights: dict[str, float] | None = None,
    proxy: Proxy | None = None,
    people: list[Person] = [],
    either: int | str | None = None,
    anything: Any = None,
) -> None:
    seen.clear()
    seen.update(locals())


@executor
def typed(flag: bool) -> None:
    seen["flag"] = flag


@executor
def fill(template: str, **variables: Any) -> dict[str, Any]:
    return {"count": len(variables), "first": next(iter(variables), "")}


def problems(**inputs: Any) -> list[str]:
    outcome = testing.call(sample, **inputs)
    assert outcome.code == 3 and outcome.details == {"error": {"kind": "input", "retryable": False}}, outcome
    return outcome.message.split("; ")


class Inputs(unittest.TestCase):
    def test_inputs_are_read_with_their_defaults(self) -> None:
        given = {
            "text": "t", "how-many": 3, "ratio": 2, "choice": "two", "colour": "blue", "numbers": [1], "either": "x",
            "weights": {"a": 1}, "proxy": {"host": "h", "maxHops": 3}, "people": [{"name": "Ada"}], "anything": [1],
        }
        self.assertEqual(testing.Test().inputs(given).run(sample).outcome, Outcome.succeeded())
        self.assertEqual(seen, {
            "text": "t", "how_many": 3, "ratio": 2.0, "choice": "two", "colour": Colour.BLUE, "numbers": [1],
            "weights": {"a": 1.0}, "proxy": Proxy("h", max_hops=3), "people": [{"name": "Ada"}], "either": "x",
            "anything": [1],
        })
        self.assertIs(type(seen["ratio"]), float)
        testing.call(sample, text="", ratio=None, choice=None)
        self.assertEqual((seen["how_many"], seen["ratio"], seen["colour"]), (2, 0.5, Colour.RED))

    def test_every_problem_names_its_input_what_was_expected_and_what_was_given(self) -> None:
        self.assertEqual(problems(), ["input `text` is missing", "expected a string"])
        given = {
            "text": 1, "how-many": -1, "ratio": "x", "choice": "four", "colour": 3, "numbers": [1, 2.5, True],
            "weights": {"a": None}, "proxy": {"port": 0, "hots": "h"}, "people": [{"nick": "A"}], "either": [],
        }
        outcome = testing.Test().inputs(given).run(sample).outcome
        self.assertEqual(outcome.message, "; ".join([
            "input `text`: expected a string, got integer `1`",
            "input `how-many`: expected an integer from 0 on, got integer `-1`",
            'input `ratio`: expected a number, got string "x"',
            'input `choice`: expected `one`, `two` or `three`, got string "four"',
            "input `colour`: expected `red` or `blue`, got integer `3`",
            "input `numbers[1]`: expected an integer, got floating point `2.5`",
            "input `numbers[2]`: expected an integer, got boolean `true`",
            "input `weights.a`: expected a number, got null",
            "input `proxy.host` is missing; expected a string",
            "input `proxy.port`: expected an integer from 1 to 65535, got integer `0`",
            "input `proxy.hots` is not known; expected `host`, `port`, `tags`, `maxHops`",
            "input `people[0].name` is missing; expected a string",
            "input `either`: expected an integer or a string, got a list",
        ]))

    def test_a_class_may_check_more_than_its_hints_say(self) -> None:
        self.assertEqual(problems(text="", proxy={"host": ""}), ["input `proxy`: expected a host"])

    def test_nothing_is_reinterpreted_or_rounded(self) -> None:
        for wrong in (1, 0, "true", None):
            self.assertEqual(testing.call(typed, flag=wrong).code, 3, wrong)
        self.assertIn("got floating point `2.0`", testing.Test().input("text", "").input("how-many", 2.0)
                      .run(sample).outcome.message)
        self.assertIn("a number that a float keeps", problems(text="", ratio=2**53 + 1)[0])
        self.assertIn("too large for a float", testing.Test().input_json("ratio", "1e400").run(sample).outcome.message)

    def test_long_values_are_shortened(self) -> None:
        message = problems(text="", ratio="ü" * 1000)[0]
        self.assertTrue(message.endswith("ü…") and len(message) < 200, message)

    def test_the_config_fills_in_what_is_absent_or_null(self) -> None:
        test = testing.Test().config({"text": "config", "how-many": 7, "other": 1})
        test.input("how-many", None).run(sample)
        self.assertEqual((seen["text"], seen["how_many"]), ("config", 7))
        run = test.input("text", "input").run(sample)
        self.assertEqual((seen["text"], run.host), ("input", []))

    def test_of_equal_names_the_last_wins(self) -> None:
        testing.Test().input("text", "a").input("text", "b").run(sample)
        self.assertEqual(seen["text"], "b")

    def test_an_input_that_is_not_known_is_named_in_the_log(self) -> None:
        run = testing.Test().inputs({"flag": True, "falg": 1}).run(typed)
        self.assertEqual(run.host, [testing.Log("warn", "input `falg` is not used; this executor knows `flag`")])
        self.assertEqual(run.outcome.code, 0)

    def test_other_inputs_are_taken_where_the_function_takes_them(self) -> None:
        outcome = testing.call(fill, template="", a=1, b=2)
        self.assertEqual(outcome, Outcome.succeeded(count=2, first="a"))

    def test_the_call_says_what_it_is(self) -> None:
        @executor
        def approve(call: Call, approved: bool | None = None) -> None:
            seen["call"] = (call.attempt, call.dispatch, call.resumed, call.resumed_by, call.remaining, approved)

        testing.Test().attempt(3).remaining(1.5).run(approve)
        self.assertEqual(seen["call"], (3, 3, False, None, 1.5, None))
        run = testing.Test().resumed_by("local:ada").input("approved", True).run(approve)
        self.assertEqual((seen["call"], run.host), ((1, 2, True, "local:ada", None, True), []))


if __name__ == "__main__":
    unittest.main()
