//! `phasm cron trigger`.

use clap::Args;
use serde_json::json;

use crate::{
    backend::TargetArguments,
    exit::Exit,
    failure::Failure,
    input::{
        names::{QualifiedName, called},
        parameters::{self, ParameterArgument},
    },
    paths::PathArguments,
    problems,
    submission::KNOWN_KEY,
    terminal::screen::Screen,
};

/// Starts a run of a schedule now, also if the schedule is suspended, and prints the run's id.
///
/// The run is due for any `phasm serve` of the store. It counts as one of the schedule's: at the next
/// time, `Forbid` starts nothing while it is open, and `Replace` cancels it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron trigger nightly --store runs.db\n  \
                        phasm cron trigger nightly -p day=2026-11-22 --store runs.db --json")]
pub(crate) struct TriggerArguments {
    /// The schedule: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: QualifiedName,

    /// A value for a parameter of the workflow, like `run`.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<ParameterArgument>,

    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    paths: PathArguments,

    /// Idempotency key: the same trigger twice starts one run. Other parameters under the key are refused.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Start it although an executor is not installed or cannot be used; its attempts end with code 3.
    #[arg(long)]
    allow_missing: bool,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// Starts a run.
pub(super) fn trigger(arguments: &TriggerArguments, screen: &Screen) -> Result<Exit, Failure> {
    let TriggerArguments { name, param, store, paths, key, allow_missing, json: as_json } = arguments;
    let backend = store.backend(paths, screen, *as_json)?;
    let outcome = backend.trigger(name, param, *allow_missing, key.as_deref())?;
    let run_id = outcome.run_id;
    let said = if *as_json {
        let view = json!({ "runID": &*run_id, "schedule": &name.name, "namespace": &name.namespace });
        problems::json(screen, &view)
    } else {
        format!("{run_id}\n")
    };
    let _closed = screen.out(&said);
    if !outcome.is_new {
        screen.err(KNOWN_KEY);
    }
    if let Some(hint) = outcome.hint {
        screen.err(&hint);
    }
    Ok(Exit::Done)
}
