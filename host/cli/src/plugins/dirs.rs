//! Where plugins are looked for, and where the user's own files are kept.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm::{
    config::Config,
    plugins::{self, Library},
};

use super::shipped;
use crate::{
    command_line,
    failure::Failure,
    ownership,
    paths::{PathArguments, folder_of},
    terminal::{screen::Screen, text},
    user_dirs,
};

/// Where plugins are looked for.
#[derive(Debug, Default)]
pub(crate) struct PluginDirs {
    /// First come first served.
    pub(crate) dirs: Vec<PathBuf>,
    /// Directories of which source folders are built, too. A build executes their code as this user.
    pub(crate) built: Vec<PathBuf>,
    /// The plugins that were added, and how many of the directories come before them.
    library: Option<(usize, Library)>,
    /// Plugins that are not used, and why.
    passed_over: Vec<(PathBuf, String)>,
}

/// A place with plugins.
pub(crate) enum PluginSource<'a> {
    Dir(&'a Path),
    Library(&'a Library),
}

impl PluginDirs {
    fn add(&mut self, dir: &Path, builds: bool) {
        let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
        let lists = [Some(&mut self.dirs), builds.then_some(&mut self.built)];
        for list in lists.into_iter().flatten().filter(|list| !list.contains(&dir)) {
            list.push(dir.clone());
        }
    }

    /// Adds a directory that was not named: used only if no other user can write there.
    fn add_found(&mut self, dir: &Path, builds: bool) {
        match ownership::doubt(dir) {
            None => self.add(dir, builds),
            Some(why) => self.pass_over(dir, why),
        }
    }

    fn pass_over(&mut self, dir: &Path, why: String) {
        let known = self.passed_over.iter().any(|(known, _)| known == dir);
        let holds_plugins = || plugins::scan(dir).is_ok_and(|found| !found.is_empty());
        if !known && holds_plugins() {
            self.passed_over.push((dir.to_owned(), why));
        }
    }

    /// Adds the library that was named, else the user's own if no other user can write there.
    fn add_library(&mut self, named: Option<PathBuf>) {
        let is_named = named.is_some();
        let Some(dir) = named.or_else(own_library) else { return };
        match doubt_of_library(&dir).filter(|_| !is_named) {
            None => self.library = Some((self.dirs.len(), Library::at(dir))),
            Some(why) if dir.is_dir() => self.passed_over.push((dir, why)),
            Some(_) => {}
        }
    }

    /// Everything in the order it is searched.
    pub(crate) fn sources(&self) -> impl Iterator<Item = PluginSource<'_>> {
        let at = self.library.as_ref().map_or(0, |(at, _)| *at);
        let (before, after) = self.dirs.split_at_checked(at).unwrap_or((&self.dirs, &[]));
        let library = self.library.iter().map(|(_, library)| PluginSource::Library(library));
        let [before, after] = [before, after].map(|dirs| dirs.iter().map(|dir| PluginSource::Dir(dir)));
        before.chain(library).chain(after)
    }

    /// Returns the names in the library, also those with held versions only; none if it cannot be read.
    pub(crate) fn shelved(&self) -> impl Iterator<Item = Arc<str>> {
        let all = self.library.iter().filter_map(|(_, library)| library.all().ok());
        all.flatten().map(|stored| stored.name.into())
    }

    /// Says what is not used, and how it is.
    pub(crate) fn tell(self, screen: &Screen) -> Self {
        for (dir, why) in self.passed_over.iter().filter(|(dir, _)| !self.dirs.contains(dir)) {
            let shown = dir.to_string_lossy();
            let option = if own_library().as_ref() == Some(dir) { "--library" } else { "--plugins" };
            let line = format!(
                "the plugins in {shown} are not used: {why}; if you trust them, name them: {option} "
            );
            let line = text::clean(&line).into_owned() + &*command_line::word(&shown);
            screen.err(&format!("{} {line}\n", text::doubtful("warning:")));
        }
        self
    }
}

/// The directories with plugins: those asked for, the configuration's, `plugins/` of the checkout around the document and around
/// the working directory, the user's own, the shipped executors.
///
/// # Errors
/// When one that was asked for is no directory.
pub(crate) fn plugin_dirs(
    paths: &PathArguments,
    config: Option<&Config>,
    document: Option<&Path>,
) -> Result<PluginDirs, Failure> {
    let (asked, configured) = (paths.plugins(), config.map(|config| config.plugins.as_slice()));
    let tenants =
        config.into_iter().flat_map(|config| config.tenants.values().flat_map(|tenant| &tenant.plugins));
    let named = || asked.iter().chain(configured.unwrap_or_default()).chain(tenants.clone());
    if let Some(missing) = named().find(|dir| !dir.is_dir()) {
        let message = format!("{} is not a directory; expected one with plugins", missing.display());
        return Err(Failure::call(message));
    }
    if let Some(plugin) = named().find(|dir| is_plugin(dir)) {
        let (shown, parent) = (plugin.display(), folder_around(plugin));
        let message =
            format!("{shown} is a plugin itself; expected the folder around it: {}", parent.display());
        return Err(Failure::call(message));
    }
    let mut searched = PluginDirs::default();
    // Remembered directories were not named now.
    asked.iter().for_each(|dir| searched.add(dir, !paths.are_remembered() || checkout(dir).is_some()));
    configured.unwrap_or_default().iter().for_each(|dir| searched.add(dir, true));
    searched.built.extend(tenants.cloned());
    let working = env::current_dir().ok();
    document.into_iter().chain(working.as_deref()).for_each(|start| around(start, &mut searched));
    searched.add_library(library_dir(paths, config));
    own_dir().into_iter().for_each(|dir| searched.add_found(&dir, false));
    match shipped::dir() {
        Some(dir) if shipped::is_named() => searched.add(&dir, true),
        Some(dir) => searched.add_found(&dir, true),
        None => {}
    }
    Ok(searched)
}

/// The folder that a plugin's folder lies in.
fn folder_around(plugin: &Path) -> PathBuf {
    // `.` and `..` have no parent of their own.
    if plugin.file_name().is_some() { folder_of(plugin).to_owned() } else { plugin.join("..") }
}

/// The library that was named.
fn library_dir(paths: &PathArguments, config: Option<&Config>) -> Option<PathBuf> {
    paths.library().or_else(|| config.and_then(|config| config.library.clone()))
}

/// The library that plugins are added to.
///
/// # Errors
/// When none is named and the user has none, or when another user could have written to it.
pub(crate) fn library(paths: &PathArguments, config: Option<&Config>) -> Result<Library, Failure> {
    if let Some(dir) = library_dir(paths, config) {
        return Ok(Library::at(dir));
    }
    let nowhere = || {
        Failure::call(
            "there is no place for a library: neither XDG_DATA_HOME nor HOME is set; expected --library DIR",
        )
    };
    let dir = user_dirs::data_dir().map(|dir| dir.join(LIBRARY_DIR)).ok_or_else(nowhere)?;
    match doubt_of_library(&dir) {
        None => Ok(Library::at(dir)),
        Some(why) => {
            let named = command_line::word(&dir.to_string_lossy()).into_owned();
            Err(Failure::call(format!(
                "the library in {} is not used: {why}; if you trust it, name it: --library {named}",
                dir.display()
            )))
        }
    }
}

const LIBRARY_DIR: &str = "library";

/// The user's, whether there is anything in it or not.
fn own_library() -> Option<PathBuf> {
    user_dirs::data_dir().map(|dir| dir.join(LIBRARY_DIR))
}

fn doubt_of_library(dir: &Path) -> Option<String> {
    [dir.to_owned(), dir.join("blobs")].iter().find_map(|dir| ownership::doubt(dir))
}

/// Returns the directories that are always searched: the user's own, the shipped executors.
pub(crate) fn usual_dirs() -> Vec<PathBuf> {
    let usual = own_dir().into_iter().chain(shipped::dir());
    usual.map(|dir| std::fs::canonicalize(&dir).unwrap_or(dir)).collect()
}

fn own_dir() -> Option<PathBuf> {
    user_dirs::data_dir().map(|dir| dir.join("plugins")).filter(|dir| dir.is_dir())
}

/// Every `plugins/` of the checkout around `start`, nearest first; without a checkout, that of `start` itself, of which nothing is
/// built.
fn around(start: &Path, searched: &mut PluginDirs) {
    let Ok(start) = std::fs::canonicalize(start) else { return };
    let root = checkout(&start);
    for dir in start.ancestors() {
        let plugins = dir.join("plugins");
        let is_within = root.is_some_and(|root| dir.starts_with(root));
        if plugins.is_dir() && (is_within || dir == start) {
            searched.add_found(&plugins, is_within);
        } else if plugins.is_dir() {
            let unnamed = || format!("{} is in no checkout", start.display());
            return searched.pass_over(&plugins, ownership::doubt(&plugins).unwrap_or_else(unnamed));
        }
        if Some(dir) == root {
            return;
        }
    }
}

/// Returns the root of the checkout around a folder: the nearest directory above with a `.git` that no other user wrote.
fn checkout(start: &Path) -> Option<&Path> {
    let root = start.ancestors().find(|dir| dir.join(".git").exists())?;
    ownership::is_own(&root.join(".git")).then_some(root)
}

/// Every `plugins/` that is found from the working directory.
pub(crate) fn here() -> PluginDirs {
    let mut searched = PluginDirs::default();
    around(Path::new("."), &mut searched);
    searched
}

/// Returns the directory right around a workflow file, or the working directory, if it holds a plugin of that name: it is not
/// searched, as it was not named, and nothing of it is built.
pub(crate) fn unsearched(name: &str, document: Option<&Path>) -> Option<PathBuf> {
    let name = name.split('@').next().filter(|name| Path::new(name).file_name() == Some(OsStr::new(name)))?;
    let document = document.map(|dir| if dir.as_os_str().is_empty() { Path::new(".") } else { dir });
    let holds =
        |dir: &&Path| plugins::is_plugin(&dir.join(name)) || dir.join(format!("{name}.wasm")).is_file();
    document.into_iter().chain([Path::new(".")]).find(holds).map(Path::to_owned)
}

/// Whether a folder is one crate, not only a workspace of several, or a project in another language that is a plugin.
pub(crate) fn is_plugin(dir: &Path) -> bool {
    if plugins::is_script_plugin(dir) || plugins::is_toml_plugin(dir) {
        return true;
    }
    let text = plugins::read_manifest(&dir.join("Cargo.toml"));
    text.ok()
        .and_then(|text| text.parse::<toml::Table>().ok())
        .is_some_and(|table| table.contains_key("package"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// R-L8.
    #[test]
    fn plugins_are_found_upwards_to_the_root_of_the_checkout() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for made in ["plugins", "repo/plugins", "repo/a/plugins", "repo/a/b"] {
            fs::create_dir_all(root.join(made)).unwrap();
            fs::write(root.join(made).join("x.wasm"), "").unwrap();
        }
        let found = |start: &str| {
            let mut searched = PluginDirs::default();
            around(&root.join(start), &mut searched);
            let passed_over = searched.passed_over.into_iter().map(|(dir, _)| dir).collect();
            [searched.dirs, searched.built, passed_over]
        };
        let at = |dir: &str| vec![root.join(dir)];
        let nothing = Vec::new;
        assert_eq!(
            found("repo/a/b"),
            [nothing(), nothing(), at("repo/a/plugins")],
            "no checkout: no climbing"
        );
        assert_eq!(found("repo/a"), [at("repo/a/plugins"), nothing(), at("repo/plugins")]);
        fs::write(root.join("repo/.git"), "").unwrap();
        let both = [at("repo/a/plugins"), at("repo/plugins")].concat();
        assert_eq!(found("repo/a/b"), [both.clone(), both, nothing()]);
    }
}
