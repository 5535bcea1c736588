//! `phasm workflow submit`.

use clap::Args;

use crate::{
    backend::{SavedRun, TargetArguments},
    exit::Exit,
    failure::Failure,
    input::{
        names::{QualifiedName, called},
        parameters::{self, ParameterArgument},
    },
    paths::PathArguments,
    terminal::screen::Screen,
};

/// Submits a run of a saved workflow, and prints the run's id.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm workflow submit greet -p who=Ada --store runs.db\n  \
                        phasm workflow submit greet --digest 3f2a --key today --store runs.db --json")]
pub(crate) struct SubmitSavedArguments {
    /// The workflow: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: QualifiedName,

    /// A version, by the beginning of its digest; the last one, if none is given.
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,

    /// A value for a parameter of the workflow, like `run`.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<ParameterArgument>,

    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    paths: PathArguments,

    /// Idempotency key, as for `submit`.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// Submits a workflow.
pub(super) fn submit(arguments: &SubmitSavedArguments, screen: &Screen) -> Result<Exit, Failure> {
    let SubmitSavedArguments { name, digest, param, store, paths, key, json } = arguments;
    let backend = store.backend(paths, screen, *json)?;
    let run = SavedRun { name, digest: digest.as_deref(), parameters: param, key: key.as_deref() };
    let outcome = backend.submit_saved(run)?;
    let said = if *json { outcome.json } else { format!("{}\n", outcome.run_id) };
    let _closed = screen.out(&said);
    if let Some(hint) = outcome.hint {
        screen.err(&hint);
    }
    Ok(Exit::Done)
}
