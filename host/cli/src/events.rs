//! `phasm events`: the journal of a run of a store.

use clap::Args;
use phasm::{RecoverError, journal, store::ReadStore as _};

use super::{
    drive::runtime,
    exit::Exit,
    failure::Failure,
    screen::Screen,
    stored::{self, StoreArgument},
    text,
};

/// Prints the journal of a run as it was recorded so far, one JSON object a line, whoever drives it.
///
/// The lines are those of `run --events`, without what guests log and tell of their progress.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm events RUN --store runs.db\n  phasm events RUN --store runs.db | \
                        jq 'select(.type == \"task.retry.scheduled\").data'"
)]
pub(super) struct EventsArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    store: StoreArgument,
}

/// Prints a journal.
pub(super) fn events(arguments: &EventsArguments, screen: &Screen) -> Result<Exit, Failure> {
    let EventsArguments { run, store } = arguments;
    let way = store.way()?;
    runtime()?.block_on(async {
        let (reader, run) = store.find(run).await?;
        let printed = match reader.load(&run).await {
            Ok(records) => journal::replay(&run, &records, |run, seq, time, events| {
                let lines = journal::render(run, seq, time, events)
                    .into_iter()
                    .map(|event| text::json(&event.to_string()).into_owned() + "\n");
                // Whoever has stopped reading wants no more.
                let _gone = screen.out(&lines.collect::<String>());
            })
            .map(drop),
            Err(error) => Err(RecoverError::from(error)),
        };
        printed.map(|()| Exit::Done).map_err(|error| stored::failed(error, &way))
    })
}
