//! `phasm workflow list`.

use clap::Args;
use phasm::catalog::{CatalogItem, CatalogPage, SavedWorkflow, saved_workflows};

use crate::{
    backend::TargetArguments,
    drive,
    exit::Exit,
    failure::Failure,
    input::names::{self, MAX_LISTED, NamespaceFilter, QualifiedName, short},
    problems,
    terminal::{screen::Screen, text},
};

/// Lists the saved workflows of a store, by namespace and name.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm workflow list --store runs.db\n  \
                        phasm workflow list --namespace data --store runs.db --json")]
pub(crate) struct ListWorkflowsArguments {
    #[command(flatten)]
    listing: NamespaceFilter,

    #[command(flatten)]
    store: TargetArguments,

    /// Print one JSON array to stdout.
    #[arg(long)]
    json: bool,
}

/// Lists workflows.
pub(super) fn list(arguments: &ListWorkflowsArguments, screen: &Screen) -> Result<Exit, Failure> {
    let ListWorkflowsArguments { listing, store, json } = arguments;
    let reader = store.read()?;
    let namespace = listing.namespace.as_deref();
    let found = drive::runtime()?
        .block_on(saved_workflows(&*reader, namespace, None, MAX_LISTED))
        .map_err(Failure::host)?;
    let CatalogPage { items: found, damaged, .. } = found;
    if found.is_empty() && damaged.is_empty() {
        screen.err("there are no saved workflows\n");
    }
    let said = if *json { problems::json(screen, &found) } else { table(&found) };
    let _gone = screen.out(&said);
    Ok(names::tell_damaged(screen, &damaged))
}

fn table(found: &[CatalogItem<SavedWorkflow>]) -> String {
    let header = ["NAME", "VERSION", "SAVED", "BY", "FILE", "VERSIONS"];
    text::table(header, found.iter().map(cells))
}

fn cells(saved: &CatalogItem<SavedWorkflow>) -> [String; 6] {
    let last = saved.what.versions.last();
    let by = last.and_then(|last| last.by.as_deref()).unwrap_or("-");
    [
        QualifiedName::new(&saved.namespace, &saved.name).word(),
        last.map(|last| short(&last.digest)).unwrap_or_default(),
        last.map(|last| last.saved_at.to_rfc3339()).unwrap_or_default(),
        text::clean(by).into_owned(),
        last.map(|last| text::clean(&last.file).into_owned()).unwrap_or_default(),
        saved.what.versions.len().to_string(),
    ]
}
