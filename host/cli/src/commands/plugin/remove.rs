//! `phasm plugin remove`.

use clap::Args;

use super::{
    library::LibraryContext,
    server::{ServerArgument, failed, name_and_version},
};
use crate::{
    command_line,
    drive::runtime,
    exit::Exit,
    failure::Failure,
    paths::PathArguments,
    terminal::{screen::Screen, text},
};

/// Removes a plugin version from the library, or from the library of a server.
///
/// Runs that were submitted with it continue. Its component stays until `phasm plugin prune`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin remove greet@1.2.0")]
pub(crate) struct RemoveArguments {
    /// The version.
    #[arg(value_name = "NAME@VERSION")]
    plugin: String,

    #[command(flatten)]
    paths: PathArguments,

    #[command(flatten)]
    server: ServerArgument,
}

/// Removes a version.
pub(super) fn remove(arguments: &RemoveArguments, screen: &Screen) -> Result<Exit, Failure> {
    let asked = &arguments.plugin;
    match arguments.server.remote(&arguments.paths)? {
        Some(remote) => {
            let (name, version) = name_and_version(asked)?;
            runtime()?.block_on(remote.remove_plugin(name, version)).map_err(failed)?;
        }
        None => {
            let library = LibraryContext::open(&arguments.paths, screen, false)?.library;
            let stored = library.exactly(asked).map_err(Failure::call)?;
            library.remove(&stored).map_err(Failure::call)?;
        }
    }
    let prune = command_line::command(&["plugin", "prune"]);
    // The plugin is removed, also if stdout is closed.
    let _gone =
        screen.out(&format!("removed {}; its component is deleted by: {prune}\n", text::clean(asked)));
    Ok(Exit::Done)
}
