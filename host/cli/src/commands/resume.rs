//! `phasm resume`: the answer that a suspended task waits for.

use clap::Args;
use phasm::engine::value::Map;

use crate::{
    backend::{LocalRun, TargetArguments},
    drive::{Answer, DriveArguments, answer, payload},
    exit::Exit,
    failure::Failure,
    input::parameters::{self, ParameterArgument},
    terminal::screen::Screen,
    trace::LogLevel,
};

/// Answers a suspended task, and continues its run as `run` does.
///
/// The answer is recorded before anything follows from it. The exit status is the run's, as of `run`; 2 if there is no
/// such run or task, or if the task is not suspended or the run has ended. A run that another process drives gets the answer
/// there, and the exit status is 0 once it is recorded.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm resume @last approve '{\"approved\": true}' --store runs.db\n  \
                        phasm resume RUN approve -p approved=true -p by=Ada --store runs.db\n  \
                        phasm resume RUN release/approve --store runs.db --json")]
pub(crate) struct ResumeArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    /// The suspended task: `taskName`, `scope/taskName` or the task run's id; of several the first.
    #[arg(value_name = "TASK")]
    task: String,

    /// An object of values by name, which the task is called again with.
    #[arg(value_name = "JSON", value_parser = payload, default_value = "{}", hide_default_value = true)]
    payload: Map,

    /// One more value: JSON if it is some, else text.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<ParameterArgument>,

    #[command(flatten)]
    store: TargetArguments,

    /// Answers the next suspension of a task after this one, as of `run`; once, in order.
    #[arg(long, value_name = "TASK=JSON", value_parser = answer)]
    resume: Vec<Answer>,

    #[command(flatten)]
    drive: DriveArguments,
}

/// Answers a task.
pub(super) fn resume(
    arguments: &ResumeArguments,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let ResumeArguments { run, task, payload, param, store, resume, drive } = arguments;
    let backend = store.backend(&drive.paths, screen, drive.json)?;
    let payload = parameters::over(payload.clone(), param)?;
    backend.resume(run, task, payload, LocalRun { arguments: drive, answers: resume, log_level })
}
