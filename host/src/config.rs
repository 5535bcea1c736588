//! The operator's configuration, from a TOML file: plugins, their grants, variables, secrets, limits.
//!
//! Phasm reads a configuration only where it is named. Paths in it are relative to the file's directory, and absolute once it is read.

mod artifacts;
mod bucket;
pub mod codes;
mod grants;
mod http;
mod isolation;
mod limits;
mod notify;
mod paths;
mod retention;
mod secrets;
mod server;
mod table;
mod telemetry;
mod tenants;
mod toml;
mod trust;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm_engine::{
    did_you_mean,
    form::{self, Cursor, Name, Report},
    problem::{Problem, Problems},
    tree::Tree,
    value::Map,
};

use self::{limits::LimitsTable, table::ConfigTable, trust::Hold};
pub use self::{server::ServerSettings, telemetry::TelemetrySettings};
use crate::{
    host::HostBuilder,
    notify::Endpoint,
    plugins::trust::{PluginTrust, Policy},
    secrets::Secrets,
    store::retention::Retention,
    tenants::{tenant as sharers, tenant::Tenant},
};
use phasm_artifacts::{ArtifactLimits, ArtifactPlace};
use phasm_sandbox::{Grants, HttpConfig, Isolation, Limit, Limits, SandboxConfig};

/// The configuration of a host; the default grants nothing.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Directories with plugins, in the order they are searched.
    pub plugins: Vec<PathBuf>,
    /// Grants by plugin.
    pub grants: BTreeMap<String, Grants>,
    /// Granted directories to create before a run.
    pub create: Vec<PathBuf>,
    /// Variables that expressions read as `vars.<name>`, or by the name alone.
    pub vars: Map,
    /// Secrets that `secretKeyRef` names.
    pub secrets: Secrets,
    /// Limits of every guest.
    pub limits: Limits,
    /// Linear memory of all guests together.
    pub all_memory: Option<u64>,
    /// How guests that are granted hosts reach them.
    pub http: HttpConfig,
    /// How many bytes of what each attempt writes are kept.
    pub kept_log: Option<u64>,
    /// Attempts in flight at once.
    pub slots: Option<u32>,
    /// Where guests run whose plugin's grants do not say it.
    pub isolation: Isolation,
    /// Attempts in processes of their own at once.
    pub processes: Option<u32>,
    /// Threads that guests compute on.
    pub threads: Option<NonZeroUsize>,
    /// Threads that decide what runs do next.
    pub engine_threads: Option<NonZeroUsize>,
    /// Tenants by name.
    pub tenants: BTreeMap<Arc<str>, Tenant>,
    /// How long ended runs are kept.
    pub retention: Retention,
    /// Where artifacts are kept, if it is not beside the store.
    pub artifact_place: Option<ArtifactPlace>,
    /// Limits of artifacts.
    pub artifact_limits: ArtifactLimits,
    /// The directory with plugins that were added.
    pub library: Option<PathBuf>,
    /// The policy by which plugins are trusted.
    pub trust: Policy,
    /// Whether every version that is added to the library waits to be approved, and not only one that wants more.
    pub hold_all: bool,
    /// How a server is reached.
    pub server: ServerSettings,
    /// Webhook endpoints by name.
    pub endpoints: BTreeMap<Arc<str>, Endpoint>,
    /// Where spans of runs are sent.
    pub telemetry: TelemetrySettings,
    /// Doubts that stop nothing.
    pub warnings: Vec<Problem>,
    /// Where each plugin of `grants` is named.
    granted: Vec<Name>,
}

impl Config {
    /// Reads a configuration that lies in the directory `dir`. Secrets are looked up at once.
    ///
    /// # Errors
    /// Every problem at once, in the order of the text.
    pub fn parse(text: &str, dir: &Path) -> Result<Self, Problems> {
        // A relative path would mean another place to a process with another working directory. Where there is no working
        // directory, none of them can be read.
        let here = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let dir = std::path::absolute(here).unwrap_or_else(|_| dir.to_owned());
        Self::parse_in(text, &ConfigSource { dir: &dir, env: &|name| std::env::var_os(name), is_root: false })
    }

    fn parse_in(text: &str, around: &ConfigSource<'_>) -> Result<Self, Problems> {
        let tree = toml::read(text)?;
        let report = Report::default();
        let written = ConfigTable::read(&Cursor::root(&tree), &report).unwrap_or_default();
        let mut config = Self::of(written, around, &report);
        let (problems, warnings) = report.into_parts();
        config.warnings = warnings;
        if problems.is_empty() { Ok(config) } else { Err(problems.into()) }
    }

    fn of(written: ConfigTable, around: &ConfigSource<'_>, report: &Report) -> Self {
        let http = written.http.config(around, report);
        warn_of_limits(&written, &http, report);
        let mut config = Self { plugins: written.plugin_dirs(around), vars: written.vars, ..Self::default() };
        for grant in written.grants {
            config.granted.push(grant.plugin.clone());
            let name = grant.plugin.value.to_string();
            let (grants, create) = grant.granted(around, report);
            config.create.extend(create);
            config.grants.insert(name, grants);
        }
        for shared in written.dirs {
            config.granted.extend(shared.plugins.iter().cloned());
            let create = shared.grant(&mut config.grants, around, report);
            config.create.extend(create);
        }
        written.secrets.iter().for_each(|secret| secret.look_up(around, &mut config.secrets, report));
        let LimitsTable {
            limits,
            all_memory,
            kept_log,
            slots,
            isolation,
            processes,
            threads,
            engine_threads,
        } = written.limits;
        for tenant in written.tenants {
            config.granted.extend(tenant.granted().cloned());
            let (name, tenant, create) = tenant.tenant(around, report);
            config.create.extend(create);
            config.tenants.insert(name, tenant);
        }
        config.artifact_place = written.artifacts.place(around, &http, report);
        config.artifact_limits = written.artifacts.limits;
        config.library = written.library.map(|dir| around.dir.join(&*dir.value));
        config.hold_all = written.trust.hold == Hold::All;
        config.http = http;
        config.server = written.server.settings(around, report);
        config.endpoints = written.notify.iter().map(|endpoint| endpoint.endpoint(around, report)).collect();
        config.telemetry = written.telemetry.settings(around, report);
        Self {
            limits,
            all_memory,
            kept_log,
            slots,
            isolation,
            processes,
            threads,
            engine_threads,
            retention: written.retention,
            trust: written.trust.policy(report),
            ..config
        }
    }

    /// The tenant that owns a namespace, with its settings; none if no tenant of the configuration does.
    #[must_use]
    pub fn tenant_of(&self, namespace: &Arc<str>) -> Option<(Arc<str>, &Tenant)> {
        let name = sharers::shares(&self.tenants).of(namespace);
        let tenant = self.tenants.get(&name)?;
        Some((name, tenant))
    }

    /// The trust policy for the runs of a tenant: its own, or the common one.
    #[must_use]
    pub fn trust_of(&self, tenant: Option<(&Arc<str>, &Tenant)>) -> PluginTrust {
        let own = tenant.and_then(|(name, tenant)| Some((name, tenant.trust.clone()?)));
        match own {
            Some((name, policy)) => {
                PluginTrust { tenant: Some(Arc::clone(name)), ..PluginTrust::from(policy) }
            }
            None => self.trust.clone().into(),
        }
    }

    /// Warns of grants for plugins that are not installed.
    #[must_use]
    pub fn unknown_grants(&self, known: &[Arc<str>]) -> Vec<Problem> {
        let unknown = self.granted.iter().filter(|granted| !known.contains(&granted.value));
        unknown.map(|granted| unknown_grant(granted, known)).collect()
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
        let sandbox = SandboxConfig {
            slots,
            threads: self.threads,
            limits: self.limits.clone(),
            all_memory: self.all_memory,
            cache,
            http: self.http.clone(),
            isolation: self.isolation,
            processes: self.processes.unwrap_or(standard.processes),
            ..standard
        };
        let builder = builder.sandbox(sandbox).slots(slots).secrets(self.secrets.clone());
        let builder = self.engine_threads.into_iter().fold(builder, HostBuilder::engine_threads);
        let builder =
            builder.retention(self.retention.clone()).trust(self.trust.clone()).hold_all(self.hold_all);
        let builder = self.artifact_place.clone().into_iter().fold(builder, HostBuilder::artifacts);
        let builder = builder.artifact_limits(self.artifact_limits);
        let builder = self.kept_log.into_iter().fold(builder, HostBuilder::log_retention_bytes);
        let builder = self.grants.iter().fold(builder, |b, (name, grants)| b.grant(name, grants.clone()));
        let endpoints = self.endpoints.iter();
        let builder =
            endpoints.fold(builder, |b, (name, endpoint)| b.endpoint(Arc::clone(name), endpoint.clone()));
        let tenants = self.tenants.iter();
        let builder = tenants.fold(builder, |b, (name, tenant)| b.tenant(Arc::clone(name), tenant.clone()));
        self.vars.iter().fold(builder, |b, (name, value)| b.var(Arc::clone(name), value.clone()))
    }
}

/// Warns of limits of tenants and plugins that bound nothing.
fn warn_of_limits(written: &ConfigTable, http: &HttpConfig, report: &Report) {
    let everybodys = |limit: Limit| {
        let table = if limit.key().starts_with("http-") { "`[http]`" } else { "`[limits]`" };
        Some((
            limit.most(&written.limits.limits, &http.limits)?,
            format!("the limits of {table} for every attempt"),
        ))
    };
    written.grants.iter().for_each(|grant| grant.limits.warn(&codes::ABOVE_OTHERS, report, everybodys));
    written.tenants.iter().for_each(|tenant| tenant.warn(report, everybodys));
}

fn unknown_grant(granted: &Name, known: &[Arc<str>]) -> Problem {
    let names = || known.iter().map(AsRef::as_ref);
    let expected = match known {
        [] => "nothing is installed".to_owned(),
        _ => format!("expected {}", form::listed_if_few(names(), "the name of an offered one")),
    };
    let message = format!("no plugin is named `{}`; {expected}", granted.value);
    let warning = granted.problem(&codes::UNKNOWN_PLUGIN, message);
    match granted.value.split_once('@') {
        // A grant to a plugin holds for every version of it.
        Some((name, _)) if known.iter().any(|known| **known == *name) => {
            warning.with_hint(format!("a grant is for all versions of a plugin: `{name}`"))
        }
        Some((name, _)) => warning.with_hint_if(did_you_mean(name, names())),
        None => warning.with_hint_if(did_you_mean(&granted.value, names())),
    }
}

/// The JSON Schema (draft 2020-12) of a configuration. It accepts what [`check_shape`] finds no problem in, but for a path
/// that is given to two directories.
#[must_use]
pub fn schema() -> serde_json::Value {
    form::schema(&table::CONFIGURATION, "Phasm configuration")
}

/// The problems that show in a configuration itself, without a look at directories, files or the environment.
#[must_use]
pub fn check_shape(tree: &Tree) -> Vec<Problem> {
    let report = Report::default();
    let _ = ConfigTable::read(&Cursor::root(tree), &report);
    report.into_parts().0
}

/// The surroundings in which a configuration is read.
struct ConfigSource<'a> {
    dir: &'a Path,
    env: &'a dyn Fn(&str) -> Option<OsString>,
    /// Whether granted directories lie within `dir`.
    is_root: bool,
}

#[cfg(test)]
mod tests;
