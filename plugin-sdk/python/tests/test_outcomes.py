"""What a function returns or raises is an outcome."""

import unittest
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from phasm_sdk import Failed, Name, Outcome, debug, executor, heartbeat, info, progress, testing


@dataclass
class Sum:
    total: int
    per_item: Annotated[dict[str, float], Name("perItem")]
    remark: str | None = None


class Strict(TypedDict):
    total: int


@executor
def add(numbers: list[int]) -> Sum:
    return Sum(sum(numbers), {"mean": sum(numbers) / len(numbers)})


def returns(value: Any, hint: Any = Any) -> Outcome:
    def function() -> Any:
        if isinstance(value, BaseException):
            raise value
        return value

    function.__annotations__["return"] = hint
    return testing.call(executor(function))


class Outcomes(unittest.TestCase):
    def test_a_dataclass_is_the_outputs(self) -> None:
        expected = Outcome.succeeded(total=3, perItem={"mean": 1.5}, remark=None)
        self.assertEqual(testing.call(add, numbers=[1, 2]), expected)

    def test_an_exception_is_code_3_with_its_class_and_the_traceback_is_in_the_log(self) -> None:
        run = testing.Test().input("numbers", []).run(add)
        expected = Outcome.error("ZeroDivisionError: division by zero").kind("ZeroDivisionError")
        self.assertEqual(run.outcome, expected)
        [log] = run.host
        assert isinstance(log, testing.Log)
        self.assertEqual(log.level, "error")
        self.assertIn("sum(numbers) / len(numbers)", log.text)
        self.assertNotIn("phasm_sdk/execution", log.text)

    def test_an_exception_whose_text_cannot_be_made_is_an_outcome_too(self) -> None:
        class Bad(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        for error in (SystemExit(3), RecursionError(), MemoryError("x"), Bad()):
            self.assertEqual(returns(error).details["error"]["kind"], type(error).__name__)
        self.assertIn("import it at the top", returns(ModuleNotFoundError("No module named 'x'")).message)

    def test_failed_has_the_code_that_it_is_given(self) -> None:
        self.assertEqual(returns(Failed("not there")), Outcome.failed("not there"))
        failed = Failed("busy", code=7, kind="quota", error_code=429, retryable=True, outputs={"a": 1}, detail={"b": 2})
        expected = Outcome(7, "busy", {"a": 1}, {"b": 2, "error": {"kind": "quota", "code": 429, "retryable": True}})
        self.assertEqual(returns(failed), expected)

    def test_an_outcome_is_taken_as_it_is(self) -> None:
        self.assertEqual(returns(Outcome.suspended("a yes", so_far=1)).outputs, {"so_far": 1})
        self.assertEqual(returns(Outcome.refused("no name")).details, {"refused": "no name"})
        self.assertEqual(returns(Outcome.timeout("late")).code, 4)
        self.assertEqual(returns(None), Outcome.succeeded())

    def test_outputs_are_as_declared_or_the_attempt_is_an_error(self) -> None:
        for outputs, message in [
            ({"total": "3"}, 'output `total`: expected an integer, got string "3"'),
            ({}, "output `total` is missing; expected an integer"),
            ({"total": 3, "more": 1}, "output `more` is not declared; expected `total`"),
            (Outcome.succeeded(total=1.5), "output `total`: expected an integer, got floating point `1.5`"),
        ]:
            outcome = returns(outputs, Strict | Outcome)
            self.assertEqual(outcome, Outcome.error(message).kind("output").retryable(False))

    def test_values_without_json_form_are_an_error_that_names_them(self) -> None:
        recursive: list[Any] = []
        recursive.append(recursive)
        for value, says in [
            ({"a": {1}}, "a: a set has no JSON form"),
            ({"a": float("nan")}, "a: nan is no number of JSON"),
            ({"a": {"b": [{3: 4}]}}, "a.b[0]: the key 3 is no text"),
            ({"a": b""}, "a: a bytes has no JSON form"),
            ({"a": recursive}, "it contains itself"),
            (Outcome.succeeded(x=object()), "output `x` cannot be written as JSON: a object has no JSON form"),
            (Outcome.failed("").detail("x", {1}), "x: a set has no JSON form"),
            ("text", "function returned a str; expected a dict, a dataclass, None or an Outcome"),
        ]:
            outcome = returns(value)
            self.assertIn(says, outcome.message)
            self.assertEqual((outcome.code, outcome.details["error"]["kind"]), (3, "output"))

    def test_the_host_is_told(self) -> None:
        @executor
        def busy() -> None:
            info("begins")
            debug("detail")
            progress(0.5, "half")
            progress(None, "more")
            heartbeat()

        self.assertEqual(testing.Test().run(busy).host, [
            testing.Log("info", "begins"), testing.Log("debug", "detail"), testing.Progress(0.5, "half"),
            testing.Progress(None, "more"), testing.Heartbeat(),
        ])


if __name__ == "__main__":
    unittest.main()
