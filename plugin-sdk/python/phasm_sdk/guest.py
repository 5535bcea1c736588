"""Makes an executor a component: imported by what `phasm plugin build` puts into it, and nowhere else."""

from __future__ import annotations

import encodings.ascii
import encodings.cp1252
import encodings.idna
import encodings.latin_1
import encodings.unicode_escape
import encodings.utf_16
import encodings.utf_8_sig
import importlib
import json
import linecache
import sys
import traceback
from pathlib import Path
from typing import Any

import wit_world  # type: ignore[import-not-found]
from wit_world.imports import host as imported  # type: ignore[import-not-found]
from wit_world.imports import phasm_executor_types as types

from . import definition, host, jsontext, wasi_http
from .call import Call
from .execution import execute
from .http import use


class ComponentHost:
    """The host of a component."""

    def log(self, level: str, text: str) -> None:
        imported.log(types.Level[level.upper()], text)

    def progress(self, fraction: float | None, text: str) -> None:
        imported.progress(fraction, text)

    def heartbeat(self) -> None:
        imported.heartbeat()


def world(module: str, entry: str) -> type:
    """Returns the class that a component is made of, and leaves the executor's manifest next to the file `entry`."""
    folder = Path(entry).parent
    try:
        found = definition.only_in(importlib.import_module(module))
        manifest = json.dumps(found.manifest, allow_nan=False)
        _warm_up(found)
    except BaseException as error:
        (folder / "error.txt").write_text(_without_own_frames(error))
        raise
    (folder / "manifest.json").write_text(manifest)
    host.use(ComponentHost())
    use(wasi_http.send)

    class WitWorld(wit_world.WitWorld):  # type: ignore[misc]
        """The executor's component."""

        def execute(self, invocation: Any) -> Any:
            return _execute(found, invocation)

    return WitWorld


def _execute(found: definition.Definition, invocation: Any) -> Any:
    left = invocation.remaining_ms
    call = Call(
        config=jsontext.parse(invocation.config),
        run_id=invocation.run_id,
        workflow=invocation.workflow,
        namespace=invocation.namespace,
        task_run_id=invocation.task_run_id,
        task=invocation.task,
        attempt=invocation.attempt,
        dispatch=invocation.dispatch,
        resumed=invocation.resumed,
        remaining=None if left is None else left / 1000,
        idempotency_key=invocation.idempotency_key,
    )
    outcome = execute(found, call, [(given.name, given.value) for given in invocation.inputs])
    outputs = [types.NamedValue(name, jsontext.write(value)) for name, value in outcome.outputs.items()]
    detail = jsontext.write(outcome.details) if outcome.details else None
    return types.Outcome(outcome.code, outcome.message, outputs, detail)


def _warm_up(found: definition.Definition) -> None:
    """Does once what loads modules and sources, neither of which can be loaded later."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(".py") and not file.startswith("/python/"):
            lines = linecache.getlines(file)
            # Without a time, the entry is kept although the file is not there any more.
            linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    try:
        raise ModuleNotFoundError("no module")
    except ModuleNotFoundError as error:
        "".join(traceback.TracebackException.from_exception(error).format())
    found.inputs, found.outputs  # noqa: B018


def _without_own_frames(error: BaseException) -> str:
    if isinstance(error, TypeError) and error.__traceback__ and _is_own(error):
        return str(error)
    frames = traceback.TracebackException.from_exception(error)
    hidden = ("/phasm_sdk/", "importlib", "/phasm_entry.py")
    frames.stack[:] = [frame for frame in frames.stack if not any(part in frame.filename for part in hidden)]
    return "".join(frames.format()).rstrip()


def _is_own(error: BaseException) -> bool:
    """Whether the SDK itself found the error, in the hints of the executor."""
    return "/phasm_sdk/" in traceback.extract_tb(error.__traceback__)[-1].filename


_ = (encodings.ascii, encodings.cp1252, encodings.idna, encodings.latin_1, encodings.unicode_escape, encodings.utf_16,
     encodings.utf_8_sig)
