//! Following a run that others drive, to its end.

use phasm::{
    Watch,
    engine::run::{Run, RunView},
    notify::StoredRunView,
};

use super::summary;
use crate::{
    command_line::Target,
    exit::Exit,
    failure::Failure,
    problems,
    store::{question::Question, reader::StoreReader, runs},
    terminal::screen::Screen,
};

/// Questions that are printed.
const MAX_QUESTIONS: usize = 20;

/// Returns the questions of a run that waits for people, each with the commands that respond.
fn questions(run: &Run, target: &Target) -> String {
    let waiting = run.tasks().iter().filter(|task| runs::is_suspended(task) && task.hook.is_none());
    let lines = waiting.take(MAX_QUESTIONS).map(|task| {
        let question = Question::of(run, task);
        format!("{} waits: {}\n{}", run.path(task), question.words(), question.commands(target))
    });
    lines.collect()
}

/// Waits for the end of a run, also for people who respond to it; prints their questions and how it ended, and returns its status.
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
    let mut was_waiting = false;
    while watch.next().await.map_err(failed)?.is_some() {
        let waiting = watch.run().filter(|run| run.is_parked());
        if let Some(run) = waiting.filter(|_| !was_waiting) {
            screen.err(&questions(run, target));
        }
        was_waiting = waiting.is_some();
    }
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
