//! `phasm get`: one run of a store as it stands.

use clap::Args;
use phasm::{
    engine::run::{Run, RunView},
    journal,
    store::ReadStore as _,
};

use super::{
    drive::{runtime, summary},
    exit::Exit,
    failure::Failure,
    problems,
    screen::Screen,
    stored::{self, StoreArgument},
};

/// Shows a run of a store as it was recorded last, whoever drives it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm get RUN --store runs.db\n  phasm get RUN --store runs.db --json")]
pub(super) struct GetArguments {
    /// The run's id, as `list` shows it.
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    store: StoreArgument,

    /// Print the run view to stdout, one JSON object.
    #[arg(long)]
    json: bool,
}

/// Shows a run.
pub(super) fn get(arguments: &GetArguments, screen: &Screen) -> Result<Exit, Failure> {
    let run = read(arguments)?;
    let view = RunView::of(&run);
    let page = if arguments.json {
        problems::json(screen, &view)
    } else {
        summary(&view, if run.is_parked() { "parked" } else { "open" })
    };
    // Whoever has stopped reading wants no more.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn read(arguments: &GetArguments) -> Result<Run, Failure> {
    let GetArguments { run, store, .. } = arguments;
    let reader = store.read()?;
    runtime()?.block_on(async {
        let loaded = reader.load(run).await.map_err(Into::into);
        match loaded.and_then(|records| journal::replay(run, &records, |_, _, _, _| {})) {
            Ok(run) => Ok(run),
            Err(error) => Err(stored::failed(error, &reader.open_runs().await.unwrap_or_default())),
        }
    })
}
