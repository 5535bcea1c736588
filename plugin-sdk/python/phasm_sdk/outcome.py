"""Outcome of an execution."""

from __future__ import annotations

from typing import Any, Mapping

SUCCEEDED, SUSPENDED, FAILED, ERROR, TIMEOUT = range(5)


class Outcome:
    """Code, message, outputs and detail of one execution.

    0 succeeded, 1 suspended, 2 failed, 3 error, 4 timeout; any other code counts as an error and is kept.
    """

    def __init__(
        self,
        code: int,
        message: str = "",
        outputs: Mapping[str, Any] | None = None,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        if type(code) is not int or not -(2**31) <= code < 2**31:
            raise ValueError(f"code: expected an integer of 32 bits, got {code!r}")
        self.code = code
        self.message = str(message)
        self.outputs: dict[str, Any] = dict(outputs or {})
        self.details: dict[str, Any] = dict(detail or {})

    @classmethod
    def succeeded(cls, **outputs: Any) -> Outcome:
        """Code 0."""
        return cls(SUCCEEDED, "", outputs)

    @classmethod
    def suspended(cls, waits_for: str, **outputs: Any) -> Outcome:
        """Code 1: waits for a resume, saying what for. The executor is then called again with `resumed` set."""
        return cls(SUSPENDED, waits_for, outputs)

    @classmethod
    def refused(cls, why: str) -> Outcome:
        """Code 1 after a resume: refuses the response and waits for another."""
        return cls(SUSPENDED, why).detail("refused", why)

    @classmethod
    def failed(cls, why: str) -> Outcome:
        """Code 2: another attempt would fail, too, as for a file that is not there."""
        return cls(FAILED, why)

    @classmethod
    def error(cls, why: str) -> Outcome:
        """Code 3: misuse or a fault."""
        return cls(ERROR, why)

    @classmethod
    def timeout(cls, why: str) -> Outcome:
        """Code 4: took too long."""
        return cls(TIMEOUT, why)

    def output(self, name: str, value: Any) -> Outcome:
        """Adds an output."""
        self.outputs[name] = value
        return self

    def detail(self, key: str, value: Any) -> Outcome:
        """Adds to the detail that policy rules read as `outcome.<key>`."""
        self.details[key] = value
        return self

    def kind(self, kind: str) -> Outcome:
        """Sets `error.kind`, a word that policy rules can compare."""
        return self._error("kind", kind)

    def error_code(self, code: Any) -> Outcome:
        """Sets `error.code`, such as a status of a service."""
        return self._error("code", code)

    def retryable(self, retryable: bool) -> Outcome:
        """Sets `error.retryable`. After false, `retry` without a condition makes no other attempt."""
        return self._error("retryable", bool(retryable))

    def _error(self, field: str, value: Any) -> Outcome:
        self.details.setdefault("error", {})[field] = value
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outcome) and self._parts() == other._parts()

    def __repr__(self) -> str:
        code, message, outputs, detail = self._parts()
        return f"Outcome({code}, {message!r}, {outputs!r}, {detail!r})"

    def _parts(self) -> tuple[int, str, dict[str, Any], dict[str, Any]]:
        return self.code, self.message, self.outputs, self.details


class Failed(Exception):
    """Ends the execution with an outcome: code 2 unless another is given."""

    def __init__(
        self,
        message: str,
        *,
        code: int = FAILED,
        kind: str | None = None,
        error_code: Any = None,
        retryable: bool | None = None,
        outputs: Mapping[str, Any] | None = None,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.outcome = Outcome(code, message, outputs, detail)
        if kind is not None:
            self.outcome.kind(kind)
        if error_code is not None:
            self.outcome.error_code(error_code)
        if retryable is not None:
            self.outcome.retryable(retryable)
