"""Calls an executor natively, in an ordinary unit test.

    outcome = testing.call(greet, name="Ada")
    third = testing.Test().config({"name": "Bob"}).attempt(3).run(greet)
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Callable, Mapping

from . import host, http, jsontext
from .call import RESUMED_BY, Call
from .definition import definition
from .execution import execute
from .outcome import Outcome
from .recorder import Heartbeat, HostCall, Log, Progress, Recorder

__all__ = ["Heartbeat", "HostCall", "Log", "Progress", "Test", "TestRun", "call"]


@dataclass(frozen=True)
class TestRun:
    """Result of a tested call."""

    __test__ = False

    outcome: Outcome
    """Outcome that the host would get."""
    host: list[HostCall]
    """Calls to the host, in order."""
    requests: list[http.Request]
    """HTTP requests, in order."""


def call(executor: Callable[..., Any], /, **inputs: Any) -> Outcome:
    """Calls an executor with these inputs, as a first attempt."""
    return Test().inputs(inputs).run(executor).outcome


class Test:
    """An invocation in the making: the first attempt of the task `test`, without inputs, config or deadline."""

    __test__ = False

    def __init__(self) -> None:
        self._call = Call()
        self._inputs: list[tuple[str, str]] = []
        self._send: http.Send | None = None

    def inputs(self, inputs: Mapping[str, Any]) -> Test:
        """Adds inputs."""
        for name, value in inputs.items():
            self.input(name, value)
        return self

    def input(self, name: str, value: Any) -> Test:
        """Adds an input."""
        return self.input_json(name, jsontext.write(jsontext.plain(value)))

    def input_json(self, name: str, json: str) -> Test:
        """Adds an input as JSON text."""
        self._inputs.append((name, json))
        return self

    def config(self, config: Mapping[str, Any]) -> Test:
        """Sets `executor.config`."""
        return self._set(config=jsontext.parse(jsontext.write(jsontext.plain(dict(config)))))

    def attempt(self, attempt: int) -> Test:
        """Sets the attempt's number, and the dispatch's to the same."""
        return self._set(attempt=attempt, dispatch=attempt)

    def resumed(self) -> Test:
        """Makes it the second dispatch, after a suspension; its payload goes to `inputs`."""
        return self._set(resumed=True, dispatch=self._call.dispatch + 1)

    def resumed_by(self, caller: str) -> Test:
        """Makes it the second dispatch, after a suspension that this caller has resumed."""
        self.resumed()
        return self._set(config=self._call.config | {RESUMED_BY: caller})

    def remaining(self, seconds: float) -> Test:
        """Sets the time that is left."""
        return self._set(remaining=seconds)

    def http(self, send: http.Send) -> Test:
        """Sets the function from HTTP requests to responses; without one, each is denied."""
        self._send = send
        return self

    def run(self, executor: Callable[..., Any]) -> TestRun:
        """Calls the executor as the host would."""
        recorder, requests = Recorder(), []

        def send(request: http.Request) -> http.Response:
            requests.append(request)
            return (self._send or http.denied)(request)

        before, sent = host.use(recorder), http.use(send)
        try:
            outcome = execute(definition(executor), self._call, self._inputs)
        finally:
            host.use(before)
            http.use(sent)
        return TestRun(outcome, recorder.calls, requests)

    def _set(self, **fields: Any) -> Test:
        self._call = dataclasses.replace(self._call, **fields)
        return self
