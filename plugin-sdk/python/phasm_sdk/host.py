"""Calls to the host while an executor works. Every call counts as activity (`maxInactivity`)."""

from __future__ import annotations

import enum
from typing import Protocol

from . import recorder


class Level(enum.Enum):
    """Severity of a log line."""

    TRACE = "trace"
    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class Host(Protocol):
    """The functions of the host, or of a test that stands in for it."""

    def log(self, level: str, text: str) -> None: ...

    def progress(self, fraction: float | None, text: str) -> None: ...

    def heartbeat(self) -> None: ...


_host: Host = recorder.Recorder()


def use(host: Host) -> Host:
    """Replaces the host that is called, and returns the one before."""
    global _host
    before, _host = _host, host
    return before


def log(level: Level, text: str) -> None:
    """Writes one log line. An attempt that writes more than its limit ends with code 3."""
    _host.log(level.value, str(text))


def trace(text: str) -> None:
    """Writes a log line of the level `trace`."""
    log(Level.TRACE, text)


def debug(text: str) -> None:
    """Writes a log line of the level `debug`."""
    log(Level.DEBUG, text)


def info(text: str) -> None:
    """Writes a log line of the level `info`."""
    log(Level.INFO, text)


def warn(text: str) -> None:
    """Writes a log line of the level `warn`."""
    log(Level.WARN, text)


def error(text: str) -> None:
    """Writes a log line of the level `error`."""
    log(Level.ERROR, text)


def progress(fraction: float | None, text: str = "") -> None:
    """Reports progress: a fraction from 0 to 1 where it is known, and a few words."""
    _host.progress(None if fraction is None else float(fraction), str(text))


def heartbeat() -> None:
    """Reports that the work continues, so that `maxInactivity` starts again."""
    _host.heartbeat()
