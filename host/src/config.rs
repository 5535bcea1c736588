//! The operator's configuration, from a TOML file: plugins, what each may touch, variables, secrets, limits.
//!
//! It is read when it is asked for and never picked up by itself. Paths in it are relative to the file's directory.

pub mod catalogue;
mod fields;
mod grants;
mod limits;
mod secrets;
mod toml;
mod vars;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm_engine::{path::Path as Place, problem::Problem, tree::Span, value::Map};

use self::fields::{Findings, Table};
use crate::{
    HostBuilder,
    sandbox::{Grants, Limits, SandboxConfig},
    secrets::Secrets,
};

/// What an operator has configured; the default grants nothing.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Directories with plugins, in the order they are searched.
    pub plugins: Vec<PathBuf>,
    /// What each plugin may touch.
    pub grants: BTreeMap<String, Grants>,
    /// Granted directories to create before a run.
    pub create: Vec<PathBuf>,
    /// What expressions read as `vars.<name>`, or by its name alone.
    pub vars: Map,
    /// What `secretKeyRef` names.
    pub secrets: Secrets,
    /// What every guest may use.
    pub limits: Limits,
    /// Attempts in flight at once.
    pub slots: Option<u32>,
    /// Threads that guests compute on.
    pub threads: Option<NonZeroUsize>,
    /// Doubts that stop nothing.
    pub warnings: Vec<Problem>,
    /// Where each plugin of `grants` is named.
    granted: Vec<(String, Place, Span)>,
}

impl Config {
    /// Reads a configuration that lies in the directory `dir`. Secrets are looked up at once.
    ///
    /// # Errors
    /// Every problem at once, in the order of the text.
    pub fn parse(text: &str, dir: &Path) -> Result<Self, Vec<Problem>> {
        Self::parse_in(text, &Surroundings { dir, env: &|name| std::env::var_os(name) })
    }

    fn parse_in(text: &str, around: &Surroundings<'_>) -> Result<Self, Vec<Problem>> {
        let tree = toml::read(text)?;
        let mut findings = Findings::default();
        let mut config = Self::default();
        if let Some(table) = Table::of(&tree, Place::root(), &mut findings) {
            config.fill(&table, around, &mut findings);
        }
        let (problems, warnings) = findings.into_parts();
        config.warnings = warnings;
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }

    fn fill(&mut self, table: &Table<'_>, around: &Surroundings<'_>, findings: &mut Findings) {
        table.only(&["plugins", "grants", "vars", "secrets", "limits"], findings);
        for dir in table.list("plugins", findings) {
            self.plugins.extend(dir.text(findings).map(|text| around.dir.join(text)));
        }
        for (plugin, table) in table.tables("grants", findings) {
            self.granted.push((plugin.name.to_string(), table.path.clone(), plugin.span));
            let granted = grants::read(&table, around, findings);
            self.create.extend(granted.create);
            self.grants.insert(plugin.name.to_string(), granted.grants);
        }
        self.vars = table.table("vars", findings).map(|vars| vars::read(&vars)).unwrap_or_default();
        for (name, keys) in table.tables("secrets", findings) {
            secrets::read(&name.name, &keys, around, &mut self.secrets, findings);
        }
        if let Some(limits) = table.table("limits", findings) {
            limits::read(&limits, self, findings);
        }
    }

    /// Warns of grants for plugins that nobody knows.
    #[must_use]
    pub fn unknown_grants(&self, known: &[Arc<str>]) -> Vec<Problem> {
        let unknown = self.granted.iter().filter(|(name, ..)| !known.iter().any(|k| k.as_ref() == name));
        let warn = |(name, path, span): &(String, Place, Span)| {
            let message = format!("no plugin is named `{name}`; expected one of those that are offered");
            fields::with_suggestion(
                Problem::new(&catalogue::UNKNOWN_PLUGIN, path, *span, message),
                name,
                known.iter().map(AsRef::as_ref),
            )
        };
        unknown.map(warn).collect()
    }

    /// Creates the granted directories that are to be created.
    ///
    /// # Errors
    /// The directory, and the system's reason.
    pub fn create_dirs(&self) -> Result<(), (PathBuf, io::Error)> {
        self.create.iter().try_for_each(|dir| fs::create_dir_all(dir).map_err(|error| (dir.clone(), error)))
    }

    /// Sets up a host as configured; `cache` is where compiled code is kept.
    #[must_use]
    pub fn apply(&self, builder: HostBuilder, cache: Option<PathBuf>) -> HostBuilder {
        let standard = SandboxConfig::default();
        let slots = self.slots.unwrap_or(standard.slots);
        let sandbox =
            SandboxConfig { slots, threads: self.threads, limits: self.limits.clone(), cache, key: None };
        let builder = builder.sandbox(sandbox).slots(slots).secrets(self.secrets.clone());
        let builder = self.grants.iter().fold(builder, |b, (name, grants)| b.grant(name, grants.clone()));
        self.vars.iter().fold(builder, |b, (name, value)| b.var(Arc::clone(name), value.clone()))
    }
}

/// What a configuration is read in.
struct Surroundings<'a> {
    dir: &'a Path,
    env: &'a dyn Fn(&str) -> Option<OsString>,
}

#[cfg(test)]
mod tests;
