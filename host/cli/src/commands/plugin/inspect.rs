//! `phasm plugin inspect`.

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::{
    plugins::{Builder as _, ComponentSource, InspectError, PluginRow, PluginVersion, PluginView, Source},
    sandbox::Grants,
};
use phasm_server::client::Remote;

use super::{
    library::{all_keys, trusts},
    list,
    server::{ServerArgument, failed},
    shape, signatures,
};
use crate::{
    command_line,
    drive::runtime,
    exit::Exit,
    failure::Failure,
    paths::PathArguments,
    plugins::builder::PluginBuilder,
    problems,
    terminal::{screen::Screen, text},
};

/// Shows the manifest of a plugin: its inputs, outputs and settings, and the permissions that it asks for.
///
/// A plugin that is there as source is built first.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin inspect file\n  phasm plugin inspect ./greet.wasm --json")]
pub(crate) struct InspectArguments {
    /// The name of a plugin that a run would find, or the path of a component or plugin folder.
    #[arg(value_name = "NAME|PATH")]
    plugin: String,

    #[command(flatten)]
    paths: PathArguments,

    #[command(flatten)]
    server: ServerArgument,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// Inspects a plugin.
pub(super) fn inspect(arguments: &InspectArguments, screen: &Screen) -> Result<Exit, Failure> {
    let InspectArguments { plugin, paths, server, json } = arguments;
    let remote = server.remote(paths)?.filter(|_| !is_path(Path::new(plugin)));
    let (inspected, target) = match &remote {
        Some(remote) => (runtime()?.block_on(there(remote, plugin))?, vec!["--server", remote.url()]),
        None => (view(plugin, paths, screen, *json)?, Vec::new()),
    };
    let page = if *json { problems::json(screen, &inspected) } else { page(&inspected, &target) };
    // A closed stdout ends the output.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

/// Returns a plugin that a run would find, or that lies at a path; built if need be.
///
/// # Errors
/// When there is none, when it does not build, or when it cannot be used.
pub(super) fn view(
    asked: &str,
    paths: &PathArguments,
    screen: &Screen,
    as_json: bool,
) -> Result<PluginView, Failure> {
    let InspectedPlugin { name, component, stored } = found(asked, paths, screen, as_json)?;
    let config = list::configured(paths, screen, as_json)?.unwrap_or_default();
    let (keys, trusts) = (all_keys(&config), trusts(&config));
    let grants = config.grants.get(&name);
    let component = ComponentSource::File(component);
    let view = PluginView::of(&name, &component, stored.as_ref(), &keys, &trusts, grants);
    view.map_err(|error| match error {
        InspectError::Unreadable(why) => Failure::call(why),
        InspectError::Unusable(why) => Failure::with(Exit::Failed, why),
    })
}

/// Returns the version of a server: the first that is not held, or a held one if there is no other.
async fn there(remote: &Remote, asked: &str) -> Result<PluginView, Failure> {
    let (name, version) =
        asked.split_once('@').map_or((asked, None), |(name, version)| (name, Some(version)));
    let version = match version {
        Some(version) => version.to_owned(),
        None => {
            let mut versions = remote.plugin_versions(name).await.map_err(failed)?;
            versions.sort_by_key(PluginRow::is_held);
            let first = versions.into_iter().next().and_then(|row| row.digest.or(row.version));
            first.ok_or_else(|| Failure::call(format!("the plugin `{name}` is source that is not built")))?
        }
    };
    remote.plugin(name, &version).await.map_err(failed)
}

/// Returns where a plugin lies: the folder of its source, or the file of its component.
///
/// # Errors
/// When there is none.
pub(super) fn place(asked: &str, paths: &PathArguments, screen: &Screen) -> Result<PathBuf, Failure> {
    let path = Path::new(asked);
    let place = if is_path(path) { Some(path.to_owned()) } else { find(path, paths, screen, false)?.path };
    place.filter(|place| place.exists()).ok_or_else(|| {
        Failure::call(format!("`{asked}` is neither a folder nor a component; name one, such as ./greet"))
    })
}

/// Whether a plugin is meant by where it lies.
pub(super) fn is_path(asked: &Path) -> bool {
    asked.components().count() > 1 || asked.is_file()
}

/// The name and the component of a plugin that a run would find, or that lies at a path; built if need be.
///
/// # Errors
/// When there is none, or when it does not build.
pub(super) fn component(
    asked: &str,
    paths: &PathArguments,
    screen: &Screen,
    as_json: bool,
) -> Result<(String, PathBuf), Failure> {
    found(asked, paths, screen, as_json).map(|found| (found.name, found.component))
}

/// A plugin that was found.
struct InspectedPlugin {
    name: String,
    component: PathBuf,
    /// Entry in the library, if the plugin is in one.
    stored: Option<PluginVersion>,
}

fn found(
    asked: &str,
    paths: &PathArguments,
    screen: &Screen,
    as_json: bool,
) -> Result<InspectedPlugin, Failure> {
    let asked = Path::new(asked);
    let (name, path, plugin_builder, stored) = if is_path(asked) {
        let stem = asked.file_stem().unwrap_or(asked.as_os_str());
        (stem.to_string_lossy().into_owned(), asked.to_owned(), PluginBuilder::new(screen), None)
    } else {
        let PluginRow { name, path, stored, .. } = find(asked, paths, screen, as_json)?;
        (
            name,
            path.unwrap_or_default(),
            PluginBuilder::new(screen).only_in(list::searched(paths, screen, as_json)?.built),
            stored,
        )
    };
    let component = match Source::from(path) {
        Source::Folder(folder) => {
            plugin_builder.artefact(&folder).map_err(|error| Failure::with(Exit::Failed, error))?
        }
        Source::File(file) => file,
        Source::Bytes(_) => return Err(Failure::call("a plugin in memory cannot be inspected")),
    };
    Ok(InspectedPlugin { name, component, stored })
}

fn find(asked: &Path, paths: &PathArguments, screen: &Screen, as_json: bool) -> Result<PluginRow, Failure> {
    let all = list::all(paths, screen, as_json)?;
    let names: Vec<_> = all.iter().map(|listed| listed.name.clone()).collect();
    let text = asked.to_string_lossy();
    let (name, version) =
        text.split_once('@').map_or((&*text, None), |(name, version)| (name, Some(version)));
    let is_it = |listed: &PluginRow| version.is_none_or(|version| listed.version.as_deref() == Some(version));
    let mut named: Vec<_> = all.into_iter().filter(|listed| listed.name == name && is_it(listed)).collect();
    // A bare name means one that is held only where there is no other.
    named.sort_by_key(PluginRow::is_held);
    named.into_iter().next().ok_or_else(|| {
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Failure::call(format!("there is no plugin `{}`; known: {known}", asked.display()))
    })
}

fn page(inspected: &PluginView, target: &[&str]) -> String {
    let PluginView {
        name,
        version,
        description,
        defaults,
        inputs,
        outputs,
        settings,
        wants,
        component,
        bytes,
        digest,
        state,
        held,
        added_by,
        approved_by,
        signature,
        trust,
        imports,
        exports,
        ..
    } = inspected;
    let version = version.as_deref().unwrap_or("-");
    let component = component.as_deref().map(|path| format!("{} ", path.display())).unwrap_or_default();
    let mut page = format!("{} {}\n", text::bold(text::clean(name)), text::clean(version));
    if let Some(description) = description {
        page += &format!("{}\n", text::clean(description));
    }
    page += &format!("\ncomponent  {}({bytes} bytes)\ndigest     {}\n", component, text::clean(digest));
    let defaults: Vec<_> = defaults.iter().map(|(field, value)| format!("{field}: {value}")).collect();
    for (title, schema) in [("inputs", inputs), ("outputs", outputs)] {
        page += &shape::table(title, schema);
    }
    if !settings.is_empty() {
        page += &format!("{:<11}{}\n", "settings", text::clean(&settings.join(", ")));
    }
    let asked = wants.lacking(&Grants::default());
    let trust: Vec<_> = trust.iter().map(signatures::judged).collect();
    let exactly = format!("{name}@{version}");
    let approve = (!held.is_empty())
        .then(|| command_line::command(&[&["plugin", "approve", &exactly], target].concat()));
    let approve = approve.map(|command| format!("approve it with: {command}"));
    let held: Vec<_> = held.iter().cloned().chain(approve).collect();
    let approved = state.clone().filter(|_| held.is_empty());
    for (title, names) in [
        ("signature", &vec![signatures::told(signature)]),
        ("trust", &trust),
        ("state", &approved.into_iter().collect()),
        ("held", &held),
        ("added by", &added_by.clone().into_iter().collect()),
        ("approver", &approved_by.clone().into_iter().collect()),
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
