//! `phasm events`: the journal of a run of a store.

use std::sync::Arc;

use clap::Args;
use phasm::{RecoverError, engine::run::Run, journal, store::Record};

use super::{
    drive::runtime,
    exit::Exit,
    failure::{Failure, While},
    kept::Kept,
    screen::Screen,
    stored::{self, StoreArgument},
    text,
};

/// Prints the journal of a run as it was recorded so far, one JSON object a line, whoever drives it.
///
/// The lines are those of `run --events`, without what guests log and tell of their progress.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm events @last -f --store runs.db\n  phasm events RUN --store runs.db | \
                        jq 'select(.type == \"task.retry.scheduled\").data'"
)]
pub(super) struct EventsArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    store: StoreArgument,

    /// Go on printing what the process that drives the run records, until the run has ended or nobody drives it.
    #[arg(short, long)]
    follow: bool,
}

/// Prints a journal.
pub(super) fn events(arguments: &EventsArguments, screen: &Screen) -> Result<Exit, Failure> {
    let EventsArguments { run, store, follow } = arguments;
    let way = store.way()?;
    runtime()?.block_on(async {
        let (reader, run) = store.find(run).await?;
        let mut printing = Printing { reader, run, printed: None, seq: 0, screen };
        printing.print().await.map_err(|error| stored::failed(error, &way))?;
        #[cfg(unix)]
        if *follow && let Some(mut ring) = phasm::bell::Ring::at(&store.path()?).await {
            let gone = |error| Failure::host(While::new("the run cannot be followed", error));
            ring.follow(&printing.run).await.map_err(gone)?;
            while ring.look().await.map_err(gone)? && printing.goes_on() {
                printing.print().await.map_err(|error| stored::failed(error, &way))?;
            }
            printing.print().await.map_err(|error| stored::failed(error, &way))?;
        }
        if *follow && printing.goes_on() {
            let go_on = way.command(&["recover", &printing.run]);
            screen.err(&format!("nobody drives the run now; go on with it: {go_on}\n"));
        }
        Ok(Exit::Done)
    })
}

/// A journal on its way to stdout.
struct Printing<'s> {
    reader: Kept,
    run: Arc<str>,
    printed: Option<Run>,
    /// Events printed so far.
    seq: u64,
    screen: &'s Screen,
}

impl Printing<'_> {
    /// Prints what was recorded since.
    async fn print(&mut self) -> Result<(), RecoverError> {
        let Self { reader, run, printed, seq, screen } = self;
        let mut records = reader.load_since(run, *seq).await?;
        records.retain(|record| record.first_seq >= *seq);
        *seq = records.last().map_or(*seq, Record::next_seq);
        journal::replay_on(printed, run, &records, |run, seq, time, events| {
            let events = journal::render(run, seq, time, events);
            let lines = events.into_iter().map(|event| text::json(&event.to_string()).into_owned() + "\n");
            // Whoever has stopped reading wants no more.
            let _gone = screen.out(&lines.collect::<String>());
        })
    }

    fn goes_on(&self) -> bool {
        self.printed.as_ref().is_some_and(|run| !run.is_over())
    }
}
