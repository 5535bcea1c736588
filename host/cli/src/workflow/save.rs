//! `phasm workflow save`.

use std::path::Path;

use clap::Args;
use phasm::{
    catalog::{SaveError, Saved, SavedWorkflow, WrittenDocument, save_workflow},
    clock::Clock,
};

use super::super::{
    drive,
    exit::Exit,
    failure::Failure,
    names::{QualifiedName, refused, short},
    paths::PathArguments,
    problems,
    remote::RemoteCommands,
    screen::Screen,
    submission::{self, DocumentArgument, OpenDocument},
    target::TargetArguments,
    writable_store::{WritableStore, me},
};

/// Saves a document by its name; what is there already under that name becomes an earlier version.
///
/// The document is checked as `run` does, with the plugins that are here, or those of the server. Up to 100 versions of it are kept.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm workflow save greet.yaml --store runs.db\n  \
                        phasm workflow save greet.yaml --server http://127.0.0.1:8484")]
pub(crate) struct SaveArguments {
    #[command(flatten)]
    document: DocumentArgument,

    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    paths: PathArguments,

    /// Print one JSON object to stdout: the workflow with its versions.
    #[arg(long)]
    json: bool,
}

/// Saves a document.
pub(super) fn save(arguments: &SaveArguments, screen: &Screen) -> Result<Exit, Failure> {
    let SaveArguments { document, store, paths, json } = arguments;
    let runtime = drive::runtime()?;
    let saved = match store.remote()? {
        Some(remote) => {
            let asking = RemoteCommands { remote, json: *json, screen };
            runtime.block_on(asking.save_workflow(document))?
        }
        None => {
            let path = store.store.named()?;
            let opened = document.open(paths, screen, *json)?;
            runtime.block_on(keep(opened, paths, &path))?
        }
    };
    let name = QualifiedName::new(&saved.namespace, &saved.name).word();
    let digest = saved.what.versions.last().map(|last| short(&last.digest)).unwrap_or_default();
    let said = if *json { problems::json(screen, &saved) } else { format!("{name} {digest}\n") };
    let _gone = screen.out(&said);
    let submit = store.target()?.with(paths).command(&["workflow", "submit", &name]);
    screen.err(&format!("submit it with: {submit}\n"));
    Ok(Exit::Done)
}

async fn keep(
    opened: OpenDocument<'_>,
    paths: &PathArguments,
    path: &Path,
) -> Result<Saved<SavedWorkflow>, Failure> {
    let planned = opened.plan(paths, Some(path)).await?;
    if let Some(cron) = &planned.plan.cron {
        return Err(submission::is_no_workflow(&cron.name, &planned.source.text, &planned.source.target));
    }
    let changing = WritableStore::open(path)?;
    let written = WrittenDocument { file: &planned.source.text.name, text: &planned.source.text.text };
    let (store, by, now) = (&*changing.store, me(), Clock::start().now());
    match save_workflow(store, &planned.plan, written, by.as_deref(), now).await {
        Ok(saved) => Ok(saved),
        Err(SaveError::Problems(found)) => Err(planned.source.refuse(&found)),
        Err(error) => Err(refused(error, store).await),
    }
}
