//! `phasm cron trigger`.

use std::sync::Arc;

use clap::Args;
use phasm::{Map, SubmitError, TriggerError, catalog};
use serde_json::json;

use super::super::{
    command_line::Target,
    drive::{self, LoadedConfig, Purpose},
    exit::Exit,
    failure::Failure,
    names::{QualifiedName, called, refused},
    parameters::{self, ParameterArgument},
    paths::PathArguments,
    problems::{self, Source},
    remote::RemoteCommands,
    screen::Screen,
    submission,
    target::TargetArguments,
    writable_store::WritableStore,
};

/// Has a schedule start a run now, whatever it says and whether it pauses or not, and prints the run's id.
///
/// The run is due for any `phasm serve` of the store. It counts as one of the schedule's: with `Forbid` nothing is started beside it at the next
/// instant, with `Replace` it is cancelled then.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron trigger nightly --store runs.db\n  \
                        phasm cron trigger nightly -p day=2026-11-22 --store runs.db --json")]
pub(crate) struct TriggerArguments {
    /// The schedule: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: QualifiedName,

    /// A value for a parameter of spec.arguments, as of `run`.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<ParameterArgument>,

    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    paths: PathArguments,

    /// Start it although an executor is not installed or cannot be used; its attempts end with code 3.
    #[arg(long)]
    allow_missing: bool,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// Starts a run.
pub(super) fn trigger(arguments: &TriggerArguments, screen: &Screen) -> Result<Exit, Failure> {
    let TriggerArguments { name, param, store, allow_missing, json: as_json, .. } = arguments;
    let runtime = drive::runtime()?;
    let (run_id, nobody) = match store.remote()? {
        Some(remote) => {
            submission::no_missing(*allow_missing)?;
            let asking = RemoteCommands { remote, json: *as_json, screen };
            (runtime.block_on(asking.trigger(name, param))?, None)
        }
        None => here(arguments, screen)?,
    };
    let said = if *as_json {
        let view = json!({ "runID": &*run_id, "schedule": &name.name, "namespace": &name.namespace });
        problems::json(screen, &view)
    } else {
        format!("{run_id}\n")
    };
    let _gone = screen.out(&said);
    if let Some(serve) = nobody {
        screen.err(&serve);
    }
    Ok(Exit::Done)
}

/// The run's id, and what to say where nobody serves it.
fn here(arguments: &TriggerArguments, screen: &Screen) -> Result<(Arc<str>, Option<String>), Failure> {
    let TriggerArguments { name, param, store, paths, allow_missing, json: as_json } = arguments;
    let path = store.store.path()?;
    let configured = LoadedConfig::read(paths, screen, *as_json)?;
    let purpose = Purpose { allow_missing: *allow_missing, ..Purpose::default() };
    let planning = drive::open(paths, configured, screen, purpose)?;
    let target = Target::to(&path).with(paths);
    drive::runtime()?.block_on(async {
        let changing = WritableStore::open(&path)?;
        let (store, file) = (&*changing.store, name.word());
        let found = catalog::schedule(store, &name.namespace, &name.name).await.map_err(Failure::host)?;
        let mut given = Map::new();
        // What cannot be read is told by what starts the run.
        if let Some(found) = &found
            && let Ok(draft) = catalog::schedule_document(store, found).await
        {
            planning.environment.build(draft.executor_types().iter()).await;
            let texts = ParameterArgument::pairs(param);
            given = catalog::given_parameters(store, found, texts).await.unwrap_or_default();
        }
        match planning.planner.trigger(store, &name.namespace, &name.name, &given).await {
            Ok(run_id) => Ok((run_id, changing.tell(&path, &target).await)),
            Err(TriggerError::Saved(error)) => Err(refused(error, store).await),
            Err(TriggerError::Submit(SubmitError::Problems(found))) => {
                Err(problems::refuse(screen, Source { name: &file, text: "" }, &found, *as_json))
            }
            Err(error) => Err(Failure::call(error)),
        }
    })
}
