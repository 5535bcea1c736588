//! `phasm workflow save`.

use clap::Args;

use crate::{
    backend::TargetArguments,
    exit::Exit,
    failure::Failure,
    input::names::{QualifiedName, short},
    paths::PathArguments,
    problems,
    submission::DocumentArgument,
    terminal::screen::Screen,
};

/// Saves a workflow file by its name; a file saved earlier under that name becomes an earlier version.
///
/// The file is checked as `run` does, with the plugins here or on the server. Up to 100 versions of it are kept.
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
    let saved = store.backend(paths, screen, *json)?.save_workflow(document)?;
    let name = QualifiedName::new(&saved.namespace, &saved.name).word();
    let digest = saved.what.versions.last().map(|last| short(&last.digest)).unwrap_or_default();
    let said = if *json { problems::json(screen, &saved) } else { format!("{name} {digest}\n") };
    let _closed = screen.out(&said);
    let submit = store.target()?.with(paths).command(&["workflow", "submit", &name]);
    screen.err(&format!("submit it with: {submit}\n"));
    Ok(Exit::Done)
}
