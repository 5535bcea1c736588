//! Runs of a store: their state, their tasks, and messages about those that cannot be had.

use phasm::{
    RecoverError, Watch,
    engine::{
        event::TaskId,
        phase::Phase,
        run::{Run, TaskRun},
        value::Map,
    },
    journal,
    store::ReadStore,
    tasks_named,
};

use super::{
    question::{Question, ResponseCommand},
    run_id,
};
use crate::{
    command_line::Target,
    drive::{self, PreparedHost},
    failure::Failure,
    terminal::{screen::Screen, text},
};

/// A run of the prepared host's store, as it was recorded last.
///
/// # Errors
/// When its journal cannot be read.
pub(crate) async fn replay(prepared: &PreparedHost, run_id: &str, target: &Target) -> Result<Run, Failure> {
    prepared.host.replay(run_id).await.map_err(|error| unavailable(error, target))
}

/// Why a run is not to be had.
pub(crate) fn unavailable(error: RecoverError, target: &Target) -> Failure {
    if let RecoverError::Missing { run_id, .. } = &error {
        return Failure::call(format!(
            "{error}; nothing was recorded. Name the configuration that it was submitted with (`--config`) and its plugins \
             (`--plugins`), or end it: {}",
            target.command(&["cancel", run_id])
        ));
    }
    if let RecoverError::Ended { .. } = error { Failure::call(error) } else { Failure::host(error) }
}

/// The first task run of that name which is `wanted`.
///
/// # Errors
/// When there is none of that name; or, with the `answer` that nothing was done, when none of them is wanted. Both name
/// those that are, in a `state` that is such a word as "open".
pub(crate) fn task(
    run: &Run,
    name: &str,
    answer: &str,
    state: &str,
    wanted: fn(&TaskRun) -> bool,
) -> Result<TaskId, Failure> {
    if let Some(found) = tasks_named(run, name).find(|task| wanted(task)) {
        return Ok(found.id);
    }
    let others: Vec<_> = run.tasks().iter().filter(|task| wanted(task)).map(|task| run.path(task)).collect();
    let others = if others.is_empty() { "none".to_owned() } else { run_id::listed(others, ", ") };
    Err(Failure::call(match tasks_named(run, name).last() {
        None => format!("run {} has no task `{}`; {state}: {others}", run.id(), text::clean(name)),
        Some(task) => format!("{answer}: {} is {}; {state}: {others}", run.path(task), task.phase),
    }))
}

/// The task that a response is for: the first one of that name that waits, or the only one that waits.
///
/// # Errors
/// When there is none, or when several wait and none is named.
pub(crate) fn waiting_task(
    run: &Run,
    name: Option<&str>,
    command: ResponseCommand,
) -> Result<TaskId, Failure> {
    let refused = format!("not {}", command.done());
    if let Some(name) = name {
        return task(run, name, &refused, "waiting for a response", is_suspended);
    }
    let waiting: Vec<_> = run.tasks().iter().filter(|task| is_suspended(task)).collect();
    match waiting.as_slice() {
        [task] => Ok(task.id),
        [] => Err(Failure::call(format!(
            "{refused}: no task of run {} waits for a response; it is {}",
            run.id(),
            run.phase()
        ))),
        several => {
            let paths = several.iter().map(|task| run.path(task));
            let (count, paths) = (several.len(), run_id::listed(paths.collect::<Vec<_>>(), ", "));
            Err(Failure::call(format!(
                "{refused}: {count} tasks wait for a response; name one of them: {paths}"
            )))
        }
    }
}

/// Line with the question of a task that waits.
pub(crate) fn question(run: &Run, task: TaskId) -> String {
    let Some(task) = run.task(task) else { return String::new() };
    format!("{}: {}\n", run.path(task), Question::of(run, task).words())
}

/// Whether a task takes the name of the person who responds, in words of their own.
pub(crate) fn takes_name(run: &Run, task: TaskId) -> bool {
    run.task(task).is_some_and(|task| Question::of(run, task).takes_text("by"))
}

/// Compares the values of a response with those that a task requires.
///
/// # Errors
/// When the task expects others.
pub(crate) fn check_values(
    run: &Run,
    task: TaskId,
    values: &Map,
    command: ResponseCommand,
    target: &Target,
) -> Result<(), Failure> {
    run.task(task).map_or(Ok(()), |task| Question::of(run, task).check(values, command, target))
}

/// Prints where a run stands after a request that was carried out: its end, the tasks that wait for a response, or that it continues.
pub(crate) async fn tell_standing(reader: &dyn ReadStore, run_id: &str, screen: &Screen) {
    // The request is recorded, so a failure to read is none of the command.
    let Ok(run) = recorded(reader, run_id).await else { return };
    let waiting: Vec<_> = run.tasks().iter().filter(|task| is_suspended(task)).collect();
    let standing = if run.is_over() {
        format!("the run has ended: {}", run.phase())
    } else if run.is_parked() {
        format!(
            "the run waits for a response: {}",
            run_id::listed(waiting.iter().map(|task| run.path(task)).collect::<Vec<_>>(), ", ")
        )
    } else {
        "the run continues".to_owned()
    };
    screen.err(&format!("{standing}\n"));
}

/// The last recorded state of a run.
///
/// # Errors
/// When it cannot be read.
pub(crate) async fn recorded(reader: &dyn ReadStore, run_id: &str) -> Result<Run, RecoverError> {
    journal::replay(run_id, &reader.load(run_id).await?, |_, _, _, _| {})
}

/// Whether a run has ended for good.
///
/// # Errors
/// If it has.
pub(crate) fn check_open(run: &Run) -> Result<(), Failure> {
    let phase = run.phase();
    if !phase.is_terminal() {
        return Ok(());
    }
    Err(Failure::call(RecoverError::Ended { run_id: run.id().clone(), phase }))
}

/// Prints how to resume a run that was followed, if it has not ended.
pub(crate) fn warn_orphaned(watch: &Watch, target: &Target, screen: &Screen) {
    if let Some(run) = watch.run().filter(|run| !run.is_over()) {
        screen.err(&drive::recover_hint(run, target));
    }
}

/// Whether a task waits for an answer.
pub(crate) fn is_suspended(task: &TaskRun) -> bool {
    task.phase == Phase::Suspended
}

/// Whether a task can still be cancelled.
pub(crate) fn is_open(task: &TaskRun) -> bool {
    !task.phase.is_terminal()
}
