//! `phasm approve`, `reject` and `respond`: the response that a waiting task asks for.

use clap::Args;
use phasm::engine::value::{Map, Value};

use crate::{
    backend::{LocalRun, Response, TargetArguments},
    drive::{Answer, DriveArguments, answer, payload},
    exit::Exit,
    failure::Failure,
    input::parameters::{self, ParameterArgument},
    store::question::ResponseCommand,
    terminal::screen::Screen,
    trace::LogLevel,
};

/// Approves the step that a run waits for, and continues the run.
///
/// Prints the question. The approval is recorded before anything follows from it. The exit status is the run's, as for `run`; 2 if no
/// task waits, if several wait and none is named, or if the step refuses the response. If another process has the run, it gets the
/// response, and the exit status is 0 once it is recorded.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm approve @last --store runs.db\n  \
                        phasm approve RUN release/approve --comment 'as agreed' --server https://phasm.example")]
pub(crate) struct ApproveArguments {
    #[command(flatten)]
    decision: DecisionArguments,
}

/// Rejects the step that a run waits for, and continues the run.
///
/// The same as `phasm approve`, with `approved: false`. The step decides what follows: it fails, or the workflow decides.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm reject @last --comment 'not before Monday' --store runs.db")]
pub(crate) struct RejectArguments {
    #[command(flatten)]
    decision: DecisionArguments,
}

/// Responds to the step that a run waits for with values of your choice, and continues the run.
///
/// For steps that ask for more than a yes or no. Without values, the command prints those that the step expects, with their types and
/// an example, and exits with status 2. The exit status is as for `phasm approve`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm respond @last '{\"approved\": true, \"size\": 3}' --store runs.db\n  \
                        phasm respond RUN release/choose -p region=eu -p size=3 --store runs.db\n  \
                        phasm respond RUN release/choose --store runs.db --json"
)]
pub(crate) struct RespondArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    /// The waiting task, if several wait: `taskName`, `scope/taskName` or the task run's id. Then the values, as one JSON object.
    #[arg(value_name = "TASK] [JSON", num_args = 0..=2)]
    words: Vec<String>,

    #[command(flatten)]
    given: ResponseArguments,
}

/// Arguments of `approve` and `reject`.
#[derive(Args, Debug)]
struct DecisionArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    /// The waiting task, if several wait: `taskName`, `scope/taskName` or the task run's id.
    #[arg(value_name = "TASK")]
    task: Option<String>,

    /// Reason for the decision, kept with the run.
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,

    #[command(flatten)]
    given: ResponseArguments,
}

/// Arguments of all responses.
#[derive(Args, Debug)]
struct ResponseArguments {
    /// One more value of the response: parsed as JSON, or else taken as text.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<ParameterArgument>,

    #[command(flatten)]
    store: TargetArguments,

    /// Response to the next step that waits after this one, as for `run`. Each is used once, in order.
    #[arg(long, value_name = "TASK=JSON", value_parser = answer)]
    resume: Vec<Answer>,

    #[command(flatten)]
    drive: DriveArguments,
}

/// Approves a task.
pub(super) fn approve(
    ApproveArguments { decision }: &ApproveArguments,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    decide(decision, true, log_level, screen)
}

/// Rejects a task.
pub(super) fn reject(
    RejectArguments { decision }: &RejectArguments,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    decide(decision, false, log_level, screen)
}

fn decide(
    decision: &DecisionArguments,
    is_approved: bool,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let DecisionArguments { run, task, comment, given } = decision;
    if given.param.iter().any(|given| given.name() == "approved") {
        return Err(Failure::call(
            "`approved` cannot be set with -p, as the command itself says it; use `phasm approve` or `phasm reject`",
        ));
    }
    let mut values = Map::from([("approved".into(), Value::Bool(is_approved))]);
    values.extend(comment.iter().map(|comment| ("comment".into(), comment.clone().into())));
    let command = if is_approved { ResponseCommand::Approve } else { ResponseCommand::Reject };
    let response = Response { task: task.as_deref(), payload: values, command, is_checked: true };
    send(run, response, given, log_level, screen)
}

/// Responds to a task.
pub(super) fn respond(
    RespondArguments { run, words, given }: &RespondArguments,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let (task, json) = match words.as_slice() {
        [task, json] => (Some(task.as_str()), Some(json.as_str())),
        // No task has such a name.
        [json] if json.trim_start().starts_with(['{', '[']) => (None, Some(json.as_str())),
        [task] => (Some(task.as_str()), None),
        _ => (None, None),
    };
    let payload = json.map_or_else(|| Ok(Map::new()), payload).map_err(Failure::call)?;
    let response = Response { task, payload, command: ResponseCommand::Respond, is_checked: json.is_none() };
    send(run, response, given, log_level, screen)
}

fn send(
    run: &str,
    response: Response<'_>,
    given: &ResponseArguments,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let ResponseArguments { param, store, resume, drive } = given;
    let backend = store.backend(&drive.paths, screen, drive.json)?;
    let response = Response { payload: parameters::over(response.payload, param)?, ..response };
    backend.respond(run, &response, LocalRun { arguments: drive, answers: resume, log_level })
}
