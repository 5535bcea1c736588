//! `phasm events`: the journal of a run of a store.

use clap::Args;
use phasm::{Notice, Watch, engine::run::EventView, journal};

use crate::{
    backend::TargetArguments,
    drive::runtime,
    exit::Exit,
    failure::Failure,
    store::runs,
    terminal::screen::{ClosedOutput, Screen},
};

/// Prints the recorded journal of a run, one JSON object per line.
///
/// The lines are the same as in `run --events`, without the log lines and progress of executors.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm events @last -f --store runs.db\n  phasm events RUN --store runs.db | \
                        jq 'select(.type == \"task.retry.scheduled\").data'"
)]
pub(crate) struct EventsArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    store: TargetArguments,

    /// Keep printing new events until the run has ended or, for a file, no process has the store open.
    #[arg(short, long)]
    follow: bool,
}

/// Prints a journal.
pub(super) fn events(arguments: &EventsArguments, screen: &Screen) -> Result<Exit, Failure> {
    let EventsArguments { run, store, follow } = arguments;
    let target = store.target()?;
    runtime()?.block_on(async {
        let (reader, run_id) = store.find(run).await?;
        let reader = reader.shared();
        if !follow {
            let records = reader.load(&run_id).await.map_err(Failure::host)?;
            let printed = journal::replay(&run_id, &records, |run, seq, time, events| {
                // A closed stdout ends the output.
                let _gone = print(journal::views(run, seq, time, events), screen);
            });
            return printed.map(|_| Exit::Done).map_err(|error| runs::unavailable(error, &target));
        }
        let mut watch = Watch::of(reader, &run_id, 0);
        while let Some(notice) = watch.next().await.map_err(|error| runs::unavailable(error, &target))? {
            if let Notice::Record(record) = notice
                && print(watch.views(&record), screen).is_err()
            {
                // A closed stdout ends the output.
                return Ok(Exit::Done);
            }
        }
        runs::warn_orphaned(&watch, &target, screen);
        Ok(Exit::Done)
    })
}

fn print<'r>(views: impl Iterator<Item = EventView<'r>>, screen: &Screen) -> Result<(), ClosedOutput> {
    let line = |view: EventView<'_>| view.json().to_string() + "\n";
    screen.out(&views.map(line).collect::<String>())
}
