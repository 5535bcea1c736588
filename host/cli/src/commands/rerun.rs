//! `phasm rerun`: another run of a document, from what an earlier one left.

use clap::Args;

use crate::{
    backend::{LocalRun, RerunRequest, TargetArguments},
    drive::{Answer, DriveArguments, answer},
    exit::Exit,
    failure::Failure,
    input::parameters::{self, ParameterArgument},
    terminal::screen::Screen,
    trace::LogLevel,
};

/// Runs a run again: a new run with the same workflow, executors and parameters.
///
/// The earlier run stays as it is. The exit status is the new run's, like `run`; 2 if there is no such run, if it has not
/// ended, if its executors, grants or secrets are not there as they were, or if another process holds the store. A server runs it
/// itself: then the status is 0 once the run is submitted; with `--wait` the command waits for its end.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm rerun @last --from-failed --store runs.db\n  \
                        phasm rerun RUN -p region=eu --store runs.db --json")]
pub(crate) struct RerunArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    /// Execute the tasks that had not succeeded and those after them; reuse the results of the others.
    #[arg(long)]
    from_failed: bool,

    /// Another value for a parameter of the workflow, like `run`; the others stay as they were.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<ParameterArgument>,

    #[command(flatten)]
    store: TargetArguments,

    /// Idempotency key: the same rerun twice starts one run. Another rerun under the key is refused.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Response to the next suspension of a task, like `run`; once, in order.
    #[arg(long, value_name = "TASK=JSON", value_parser = answer)]
    resume: Vec<Answer>,

    #[command(flatten)]
    drive: DriveArguments,
}

/// Runs a run again.
pub(super) fn rerun(
    arguments: &RerunArguments,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let RerunArguments { run, from_failed, param, store, key, resume, drive } = arguments;
    let backend = store.backend(&drive.paths, screen, drive.json)?;
    let rerun = RerunRequest { from_failed: *from_failed, parameters: param, key: key.as_deref() };
    backend.rerun(run, rerun, LocalRun { arguments: drive, answers: resume, log_level })
}
