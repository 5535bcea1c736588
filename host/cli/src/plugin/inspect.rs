//! `phasm plugin inspect`.

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::{
    engine::value::{Map, Value},
    plugins::{self, Builder as _, Manifest, PluginVersion, Source, Wants},
    sandbox::{Digest, Grants, check_counts},
};
use serde::Serialize;
use wasmparser::{Parser, Payload};

use super::{
    super::{exit::Exit, failure::Failure, hint, places::Places, problems, screen::Screen, text},
    library::{all_keys, trusts},
    list::Listed,
    shape,
    vouched::{Judged, Vouched},
    workshop::Workshop,
};

/// Shows what a plugin says about itself and what it asks of the host.
///
/// A plugin that is there as source is built first.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin inspect file\n  phasm plugin inspect ./greet.wasm --json")]
pub(crate) struct InspectArguments {
    /// The name of a plugin that a run would find, or the path of a component or plugin folder.
    #[arg(value_name = "NAME|PATH")]
    plugin: String,

    #[command(flatten)]
    places: Places,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// What there is to know about a component.
#[derive(Debug, Serialize)]
struct Inspected {
    name: String,
    version: Option<String>,
    description: Option<String>,
    /// Default policies of tasks, as documents write them.
    defaults: Map,
    /// JSON Schemas, null where the plugin says nothing of them.
    inputs: Value,
    outputs: Value,
    /// What it asks to be granted.
    wants: Wants,
    component: PathBuf,
    bytes: usize,
    digest: String,
    /// Of what is in the library: `approved` or `held`.
    state: Option<&'static str>,
    /// Why it is held.
    held: Vec<String>,
    signature: Vouched,
    /// Whether those policies have it used that ask for anything.
    trust: Vec<Judged>,
    imports: Vec<String>,
    exports: Vec<String>,
}

/// Inspects a plugin.
pub(super) fn inspect(arguments: &InspectArguments, screen: &Screen) -> Result<Exit, Failure> {
    let InspectArguments { plugin, places, json } = arguments;
    let Found { name, component, stored } = found(plugin, places, screen, *json)?;
    let config = places.configured(screen, *json)?.unwrap_or_default();
    let bytes = plugins::read_component(&component).map_err(Failure::call)?;
    let manifest = Manifest::of(&bytes, Some(&component)).map_err(Failure::call)?;
    check_counts(&bytes)
        .map_err(|error| Failure::with(Exit::Failed, format!("{}: {error}", component.display())))?;
    let (imports, exports) = interfaces(&bytes);
    let signature = match &stored {
        Some(stored) => stored.signature.as_deref().map(str::to_owned),
        None => plugins::signature_beside(&component).map_err(Failure::call)?,
    };
    let text = signature.as_deref();
    let state = |stored: &PluginVersion| if stored.held.is_empty() { "approved" } else { "held" };
    let inspected = Inspected {
        name,
        version: manifest.version,
        description: manifest.description,
        defaults: manifest.defaults.fields(),
        inputs: manifest.inputs,
        outputs: manifest.outputs,
        wants: manifest.wants,
        bytes: bytes.len(),
        digest: Digest::of(&bytes).to_string(),
        state: stored.as_ref().map(state),
        signature: Vouched::of(all_keys(&config).look(&bytes, text), text),
        trust: Judged::by_all(&trusts(&config), &bytes, text),
        held: stored.map(|stored| stored.held).unwrap_or_default(),
        component,
        imports,
        exports,
    };
    let page = if *json { problems::json(screen, &inspected) } else { page(&inspected) };
    // Whoever has stopped reading wants no more.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

/// The name and the component of a plugin that a run would find, or that lies at a path; built if need be.
///
/// # Errors
/// When there is none, or when it does not build.
pub(super) fn component(
    asked: &str,
    places: &Places,
    screen: &Screen,
    as_json: bool,
) -> Result<(String, PathBuf), Failure> {
    found(asked, places, screen, as_json).map(|found| (found.name, found.component))
}

/// A plugin that was found.
struct Found {
    name: String,
    component: PathBuf,
    /// What the library says of it that it is in.
    stored: Option<PluginVersion>,
}

fn found(asked: &str, places: &Places, screen: &Screen, as_json: bool) -> Result<Found, Failure> {
    let asked = Path::new(asked);
    let is_path = asked.components().count() > 1 || asked.is_file();
    let (name, path, workshop, stored) = if is_path {
        let stem = asked.file_stem().unwrap_or(asked.as_os_str());
        (stem.to_string_lossy().into_owned(), asked.to_owned(), Workshop::new(screen), None)
    } else {
        let Listed { name, path, stored, .. } = find(asked, places, screen, as_json)?;
        (name, path, Workshop::new(screen).only_in(places.searched(screen, as_json)?.built), stored)
    };
    let component = match Source::from(path) {
        Source::Folder(folder) => {
            workshop.artefact(&folder).map_err(|error| Failure::with(Exit::Failed, error))?
        }
        Source::File(file) => file,
        Source::Bytes(_) => return Err(Failure::call("a plugin in memory cannot be inspected")),
    };
    Ok(Found { name, component, stored })
}

fn find(asked: &Path, places: &Places, screen: &Screen, as_json: bool) -> Result<Listed, Failure> {
    let all = places.all(screen, as_json)?;
    let names: Vec<_> = all.iter().map(|listed| listed.name.clone()).collect();
    let text = asked.to_string_lossy();
    let (name, version) =
        text.split_once('@').map_or((&*text, None), |(name, version)| (name, Some(version)));
    let is_it = |listed: &Listed| version.is_none_or(|version| listed.version.as_deref() == Some(version));
    let mut named: Vec<_> = all.into_iter().filter(|listed| listed.name == name && is_it(listed)).collect();
    // A bare name means one that is held only where there is no other.
    named.sort_by_key(Listed::is_held);
    named.into_iter().next().ok_or_else(|| {
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Failure::call(format!("there is no plugin `{}`; known: {known}", asked.display()))
    })
}

/// The interfaces a component imports, and what it exports. Text format and broken components have none that could be read.
pub(super) fn interfaces(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let (mut imports, mut exports, mut depth) = (Vec::new(), Vec::new(), 0_u32);
    for payload in Parser::new(0).parse_all(bytes).map_while(Result::ok) {
        #[expect(clippy::wildcard_enum_match_arm, reason = "a component has many more sections than these")]
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                imports.extend(section.into_iter().flatten().map(|import| import.name.name.to_owned()));
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                exports.extend(section.into_iter().flatten().map(|export| export.name.name.to_owned()));
            }
            _ => {}
        }
    }
    // Types that stand by themselves are no interfaces.
    imports.retain(|name| name.contains(':'));
    (imports, exports)
}

fn page(inspected: &Inspected) -> String {
    let Inspected {
        name,
        version,
        description,
        defaults,
        inputs,
        outputs,
        wants,
        component,
        bytes,
        digest,
        state,
        held,
        signature,
        trust,
        imports,
        exports,
    } = inspected;
    let version = version.as_deref().unwrap_or("-");
    let mut page = format!("{} {version}\n", text::bold(text::clean(name)));
    if let Some(description) = description {
        page += &format!("{}\n", text::clean(description));
    }
    page += &format!("\ncomponent  {} ({bytes} bytes)\ndigest     {digest}\n", component.display());
    let defaults: Vec<_> = defaults.iter().map(|(field, value)| format!("{field}: {value}")).collect();
    for (title, schema) in [("inputs", inputs), ("outputs", outputs)] {
        page += &shape::table(title, schema);
    }
    let asked = wants.lacking(&Grants::default());
    let trust: Vec<_> = trust.iter().map(Judged::told).collect();
    let exactly = format!("{name}@{version}");
    let approve = (!held.is_empty()).then(|| hint::command(&["plugin", "approve", &exactly]));
    let approve = approve.map(|command| format!("approve it with: {command}"));
    let held: Vec<_> = held.iter().cloned().chain(approve).collect();
    let approved = state.filter(|_| held.is_empty()).map(str::to_owned);
    for (title, names) in [
        ("signature", &vec![signature.told()]),
        ("trust", &trust),
        ("state", &approved.into_iter().collect()),
        ("held", &held),
        ("defaults", &defaults),
        ("wants", &asked),
        ("imports", imports),
        ("exports", exports),
    ] {
        for (at, name) in names.iter().enumerate() {
            page += &format!("{:<11}{}\n", if at == 0 { title } else { "" }, text::clean(name));
        }
    }
    page
}
