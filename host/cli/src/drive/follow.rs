//! Following a run that others drive, to its end.

use phasm::{Watch, engine::run::RunView, notify::StoredRunView};

use super::summary;
use crate::{
    command_line::Target,
    exit::Exit,
    failure::Failure,
    problems,
    store::{reader::StoreReader, runs},
    terminal::screen::Screen,
};

/// Waits for the end of a run, prints how it ended, and returns its status.
///
/// # Errors
/// When the run cannot be read.
pub(crate) async fn to_end(
    reader: StoreReader,
    run_id: &str,
    target: &Target,
    as_json: bool,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let failed = |error| runs::unavailable(error, target);
    let mut watch = Watch::of(reader.shared(), run_id, 0);
    while watch.next().await.map_err(failed)?.is_some() {}
    runs::warn_orphaned(&watch, target, screen);
    let Some(run) = watch.run() else { return Ok(Exit::Parked) };
    let said = if as_json {
        problems::json(screen, &StoredRunView::left(&RunView::of(run), run.is_parked()))
    } else {
        summary(run, "open", Some(target))
    };
    // A closed stdout does not change the exit status.
    let _gone = screen.out(&said);
    Ok(run.counts_as().into())
}
