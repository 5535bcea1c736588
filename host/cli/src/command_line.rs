//! Commands that can be pasted into a shell as they are printed.

use std::{borrow::Cow, env, path::Path, sync::Arc};

use crate::{
    paths::{self, PathArguments},
    store::{database, default_store},
    terminal::text,
};

/// How the runs of a store are reached: the options that every command about them takes.
#[derive(Clone, Debug)]
pub(super) struct Target(Arc<str>);

impl Target {
    /// To the store in that file. The default store needs no option.
    pub(super) fn to(store: &Path) -> Self {
        let given = || option("--store", Path::new(&shown(store)));
        let is_meant = paths::says(paths::STORE, store) || default_store::is_used_unless_named(store);
        if is_meant { Self::unnamed() } else { Self(given().into()) }
    }

    /// To what a command uses that names neither a store nor a server.
    pub(super) fn unnamed() -> Self {
        Self("".into())
    }

    /// To a server.
    pub(super) fn to_server(url: &str) -> Self {
        let given = || option("--server", Path::new(url));
        Self(if paths::says(paths::SERVER, Path::new(url)) { "".into() } else { given().into() })
    }

    /// With the plugins and the configuration that were given.
    pub(super) fn with(self, paths: &PathArguments) -> Self {
        let given = paths.given().map(|(name, path)| option(name, path));
        Self([self.0.to_string()].into_iter().chain(given).collect::<String>().into())
    }

    /// Returns the hint about a run that was left open, or about several.
    pub(super) fn go_on(&self, runs: &[&str], more: &[&str]) -> String {
        let run = if let [run] = runs { Some(*run) } else { None };
        let words: Vec<&str> = ["recover"].into_iter().chain(run).chain(more.iter().copied()).collect();
        format!("resume with: {}\n", self.command(&words))
    }

    /// A command about these runs.
    pub(super) fn command(&self, words: &[&str]) -> String {
        format!("{}{}", command(words), self.0)
    }
}

/// A store without its password, which comes from the environment, as PostgreSQL's own clients have it.
pub(super) fn shown(store: &Path) -> String {
    paths::database_url(store).map_or_else(|| store.to_string_lossy().into_owned(), database::shown)
}

/// This program called with these words.
pub(super) fn command(words: &[&str]) -> String {
    let called =
        env::args_os().next().map_or_else(|| "phasm".into(), |name| name.to_string_lossy().into_owned());
    let all = [called.as_str()].into_iter().chain(words.iter().copied());
    all.map(word).collect::<Vec<_>>().join(" ")
}

fn option(name: &str, path: &Path) -> String {
    format!(" {name} {}", word(&path.to_string_lossy()))
}

/// A word that a shell takes for itself.
pub(super) fn word(text: &str) -> Cow<'_, str> {
    let text = text::clean(text);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_what_was_meant() {
        for (text, expected) in [
            ("runs.db", "runs.db"),
            ("main/a-b_c", "main/a-b_c"),
            ("my runs.db", "'my runs.db'"),
            ("main.loop[0]/a", "'main.loop[0]/a'"),
            ("~/x", "'~/x'"),
            ("it's", r"'it'\''s'"),
            ("{}", "'{}'"),
            ("", "''"),
        ] {
            assert_eq!(word(text), expected);
        }
    }
}
