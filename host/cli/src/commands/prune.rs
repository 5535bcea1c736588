//! `phasm prune`: deletes runs that have ended.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use phasm::{
    Keep, Phase, PruneResult, Retention,
    artifacts::HostArtifacts,
    clock::Clock,
    config::Config,
    forget_lost_artifacts, prunable, prune as prune_store,
    store::{Migration, RunRow, Sqlite, Store, StoreError},
};
use serde_json::{Value, json};

use super::list;
use crate::{
    drive::{LoadedConfig, runtime},
    exit::Exit,
    failure::{ContextError, Failure},
    input::times,
    paths::{self, PathArguments},
    problems,
    store::{argument::StoreArgument, database},
    terminal::screen::Screen,
};

/// Deletes ended runs of a store, with their journals, logs and data that no other run uses; open runs stay.
///
/// With both `--older-than` and `--keep`, a run is deleted if either condition matches; without them `[retention]` of the configuration decides.
/// A few are deleted at a time, so that other runs continue meanwhile, and the file gets smaller.
/// Damaged runs are left and named; then the exit status is 3.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm prune --store runs.db --older-than 30d\n  \
                        phasm prune --store runs.db --keep 1000 --namespace nightly --dry-run\n  \
                        phasm prune --store runs.db --config phasm.toml")]
pub(crate) struct PruneArguments {
    #[command(flatten)]
    store: StoreArgument,

    /// Only runs that ended longer ago.
    #[arg(long, value_name = "DURATION", value_parser = times::length)]
    older_than: Option<Duration>,

    /// Runs of a namespace but the last N that ended.
    #[arg(long, value_name = "N")]
    keep: Option<u64>,

    /// The configuration whose `[retention]` says which, without `--older-than` and `--keep`, and whose `[artifacts]` says where artifacts are [env: PHASM_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Only runs of this namespace.
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,

    /// Only runs in this phase; the others do not count.
    #[arg(long, value_name = "PHASE", value_parser = list::phase)]
    phase: Option<Phase>,

    /// Delete nothing: print the ids of the runs that would be deleted.
    #[arg(long)]
    dry_run: bool,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

impl PruneArguments {
    /// Returns the runs to delete, and where their artifacts are.
    fn settings(&self, store: &Path, screen: &Screen) -> Result<(Retention, HostArtifacts), Failure> {
        let age = self.older_than.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let keep = Keep { age, count: self.keep };
        let config = LoadedConfig::read(&PathArguments::of(self.config.clone()), screen, self.json)?;
        let artifacts = config.artifacts(store);
        let all = match keep == Keep::default() {
            false => Retention { others: keep, ..Retention::default() },
            true => with_rules(config.config())?,
        };
        let only = |name: &str| {
            let keep = all.namespaces.get(name).copied().unwrap_or(all.others);
            Retention { namespaces: BTreeMap::from([(name.into(), keep)]), ..Retention::default() }
        };
        let retention = self.namespace.as_deref().map_or_else(|| all.clone(), only);
        Ok((Retention { phase: self.phase, ..retention }, artifacts))
    }
}

/// Returns the retention of a configuration.
///
/// # Errors
/// Fails when there is none, or when it keeps every run.
fn with_rules(config: Option<&Config>) -> Result<Retention, Failure> {
    let retention = config.map(|config| config.retention.clone()).unwrap_or_default();
    if retention == Retention::default() {
        return Err(Failure::call(
            "no condition says which runs to delete; expected `--older-than DURATION`, `--keep N` or both, or a `--config FILE` \
             with `[retention]`",
        ));
    }
    Ok(retention)
}

/// Deletes runs.
pub(super) fn prune(arguments: &PruneArguments, screen: &Screen) -> Result<Exit, Failure> {
    let PruneArguments { store, dry_run, json: as_json, .. } = arguments;
    let path = store.path()?;
    let (retention, artifacts) = arguments.settings(&path, screen)?;
    let now = Clock::start().now();
    let (said, left) = runtime()?.block_on(async {
        if *dry_run {
            let (found, left) = prunable(&*store.read()?, &retention, now).await.map_err(Failure::host)?;
            let ids: Vec<&str> = found.iter().map(|head| &*head.run_id).collect();
            screen.err(&format!("{} would be deleted\n", runs(ids.len() as u64)));
            let page = if *as_json {
                problems::json(screen, &with_left(json!({ "wouldDelete": ids }), &left))
            } else {
                ids.iter().map(|id| format!("{id}\n")).collect()
            };
            return Ok((page, left));
        }
        let store = open(&path)
            .map_err(|error| Failure::call(ContextError::new("the store cannot be used", error)))?;
        let PruneResult { deleted, left } =
            prune_store(&*store, &retention, now, &artifacts).await.map_err(Failure::host)?;
        forget_lost_artifacts(&*store, &artifacts).await.map_err(Failure::host)?;
        if *as_json {
            let page = problems::json(screen, &with_left(json!({ "deleted": deleted }), &left));
            return Ok((page, left));
        }
        screen.err(&format!("{} deleted\n", runs(deleted)));
        Ok::<_, Failure>((String::new(), left))
    })?;
    // A closed stdout ends the output.
    let _gone = screen.out(&said);
    Ok(list::tell_damaged(screen, left.iter()))
}

/// Adds the damaged runs, which are not deleted, if there are any.
fn with_left(mut said: Value, left: &[RunRow]) -> Value {
    let shown =
        |row: &RunRow| json!({ "runID": row.head.run_id, "number": row.number, "damaged": row.damaged });
    if let Some(said) = said.as_object_mut().filter(|_| !left.is_empty()) {
        said.insert("left".to_owned(), left.iter().map(shown).collect());
    }
    said
}

fn runs(count: u64) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

/// Whether another process holds a file or not.
fn open(path: &Path) -> Result<Arc<dyn Store>, StoreError> {
    if let Some(url) = paths::database_url(path) {
        return database::open(url, Migration::Refuse);
    }
    match Sqlite::open(path) {
        Err(StoreError::Locked { .. }) => Ok(Arc::new(Sqlite::beside(path)?)),
        opened => Ok(Arc::new(opened?)),
    }
}
