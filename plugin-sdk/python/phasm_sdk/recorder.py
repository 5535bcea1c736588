"""Stands in for the host in tests: remembers the calls."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Log:
    """A log line."""

    level: str
    text: str


@dataclass(frozen=True)
class Progress:
    """A report of progress."""

    fraction: float | None
    text: str


@dataclass(frozen=True)
class Heartbeat:
    """A sign that the work continues."""


HostCall = Log | Progress | Heartbeat


class Recorder:
    """A host that keeps the calls in `calls`, in order."""

    def __init__(self) -> None:
        self.calls: list[HostCall] = []

    def log(self, level: str, text: str) -> None:
        self.calls.append(Log(level, text))

    def progress(self, fraction: float | None, text: str) -> None:
        self.calls.append(Progress(fraction, text))

    def heartbeat(self) -> None:
        self.calls.append(Heartbeat())
