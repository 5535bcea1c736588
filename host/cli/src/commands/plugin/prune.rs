//! `phasm plugin prune`.

use std::path::PathBuf;

use clap::Args;
use phasm::plugins::PluginVersion;

use super::library::{LibraryContext, exactly};
use crate::{
    command_line,
    drive::runtime,
    exit::Exit,
    failure::Failure,
    paths::{self, PathArguments, STORE},
    store::reader::StoreReader,
    terminal::{screen::Screen, text},
};

/// Deletes the components that were removed from the library and that no run needs.
///
/// A run has its components in its store. Signers of deleted components are remembered, so that runs continue where `[trust]` requires a
/// signature; what runs of the named stores were submitted with stays whole.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin prune --store runs.db")]
pub(crate) struct PrunePluginsArguments {
    /// A file with runs, or the URL of a PostgreSQL database; may be repeated [env: PHASM_STORE]
    #[arg(long, value_name = "FILE")]
    store: Vec<PathBuf>,

    #[command(flatten)]
    paths: PathArguments,
}

/// Deletes what is not needed.
pub(super) fn prune(arguments: &PrunePluginsArguments, screen: &Screen) -> Result<Exit, Failure> {
    let opened = LibraryContext::open(&arguments.paths, screen, false)?;
    let mut stores = arguments.store.clone();
    if stores.is_empty() {
        stores.extend(paths::set(STORE).map(PathBuf::from));
    }
    screen.err(&asked(&stores));
    let mut removed = opened.library.removed().map_err(Failure::call)?;
    let mut needed = Vec::new();
    for store in stores {
        let kept = StoreReader::open(&store).map_err(Failure::store)?;
        let (found, rest) = runtime()?.block_on(divide(&kept, removed))?;
        needed.extend(found);
        removed = rest;
    }
    for stored in &needed {
        screen.err(&format!("{} stays: runs need it\n", text::clean(&exactly(stored))));
    }
    let digests: Vec<_> = needed.iter().map(|stored| stored.digest).collect();
    let deleted = opened.library.prune(&digests).map_err(Failure::call)?;
    screen.err(&format!("{} deleted\n", text::count(deleted, "component")));
    Ok(Exit::Done)
}

/// Stores whose runs were looked at.
fn asked(stores: &[PathBuf]) -> String {
    let shown: Vec<_> =
        stores.iter().map(|store| command_line::word(&command_line::shown(store)).into_owned()).collect();
    match shown.as_slice() {
        [] => format!(
            "no store was asked; runs have their components themselves, and --store or {STORE} keeps them here as well\n"
        ),
        shown => format!("asked the runs of {}\n", shown.join(", ")),
    }
}

/// Splits the components by whether runs of a store were submitted with them.
async fn divide(
    store: &StoreReader,
    all: Vec<PluginVersion>,
) -> Result<(Vec<PluginVersion>, Vec<PluginVersion>), Failure> {
    let (mut needed, mut rest) = (Vec::new(), Vec::new());
    for stored in all {
        let component = store.component(&stored.digest.to_string()).await.map_err(Failure::host)?;
        if component.is_some() { needed.push(stored) } else { rest.push(stored) }
    }
    Ok((needed, rest))
}
