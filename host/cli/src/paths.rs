//! Where plugins and the configuration are, the same for every command: what options say, else what the environment says.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::Args;
use phasm::artifacts::ArtifactPlace;

use crate::store::database;

/// Directories with plugins, several as in `PATH`.
pub(super) const PLUGINS: &str = "PHASM_PLUGINS";
/// The configuration's file.
pub(super) const CONFIG: &str = "PHASM_CONFIG";
/// The directory with plugins that were added.
pub(super) const LIBRARY: &str = "PHASM_LIBRARY";
/// The store's file.
pub(super) const STORE: &str = "PHASM_STORE";
/// The server that has the runs.
pub(super) const SERVER: &str = "PHASM_SERVER";
/// The key that a server is asked with.
pub(super) const KEY: &str = "PHASM_KEY";

/// Where plugins are looked for.
#[derive(Args, Clone, Debug)]
pub(super) struct PathArguments {
    /// A directory with plugins, searched before all others; may be repeated [env: PHASM_PLUGINS, several as in PATH]
    #[arg(long, value_name = "DIR")]
    plugins: Vec<PathBuf>,

    /// The operator's configuration: plugins, grants, variables, secrets, limits [env: PHASM_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The directory that `plugin add` keeps plugins in [env: PHASM_LIBRARY]
    #[arg(long, value_name = "DIR")]
    library: Option<PathBuf>,

    /// Whether the directories are those that a run remembers.
    #[arg(skip)]
    remembered: bool,
}

impl PathArguments {
    /// Returns the paths of a command that takes a configuration only.
    pub(super) fn of(config: Option<PathBuf>) -> Self {
        Self { plugins: Vec::new(), config, library: None, remembered: false }
    }

    /// The directories that were named.
    pub(super) fn plugins(&self) -> Vec<PathBuf> {
        if self.plugins.is_empty() { listed(set(PLUGINS)) } else { self.plugins.clone() }
    }

    /// The configuration that was named, if one was.
    pub(super) fn config(&self) -> Option<PathBuf> {
        self.config.clone().or_else(|| set(CONFIG).map(PathBuf::from))
    }

    /// The library that was named, if one was.
    pub(super) fn library(&self) -> Option<PathBuf> {
        self.library.clone().or_else(|| set(LIBRARY).map(PathBuf::from))
    }

    /// The same, with these, which a run remembers, in place of what was not named.
    pub(super) fn or(&self, config: Option<PathBuf>, plugins: Vec<PathBuf>) -> Self {
        let remembered = !plugins.is_empty();
        let plugins = if remembered { plugins } else { self.plugins.clone() };
        Self { plugins, config: self.config.clone().or(config), library: self.library.clone(), remembered }
    }

    /// The same, with a directory that is searched before all others.
    pub(super) fn also(&self, dir: PathBuf) -> Self {
        let plugins = std::iter::once(dir).chain(self.plugins()).collect();
        Self { plugins, ..self.clone() }
    }

    /// Whether the directories were remembered with a run instead of named now.
    pub(super) fn are_remembered(&self) -> bool {
        self.remembered
    }

    /// The options among them that the environment does not stand for.
    pub(super) fn given(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let plugins = if self.plugins == listed(set(PLUGINS)) { &[][..] } else { &self.plugins };
        let config = self.config.as_deref().filter(|config| !says(CONFIG, config));
        let plugins = plugins.iter().map(|dir| ("--plugins", dir.as_path()));
        let library = self.library.as_deref().filter(|library| !says(LIBRARY, library));
        let named = [("--config", config), ("--library", library)];
        named.into_iter().filter_map(|(name, path)| Some((name, path?))).chain(plugins)
    }
}

/// Returns the value of an environment variable. An empty value counts as not set.
pub(super) fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the value of an environment variable as text.
pub(super) fn text(name: &str) -> Option<String> {
    set(name).map(|value| value.to_string_lossy().into_owned())
}

/// Returns the folder that a file or folder lies in: the current one for a bare name.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Whether a variable names that very path.
pub(super) fn says(name: &str, path: &Path) -> bool {
    set(name).is_some_and(|value| value == path.as_os_str())
}

/// Returns the place of the artifacts of a store's runs, where no configuration says it; none for a database, which several machines may
/// share.
pub(super) fn artifacts_beside(store: &Path) -> Option<ArtifactPlace> {
    database_url(store).is_none().then(|| ArtifactPlace::beside(store))
}

/// Returns the URL of a PostgreSQL database, if the store is one.
pub(super) fn database_url(store: &Path) -> Option<&str> {
    store.to_str().filter(|text| database::is_url(text))
}

fn listed(value: Option<OsString>) -> Vec<PathBuf> {
    let Some(value) = value else { return Vec::new() };
    env::split_paths(&value).filter(|dir| !dir.as_os_str().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_that_of_path() {
        let joined = env::join_paths(["a b", "", "c"]).unwrap();
        assert_eq!(listed(Some(joined)), [PathBuf::from("a b"), "c".into()]);
        assert_eq!(listed(None), Vec::<PathBuf>::new());
    }
}
