//! `phasm plugin add`.

use std::path::PathBuf;

use clap::Args;
use phasm::{
    config::Config,
    plugins::{self, AddError, AddView, Manifest, NewPlugin},
    sandbox::{Sandbox, SandboxConfig},
};

#[cfg(feature = "oci")]
use super::oci;
use super::{
    inspect::component,
    library::{LibraryContext, held, packed, to_grant},
    server::ServerArgument,
    signatures,
};
use crate::{
    drive::{configuration, runtime},
    exit::Exit,
    failure::Failure,
    paths::PathArguments,
    problems,
    store::local_user::local_user,
    terminal::{screen::Screen, text},
    user_dirs,
};

/// One guest is enough to see that a plugin can be linked.
const SLOTS: u32 = 8;

/// Adds a version of a plugin to the library, or to the library of a server, from a file, a plugin folder or a registry.
///
/// The plugin is compiled first, and refused if that fails or if the configuration's `[trust]` does not accept it. A version that asks for
/// more than the newest approved one, or has another signer, is held: it is not used until it is approved.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin add ./greet.wasm\n  \
                        phasm plugin add oci://registry.example.com/plugins/greet:1.2.0 --config phasm.toml")]
pub(crate) struct AddArguments {
    /// The path of a component or plugin folder, or `oci://HOST/REPOSITORY:TAG`, also with `@sha256:…`.
    #[arg(value_name = "PATH|oci://REFERENCE")]
    plugin: String,

    /// Name, and version if the manifest has none. Without it the name is the manifest's, else the file's.
    #[arg(long = "as", value_name = "NAME[@VERSION]")]
    called: Option<String>,

    #[cfg(feature = "oci")]
    #[command(flatten)]
    registry: oci::RegistryArguments,

    #[command(flatten)]
    paths: PathArguments,

    #[command(flatten)]
    server: ServerArgument,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// A plugin to add, from any source.
struct PluginFile {
    bytes: Vec<u8>,
    signature: Option<String>,
    /// Name of the plugin at its source.
    called: String,
    origin: Option<String>,
}

/// Adds a plugin.
pub(super) fn add(arguments: &AddArguments, screen: &Screen) -> Result<Exit, Failure> {
    let remote = arguments.server.remote(&arguments.paths)?;
    let (added, target) = match &remote {
        Some(remote) => {
            let new = new_plugin(arguments, &configured(arguments, screen)?, screen)?;
            (
                runtime()?.block_on(remote.add_plugin(&new)).map_err(super::server::failed)?,
                vec!["--server", remote.url()],
            )
        }
        None => (add_here(arguments, screen)?, Vec::new()),
    };
    let page = if arguments.json { problems::json(screen, &added) } else { page(&added, &target) };
    // The plugin is in place, also if stdout is closed.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn configured(arguments: &AddArguments, screen: &Screen) -> Result<Config, Failure> {
    let read =
        arguments.paths.config().map(|file| configuration(&file, screen, arguments.json)).transpose()?;
    Ok(read.map(|(_, config)| config).unwrap_or_default())
}

fn add_here(arguments: &AddArguments, screen: &Screen) -> Result<AddView, Failure> {
    let opened = LibraryContext::open(&arguments.paths, screen, arguments.json)?;
    let new = new_plugin(arguments, &opened.config, screen)?;
    let sandbox = sandbox(&opened)?;
    let added = sandbox.guest_runtime().block_on(opened.library_admin().add(new, &sandbox));
    added.map_err(|error| match error {
        AddError::Library(error) => Failure::call(error),
        AddError::Distrusted { .. } | AddError::Unusable(_) | _ => {
            Failure::with(Exit::Failed, error.to_string())
        }
    })
}

/// Returns the plugin to add, with the requested name and version.
fn new_plugin(arguments: &AddArguments, config: &Config, screen: &Screen) -> Result<NewPlugin, Failure> {
    let fetched = fetch(arguments, config, screen)?;
    let said = Manifest::of(&fetched.bytes, None).map_err(Failure::call)?;
    let (name, version) = match arguments.called.as_deref().map(|called| called.split_once('@').ok_or(called))
    {
        Some(Ok((name, version))) => (Some(name.to_owned()), Some(version.to_owned())),
        Some(Err(name)) => (Some(name.to_owned()), None),
        None => (None, None),
    };
    Ok(NewPlugin {
        name: name.or(said.name).unwrap_or(fetched.called),
        version: version.or(said.version),
        bytes: fetched.bytes.into(),
        signature: fetched.signature,
        origin: fetched.origin,
        by: Some(local_user().as_str().to_owned()),
    })
}

#[cfg(feature = "oci")]
fn pull(reference: &str, arguments: &AddArguments, config: &Config) -> Result<PluginFile, Failure> {
    let pulling = oci::pull(reference, &arguments.registry, &config.http, config.limits.component);
    let pulled = runtime()?.block_on(pulling)?;
    Ok(PluginFile {
        bytes: pulled.bytes,
        signature: pulled.signature,
        called: pulled.called,
        origin: Some(pulled.reference),
    })
}

#[cfg(not(feature = "oci"))]
fn pull(reference: &str, _: &AddArguments, _: &Config) -> Result<PluginFile, Failure> {
    Err(Failure::call(format!("oci://{reference}: this phasm was built without the feature `oci`")))
}

fn fetch(arguments: &AddArguments, config: &Config, screen: &Screen) -> Result<PluginFile, Failure> {
    if let Some(reference) = arguments.plugin.strip_prefix("oci://") {
        return pull(reference, arguments, config);
    }
    let (called, path) = component(&arguments.plugin, &arguments.paths, screen, arguments.json)?;
    let (bytes, was_packed) = packed(&path)?;
    let signature = plugins::signature_beside(&path).map_err(Failure::call)?;
    if was_packed && signature.is_some() {
        let path = path.display();
        return Err(Failure::call(format!(
            "{path} is signed without the manifest next to it; put that into it and sign it again: phasm plugin pack {path}"
        )));
    }
    let origin = std::path::absolute(PathBuf::from(&arguments.plugin)).ok();
    Ok(PluginFile {
        bytes,
        signature,
        called,
        origin: origin.map(|path| path.to_string_lossy().into_owned()),
    })
}

fn sandbox(opened: &LibraryContext) -> Result<Sandbox, Failure> {
    let cache = user_dirs::cache_dir().map(|dir| dir.join("compiled"));
    let sandbox = Sandbox::new(SandboxConfig {
        slots: SLOTS,
        cache,
        limits: opened.config.limits.clone(),
        ..SandboxConfig::default()
    });
    sandbox.map_err(Failure::host)
}

fn page(added: &AddView, target: &[&str]) -> String {
    let verb = if added.is_new { "added" } else { "there already" };
    let exactly = format!("{}@{}", added.name, added.version);
    let signed = signatures::told(&added.signature);
    let mut page = format!("{verb} {} {}\n{signed}\n", text::clean(&exactly), text::clean(&added.digest));
    if let (Some(newest), Some(more)) = (&added.newest, &added.beyond) {
        let newest = text::clean(newest);
        let more: String = more.iter().map(|more| format!("  + {}\n", text::clean(more))).collect();
        page += &match more.is_empty() {
            true => format!("asks for nothing that {newest} does not\n"),
            false => format!("asks for more than {newest}:\n{more}"),
        };
    }
    page += &added.to_grant.as_ref().map(to_grant).unwrap_or_default();
    if !added.held.is_empty() {
        page += &held(&exactly, &added.held, target);
    }
    page
}
