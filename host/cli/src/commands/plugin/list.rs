//! `phasm plugin list`.

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::{
    config::Config,
    plugins::trust::PluginTrust,
    plugins::{self, Library, PluginRow},
};

use super::{
    library::all_keys,
    server::{ServerArgument, failed},
};
use crate::{
    drive::{configuration, runtime},
    exit::Exit,
    failure::{ContextError, Failure},
    paths::PathArguments,
    plugins::dirs::{self, PluginDirs, PluginSource},
    problems,
    terminal::{screen::Screen, text},
};

/// Lists the plugins that a run would find here or on a server, in the order they are searched.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin list\n  phasm plugin list --plugins ../executors --json")]
pub(crate) struct ListArguments {
    #[command(flatten)]
    paths: PathArguments,

    #[command(flatten)]
    server: ServerArgument,

    /// Print one JSON array to stdout.
    #[arg(long)]
    json: bool,
}

/// Every plugin in these places.
///
/// # Errors
/// When a place that was asked for cannot be read.
pub(super) fn all(paths: &PathArguments, screen: &Screen, as_json: bool) -> Result<Vec<PluginRow>, Failure> {
    let mut all: Vec<PluginRow> = Vec::new();
    let config = configured(paths, screen, as_json)?;
    let searched = dirs::plugin_dirs(paths, config.as_ref(), None)?.tell(screen);
    let config = config.unwrap_or_default();
    let keys = all_keys(&config);
    for source in searched.sources() {
        match source {
            PluginSource::Dir(dir) => add_dir(&mut all, dir)?,
            PluginSource::Library(library) => add_library(&mut all, library, &keys)?,
        }
    }
    Ok(all
        .into_iter()
        .map(|row| {
            let granted = config.grants.get(&row.name);
            row.with_grants(granted)
        })
        .collect())
}

/// The crates among them that are passed over.
fn other_crates(paths: &PathArguments, screen: &Screen, as_json: bool) -> Result<Vec<PathBuf>, Failure> {
    let others = searched(paths, screen, as_json)?.dirs.into_iter().map(|dir| plugins::other_crates(&dir));
    // Unreadable directories were reported before.
    Ok(others.filter_map(Result::ok).flatten().collect())
}

/// Where they are.
///
/// # Errors
/// When a place that was asked for is none.
pub(super) fn searched(paths: &PathArguments, screen: &Screen, as_json: bool) -> Result<PluginDirs, Failure> {
    dirs::plugin_dirs(paths, configured(paths, screen, as_json)?.as_ref(), None)
}

/// The configuration that was named.
///
/// # Errors
/// When it has problems, which have been shown.
pub(super) fn configured(
    paths: &PathArguments,
    screen: &Screen,
    as_json: bool,
) -> Result<Option<Config>, Failure> {
    let read = paths.config().map(|file| configuration(&file, screen, as_json)).transpose()?;
    Ok(read.map(|(_, config)| config))
}

fn add_dir(all: &mut Vec<PluginRow>, dir: &Path) -> Result<(), Failure> {
    let found = plugins::scan(dir).map_err(|error| {
        Failure::call(ContextError::new(format!("{} cannot be read", dir.display()), error))
    })?;
    for (name, source) in found {
        let row = PluginRow::of_source(name, &source, phasm_builder::artefact_if_fresh);
        put(all, row);
    }
    Ok(())
}

fn add_library(all: &mut Vec<PluginRow>, library: &Library, keys: &PluginTrust) -> Result<(), Failure> {
    for stored in library.all().map_err(Failure::call)? {
        put(all, PluginRow::of_library(library, stored, keys));
    }
    Ok(())
}

fn put(all: &mut Vec<PluginRow>, row: PluginRow) {
    let before = all.iter().map(|known| (known.name.as_str(), known.is_held()));
    let shadowed = plugins::shadows(before, &row.name, row.stored.as_ref());
    all.push(PluginRow { shadowed, ..row });
}

/// Lists plugins.
pub(super) fn list(arguments: &ListArguments, screen: &Screen) -> Result<Exit, Failure> {
    let all = match arguments.server.remote(&arguments.paths)? {
        Some(remote) => runtime()?.block_on(remote.plugins()).map_err(failed)?,
        None => listed_here(arguments, screen)?,
    };
    let page = if arguments.json { problems::json(screen, &all) } else { table(&all) };
    // A closed stdout ends the output.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn listed_here(arguments: &ListArguments, screen: &Screen) -> Result<Vec<PluginRow>, Failure> {
    let all = all(&arguments.paths, screen, arguments.json)?;
    for folder in other_crates(&arguments.paths, screen, arguments.json)? {
        let why = "a crate, but no plugin: it neither depends on phasm-sdk nor has [package.metadata.phasm]";
        screen.err(&format!("{} {}: {why}\n", text::dim("note:"), text::clean(&folder.to_string_lossy())));
    }
    Ok(all)
}

fn table(all: &[PluginRow]) -> String {
    let width = |of: fn(&PluginRow) -> usize| all.iter().map(of).max().unwrap_or(0);
    let (names, versions) = (width(|l| l.name.chars().count()), width(|l| version(l).chars().count()));
    let line = |listed: &PluginRow| {
        let state = if listed.shadowed { "shadowed" } else { listed.state.as_str() };
        let description = listed.description.as_deref().unwrap_or_default();
        let path = listed.path.as_deref().map(Path::to_string_lossy).unwrap_or_default();
        format!(
            "{:<names$}  {:<versions$}  {:<9}  {}  {}\n",
            text::clean(&listed.name),
            text::clean(version(listed)),
            text::clean(state),
            text::short(description, 60),
            text::dim(text::clean(&path))
        )
    };
    all.iter().map(line).collect()
}

fn version(listed: &PluginRow) -> &str {
    listed.version.as_deref().unwrap_or("-")
}
