"""Runs Python code: its variable `result` is the output."""

import linecache
import traceback
from typing import Annotated, Any, TypedDict

from phasm_sdk import Failed, error, executor

import modules  # noqa: F401

NAME = "<code>"
"""Name of the code in tracebacks."""
MAX_TRACEBACK = 8000
"""Characters of a traceback in the log, the last ones."""


class Outputs(TypedDict):
    result: Annotated[Any | None, "Value of the variable `result`; null if the code sets none."]


@executor(
    codes={
        2: "The code raised an exception.",
        3: "The inputs are wrong, or the result has no JSON form.",
    },
    examples=[
        {
            "name": "calculates with its arguments",
            "inputs": {"args": {"rows": [{"n": 1}, {"n": 2}]}, "code": "result = sum(row['n'] for row in rows)"},
            "outputs": {"result": 3},
        },
        {
            "name": "has the standard library",
            "inputs": {"code": "from decimal import Decimal\nresult = str(Decimal('0.1') + Decimal('0.2'))"},
            "outputs": {"result": "0.3"},
        },
        {
            "name": "fails by an exception",
            "inputs": {"code": "n = 0\nresult = 1 / n"},
            "code": 2,
            "message": "ZeroDivisionError: division by zero (line 2)",
        },
        {"name": "returns JSON", "inputs": {"code": "result = {1, 2}"}, "code": 3, "message": "has no JSON form"},
    ],
)
def python(
    code: Annotated[str, "Python code. It sets `result`."],
    args: Annotated[dict[str, Any] | None, "Variables that the code begins with."] = None,
) -> Outputs:
    """Runs Python code."""
    scope: dict[str, Any] = {"__name__": "__main__", **(args or {})}
    # Tracebacks quote the lines of a source that has no file.
    linecache.cache[NAME] = (len(code), None, code.splitlines(keepends=True), NAME)
    try:
        exec(compile(code, NAME, "exec"), scope)
    except Failed:
        # What the SDK's functions raise, which have an outcome of their own.
        raise
    except BaseException as raised:
        raise failed(raised) from None
    return {"result": scope.get("result")}


def failed(raised: BaseException) -> Failed:
    """The outcome of an exception: its class, its text, and the line of the code that it came from."""
    kind = type(raised).__name__
    try:
        text = str(raised)
        frames = traceback.TracebackException.from_exception(raised)
        # The first frame is the one of this file.
        frames.stack[:] = [frame for frame in frames.stack if frame.filename != __file__]
        error("".join(frames.format()).rstrip()[-MAX_TRACEBACK:])
    except Exception:
        text = "its text cannot be made"
    message = f"{kind}: {text}" if text else kind
    if isinstance(raised, ModuleNotFoundError):
        message += "; this executor has only those modules of the standard library that its page lists"
    line = line_of(raised)
    if line is not None and not isinstance(raised, SyntaxError):
        message += f" (line {line})"
    return Failed(message, kind=kind)


def line_of(raised: BaseException) -> int | None:
    """The last line of the code that a traceback passes."""
    last = None
    for frame, line in traceback.walk_tb(raised.__traceback__):
        if frame.f_code.co_filename == NAME:
            last = line
    return last
