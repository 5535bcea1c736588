//! `phasm workflow submit`.

use clap::Args;
use phasm::{
    SubmitError,
    catalog::{saved_text, saved_workflow},
    engine::plan::Draft,
    reader,
    store::StoreError,
    store::view,
};

use super::super::{
    command_line::Target,
    drive::{self, LoadedConfig, Purpose},
    exit::Exit,
    failure::Failure,
    names::{QualifiedName, called, no_workflow},
    parameters::{self, ParameterArgument},
    paths::PathArguments,
    problems::{self, Source},
    remote::RemoteCommands,
    screen::Screen,
    target::TargetArguments,
    writable_store::WritableStore,
};

/// Submits a saved workflow as `submit` does a document, and prints the run's id.
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

    /// A value for a parameter of spec.arguments, as of `run`.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<ParameterArgument>,

    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    paths: PathArguments,

    /// What you call this submission, as of `submit`.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// Submits a workflow.
pub(super) fn submit(arguments: &SubmitSavedArguments, screen: &Screen) -> Result<Exit, Failure> {
    let SubmitSavedArguments { name, digest, param, store, key, json, .. } = arguments;
    let runtime = drive::runtime()?;
    let (view, nobody) = match store.remote()? {
        Some(remote) => {
            let asking = RemoteCommands { remote, json: *json, screen };
            let asked = asking.run_saved(name, digest.as_deref(), param, key.as_deref());
            (runtime.block_on(asked)?, None)
        }
        None => runtime.block_on(here(arguments, screen))?,
    };
    let run_id = view.get("runID").and_then(serde_json::Value::as_str).unwrap_or_default();
    let said = if *json { problems::json(screen, &view) } else { format!("{run_id}\n") };
    let _gone = screen.out(&said);
    if let Some(serve) = nobody {
        screen.err(&serve);
    }
    Ok(Exit::Done)
}

/// What `submit --json` prints, and what to say where nobody serves it.
async fn here(
    arguments: &SubmitSavedArguments,
    screen: &Screen,
) -> Result<(serde_json::Value, Option<String>), Failure> {
    let SubmitSavedArguments { name, digest, param, store, paths, key, json } = arguments;
    let path = store.store.path()?;
    let configured = LoadedConfig::read(paths, screen, *json)?;
    let planning = drive::open(paths, configured, screen, Purpose::default())?;
    let target = Target::to(&path).with(paths);
    let changing = WritableStore::open(&path)?;
    let store = &*changing.store;
    let found = saved_workflow(store, &name.namespace, &name.name).await.map_err(Failure::host)?;
    let Some(found) = found else { return Err(no_workflow(name, store).await) };
    let Some(version) = found.what.version(digest.as_deref()) else { return Err(name.no_version()) };
    let text = saved_text(store, &version.digest).await.map_err(Failure::host)?.unwrap_or_default();
    let source = Source { name: &version.file, text: &text };
    let refuse = |found: &[phasm::Problem]| problems::refuse(screen, source, found, *json);
    let tree = reader::read(&version.file, &text).map_err(|found| refuse(&found))?;
    let plan = planning.plan(Draft::read(&tree)).await.map_err(|found| refuse(&found))?;
    let given = parameters::all(param, None, &plan)?;
    let (run_id, is_new) = match planning.planner.enqueue(store, &plan, &given, key.as_deref()).await {
        Ok(run_id) => (run_id, true),
        Err(SubmitError::Store(StoreError::Exists { run_id })) => (run_id, false),
        Err(SubmitError::Problems(found)) => return Err(refuse(&found)),
        Err(error) => return Err(Failure::call(error)),
    };
    let view = view::SubmittedView { run_id: &run_id, workflow: &plan.name, is_new };
    // It is made of texts.
    let view = serde_json::to_value(view).unwrap_or_default();
    Ok((view, changing.tell(&path, &target).await))
}
