"""The call of an executor: its configuration and its attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

RESUMED_BY = "phasm.resumedBy"


@dataclass(frozen=True)
class Call:
    """One dispatch of one attempt of a task. A parameter with this type gets it."""

    config: dict[str, Any] = field(default_factory=dict)
    """`executor.config`. Inputs that are not given are looked up here."""
    run_id: str = "run"
    """The workflow's run."""
    workflow: str = "test"
    """`metadata.name` of the workflow."""
    namespace: str = "default"
    """`metadata.namespace` of the workflow."""
    task_run_id: str = "run/test"
    """The task run."""
    task: str = "test"
    """The task's name where it is called."""
    attempt: int = 1
    """Counts attempts, from 1; a resumed attempt keeps its number."""
    dispatch: int = 1
    """Counts dispatches of the task run, from 1; a resume is a new dispatch."""
    resumed: bool = False
    """Whether this attempt was suspended and is called again, the payload among its inputs."""
    remaining: float | None = None
    """Seconds until the earliest deadline at the moment of the call; `None` without a deadline."""
    idempotency_key: str = "run/test/1/1"
    """The same for every execution of this dispatch, after a crash too; different for any other."""

    @property
    def resumed_by(self) -> str | None:
        """The caller that has resumed this attempt, as the host has authenticated it, such as `local:ada`."""
        by = self.config.get(RESUMED_BY) if self.resumed else None
        return by if isinstance(by, str) else None
