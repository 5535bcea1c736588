//! `phasm workflow get`.

use clap::Args;
use phasm::{catalog::saved_workflow, store::CatalogKind};

use crate::{
    backend::TargetArguments,
    drive,
    exit::Exit,
    failure::Failure,
    input::names::{QualifiedName, called, no_workflow},
    problems,
    terminal::screen::Screen,
};

/// Prints a saved workflow as it was given, or lists its versions.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm workflow get greet --store runs.db > greet.yaml\n  \
                        phasm workflow get greet --digest 3f2a --store runs.db\n  \
                        phasm workflow get greet --json --store runs.db")]
pub(crate) struct GetWorkflowArguments {
    /// The workflow: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: QualifiedName,

    /// A version, by the beginning of its digest; the last one, if none is given.
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,

    #[command(flatten)]
    store: TargetArguments,

    /// Print one JSON object to stdout: the workflow with its versions.
    #[arg(long)]
    json: bool,
}

/// Prints a workflow.
pub(super) fn get(arguments: &GetWorkflowArguments, screen: &Screen) -> Result<Exit, Failure> {
    let GetWorkflowArguments { name, digest, store, json } = arguments;
    let reader = store.read()?;
    drive::runtime()?.block_on(async {
        let found = saved_workflow(&*reader, &name.namespace, &name.name).await.map_err(Failure::host)?;
        let Some(found) = found else { return Err(no_workflow(name, &*reader).await) };
        if *json {
            let _gone = screen.out(&problems::json(screen, &found));
            return Ok(Exit::Done);
        }
        let Some(version) = found.what.version(digest.as_deref()) else { return Err(name.no_version()) };
        let _gone = screen.out(&reader.document(CatalogKind::Workflows, name, &version.digest).await?);
        Ok(Exit::Done)
    })
}
