//! `phasm plugin list`.

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::{
    config::Config,
    plugins::{self, Library, Manifest, PluginVersion, Source},
    trust::PluginTrust,
};
use serde::Serialize;

use super::{
    super::{
        drive::configuration,
        exit::Exit,
        failure::{Failure, While},
        places::Places,
        problems,
        screen::Screen,
        search::{self, Offer, Searched},
        text,
    },
    library::all_keys,
    vouched::Vouched,
};

/// Lists the plugins that a run would find, in the order they are searched.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin list\n  phasm plugin list --plugins ../executors --json")]
pub(crate) struct ListArguments {
    #[command(flatten)]
    places: Places,

    /// Print one JSON array to stdout.
    #[arg(long)]
    json: bool,
}

/// One plugin as it lies there; nothing is built.
#[derive(Debug, Serialize)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) version: Option<String>,
    /// component, built, stale (its source is newer, or was never built) or broken; of the library approved or held.
    state: &'static str,
    description: Option<String>,
    pub(super) path: PathBuf,
    /// Another of the same name is found first.
    shadowed: bool,
    /// Of what is in the library.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// Who vouches for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Vouched>,
    /// Why it is held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    held: Vec<String>,
    /// What the library says of it.
    #[serde(skip)]
    pub(super) stored: Option<PluginVersion>,
}

impl Listed {
    /// Whether it waits to be approved.
    pub(super) fn is_held(&self) -> bool {
        self.state == HELD
    }
}

impl Places {
    /// Every plugin in these places.
    ///
    /// # Errors
    /// When a place that was asked for cannot be read.
    pub(super) fn all(&self, screen: &Screen, as_json: bool) -> Result<Vec<Listed>, Failure> {
        let mut all: Vec<Listed> = Vec::new();
        let config = self.configured(screen, as_json)?;
        let keys = all_keys(config.as_ref().unwrap_or(&Config::default()));
        for offer in search::plugin_dirs(self, config.as_ref(), None)?.tell(screen).offers() {
            match offer {
                Offer::Dir(dir) => add_dir(&mut all, dir)?,
                Offer::Library(library) => add_library(&mut all, library, &keys)?,
            }
        }
        Ok(all)
    }

    /// The crates among them that are passed over.
    fn other_crates(&self, screen: &Screen, as_json: bool) -> Result<Vec<PathBuf>, Failure> {
        let others = self.searched(screen, as_json)?.dirs.into_iter().map(|dir| plugins::other_crates(&dir));
        // What cannot be read was said before.
        Ok(others.filter_map(Result::ok).flatten().collect())
    }

    /// Where they are.
    ///
    /// # Errors
    /// When a place that was asked for is none.
    pub(super) fn searched(&self, screen: &Screen, as_json: bool) -> Result<Searched, Failure> {
        search::plugin_dirs(self, self.configured(screen, as_json)?.as_ref(), None)
    }

    /// The configuration that was named.
    ///
    /// # Errors
    /// When it has problems, which have been shown.
    pub(super) fn configured(&self, screen: &Screen, as_json: bool) -> Result<Option<Config>, Failure> {
        let read = self.config().map(|file| configuration(&file, screen, as_json)).transpose()?;
        Ok(read.map(|(_, config)| config))
    }
}

fn add_dir(all: &mut Vec<Listed>, dir: &Path) -> Result<(), Failure> {
    let found = plugins::scan(dir)
        .map_err(|error| Failure::call(While::new(format!("{} cannot be read", dir.display()), error)))?;
    for (name, source) in found {
        let shadowed = is_offered(all, &name);
        all.extend(look(name, source, shadowed));
    }
    Ok(())
}

fn add_library(all: &mut Vec<Listed>, library: &Library, keys: &PluginTrust) -> Result<(), Failure> {
    for stored in library.all().map_err(Failure::call)? {
        let shadowed = stored.is_offered() && is_offered(all, &stored.name);
        all.push(shelved(library, stored, shadowed, keys));
    }
    Ok(())
}

/// Whether a bare name means one of these.
fn is_offered(all: &[Listed], name: &str) -> bool {
    all.iter().any(|known| known.name == name && !known.is_held())
}

/// Waits to be approved.
const HELD: &str = "held";

fn shelved(library: &Library, stored: PluginVersion, shadowed: bool, keys: &PluginTrust) -> Listed {
    let path = library.path(&stored.digest);
    let found = library.look(&stored, keys);
    let state = match (&found, stored.held.is_empty()) {
        (Err(_), _) => "broken",
        (Ok(_), true) => "approved",
        (Ok(_), false) => HELD,
    };
    let (description, signed) =
        found.map(|(said, signed)| (said.description, Some(signed))).unwrap_or_default();
    Listed {
        name: stored.name.clone(),
        version: Some(stored.version.clone()),
        state,
        description,
        path,
        shadowed,
        digest: Some(stored.digest.to_string()),
        signature: signed.map(|signed| Vouched::of(signed, stored.signature.as_deref())),
        held: stored.held.clone(),
        stored: Some(stored),
    }
}

/// Lists plugins.
pub(super) fn list(arguments: &ListArguments, screen: &Screen) -> Result<Exit, Failure> {
    let all = arguments.places.all(screen, arguments.json)?;
    for folder in arguments.places.other_crates(screen, arguments.json)? {
        let why = "a crate, but no plugin: it neither depends on phasm-sdk nor has [package.metadata.phasm]";
        screen.err(&format!("{} {}: {why}\n", text::dim("note:"), text::clean(&folder.to_string_lossy())));
    }
    let page = if arguments.json { problems::json(screen, &all) } else { table(&all) };
    // Whoever has stopped reading wants no more.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn table(all: &[Listed]) -> String {
    let width = |of: fn(&Listed) -> usize| all.iter().map(of).max().unwrap_or(0);
    let (names, versions) = (width(|l| l.name.chars().count()), width(|l| version(l).chars().count()));
    let line = |listed: &Listed| {
        let state = if listed.shadowed { "shadowed" } else { listed.state };
        let description = listed.description.as_deref().unwrap_or_default();
        format!(
            "{:<names$}  {:<versions$}  {state:<9}  {}  {}\n",
            listed.name,
            version(listed),
            text::short(description, 60),
            text::dim(listed.path.display())
        )
    };
    all.iter().map(line).collect()
}

fn version(listed: &Listed) -> &str {
    listed.version.as_deref().unwrap_or("-")
}

fn look(name: String, source: Source, shadowed: bool) -> Option<Listed> {
    let (path, component, fresh) = match source {
        Source::Bytes(_) => return None,
        Source::File(path) => (path.clone(), Some(path), "component"),
        Source::Folder(folder) => {
            let artefact = phasm_builder::artefact_if_fresh(&folder);
            let state = if artefact.is_some() { "built" } else { "stale" };
            (folder, artefact, state)
        }
    };
    let manifest = match &component {
        Some(wasm) => of_component(wasm),
        None => of_crate(&path),
    };
    let state = if manifest.is_some() { fresh } else { "broken" };
    let Manifest { version, description, .. } = manifest.unwrap_or_default();
    let (held, digest, signature, stored) = (Vec::new(), None, None, None);
    Some(Listed { name, version, state, description, path, shadowed, digest, signature, held, stored })
}

fn of_component(wasm: &Path) -> Option<Manifest> {
    Manifest::of(&plugins::read_component(wasm).ok()?, Some(wasm)).ok()
}

/// What a crate's own manifest says; what it takes from its workspace is looked up there.
fn of_crate(folder: &Path) -> Option<Manifest> {
    let own = table_of(folder)?;
    let package = own.get("package")?;
    let shared = folder
        .ancestors()
        .skip(1)
        .filter_map(table_of)
        .find_map(|table| table.get("workspace").and_then(|workspace| workspace.get("package")).cloned());
    let field = |name: &str| {
        let field = package.get(name)?;
        let inherited = || shared.as_ref()?.get(name)?.as_str();
        field.as_str().or_else(inherited).map(str::to_owned)
    };
    Some(Manifest {
        name: field("name"),
        version: field("version"),
        description: field("description"),
        ..Manifest::default()
    })
}

fn table_of(folder: &Path) -> Option<toml::Table> {
    plugins::read_manifest(&folder.join("Cargo.toml")).ok()?.parse().ok()
}
