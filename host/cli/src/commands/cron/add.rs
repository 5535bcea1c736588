//! `phasm cron add`.

use clap::Args;

use super::get;
use crate::{
    backend::TargetArguments, exit::Exit, failure::Failure, input::names::QualifiedName,
    paths::PathArguments, problems, submission::DocumentArgument, terminal::screen::Screen,
};

/// Adds a schedule under the name in its workflow file, or replaces the file of an existing one.
///
/// The workflow file, of kind CronWorkflow, is checked as `run` does, with the plugins here or on the server. From now on its runs start by
/// themselves on each `phasm serve` of the store. An existing schedule keeps its history, and stays suspended if it is suspended; missed
/// runs are not started.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron add nightly.yaml --store runs.db\n  \
                        phasm cron add nightly.yaml --server http://127.0.0.1:8484\n  \
                        phasm cron add nightly.yaml --store postgres://phasm@db/phasm --config phasm.toml --json")]
pub(crate) struct AddScheduleArguments {
    #[command(flatten)]
    document: DocumentArgument,

    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    paths: PathArguments,

    /// Print one JSON object to stdout: the schedule, like `get`.
    #[arg(long)]
    json: bool,
}

/// Adds a schedule.
pub(super) fn add(arguments: &AddScheduleArguments, screen: &Screen) -> Result<Exit, Failure> {
    let AddScheduleArguments { document, store, paths, json } = arguments;
    let outcome = store.backend(paths, screen, *json)?.put_schedule(document)?;
    let saved = outcome.schedule;
    let said = if *json { problems::json(screen, &saved) } else { get::line(&saved) };
    let _closed = screen.out(&said);
    if let Some(hint) = outcome.hint {
        screen.err(&hint);
    }
    if outcome.is_new {
        let name = QualifiedName::new(&saved.namespace, &saved.name).word();
        let trigger = store.target()?.with(paths).command(&["cron", "trigger", &name]);
        screen.err(&format!("start it at once with: {trigger}\n"));
    }
    Ok(Exit::Done)
}
