//! `phasm watch`: follows a run of a store.

use clap::Args;
use phasm::{
    Watch,
    engine::run::Run,
    store::view::{RowWaits, RunState},
};

use crate::{
    backend::TargetArguments,
    command_line::Target,
    drive::{self, Watching, runtime, summary_with_tree, tree},
    exit::Exit,
    failure::{ContextError, Failure},
    store::runs,
    terminal::{screen::Screen, signals::Interrupts, waiting},
};

/// Follows a run: a live view of its tasks on a terminal, one line per change otherwise.
///
/// The command ends with the run, with the exit status of `run`. For a file it also ends when no process has the store open, with 6 if the run
/// is open. Ctrl-C ends only the watching, with 130.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm watch @last --store runs.db\n  phasm watch RUN --store postgres://phasm@db/work"
)]
pub(crate) struct WatchArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    store: TargetArguments,
}

/// Watches a run to its end.
pub(super) fn watch(arguments: &WatchArguments, screen: &Screen) -> Result<Exit, Failure> {
    let WatchArguments { run, store } = arguments;
    let target = store.target()?;
    runtime()?.block_on(async {
        let mut interrupts = Interrupts::listen()
            .map_err(|error| Failure::host(ContextError::new("failed to install signal handlers", error)))?;
        let (reader, run_id) = store.find(run).await?;
        let row = reader.get(&run_id).await.map_err(Failure::host)?;
        let left = row
            .as_ref()
            .and_then(|row| waiting::page(&RowWaits::of(row, RunState::of(row, reader.is_held()))?));
        screen.err(&left.unwrap_or_default());
        let already = row.map_or(0, |row| row.seq);
        let mut watching = Watching::new(Watch::of(reader.shared(), &run_id, 0), already, screen);
        tokio::select! {
            watched = watching.follow() => watched.map_err(|error| runs::unavailable(error, &target))?,
            heard = interrupts.next() => return Ok(heard.told.exit()),
        }
        Ok(told(watching.run(), &target, screen))
    })
}

/// Shows how it ended, or was left.
fn told(run: Option<&Run>, target: &Target, screen: &Screen) -> Exit {
    let Some(run) = run else { return Exit::Parked };
    let page = summary_with_tree(run, "open", &tree(run), Some(target));
    let orphaned = if run.is_over() { String::new() } else { drive::recover_hint(run, target) };
    // A closed stdout does not change the exit status.
    let _gone = screen.out(&page);
    screen.err(&orphaned);
    run.counts_as().into()
}
