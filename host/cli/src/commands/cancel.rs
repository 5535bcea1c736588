//! `phasm cancel`: ends a run, or one of its tasks.

use clap::Args;

use crate::{
    backend::{LocalRun, TargetArguments},
    drive::DriveArguments,
    exit::Exit,
    failure::Failure,
    terminal::screen::Screen,
    trace::LogLevel,
};

/// Cancels a run, or one of its tasks.
///
/// Unless another process runs it, the command then runs the rest, as `run` does: hooks, and, after the cancellation of one task, the
/// others.
/// The exit status is the run's, like `run`: 5 for one that is Cancelled; 2 if there is no such run or task, if it has
/// already ended. A run that another process is running is cancelled there, and the exit status is 0 once that is recorded.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cancel RUN --store runs.db\n  \
                        phasm cancel @last --task audit/mirror --store runs.db")]
pub(crate) struct CancelArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    /// Cancel this task only: `taskName`, `scope/taskName` or the task run's id; of several the first open one.
    #[arg(long, value_name = "TASK")]
    task: Option<String>,

    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    drive: DriveArguments,
}

/// Cancels a run or a task.
pub(super) fn cancel(
    arguments: &CancelArguments,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let CancelArguments { run, task, store, drive } = arguments;
    let backend = store.backend(&drive.paths, screen, drive.json)?;
    backend.cancel(run, task.as_deref(), LocalRun { arguments: drive, answers: &[], log_level })
}
