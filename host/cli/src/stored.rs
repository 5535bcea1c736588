//! Runs that are kept in a file: finding them, and saying why one is not to be had.

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::{
    RecoverError,
    engine::{
        event::TaskId,
        phase::Phase,
        run::{Run, TaskRun},
    },
    store::{RunRow, SqliteReader, StoreError},
    tasks_named,
};

use super::{
    drive::{self, Configured, DriveArguments, Prepared},
    failure::{Failure, While},
    screen::Screen,
    text,
};

/// Open runs, or tasks, that a message names at most.
const MOST_NAMED: usize = 10;

/// The file that runs are kept in.
#[derive(Args, Clone, Debug)]
pub(super) struct StoreArgument {
    /// The file that runs are kept in.
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
}

impl StoreArgument {
    pub(super) fn path(&self) -> &Path {
        &self.store
    }

    /// Opens it to look at, whoever holds it.
    ///
    /// # Errors
    /// When there is no such store, or it cannot be read.
    pub(super) fn read(&self) -> Result<SqliteReader, Failure> {
        self.check_is_there()?;
        SqliteReader::open(&self.store).map_err(unusable)
    }

    /// Opens a host that drives its runs.
    ///
    /// # Errors
    /// When the configuration or a directory is not as it should be, when there is no such store, or when another
    /// process holds it.
    pub(super) async fn host(
        &self,
        arguments: &DriveArguments,
        screen: &Screen,
    ) -> Result<Prepared, Failure> {
        self.check_is_there()?;
        let configured = Configured::read(&arguments.places, screen, arguments.json)?;
        drive::open(&arguments.places, configured, screen, None, false, None)?.with_store(&self.store).await
    }

    /// A name mistyped must not become a new store.
    fn check_is_there(&self) -> Result<(), Failure> {
        let path = self.store.display();
        if *self.store == *"memory" {
            let message = "a store in memory ends with its process; expected the file that runs were kept in";
            return Err(Failure::call(message));
        }
        if !self.store.exists() {
            return Err(Failure::call(format!(
                "there is no store {path}; expected the file that `run --store FILE` was given"
            )));
        }
        Ok(())
    }
}

fn unusable(error: StoreError) -> Failure {
    Failure::call(While::new("the store cannot be used", error))
}

/// A run of the prepared host's store, as it was recorded last.
///
/// # Errors
/// When there is none, with those that are open; or when its journal cannot be read.
pub(super) async fn recorded(prepared: &Prepared, run_id: &str) -> Result<Run, Failure> {
    let recorded = prepared.host.replay(run_id).await;
    match recorded {
        Ok(run) => Ok(run),
        Err(error) => Err(failed(error, &prepared.host.store().open_runs().await.unwrap_or_default())),
    }
}

/// Why a run is not to be had; `open` are those that could be meant instead.
pub(super) fn failed(error: RecoverError, open: &[RunRow]) -> Failure {
    if let RecoverError::Store(StoreError::NotFound { run_id }) = &error {
        return Failure::call(format!("there is no run {}; {}", text::clean(run_id), open_runs(open)));
    }
    if let RecoverError::Missing { .. } = error {
        return Failure::call(format!(
            "{error}; nothing was recorded. Give the configuration that it was submitted with (`--config`), and its plugins \
             (`--plugins`)"
        ));
    }
    if let RecoverError::Ended { .. } = error { Failure::call(error) } else { Failure::host(error) }
}

fn open_runs(open: &[RunRow]) -> String {
    if open.is_empty() {
        return "no run is open in this store; `phasm list` shows all".to_owned();
    }
    let line = |row: &RunRow| {
        let (head, phase) = (&row.head, row.status.phase);
        format!("\n  {}  {} {phase}", head.run_id, text::clean(&head.workflow))
    };
    format!("open runs:{}", listed(open.iter().map(line).collect(), ""))
}

/// The first of many.
fn listed(mut names: Vec<String>, separator: &str) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    let more = if more == 0 { String::new() } else { format!(" … and {more} more") };
    format!("{}{more}", names.join(separator))
}

/// The first task run of that name which is `wanted`.
///
/// # Errors
/// When there is none of that name; or, with the `answer` that nothing was done, when none of them is wanted. Both name
/// those that are, in a `state` that is such a word as "suspended".
pub(super) fn task(
    run: &Run,
    name: &str,
    (answer, state): (&str, &str),
    wanted: fn(&TaskRun) -> bool,
) -> Result<TaskId, Failure> {
    if let Some(found) = tasks_named(run, name).find(|task| wanted(task)) {
        return Ok(found.id);
    }
    let others: Vec<_> = run.tasks().iter().filter(|task| wanted(task)).map(|task| run.path(task)).collect();
    let others = if others.is_empty() { "none".to_owned() } else { listed(others, ", ") };
    Err(Failure::call(match tasks_named(run, name).last() {
        None => format!("run {} has no task `{}`; {state}: {others}", run.id(), text::clean(name)),
        Some(task) => format!("{answer}: {} is {}; {state}: {others}", run.path(task), task.phase),
    }))
}

/// Whether a run has ended for good.
///
/// # Errors
/// If it has.
pub(super) fn check_open(run: &Run) -> Result<(), Failure> {
    let phase = run.phase();
    if !phase.is_terminal() {
        return Ok(());
    }
    Err(Failure::call(RecoverError::Ended { run_id: run.id().clone(), phase }))
}

/// Whether a task waits for an answer.
pub(super) fn is_suspended(task: &TaskRun) -> bool {
    task.phase == Phase::Suspended
}

/// Whether a task can still be cancelled.
pub(super) fn is_open(task: &TaskRun) -> bool {
    !task.phase.is_terminal()
}
