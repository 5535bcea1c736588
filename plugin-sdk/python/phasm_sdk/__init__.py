"""SDK for executors in Python: an executor is a typed function from inputs to outputs.

    from typing import Annotated, TypedDict
    from phasm_sdk import executor

    class Greeting(TypedDict):
        greeting: Annotated[str, "Text of the greeting."]

    @executor
    def greet(name: Annotated[str, "Name of the person to greet."], times: int = 1) -> Greeting:
        return {"greeting": " ".join([f"Hello, {name}!"] * times)}
"""

from .call import Call
from .definition import executor
from .host import Level, debug, error, heartbeat, info, log, progress, trace, warn
from .hints import Name, Range
from .outcome import Failed, Outcome

__all__ = [
    "Call",
    "Failed",
    "Level",
    "Name",
    "Outcome",
    "Range",
    "debug",
    "error",
    "executor",
    "heartbeat",
    "info",
    "log",
    "progress",
    "trace",
    "warn",
]
