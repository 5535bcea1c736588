//! `phasm plugin add`.

use std::path::PathBuf;

use clap::Args;
use phasm::{
    plugins::{self, Added, Manifest, NewPlugin},
    sandbox::{Digest, Sandbox, SandboxConfig},
};
use serde_json::json;

use super::{
    super::{
        drive::runtime, exit::Exit, failure::Failure, oci, places::Places, problems, screen::Screen, search,
        text,
    },
    inspect::component,
    library::{Opened, exactly, held, packed},
    vouched::Vouched,
};

/// One guest is enough to see that a plugin can be linked.
const SLOTS: u32 = 8;

/// Adds a version of a plugin to the library, from a file, a plugin folder or a registry.
///
/// It is compiled first, and refused if that cannot be done or the configuration's `[trust]` does not take it. A version that asks for
/// more than the newest approved one, or is not signed by whoever signed that, is held: it is not used until it is approved.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin add ./greet.wasm\n  \
                        phasm plugin add oci://registry.example.com/plugins/greet:1.2.0 --config phasm.toml")]
pub(crate) struct AddArguments {
    /// The path of a component or plugin folder, or `oci://HOST/REPOSITORY:TAG`, also with `@sha256:…`.
    #[arg(value_name = "PATH|oci://REFERENCE")]
    plugin: String,

    /// What documents call it, without it what its manifest says, else what the file is called; and its version, where its manifest says none.
    #[arg(long = "as", value_name = "NAME[@VERSION]")]
    called: Option<String>,

    #[command(flatten)]
    registry: oci::RegistryArguments,

    #[command(flatten)]
    places: Places,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// What is added, wherever it comes from.
struct Fetched {
    bytes: Vec<u8>,
    signature: Option<String>,
    /// What it is called where it comes from.
    called: String,
    origin: Option<String>,
}

/// Adds a plugin.
pub(super) fn add(arguments: &AddArguments, screen: &Screen) -> Result<Exit, Failure> {
    let opened = Opened::open(&arguments.places, screen, arguments.json)?;
    let fetched = fetch(arguments, &opened, screen)?;
    let digest = Digest::of(&fetched.bytes);
    let text = fetched.signature.as_deref();
    let vouched = Vouched::of(opened.all_keys().look(&fetched.bytes, text), text);
    admit(&opened, &fetched, &digest)?;
    compile(&fetched.bytes, &opened)?;
    let said = Manifest::of(&fetched.bytes, None).map_err(Failure::call)?;
    let (name, version) = match arguments.called.as_deref().map(|called| called.split_once('@').ok_or(called))
    {
        Some(Ok((name, version))) => (Some(name.to_owned()), Some(version.to_owned())),
        Some(Err(name)) => (Some(name.to_owned()), None),
        None => (None, None),
    };
    let new = NewPlugin {
        name: name.or(said.name).unwrap_or(fetched.called),
        version,
        bytes: fetched.bytes,
        signature: fetched.signature,
        origin: fetched.origin,
    };
    let added = opened.library.add(new, &opened.all_keys(), opened.config.hold_all).map_err(Failure::call)?;
    let page = match arguments.json {
        true => problems::json(screen, &in_json(&added, &vouched)),
        false => page(&added, &opened, &vouched.told()),
    };
    // Whoever has stopped reading has the plugin all the same.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn fetch(arguments: &AddArguments, opened: &Opened, screen: &Screen) -> Result<Fetched, Failure> {
    if let Some(reference) = arguments.plugin.strip_prefix("oci://") {
        let most = opened.config.limits.component;
        let pulling = oci::pull(reference, &arguments.registry, &opened.config.http, most);
        let pulled = runtime()?.block_on(pulling)?;
        let origin = Some(pulled.reference);
        return Ok(Fetched {
            bytes: pulled.bytes,
            signature: pulled.signature,
            called: pulled.called,
            origin,
        });
    }
    let (called, path) = component(&arguments.plugin, &arguments.places, screen, arguments.json)?;
    let (bytes, was_packed) = packed(&path)?;
    let signature = plugins::signature_beside(&path).map_err(Failure::call)?;
    if was_packed && signature.is_some() {
        let path = path.display();
        return Err(Failure::call(format!(
            "{path} is signed without the manifest that lies beside it; put that into it and sign it again: phasm plugin pack {path}"
        )));
    }
    let origin = std::path::absolute(PathBuf::from(&arguments.plugin)).ok();
    Ok(Fetched { bytes, signature, called, origin: origin.map(|path| path.to_string_lossy().into_owned()) })
}

/// Whether anybody would have it used.
fn admit(opened: &Opened, fetched: &Fetched, digest: &Digest) -> Result<(), Failure> {
    let judge = |trust: &phasm::trust::PluginTrust| {
        trust.judge(digest, &trust.look(&fetched.bytes, fetched.signature.as_deref()))
    };
    let judged: Vec<_> = opened.trusts().iter().map(judge).collect();
    if judged.iter().any(Result::is_ok) {
        return Ok(());
    }
    let why = judged.into_iter().find_map(Result::err).unwrap_or_default();
    Err(Failure::with(Exit::Failed, format!("{} is not added: {why}", fetched.called)))
}

fn compile(bytes: &[u8], opened: &Opened) -> Result<(), Failure> {
    let cache = search::cache_dir().map(|dir| dir.join("compiled"));
    let sandbox = Sandbox::new(SandboxConfig {
        slots: SLOTS,
        cache,
        limits: opened.config.limits.clone(),
        ..SandboxConfig::default()
    });
    let sandbox = sandbox.map_err(Failure::host)?;
    let compiling = sandbox.load(bytes.into());
    let compiled = sandbox.guest_runtime().block_on(compiling);
    compiled.map(drop).map_err(|error| Failure::with(Exit::Failed, error.to_string()))
}

fn page(added: &Added, opened: &Opened, signed: &str) -> String {
    let Added { stored, manifest, beyond, is_new } = added;
    let verb = if *is_new { "added" } else { "there already" };
    let mut page = format!("{verb} {} {}\n{signed}\n", text::clean(&exactly(stored)), stored.digest);
    if let Some((version, more)) = beyond {
        let more: String = more.iter().map(|more| format!("  + {}\n", text::clean(more))).collect();
        page += &match more.is_empty() {
            true => format!("asks for nothing that {version} does not\n"),
            false => format!("asks for more than {version}:\n{more}"),
        };
    }
    page += &opened.to_grant(&stored.name, &manifest.wants).unwrap_or_default();
    if !stored.held.is_empty() {
        page += &held(stored);
    }
    page
}

fn in_json(added: &Added, vouched: &Vouched) -> serde_json::Value {
    let Added { stored, manifest, beyond, is_new } = added;
    json!({
        "name": stored.name,
        "version": stored.version,
        "digest": stored.digest.to_string(),
        "state": if stored.held.is_empty() { "approved" } else { "held" },
        "held": stored.held,
        "signature": vouched,
        "wants": manifest.wants,
        "beyond": beyond.as_ref().map(|(_, more)| more),
        "isNew": is_new,
    })
}
