"""Executes one invocation, whatever the function does."""

from __future__ import annotations

import traceback
from typing import Iterable

from . import host, jsontext
from .call import Call
from .definition import Definition, finished
from .outcome import Failed, Outcome

MAX_FRAMES = 20
"""Frames of a traceback in the log, the last ones."""
MAX_TRACEBACK = 8000
"""Characters of a traceback in the log, the last ones."""


def execute(definition: Definition, call: Call, inputs: Iterable[tuple[str, str]]) -> Outcome:
    """Calls an executor with inputs as JSON texts; of equal names the last wins."""
    values, problems = {}, []
    for name, text in inputs:
        try:
            values[name] = jsontext.parse(text)
        except (ValueError, RecursionError) as error:
            problems.append(f"input `{name}`: {error}")
    if problems:
        return Outcome.error("; ".join(problems)).kind("input").retryable(False)
    try:
        try:
            return definition.run(call, values)
        except Failed as failed:
            return finished(failed.outcome)
    except Failed as failed:
        return failed.outcome
    except BaseException as error:  # An exception that leaves the component is a trap, which says nothing.
        return _fault(error)


def _fault(error: BaseException) -> Outcome:
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:
        text = "its text cannot be made"
    message = f"{kind}: {text}" if text else kind
    if isinstance(error, ModuleNotFoundError):
        message += "; a plugin has the modules that were imported while it was built: import it at the top of the file"
    host.log(host.Level.ERROR, _traceback(error))
    return Outcome.error(message).kind(kind)


def _traceback(error: BaseException) -> str:
    try:
        frames = traceback.TracebackException.from_exception(error, limit=-MAX_FRAMES)
        package = __name__.rpartition(".")[0].replace(".", "/")
        own = [frame for frame in frames.stack if f"/{package}/" in frame.filename.replace("\\", "/")]
        if len(own) < len(frames.stack):
            frames.stack[:] = [frame for frame in frames.stack if frame not in own]
        return "".join(frames.format()).rstrip()[-MAX_TRACEBACK:]
    except BaseException:  # An exception whose text cannot be made, or no memory for it.
        return f"{type(error).__name__}, whose traceback cannot be shown"
