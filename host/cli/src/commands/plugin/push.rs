//! `phasm plugin push`.

use clap::Args;
use phasm::plugins;

use super::{
    inspect::component,
    library::{LibraryContext, packed},
    oci,
};
use crate::{drive::runtime, exit::Exit, failure::Failure, paths::PathArguments, terminal::screen::Screen};

/// Pushes a plugin to a registry, with the signature next to it, and prints its reference.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm plugin push ./greet.wasm oci://registry.example.com/plugins/greet:1.2.0"
)]
pub(crate) struct PushArguments {
    /// The name of a plugin that a run would find, or the path of a component or plugin folder.
    #[arg(value_name = "NAME|PATH")]
    plugin: String,

    /// Where to: `oci://HOST/REPOSITORY:TAG`.
    #[arg(value_name = "oci://REFERENCE")]
    reference: String,

    #[command(flatten)]
    registry: oci::RegistryArguments,

    #[command(flatten)]
    paths: PathArguments,
}

/// Pushes a plugin.
pub(super) fn push(arguments: &PushArguments, screen: &Screen) -> Result<Exit, Failure> {
    let opened = LibraryContext::open(&arguments.paths, screen, false)?;
    let (_, path) = component(&arguments.plugin, &arguments.paths, screen, false)?;
    let (bytes, was_packed) = packed(&path)?;
    let signature =
        if was_packed { None } else { plugins::signature_beside(&path).map_err(Failure::call)? };
    let manifest = plugins::Manifest::of(&bytes, None).map_err(Failure::call)?;
    let (imports, exports) = plugins::interfaces(&bytes);
    let pushed = oci::Upload { bytes, signature, manifest, imports, exports };
    let pushing = oci::push(&arguments.reference, pushed, &arguments.registry, &opened.config.http);
    let reference = runtime()?.block_on(pushing)?;
    // The plugin is pushed, also if stdout is closed.
    let _gone = screen.out(&format!("pushed {reference}\n"));
    Ok(Exit::Done)
}
