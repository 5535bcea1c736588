//! Runs that are kept in a file: finding them, and saying why one is not to be had.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use phasm::{
    RecoverError, Watch,
    engine::{
        event::TaskId,
        phase::Phase,
        run::{Run, TaskRun},
    },
    tasks_named,
};

use super::{
    command_line::Target,
    drive::{self, DriveArguments, LoadedConfig, PreparedHost, Purpose},
    failure::Failure,
    paths::{self, STORE},
    provenance, run_id,
    screen::Screen,
    store_reader::StoreReader,
    text,
};

/// The file that runs are kept in.
#[derive(Args, Clone, Debug)]
pub(super) struct StoreArgument {
    /// The file that runs are kept in, or the URL of a PostgreSQL database [env: PHASM_STORE]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

impl StoreArgument {
    /// Whether one is named.
    pub(super) fn is_named(&self) -> bool {
        self.store.is_some() || paths::set(STORE).is_some()
    }

    /// Whether it was named as an option.
    pub(super) const fn is_given(&self) -> bool {
        self.store.is_some()
    }

    /// The file, which is there.
    ///
    /// # Errors
    /// When none is named, or when there is no such file: a name mistyped must not become a new store.
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        let path = self.named()?;
        if paths::database_url(&path).is_none() && !path.exists() {
            let path = path.display();
            return Err(Failure::call(format!(
                "there is no store {path}; expected the file that `run --store FILE` was given"
            )));
        }
        Ok(path)
    }

    /// The file, which may not be there yet.
    ///
    /// # Errors
    /// When none is named.
    pub(super) fn named(&self) -> Result<PathBuf, Failure> {
        let named = self.store.clone().or_else(|| paths::set(STORE).map(PathBuf::from));
        let path = named.ok_or_else(|| {
            Failure::call(format!("no store is named; expected `--store FILE`, or the file in {STORE}"))
        })?;
        if *path == *"memory" {
            let message = "a store in memory ends with its process; expected the file that runs were kept in";
            return Err(Failure::call(message));
        }
        Ok(path)
    }

    /// How its runs are reached.
    ///
    /// # Errors
    /// Same as [`Self::path`].
    pub(super) fn target(&self) -> Result<Target, Failure> {
        self.path().map(|path| Target::to(&path))
    }

    /// Opens the store for reading, also while another process has it.
    ///
    /// # Errors
    /// When there is no such store, or it cannot be read.
    pub(super) fn read(&self) -> Result<StoreReader, Failure> {
        StoreReader::open(&self.path()?).map_err(Failure::store)
    }

    /// Opens it to look at the run that `meant` names, of which this is the id.
    ///
    /// # Errors
    /// When there is no such store or no such run, or when several could be meant.
    pub(super) async fn find(&self, meant: &str) -> Result<(StoreReader, Arc<str>), Failure> {
        let reader = self.read()?;
        let run_id = run_id::find(&*reader, meant, &self.target()?).await?;
        Ok((reader, run_id))
    }

    /// Opens a host that resumes the run. Paths that are not named are those the run was submitted with.
    ///
    /// # Errors
    /// Same as [`Self::host`].
    pub(super) async fn host_for(
        &self,
        reader: &StoreReader,
        run_id: &str,
        arguments: &DriveArguments,
        screen: &Screen,
    ) -> Result<PreparedHost, Failure> {
        let paths = provenance::remembered(&arguments.paths, &**reader, run_id, screen).await;
        self.host(&arguments.at(paths), screen).await
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
    ) -> Result<PreparedHost, Failure> {
        let path = self.path()?;
        let configured = LoadedConfig::read(&arguments.paths, screen, arguments.json)?;
        let prepared = drive::open(&arguments.paths, configured, screen, Purpose::default())?;
        let prepared = prepared.with_store(Some(&path)).await?;
        prepared.warn_of_tenants(screen).await;
        Ok(prepared)
    }
}

/// A run of the prepared host's store, as it was recorded last.
///
/// # Errors
/// When its journal cannot be read.
pub(super) async fn recorded(prepared: &PreparedHost, run_id: &str, target: &Target) -> Result<Run, Failure> {
    prepared.host.replay(run_id).await.map_err(|error| failed(error, target))
}

/// Why a run is not to be had.
pub(super) fn failed(error: RecoverError, target: &Target) -> Failure {
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
/// those that are, in a `state` that is such a word as "suspended".
pub(super) fn task(
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

/// Prints how to resume a run that was followed, if it has not ended.
pub(super) fn tell_orphaned(watch: &Watch, target: &Target, screen: &Screen) {
    if let Some(run) = watch.run().filter(|run| !run.is_over()) {
        screen.err(&drive::nobody(run, target));
    }
}

/// Whether a task waits for an answer.
pub(super) fn is_suspended(task: &TaskRun) -> bool {
    task.phase == Phase::Suspended
}

/// Whether a task can still be cancelled.
pub(super) fn is_open(task: &TaskRun) -> bool {
    !task.phase.is_terminal()
}
