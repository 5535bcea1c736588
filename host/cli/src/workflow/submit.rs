//! `phasm workflow submit`.

use clap::Args;
use phasm::{
    SubmitError,
    engine::plan::Draft,
    reader,
    saved::{saved_text, saved_workflow},
    show::SubmittedView,
    store::StoreError,
};

use super::super::{
    drive::{self, Configured, Purpose},
    exit::Exit,
    failure::Failure,
    hint::Way,
    kept_names::{Called, Changing, called, no_workflow},
    parameters::{self, Given},
    places::Places,
    problems::{self, Source},
    screen::Screen,
    stored::StoreArgument,
};

/// Submits a saved workflow as `submit` does a document, and prints the run's id.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm workflow submit greet -p who=Ada --store runs.db\n  \
                        phasm workflow submit greet --digest 3f2a --key today --store runs.db --json")]
pub(crate) struct SubmitSavedArguments {
    /// The workflow: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: Called,

    /// A version, by the beginning of its digest; the last one, if none is given.
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,

    /// A value for a parameter of spec.arguments, as of `run`.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<Given>,

    #[command(flatten)]
    store: StoreArgument,

    #[command(flatten)]
    places: Places,

    /// What you call this submission, as of `submit`.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// Submits a workflow.
pub(super) fn submit(arguments: &SubmitSavedArguments, screen: &Screen) -> Result<Exit, Failure> {
    let SubmitSavedArguments { name, digest, param, store, places, key, json } = arguments;
    let path = store.path()?;
    let configured = Configured::read(places, screen, *json)?;
    let prepared = drive::open(places, configured, screen, Purpose::default())?;
    let way = Way::to(&path).with(places);
    drive::runtime()?.block_on(async {
        let changing = Changing::open(&path)?;
        let store = &*changing.store;
        let found = saved_workflow(store, &name.namespace, &name.name).await.map_err(Failure::host)?;
        let Some(found) = found else { return Err(no_workflow(name, store).await) };
        let Some(version) = found.what.version(digest.as_deref()) else {
            let name = name.word();
            return Err(Failure::call(format!("{name} has no version whose digest begins so")));
        };
        let text = saved_text(store, &version.digest).await.map_err(Failure::host)?.unwrap_or_default();
        let source = Source { name: &version.file, text: &text };
        let refuse = |found: &[phasm::Problem]| problems::refuse(screen, source, found, *json);
        let tree = reader::read(&version.file, &text).map_err(|found| refuse(&found))?;
        let plan = prepared.plan(Draft::read(&tree)).await.map_err(|found| refuse(&found))?;
        let given = parameters::all(param, None, &plan)?;
        let submitted = prepared.host.enqueue_in(store, &plan, &given, key.as_deref()).await;
        let (run_id, is_new) = match submitted {
            Ok(run_id) => (run_id, true),
            Err(SubmitError::Store(StoreError::Exists { run_id })) => (run_id, false),
            Err(SubmitError::Problems(found)) => return Err(refuse(&found)),
            Err(error) => return Err(Failure::call(error)),
        };
        let nobody = changing.tell(&path, &way).await;
        let said = if *json {
            problems::json(screen, &SubmittedView { run_id: &run_id, workflow: &plan.name, is_new })
        } else {
            format!("{run_id}\n")
        };
        let _gone = screen.out(&said);
        if let Some(serve) = nobody {
            screen.err(&serve);
        }
        Ok(Exit::Done)
    })
}
