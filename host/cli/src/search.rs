//! Where plugins are looked for, and where the user's own files are kept.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use phasm::config::Config;

use super::{failure::Failure, shipped};

/// The directories with plugins, first come first served: those asked for, the configuration's, `plugins/` of the checkout
/// around the document and around the working directory, the user's own, the shipped executors.
///
/// # Errors
/// When one that was asked for is no directory.
pub(super) fn plugin_dirs(
    asked: &[PathBuf],
    config: Option<&Config>,
    document: Option<&Path>,
) -> Result<Vec<PathBuf>, Failure> {
    let named: Vec<_> =
        asked.iter().chain(config.iter().flat_map(|config| &config.plugins)).cloned().collect();
    if let Some(missing) = named.iter().find(|dir| !dir.is_dir()) {
        let message = format!("{} is no directory; expected one with plugins", missing.display());
        return Err(Failure::call(message));
    }
    if let Some(plugin) = named.iter().find(|dir| is_plugin(dir)) {
        let message = format!("{} is a plugin itself; expected the directory around it", plugin.display());
        return Err(Failure::call(message));
    }
    let working = env::current_dir().ok();
    let around = document.into_iter().chain(working.as_deref()).flat_map(upwards);
    let mut dirs = Vec::new();
    for dir in named.into_iter().chain(around).chain(usual_dirs()) {
        let dir = std::fs::canonicalize(&dir).unwrap_or(dir);
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    Ok(dirs)
}

/// Those that are searched wherever one is: the user's own, the shipped executors.
pub(super) fn usual_dirs() -> Vec<PathBuf> {
    let own = data_dir().map(|dir| dir.join("plugins")).filter(|dir| dir.is_dir());
    own.into_iter().chain(shipped::dir()).map(|dir| std::fs::canonicalize(&dir).unwrap_or(dir)).collect()
}

/// Whether a folder is one crate, not only a workspace of several.
pub(super) fn is_plugin(dir: &Path) -> bool {
    let text = std::fs::read_to_string(dir.join("Cargo.toml"));
    text.ok()
        .and_then(|text| text.parse::<toml::Table>().ok())
        .is_some_and(|table| table.contains_key("package"))
}

/// Every `plugins/` from `start` up to the root of its checkout, nearest first; without a checkout, the nearest one.
pub(super) fn upwards(start: &Path) -> Vec<PathBuf> {
    let Ok(start) = std::path::absolute(start) else { return Vec::new() };
    let root = start.ancestors().find(|dir| dir.join(".git").exists());
    let within = start.ancestors().take_while(|dir| root.is_none_or(|root| dir.starts_with(root)));
    let found = within.map(|dir| dir.join("plugins")).filter(|dir| dir.is_dir());
    found.take(if root.is_some() { usize::MAX } else { 1 }).collect()
}

/// Where the user's plugins are: `$XDG_DATA_HOME/phasm`, else `~/.local/share/phasm`.
pub(super) fn data_dir() -> Option<PathBuf> {
    user_dir(None, "XDG_DATA_HOME", ".local/share", |name| env::var_os(name))
}

/// What can be made again: `$PHASM_CACHE_DIR`, else `$XDG_CACHE_HOME/phasm`, else `~/.cache/phasm`.
pub(super) fn cache_dir() -> Option<PathBuf> {
    user_dir(Some("PHASM_CACHE_DIR"), "XDG_CACHE_HOME", ".cache", |name| env::var_os(name))
}

fn user_dir(
    own: Option<&str>,
    xdg: &str,
    at_home: &str,
    var: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let set = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(own) = own.and_then(set) {
        return std::path::absolute(own).ok();
    }
    // The XDG rules have relative paths ignored.
    let base = set(xdg).filter(|dir| dir.is_absolute()).or_else(|| Some(set("HOME")?.join(at_home)))?;
    Some(base.join("phasm"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        type Row<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);
        let rows: [Row<'_>; 6] = [
            (&[("PHASM_CACHE_DIR", "/own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/h")], Some("/own")),
            (&[("XDG_CACHE_HOME", "/xdg"), ("HOME", "/h")], Some("/xdg/phasm")),
            (&[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")], Some("/h/.cache/phasm")),
            (&[("PHASM_CACHE_DIR", ""), ("HOME", "/h")], Some("/h/.cache/phasm")),
            (&[("HOME", "")], None),
            (&[], None),
        ];
        for (set, expected) in rows {
            let var = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            let found = user_dir(Some("PHASM_CACHE_DIR"), "XDG_CACHE_HOME", ".cache", var);
            assert_eq!(found, expected.map(PathBuf::from), "{set:?}");
        }
    }

    #[test]
    fn plugins_are_found_upwards_to_the_root_of_the_checkout() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for made in ["plugins", "repo/plugins", "repo/a/plugins", "repo/a/b"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        assert_eq!(
            upwards(&root.join("repo/a/b")),
            [root.join("repo/a/plugins")],
            "no checkout: the nearest"
        );
        fs::write(root.join("repo/.git"), "").unwrap();
        let found = upwards(&root.join("repo/a/b"));
        assert_eq!(found, [root.join("repo/a/plugins"), root.join("repo/plugins")]);
    }
}
