//! `phasm run`: one document to its end in this process.

use std::path::PathBuf;

use clap::Args;

use crate::{
    drive::{
        self, ActiveRun, ActiveRuns, Answer, Answers, DriveArguments, DriveOptions, LineReporter, answer,
    },
    exit::Exit,
    failure::Failure,
    paths,
    store::local_user::local_user,
    submission::{PlannedWorkflow, ReadySubmission, Submission, UnplannedSubmission},
    terminal::screen::Screen,
    trace::LogLevel,
};

/// Runs a workflow file to its end in this process.
///
/// The exit status is 0 Succeeded or Skipped, 1 Failed, 2 errors in the workflow file or the call, 3 Error, 4 Timeout,
/// 5 Cancelled, 6 waiting (only suspended tasks keep the run open), 130 interrupted, 143 ended by SIGTERM, which leaves a
/// run in a file open.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm run greet.yaml -p name=Ada\n  \
                        phasm run audit.yaml --config audit.toml --json > audit.json\n  \
                        phasm run release.yaml --store runs.db --resume 'approve={\"approved\": true}'")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    submission: Submission,

    /// Where the run is kept: a file, or `memory`, which is the default [env: PHASM_STORE]
    #[arg(long, value_name = "FILE|memory")]
    store: Option<PathBuf>,

    /// Response to the next suspension of a task, named `taskName` or `scope/taskName`, with an object; once, in order.
    #[arg(long, value_name = "TASK=JSON", value_parser = answer)]
    resume: Vec<Answer>,

    #[command(flatten)]
    drive: DriveArguments,
}

impl RunArguments {
    /// The file that the run is kept in; none, if it is kept in memory.
    fn store(&self) -> Option<PathBuf> {
        let named = self.store.clone().or_else(|| paths::set(paths::STORE).map(PathBuf::from));
        named.filter(|path| **path != *"memory")
    }
}

/// Runs a document.
pub(super) fn run(arguments: &RunArguments, log_level: LogLevel, screen: &Screen) -> Result<Exit, Failure> {
    let DriveArguments { paths, json, .. } = &arguments.drive;
    let read = arguments.submission.read(paths, screen, *json)?;
    let store = arguments.store();
    let options = DriveOptions::new(&arguments.drive, store.as_deref(), log_level);
    drive::drive(&options, screen, start(arguments, read))
}

/// Opens a host with everything the document names, and submits.
async fn start(arguments: &RunArguments, read: UnplannedSubmission<'_>) -> Result<ActiveRuns, Failure> {
    let store = arguments.store();
    let ReadySubmission { planned, given } = read.check(&arguments.drive.paths, store.as_deref()).await?;
    let PlannedWorkflow { planning, plan, source } = planned;
    let prepared = planning.with_store(store.as_deref()).await?;
    prepared.environment.create_dirs()?;
    let new = prepared
        .host
        .new_run_by(&plan, &given, Some(local_user()))
        .await
        .map_err(|error| source.refused(&plan, error))?;
    let watch = new.watch();
    let handle = new.start().await.map_err(|error| source.refused(&plan, error))?;
    Ok(ActiveRuns {
        prepared,
        runs: vec![ActiveRun { handle, watch, plain: LineReporter::default() }],
        answers: Answers::new(&arguments.resume),
        exit: Exit::Done,
    })
}
