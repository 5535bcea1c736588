//! `phasm plugin approve`.

use clap::Args;

use super::{
    library::{LibraryContext, to_grant},
    server::{ServerArgument, failed, name_and_version},
};
use crate::{
    drive::runtime,
    exit::Exit,
    failure::Failure,
    paths::PathArguments,
    store::local_user::local_user,
    terminal::{screen::Screen, text},
};

/// Approves a plugin version that is on hold in the library, or in the library of a server.
///
/// Approving grants nothing: permissions that the version asks for and is not granted are printed, with the lines that grant them.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm plugin approve greet@1.3.0\n  phasm plugin approve greet@1.3.0 --config phasm.toml"
)]
pub(crate) struct ApproveArguments {
    /// The version.
    #[arg(value_name = "NAME@VERSION")]
    plugin: String,

    #[command(flatten)]
    paths: PathArguments,

    #[command(flatten)]
    server: ServerArgument,
}

/// Approves a version.
pub(super) fn approve(arguments: &ApproveArguments, screen: &Screen) -> Result<Exit, Failure> {
    let asked = &arguments.plugin;
    if !asked.contains('@') {
        return Err(Failure::call(format!(
            "expected a name and a version, such as {}@1.2.0",
            text::clean(asked)
        )));
    }
    let approved = match arguments.server.remote(&arguments.paths)? {
        Some(remote) => {
            let (name, version) = name_and_version(asked)?;
            runtime()?.block_on(remote.approve_plugin(name, version)).map_err(failed)?
        }
        None => {
            let library_admin = LibraryContext::open(&arguments.paths, screen, false)?.library_admin();
            let stored = library_admin.library.exactly(asked).map_err(Failure::call)?;
            library_admin.approve(&stored, Some(local_user().as_str())).map_err(Failure::call)?
        }
    };
    let exactly = format!("{}@{}", approved.name, approved.version);
    let done = if approved.was_held { "approved" } else { "approved before:" };
    let grants = approved.to_grant.as_ref().map(to_grant).unwrap_or_default();
    let (exactly, digest) = (text::clean(&exactly), text::clean(&approved.digest));
    // The version is approved, also if stdout is closed.
    let _gone = screen.out(&format!("{done} {exactly} {digest}\n{grants}"));
    Ok(Exit::Done)
}
