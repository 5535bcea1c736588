//! `phasm plugin inspect`.

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::{
    engine::value::{Map, Value},
    plugins::{self, Builder as _, Manifest, Source, Wants},
    sandbox::{Digest, Grants, check_counts},
};
use serde::Serialize;
use wasmparser::{Parser, Payload};

use super::{
    super::{exit::Exit, failure::Failure, places::Places, problems, screen::Screen, text},
    list::Listed,
    shape,
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
    imports: Vec<String>,
    exports: Vec<String>,
}

/// Inspects a plugin.
pub(super) fn inspect(arguments: &InspectArguments, screen: &Screen) -> Result<Exit, Failure> {
    let (name, component) = component(&arguments.plugin, &arguments.places, screen, arguments.json)?;
    let bytes = plugins::read_component(&component).map_err(Failure::call)?;
    let manifest = Manifest::of(&bytes, Some(&component)).map_err(Failure::call)?;
    check_counts(&bytes)
        .map_err(|error| Failure::with(Exit::Failed, format!("{}: {error}", component.display())))?;
    let (imports, exports) = interfaces(&bytes);
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
        component,
        imports,
        exports,
    };
    let page = if arguments.json { problems::json(screen, &inspected) } else { page(&inspected) };
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
    let asked = Path::new(asked);
    let is_path = asked.components().count() > 1 || asked.is_file();
    let (name, path, workshop) = if is_path {
        let stem = asked.file_stem().unwrap_or(asked.as_os_str());
        (stem.to_string_lossy().into_owned(), asked.to_owned(), Workshop::new(screen))
    } else {
        let (name, path) = find(asked, places, screen, as_json)?;
        (name, path, Workshop::new(screen).only_in(places.searched(screen, as_json)?.built))
    };
    match Source::from(path) {
        Source::Folder(folder) => {
            let built = workshop.artefact(&folder);
            Ok((name, built.map_err(|error| Failure::with(Exit::Failed, error))?))
        }
        Source::File(file) => Ok((name, file)),
        Source::Bytes(_) => Err(Failure::call("a plugin in memory cannot be inspected")),
    }
}

fn find(asked: &Path, places: &Places, screen: &Screen, as_json: bool) -> Result<(String, PathBuf), Failure> {
    let all = places.all(screen, as_json)?;
    let names: Vec<_> = all.iter().map(|listed| listed.name.clone()).collect();
    let text = asked.to_string_lossy();
    let (name, version) =
        text.split_once('@').map_or((&*text, None), |(name, version)| (name, Some(version)));
    let is_it = |listed: &Listed| match version {
        Some(version) => listed.version.as_deref() == Some(version),
        None => !listed.is_held(),
    };
    let found = all.into_iter().find(|listed| listed.name == name && is_it(listed));
    found.map(|listed| (listed.name, listed.path)).ok_or_else(|| {
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
    for (title, names) in
        [("defaults", &defaults), ("wants", &asked), ("imports", imports), ("exports", exports)]
    {
        for (at, name) in names.iter().enumerate() {
            page += &format!("{:<11}{}\n", if at == 0 { title } else { "" }, text::clean(name));
        }
    }
    page
}
