//! Opens a host as the command line and the configuration say.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use phasm::{
    Host, HostBuilder, Planner,
    artifacts::HostArtifacts,
    config::{Config, ServerSettings},
    engine::{
        plan::{Draft, Plan, Work},
        problem::Problems,
    },
    store::{Migration, Sqlite, Store, StoreError},
};
use tokio::time::sleep;

use crate::{
    failure::{ContextError, Failure},
    input::document::Text,
    paths::{self, PathArguments},
    plugins::{
        builder::PluginBuilder,
        dirs::{self, PluginSource},
        provenance::Provenance,
        shipped,
    },
    problems,
    store::database,
    telemetry,
    terminal::{screen::Screen, text},
    user_dirs,
};

/// How long a process that was killed may take to let go of its store.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);
/// Pauses before a full disk, or a database that is not there, is tried again: the first, and the longest.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));

/// The configuration and plugin folders that a planner was made with.
pub(crate) struct Environment {
    config: Option<Config>,
    plugin_builder: Arc<PluginBuilder>,
    dirs: Vec<PathBuf>,
}

/// A planner, with the environment it was made in.
pub(crate) struct PlannerContext {
    pub(crate) planner: Planner,
    pub(crate) environment: Environment,
}

/// A host, with the environment its planner was made in.
pub(crate) struct PreparedHost {
    pub(crate) host: Host,
    /// Lets other processes reach the runs of the store.
    #[cfg(unix)]
    _wakeups: Option<phasm::wakeup::WakeupListener>,
    pub(crate) environment: Environment,
}

/// By which other processes reach the runs of a host, while it is held.
pub(crate) struct WakeupGuard(
    #[cfg(unix)]
    #[expect(dead_code, reason = "it is held")]
    Option<phasm::wakeup::WakeupListener>,
);

/// Reads a configuration; problems are shown, `as_json` on stdout.
///
/// # Errors
/// When it cannot be read or has problems.
pub(crate) fn configuration(file: &Path, screen: &Screen, as_json: bool) -> Result<(Text, Config), Failure> {
    let text = Text::read(file).map_err(|unread| unread.refuse(screen, as_json))?;
    let dir = text.dir().unwrap_or(Path::new(".")).to_owned();
    let config = Config::parse(&text.text, &dir);
    let config = config.map_err(|found| problems::refuse(screen, text.source(), &found, as_json))?;
    Ok((text, config))
}

/// The configuration a command was given, if any.
#[derive(Default)]
pub(crate) struct LoadedConfig(Option<(Text, Config)>);

impl LoadedConfig {
    /// Reads it; problems are shown, `as_json` on stdout.
    ///
    /// # Errors
    /// When it cannot be read or has problems.
    pub(crate) fn read(paths: &PathArguments, screen: &Screen, as_json: bool) -> Result<Self, Failure> {
        paths.config().map(|file| configuration(&file, screen, as_json)).transpose().map(Self)
    }

    /// Returns the configuration, if one was named.
    pub(crate) fn config(&self) -> Option<&Config> {
        self.0.as_ref().map(|(_, config)| config)
    }

    /// Returns the artifacts of a store's runs, for a command that opens no host.
    pub(crate) fn artifacts(&self, store: &Path) -> HostArtifacts {
        let own = self.config().and_then(|config| config.artifact_place.clone());
        let limits = self.config().map(|config| config.artifact_limits).unwrap_or_default();
        HostArtifacts::new(own.or_else(|| paths::artifacts_beside(store)), limits)
    }

    /// How a server is reached.
    pub(crate) fn server(&self) -> ServerSettings {
        self.0.as_ref().map(|(_, config)| config.server.clone()).unwrap_or_default()
    }
}

/// Purpose that a host is opened for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Purpose<'a> {
    /// A document in that directory.
    pub(crate) dir: Option<&'a Path>,
    /// Also a document whose executors are not there.
    pub(crate) allow_missing: bool,
    /// Number of attempts at once, if it is known.
    pub(crate) max_parallelism: Option<u32>,
    /// Whether the host claims all due runs.
    pub(crate) claims: bool,
    /// On so many threads, if it is not what is configured.
    pub(crate) threads: Option<NonZeroUsize>,
}

/// How long a run that waits for a person or a far-off clock stays in memory where what is due is claimed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Makes a planner; nothing is stored, built or loaded yet.
///
/// # Errors
/// When a directory is not as it should be.
pub(crate) fn open(
    paths: &PathArguments,
    LoadedConfig(configured): LoadedConfig,
    screen: &Screen,
    purpose: Purpose<'_>,
) -> Result<PlannerContext, Failure> {
    let config = configured.as_ref().map(|(_, config)| config);
    let searched = dirs::plugin_dirs(paths, config, purpose.dir)?.tell(screen);
    let cache = user_dirs::cache_dir().map(|dir| dir.join("compiled"));
    let plugin_builder = Arc::new(PluginBuilder::new(screen).only_in(searched.built.clone()));
    let builder = Host::builder().plugin_builder(Arc::clone(&plugin_builder) as _);
    let builder = if purpose.allow_missing { builder.allow_missing() } else { builder };
    let builder = config.unwrap_or(&Config::default()).apply(builder, cache);
    let builder = purpose.max_parallelism.into_iter().fold(builder, HostBuilder::max_concurrency_hint);
    let builder = purpose.threads.into_iter().fold(builder, HostBuilder::engine_threads);
    let builder = if purpose.claims { builder.auto_claim(IDLE_TIMEOUT) } else { builder };
    let builder = searched.sources().fold(builder, |builder, source| match source {
        PluginSource::Dir(dir) => builder.plugin_dir(dir),
        PluginSource::Library(library) => builder.plugin_library(library.clone()),
    });
    let asked = config.is_some_and(|config| config.trust.require_signature);
    let builder = if asked { shipped::digests().fold(builder, HostBuilder::exempt) } else { builder };
    let builder = Provenance::of(paths, &searched.dirs).into_iter().fold(builder, HostBuilder::origin);
    let standard = Config::default();
    let Config { telemetry: settings, http, .. } = config.unwrap_or(&standard);
    let builder = telemetry::tracer(settings, http)?.into_iter().fold(builder, HostBuilder::tracer);
    let planner = builder.planner().map_err(Failure::host)?;
    if let (Some((text, config)), Some(plugins)) = (&configured, planner.plugins()) {
        let mut known = plugins.names();
        known.extend(
            config.tenants.keys().filter_map(|tenant| planner.plugins_of(tenant)).flat_map(|own| own.names()),
        );
        known.extend(searched.shelved());
        let unknown = config.unknown_grants(&known);
        problems::show_warnings(screen, text.source(), &[config.warnings.as_slice(), &unknown].concat());
    }
    for warning in planner.plugins().into_iter().flat_map(|plugins| plugins.sandbox().warnings()) {
        screen.err(&format!("{} {warning}\n", text::doubtful("warning:")));
    }
    let config = configured.map(|(_, config)| config);
    Ok(PlannerContext { planner, environment: Environment { config, plugin_builder, dirs: searched.dirs } })
}

/// Opens a store. Retries for a moment, as a process that had it may just have been killed.
async fn open_store(file: &Path, migration: Migration) -> Result<Sqlite, StoreError> {
    let give_up = Instant::now() + LOCK_TIMEOUT;
    loop {
        match Sqlite::open_with(file, migration) {
            Err(StoreError::Locked { .. }) if Instant::now() < give_up => sleep(LOCK_TIMEOUT / 20).await,
            opened => return opened,
        }
    }
}

/// The store of that file, or at that URL, to write to. Only `serve` and `migrate` bring one of an earlier format up to date: hosts of
/// an earlier version may be using it.
///
/// # Errors
/// When it cannot be opened, or is in use.
pub(crate) async fn opened(store: &Path, migration: Migration) -> Result<Arc<dyn Store>, StoreError> {
    if let Some(url) = paths::database_url(store) {
        let url = url.to_owned();
        // A database may be connected and mute, while signals are to be obeyed.
        let opening = tokio::task::spawn_blocking(move || database::open(&url, migration));
        return opening.await.unwrap_or(Err(StoreError::Stopped));
    }
    Ok(Arc::new(open_store(store, migration).await?))
}

impl PlannerContext {
    /// Opens a host on the store of that file, or on one in memory without a file.
    ///
    /// # Errors
    /// When the store cannot be opened, or is in use.
    pub(crate) async fn with_store(self, file: Option<&Path>) -> Result<PreparedHost, Failure> {
        let Some(file) = file else {
            let host = Host::open_in_memory(self.planner).map_err(Failure::host)?;
            return Ok(PreparedHost {
                host,
                #[cfg(unix)]
                _wakeups: None,
                environment: self.environment,
            });
        };
        let store = opened(file, Migration::Refuse).await.map_err(Failure::store)?;
        self.on(store, file)
    }

    /// [`Self::with_store`] for a host that serves, which migrates a store of an earlier format, and waits for room while the disk is full, and for a database that is not there or just starts;
    /// `tell` is called with the first such error.
    ///
    /// # Errors
    /// When the store cannot be opened, or is in use.
    pub(crate) async fn with_room(
        self,
        file: &Path,
        tell: impl FnOnce(&StoreError),
    ) -> Result<PreparedHost, Failure> {
        let mut tell = Some(tell);
        let mut pause = RETRY_PAUSES.0;
        loop {
            match opened(file, Migration::Apply).await {
                Ok(store) => return self.on(store, file),
                Err(error @ (StoreError::Full { .. } | StoreError::Unavailable { .. })) => {
                    if let Some(tell) = tell.take() {
                        tell(&error);
                    }
                    sleep(pause).await;
                    pause = (pause * 2).min(RETRY_PAUSES.1);
                }
                Err(error) => return Err(Failure::store(error)),
            }
        }
    }

    /// Opens a host that other processes reach by the store's file.
    fn on(self, store: Arc<dyn Store>, file: &Path) -> Result<PreparedHost, Failure> {
        if let Some(place) = paths::artifacts_beside(file) {
            self.planner.artifacts().set_place(place);
        }
        let host = Host::open(self.planner, store).map_err(Failure::host)?;
        #[cfg(unix)]
        let wakeups = match paths::database_url(file) {
            Some(_) => None,
            None => host
                .listen(file)
                .inspect_err(
                    |error| tracing::warn!(%error, "other processes cannot reach the runs of this one"),
                )
                .ok(),
        };
        Ok(PreparedHost {
            host,
            #[cfg(unix)]
            _wakeups: wakeups,
            environment: self.environment,
        })
    }

    /// Plans a workflow, with every executor that it names built and compiled.
    ///
    /// # Errors
    /// Every problem of the workflow at once.
    pub(crate) async fn plan(&self, draft: Draft) -> Result<Arc<Plan>, Problems> {
        self.build(&draft).await;
        self.planner.plan_draft(draft).await
    }

    /// Builds and compiles every executor that a draft without errors names.
    pub(crate) async fn build(&self, draft: &Draft) {
        if draft.is_sound() {
            self.environment.build(draft.executor_types().iter()).await;
        }
    }
}

impl PreparedHost {
    /// Leaves with the store what the configuration says of its tenants, if there is one.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn tell_tenants(&self) -> Result<(), Failure> {
        match self.environment.config {
            Some(_) => self.host.keep_tenants().await.map_err(Failure::store),
            None => Ok(()),
        }
    }

    /// Says that a store has tenants whom no configuration here knows.
    pub(crate) async fn warn_of_tenants(&self, screen: &Screen) {
        if self.environment.config.is_some() {
            return;
        }
        // A store that cannot be read reports it at the next call.
        let Ok(Some(known)) = self.host.store().tenants().await else { return };
        let names: BTreeMap<String, serde_json::Value> = serde_json::from_str(&known).unwrap_or_default();
        if !names.is_empty() {
            let names = names.into_keys().collect::<Vec<_>>().join(", ");
            screen.err(&format!(
                "{} this store is served with a configuration that knows tenants ({}), and no configuration is named here: their quotas apply, but neither `running` nor their limits, grants and secrets do. Name it with --config\n",
                text::doubtful("warning:"),
                text::short(&names, 200)
            ));
        }
    }

    /// The host, and what has to be held as long as other processes are to reach it.
    pub(crate) fn into_parts(self) -> (Host, WakeupGuard) {
        #[cfg(unix)]
        return (self.host, WakeupGuard(self._wakeups));
        #[cfg(not(unix))]
        return (self.host, WakeupGuard());
    }
}

impl Environment {
    /// Builds what runs name that were submitted before executors were pinned.
    pub(crate) async fn build_unpinned(&self, plans: impl Iterator<Item = &Plan>) {
        let types: BTreeSet<Arc<str>> = plans.flat_map(unpinned).collect();
        self.build(types.iter()).await;
    }

    /// Builds the source folders among them in one go.
    pub(crate) async fn build(&self, types: impl Iterator<Item = &Arc<str>>) {
        let folder = |executor_type: &Arc<str>| {
            // A name is no path: nothing is built that lies elsewhere.
            let name = executor_type
                .split('@')
                .next()
                .filter(|name| Path::new(name).file_name() == Some(OsStr::new(name)))?;
            let named =
                |dir: &&PathBuf| dir.join(name).is_dir() || dir.join(format!("{name}.wasm")).is_file();
            let folder = self.dirs.iter().find(named)?.join(name);
            folder.join("Cargo.toml").is_file().then_some(folder)
        };
        let folders: Vec<_> = types.filter_map(folder).collect();
        if folders.is_empty() {
            return;
        }
        let plugin_builder = Arc::clone(&self.plugin_builder);
        // Plugins that are not there after a panic are built, and complained about, one by one.
        let _panicked = tokio::task::spawn_blocking(move || plugin_builder.bring_up_to_date(&folders)).await;
    }

    /// Returns the directories that messages of a host may name: of plugins, grants, the library, the store, and the user's own, where
    /// plugins are built.
    pub(crate) fn host_paths(&self, store: &Path) -> Vec<PathBuf> {
        let config = self.config.iter();
        let granted = config.clone().flat_map(|config| {
            let own = config.tenants.values().flat_map(|tenant| tenant.grants.values());
            config
                .grants
                .values()
                .chain(own)
                .flat_map(|grants| grants.dirs.iter().map(|dir| dir.host.clone()))
        });
        let plugins = config.clone().flat_map(|config| {
            let own = config.tenants.values().flat_map(|tenant| tenant.plugins.clone());
            config.plugins.clone().into_iter().chain(own).chain(config.library.clone())
        });
        let store = paths::database_url(store).is_none().then(|| std::path::absolute(store).ok()).flatten();
        let store = store.iter().filter_map(|store| store.parent()).map(Path::to_owned);
        let own = [user_dirs::data_dir(), user_dirs::cache_dir(), paths::set("HOME").map(PathBuf::from)];
        self.dirs
            .iter()
            .cloned()
            .chain(granted)
            .chain(plugins)
            .chain(store)
            .chain(own.into_iter().flatten())
            .collect()
    }

    /// Creates the granted directories that are to be created.
    ///
    /// # Errors
    /// When one cannot be.
    pub(crate) fn create_dirs(&self) -> Result<(), Failure> {
        let Some(config) = &self.config else { return Ok(()) };
        config.create_dirs().map_err(|(dir, error)| {
            Failure::call(ContextError::new(
                format!("the granted directory {} cannot be created", dir.display()),
                error,
            ))
        })
    }
}

/// Every `executor.type` of a plan of which nothing was recorded.
fn unpinned(plan: &Plan) -> impl Iterator<Item = Arc<str>> {
    let types = plan.nodes().filter_map(|node| match &node.work {
        Work::Executor(call) => Some(&call.executor_type),
        Work::Container(_) | Work::Wrapper(_) => None,
    });
    types.filter(|name| !plan.executors.contains_key(*name)).cloned()
}
