//! `phasm rerun`: another run of a document, from what an earlier one left.

use clap::Args;
use phasm::{RecoverError, Rerun, RerunError, SubmitError};

use super::{
    command_line::Target,
    drive::{
        self, ActiveRun, ActiveRuns, Answer, Answers, DriveArguments, DriveOptions, LineReporter, answer,
    },
    exit::Exit,
    failure::Failure,
    parameters::{self, ParameterArgument},
    problems::{self, Source},
    remote::RemoteCommands,
    screen::Screen,
    store_argument,
    target::TargetArguments,
    text,
    trace::LogLevel,
};

/// Runs a run of a store again: a new run with its document, its executors and its parameters, driven as `run` does.
///
/// The earlier run stays as it is. The exit status is the new run's, as of `run`; 2 if there is no such run, if it has not
/// ended, if its executors, grants or secrets are not there as they were, or if another process holds the store.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm rerun @last --from-failed --store runs.db\n  \
                        phasm rerun RUN -p region=eu --store runs.db --json")]
pub(super) struct RerunArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    /// Execute what had not succeeded, and what follows from it; take over the rest.
    #[arg(long)]
    from_failed: bool,

    /// Another value for a parameter of spec.arguments, as of `run`; the others stay as they were.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<ParameterArgument>,

    #[command(flatten)]
    store: TargetArguments,

    /// Answers the next suspension of a task, as of `run`; once, in order.
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
    let RerunArguments { run, from_failed, param, store, drive, .. } = arguments;
    if let Some(remote) = store.remote()? {
        let asking = RemoteCommands { remote, json: drive.json, screen };
        return drive::runtime()?.block_on(asking.rerun(run, *from_failed, param));
    }
    let options = DriveOptions::new(drive, Some(&store.store.path()?), log_level);
    drive::drive(&options, screen, start(arguments, screen))
}

async fn start(arguments: &RerunArguments, screen: &Screen) -> Result<ActiveRuns, Failure> {
    let RerunArguments { run, from_failed, param, store: TargetArguments { store, .. }, resume, drive } =
        arguments;
    let target = drive.target(&store.path()?);
    let (reader, run_id) = store.find(run).await?;
    let prepared = store.host_for((&reader, &run_id), drive, screen).await?;
    let earlier = store_argument::recorded(&prepared, &run_id, &target).await?;
    let plan = earlier.plan();
    prepared.environment.build_unpinned([&**plan].into_iter()).await;
    let rerun = Rerun { from_failed: *from_failed, parameters: parameters::all(param, None, plan)? };
    prepared.environment.create_dirs()?;
    let refused = |error| refused(error, &plan.name, &target, screen, drive.json);
    let new = prepared.host.rerun(&run_id, &rerun).await.map_err(refused)?;
    let watch = new.watch();
    let handle = new.start().await.map_err(|error| refused(error.into()))?;
    screen.err(&format!("{}: rerun of {run_id}\n", text::dim(handle.id())));
    Ok(ActiveRuns {
        prepared,
        runs: vec![ActiveRun { handle, watch, plain: LineReporter::default() }],
        answers: Answers::new(resume),
        exit: Exit::Done,
    })
}

fn refused(error: RerunError, workflow: &str, target: &Target, screen: &Screen, as_json: bool) -> Failure {
    match error {
        RerunError::Submit(SubmitError::Problems(found)) => {
            problems::refuse(screen, Source { name: workflow, text: "" }, &found, as_json)
        }
        RerunError::Recover(RecoverError::Missing { .. }) => Failure::call(format!(
            "{error}; nothing was recorded. Name the configuration that it was submitted with (`--config`) and its plugins \
             (`--plugins`)"
        )),
        RerunError::Recover(error) => store_argument::failed(error, target),
        RerunError::Open { .. } | RerunError::Submit(SubmitError::Quota(_)) => Failure::call(error),
        RerunError::Submit(_) => Failure::host(error),
    }
}
