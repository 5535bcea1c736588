//! `phasm run`: one document to its end in this process.

use std::path::PathBuf;

use clap::Args;
use phasm::{
    SubmitError,
    engine::{plan::Draft, problem::Problem},
};

use super::{
    document::Text,
    drive::{self, Answer, Answers, Configured, DriveArguments, Driven, Manner, Plain, Started, answer},
    exit::Exit,
    failure::Failure,
    parameters::{self, Given},
    places, problems,
    screen::Screen,
    trace::LogLevel,
};

/// Runs a document to its end in this process.
///
/// The exit status is 0 Succeeded or Skipped, 1 Failed, 2 problems in the document or the call, 3 Error, 4 Timeout,
/// 5 Cancelled, 6 parked (only suspended tasks keep the run open), 130 interrupted, 143 ended by SIGTERM, which leaves a
/// run in a file open.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm run greet.yaml -p name=Ada\n  \
                        phasm run audit.yaml --config audit.toml --json > audit.json\n  \
                        phasm run release.yaml --store runs.db --resume 'approve={\"approved\": true}'")]
pub(super) struct RunArguments {
    /// The document, JSON or YAML; `-` is stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// A value for a parameter of spec.arguments: the text itself where a string is declared, else JSON if it is some,
    /// else text.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<Given>,

    /// Values for parameters, an object in JSON or YAML; `-p` wins over it.
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,

    /// Where the run is kept: a file, or `memory`, which is the default [env: PHASM_STORE]
    #[arg(long, value_name = "FILE|memory")]
    store: Option<PathBuf>,

    /// Answers the next suspension of a task, named `taskName` or `scope/taskName`, with an object; once, in order.
    #[arg(long, value_name = "TASK=JSON", value_parser = answer)]
    resume: Vec<Answer>,

    /// Run although an executor is not installed or cannot be used; its attempts end with code 3.
    #[arg(long)]
    allow_missing: bool,

    #[command(flatten)]
    drive: DriveArguments,
}

impl RunArguments {
    /// The file that the run is kept in; none, if it is kept in memory.
    fn store(&self) -> Option<PathBuf> {
        let named = self.store.clone().or_else(|| places::set(places::STORE).map(PathBuf::from));
        named.filter(|path| **path != *"memory")
    }
}

/// Runs a document.
pub(super) fn run(arguments: &RunArguments, log_level: LogLevel, screen: &Screen) -> Result<Exit, Failure> {
    let DriveArguments { places, json, .. } = &arguments.drive;
    let document = Text::read(&arguments.file).map_err(|unread| unread.refuse(screen, *json))?;
    let configured = Configured::read(places, screen, *json)?;
    let refuse = |found: &[Problem]| problems::refuse(screen, document.source(), found, *json);
    let draft = document.draft().map_err(|found| refuse(&found))?;
    let store = arguments.store();
    let mut manner = Manner::new(&arguments.drive, store.as_deref(), log_level);
    // Nobody could come back to a run in memory.
    manner.stays |= store.is_none();
    drive::drive(&manner, screen, start(arguments, configured, screen, &document, draft))
}

/// Opens a host with everything the document names, and submits.
async fn start(
    arguments: &RunArguments,
    configured: Configured,
    screen: &Screen,
    document: &Text,
    draft: Draft,
) -> Result<Started, Failure> {
    let DriveArguments { places, json, .. } = &arguments.drive;
    let refuse = |found: &[Problem]| problems::refuse(screen, document.source(), found, *json);
    let refused = |error: SubmitError| match error {
        SubmitError::Problems(found) => refuse(&found),
        SubmitError::Cron => Failure::call(error),
        SubmitError::Store(_) => Failure::host(error),
    };
    let (dir, allow_missing) = (document.dir(), arguments.allow_missing);
    let mut prepared = drive::open(places, configured, screen, dir, allow_missing, draft.most_at_once())?;
    let plan = prepared.plan(draft).await.map_err(|found| refuse(&found))?;
    problems::show_warnings(screen, document.source(), &plan.warnings);
    let given = parameters::all(&arguments.param, arguments.params.as_deref(), &plan)?;
    prepared.host.check(&plan, &given).map_err(refused)?;
    if let Some(store) = arguments.store() {
        prepared = prepared.with_store(&store).await?;
    }
    prepared.create_dirs()?;
    let (handle, notices) = prepared.host.submit_watched(&plan, &given).await.map_err(refused)?;
    let answers = Answers::new(&arguments.resume);
    Ok(Started {
        prepared,
        runs: vec![Driven { handle, notices, plain: Plain::default() }],
        answers,
        exit: Exit::Done,
    })
}
