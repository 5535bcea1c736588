//! `phasm get`: one run of a store as it stands.

mod usage;

use clap::Args;
use phasm::{
    engine::run::{Run, RunView},
    notify::{NoticeSummary, StoredRunView},
    store::RunRow,
    store::view::{Presence, RowWaits, RunState},
};

use crate::{
    backend::TargetArguments,
    command_line::Target,
    drive::{runtime, summary_with_tree, tree},
    exit::Exit,
    failure::Failure,
    problems,
    store::runs,
    terminal::{screen::Screen, text, waiting},
};

/// Maximum number of characters of the reason why a notification was refused.
const MAX_REASON_CHARS: usize = 160;

/// Shows the last recorded state of a run: its tasks as a tree, its outputs, its errors.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm get RUN --store runs.db\n  phasm get @last --store runs.db --json"
)]
pub(crate) struct GetArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    store: TargetArguments,

    /// Print the run view to stdout, one JSON object.
    #[arg(long)]
    json: bool,

    /// Print what each attempt used instead: time computed, memory, bytes, calls of the host. The run view has that anyway.
    #[arg(long)]
    usage: bool,
}

/// Shows a run.
pub(super) fn get(arguments: &GetArguments, screen: &Screen) -> Result<Exit, Failure> {
    let target = arguments.store.target()?;
    let RunDetails { run, row, notices } = read(arguments, &target)?;
    let state = row.as_ref().map_or(RunState::Ended, |(_, state)| *state);
    let waits = row.as_ref().and_then(|(row, state)| RowWaits::of(row, *state));
    let page = if arguments.json {
        let view = RunView::of(&run);
        let row = row.as_ref().map(|(row, state)| (row, *state));
        problems::json(screen, &StoredRunView::of(&view, row, notices.as_ref()))
    } else if arguments.usage {
        usage::table(&RunView::of(&run))
    } else {
        let page = summary_with_tree(&run, state.label(), &tree(&run), Some(&target));
        let next = match state {
            RunState::Orphaned => target.go_on(&[run.id()], &[]),
            RunState::Queued => {
                format!("no process has begun it; begin with: {}\n", target.command(&["recover", run.id()]))
            }
            RunState::Ended | RunState::Driven | RunState::Parked | RunState::Waiting => String::new(),
        };
        let left = waits.as_ref().and_then(waiting::page);
        let host = row.as_ref().and_then(|(row, state)| state.host(row));
        let host = host.map(|host| format!("runs on host {}\n", text::clean(host))).unwrap_or_default();
        let more = details(&run, notices.as_ref(), &target);
        format!("{page}{host}{more}{}{next}", left.unwrap_or_default())
    };
    // A closed stdout ends the output.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

/// Where else something is to be seen of it.
fn details(run: &Run, notices: Option<&NoticeSummary>, target: &Target) -> String {
    let trace = run.trace_id().map(|trace| format!("trace: {trace}\n"));
    let notices = notices.map(|notices| {
        let failure =
            notices.failure.as_ref().map(|why| format!(" ({})", text::short(why, MAX_REASON_CHARS)));
        let more = target.command(&["notify", "list", run.id()]);
        format!("notifications: {}{}: {more}\n", notices.counts(), failure.unwrap_or_default())
    });
    format!("{}{}", trace.unwrap_or_default(), notices.unwrap_or_default())
}

struct RunDetails {
    run: Run,
    row: Option<(RunRow, RunState)>,
    notices: Option<NoticeSummary>,
}

fn read(arguments: &GetArguments, target: &Target) -> Result<RunDetails, Failure> {
    let GetArguments { run, store, .. } = arguments;
    runtime()?.block_on(async {
        let (reader, run) = store.find(run).await?;
        let run = runs::recorded(&*reader, &run).await.map_err(|error| runs::unavailable(error, target))?;
        let row = reader.get(run.id()).await.map_err(Failure::host)?;
        let presence =
            Presence::of(&*reader, reader.is_held(), row.as_slice()).await.map_err(Failure::host)?;
        let state = |row: RunRow| {
            let state = presence.state(&row);
            (row, state)
        };
        let notices = reader.notices_of(run.id(), NoticeSummary::ENOUGH).await?;
        Ok(RunDetails { row: row.map(state), notices: NoticeSummary::of(&notices), run })
    })
}
