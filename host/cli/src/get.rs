//! `phasm get`: one run of a store as it stands.

use clap::Args;
use phasm::{
    engine::run::{Run, RunView},
    journal,
    show::{RowWaits, RunState},
    store::RunRow,
};

use super::{
    drive::{runtime, summary_with_tree, tree},
    exit::Exit,
    failure::Failure,
    hint::Way,
    problems,
    reached::Reached,
    screen::Screen,
    stored, usage, waits,
};

/// Shows a run of a store as it was recorded last, whoever drives it: its tasks as a tree, what came out, what went wrong.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm get RUN --store runs.db\n  phasm get @last --store runs.db --json"
)]
pub(super) struct GetArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    store: Reached,

    /// Print the run view to stdout, one JSON object.
    #[arg(long)]
    json: bool,

    /// Print what each attempt used instead: time computed, memory, bytes, calls of the host. The run view has that anyway.
    #[arg(long)]
    usage: bool,
}

/// Shows a run.
pub(super) fn get(arguments: &GetArguments, screen: &Screen) -> Result<Exit, Failure> {
    let way = arguments.store.way()?;
    let (run, row) = read(arguments, &way)?;
    let state = row.as_ref().map_or(RunState::Ended, |(_, state)| *state);
    let waits = row.as_ref().and_then(|(row, state)| RowWaits::of(row, *state));
    let view = RunView::of(&run);
    let page = if arguments.json {
        problems::json(screen, &RowWaits::shown_in(waits.as_ref(), &view))
    } else if arguments.usage {
        usage::table(&view)
    } else {
        let page = summary_with_tree(&view, state.word(), &tree(&run), Some(&way));
        let orphaned = (state == RunState::Orphaned).then(|| way.go_on(&[run.id()], &[]));
        let left = waits.as_ref().and_then(waits::page);
        format!("{page}{}{}", left.unwrap_or_default(), orphaned.unwrap_or_default())
    };
    // Whoever has stopped reading wants no more.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn read(arguments: &GetArguments, way: &Way) -> Result<(Run, Option<(RunRow, RunState)>), Failure> {
    let GetArguments { run, store, .. } = arguments;
    runtime()?.block_on(async {
        let (reader, run) = store.find(run).await?;
        let loaded = reader.load(&run).await.map_err(Into::into);
        let replayed = loaded.and_then(|records| journal::replay(&run, &records, |_, _, _, _| {}));
        let run = replayed.map_err(|error| stored::failed(error, way))?;
        let row = reader.get(run.id()).await.map_err(Failure::host)?;
        let state = |row: RunRow| {
            let state = RunState::of(&row, reader.is_held());
            (row, state)
        };
        Ok((run, row.map(state)))
    })
}
