//! Setting up a host.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use phasm_engine::{
    event::Facts,
    value::{Map, Value},
};
use tokio::runtime::Handle;

use super::Host;
use crate::{
    clock::{Clock, TimeSource},
    notify::{Endpoint, Outlets},
    planner::{HostSettings, Planner, PlanningContext},
    plugins::{
        self, Library, LibraryAdmin, LibraryError, Plugins,
        trust::{PluginTrust, Policy},
    },
    run::lifecycle::Tidings,
    secrets::Secrets,
    store::retention::Retention,
    store::{HostId, Store},
    tenants::{
        environment::Realms,
        tenant::{self, Tenant},
    },
    watch::{
        attempt_log::{KEPT_LOG, MOST_KEPT_LOG},
        spans::Tracer,
    },
};
use phasm_sandbox::{
    Digest, EgressSecret, Grants, Key, Limits, Sandbox, SandboxConfig, SandboxError, executor::Executor,
};

/// Why a host could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Threads could not be started.
    #[error("the engine's threads could not be started")]
    Threads(#[source] std::io::Error),
    /// The sandbox could not be set up.
    #[error("the sandbox could not be set up")]
    Sandbox(#[from] SandboxError),
    /// A plugin directory could not be read.
    #[error("the plugin directory {} could not be read", path.display())]
    Plugins {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A library of plugins could not be read.
    #[error("the plugin library {} could not be read", path.display())]
    Library {
        /// Its directory.
        path: PathBuf,
        /// Why.
        source: LibraryError,
    },
}

/// Where plugins are.
enum PluginPlace {
    Dir(PathBuf),
    Library(Library),
}

/// Sets up a [`Host`].
#[derive(Default)]
pub struct HostBuilder {
    store: Option<Arc<dyn Store>>,
    executor: Option<Arc<dyn Executor>>,
    slots: Option<u32>,
    sandbox: SandboxConfig,
    places: Vec<PluginPlace>,
    registered: Vec<(Arc<str>, Arc<[u8]>)>,
    grants: BTreeMap<String, Grants>,
    tenants: BTreeMap<Arc<str>, Tenant>,
    trust: Policy,
    hold_all: bool,
    exempt: BTreeSet<Digest>,
    builder: Option<Arc<dyn plugins::Builder>>,
    secrets: Secrets,
    vars: Map,
    origin: Option<Arc<str>>,
    tracer: Option<Arc<dyn Tracer>>,
    retention: Retention,
    endpoints: BTreeMap<Arc<str>, Endpoint>,
    allow_missing: bool,
    kept_log: Option<usize>,
    patience: Option<Duration>,
    threads: Option<NonZeroUsize>,
    time: Option<Arc<dyn TimeSource>>,
    runtime: Option<Handle>,
}

impl HostBuilder {
    /// Keeps runs in `store`; without it, in memory, and nothing of what attempts write.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Registers a plugin from the bytes of its component.
    #[must_use]
    pub fn plugin(mut self, name: impl Into<Arc<str>>, component: impl Into<Arc<[u8]>>) -> Self {
        self.registered.push((name.into(), component.into()));
        self
    }

    /// Offers the plugins of a directory; of equal names the directory named first wins.
    #[must_use]
    pub fn plugin_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.places.push(PluginPlace::Dir(dir.into()));
        self
    }

    /// Offers the versions that a library has approved; of equal names the place named first wins. The first one is that which
    /// [`Host::library_admin`] changes; in it are those of tenants, too.
    #[must_use]
    pub fn plugin_library(mut self, library: Library) -> Self {
        self.places.push(PluginPlace::Library(library));
        self
    }

    /// Uses only plugins that this policy trusts; by default all.
    #[must_use]
    pub fn trust(mut self, policy: Policy) -> Self {
        self.trust = policy;
        self
    }

    /// Has every version wait to be approved that is added to a library, and not only one that asks for more.
    #[must_use]
    pub fn hold_all(mut self, hold: bool) -> Self {
        self.hold_all = hold;
        self
    }

    /// Uses a component without a signature, such as one that a program embeds.
    #[must_use]
    pub fn exempt(mut self, component: Digest) -> Self {
        self.exempt.insert(component);
        self
    }

    /// Builds plugins that are there as source; without it they cannot be used.
    #[must_use]
    pub fn plugin_builder(mut self, builder: Arc<dyn plugins::Builder>) -> Self {
        self.builder = Some(builder);
        self
    }

    /// Grants a plugin what it may touch; by default nothing.
    #[must_use]
    pub fn grant(mut self, plugin: impl Into<String>, grants: Grants) -> Self {
        self.grants.insert(plugin.into(), grants);
        self
    }

    /// Adds a tenant.
    #[must_use]
    pub fn tenant(mut self, name: impl Into<Arc<str>>, tenant: Tenant) -> Self {
        self.tenants.insert(name.into(), tenant);
        self
    }

    /// Has a host that [claims](Self::claiming) delete runs that have ended, as far as this says, when it begins and every ten
    /// minutes. Without it all are kept.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Adds a webhook endpoint, under the name by which its deliveries are stored; a host that [claims](Self::claiming) delivers.
    /// The name has letters, digits and `-`.
    #[must_use]
    pub fn endpoint(mut self, name: impl Into<Arc<str>>, endpoint: Endpoint) -> Self {
        self.endpoints.insert(name.into(), endpoint);
        self
    }

    /// Leaves a text with every run that is submitted, for the host that recovers it, such as the path of the configuration.
    /// Nothing here reads it; [`journal::origin`](crate::journal::origin) returns it.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<Arc<str>>) -> Self {
        self.origin = Some(origin.into());
        self
    }

    /// Passes the spans of runs, their steps, attempts and requests to `tracer`. Without one there are none.
    #[must_use]
    pub fn tracer(mut self, tracer: Arc<dyn Tracer>) -> Self {
        self.tracer = Some(tracer);
        self
    }

    /// Limits every guest.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.sandbox.limits = limits;
        self
    }

    /// Loads plugins that `phasm plugin compile` has sealed with this key.
    #[must_use]
    pub fn precompiled_key(mut self, key: Key) -> Self {
        self.sandbox.key = Some(key);
        self
    }

    /// Replaces the whole configuration of the sandbox.
    #[must_use]
    pub fn sandbox(mut self, config: SandboxConfig) -> Self {
        self.sandbox = config;
        self
    }

    /// Reserves no more of the sandbox than so many attempts take at once: a host that is opened for one run need not make
    /// room for thousands.
    #[must_use]
    pub fn room_for(mut self, attempts: u32) -> Self {
        self.sandbox.slots = self.sandbox.slots.min(self.sandbox.limits.slots_for(attempts.max(1)));
        self
    }

    /// How many attempts may be in flight; never more than the sandbox has room for.
    #[must_use]
    pub fn slots(mut self, slots: u32) -> Self {
        self.slots = Some(slots);
        self
    }

    /// The secrets that `secretKeyRef` names.
    #[must_use]
    pub fn secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// A variable that expressions read as `vars.<name>`, or by its name alone where the language has no such name.
    #[must_use]
    pub fn var(mut self, name: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// How many bytes a store keeps of what each attempt writes, 0 for none: 64 KiB unless this is said, 16 MiB at most.
    #[must_use]
    pub fn kept_log(mut self, bytes: u64) -> Self {
        self.kept_log = Some(usize::try_from(bytes).unwrap_or(MOST_KEPT_LOG).min(MOST_KEPT_LOG));
        self
    }

    /// Runs documents whose executors are not installed or cannot be used: their attempts end with code 3. By default such
    /// documents have problems.
    #[must_use]
    pub fn allow_missing(mut self) -> Self {
        self.allow_missing = true;
        self
    }

    /// Drives every due run of the store, wherever it was submitted, and keeps only active runs in memory: a run that has had no
    /// request for `patience`, and that waits for a person or for sixty times as long, is given back to the store until it is due
    /// or has a request. A second is a good value.
    #[must_use]
    pub fn claiming(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// How many threads decide what runs do next; a quarter of the machine's, and at least one, unless this is said. Each run
    /// is on one of them at a time, so that more of them serve more runs, and not one run faster.
    #[must_use]
    pub fn engine_threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Has time come from elsewhere than the machine's clocks. For tests.
    #[must_use]
    pub fn time(mut self, source: Arc<dyn TimeSource>) -> Self {
        self.time = Some(source);
        self
    }

    /// Drives runs on the caller's runtime. For tests.
    #[must_use]
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Replaces the sandbox by another executor, which runs on the engine's threads, and on those of callers as [`Host::submit`] says. For
    /// tests and special hosts.
    #[must_use]
    pub fn executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Adds the tenants and their secrets to the sandbox's configuration.
    fn configure_sandbox(&mut self) {
        self.sandbox.http.secrets.extend(self.secrets.egress().cloned());
        for (name, tenant) in &self.tenants {
            let own =
                |secret: &EgressSecret| EgressSecret { tenant: Some(Arc::clone(name)), ..secret.clone() };
            self.sandbox.http.secrets.extend(tenant.secrets.egress().map(own));
        }
        if !self.tenants.is_empty() {
            self.sandbox.tenants = tenant::shares(&self.tenants);
        }
    }

    /// Opens the host on its store, or on one in memory.
    ///
    /// # Errors
    /// [`OpenError`] when threads, sandbox or plugin directories are not to be had.
    pub fn open(mut self) -> Result<Host, OpenError> {
        let store = self.store.take();
        let planner = self.planner()?;
        match store {
            Some(store) => Host::open(planner, store),
            None => Host::open_in_memory(planner),
        }
    }

    /// Makes a planner, which [`Host::open`] makes a host of. Nothing is stored or built yet.
    ///
    /// # Errors
    /// [`OpenError`] when sandbox or plugin directories are not to be had.
    pub fn planner(mut self) -> Result<Planner, OpenError> {
        self.configure_sandbox();
        let outlets = Outlets::new(
            self.endpoints,
            #[cfg(feature = "http")]
            self.sandbox.http.clone(),
        );
        let clock = self.time.map_or_else(Clock::start, Clock::from);
        let sandbox = if self.executor.is_some() { None } else { Some(Sandbox::new(self.sandbox)?) };
        let offered = Offered {
            builder: self.builder.as_ref(),
            places: &self.places,
            registered: &self.registered,
            grants: &self.grants,
            trust: PluginTrust { policy: self.trust, tenant: None, exempt: self.exempt },
            tenants: &self.tenants,
            hold: self.hold_all,
        };
        let found = |tenant: Option<(&Arc<str>, &Tenant)>| -> Result<_, OpenError> {
            match &sandbox {
                Some(sandbox) => Ok((Some(offered.to(tenant, sandbox)?), offered.library_admin(tenant))),
                None => Ok((None, None)),
            }
        };
        let realms = Arc::new(Realms::new(&self.tenants, self.secrets, found)?);
        Ok(Planner {
            executor: self.executor.unwrap_or_else(|| realms.executor()),
            realms,
            outlets: Arc::new(outlets),
            clock,
            plans: Arc::default(),
            host: HostId::unique(),
            gauges: Arc::default(),
            tidings: Tidings::default(),
            tracer: self.tracer,
            sandbox,
            context: PlanningContext {
                facts: facts(self.vars),
                origin: self.origin,
                allow_missing: self.allow_missing,
            },
            settings: HostSettings {
                slots: self.slots.unwrap_or(DEFAULT_SLOTS),
                patience: self.patience,
                retention: self.retention,
                threads: self.threads,
                runtime: self.runtime,
                log_bytes: self.kept_log.unwrap_or(KEPT_LOG),
            },
        })
    }
}

/// Attempts in flight unless configured: enough for a thousand that wait in host calls.
const DEFAULT_SLOTS: u32 = 2048;

/// The plugin sources of all tenants.
struct Offered<'a> {
    builder: Option<&'a Arc<dyn plugins::Builder>>,
    places: &'a [PluginPlace],
    registered: &'a [(Arc<str>, Arc<[u8]>)],
    grants: &'a BTreeMap<String, Grants>,
    trust: PluginTrust,
    tenants: &'a BTreeMap<Arc<str>, Tenant>,
    hold: bool,
}

impl Offered<'_> {
    /// Returns the plugins of a tenant, or with none those of tenants without their own. A component that is loaded for one
    /// tenant is loaded for no other.
    fn to(&self, tenant: Option<(&Arc<str>, &Tenant)>, sandbox: &Sandbox) -> Result<Plugins, OpenError> {
        let mut plugins = Plugins::new(sandbox.clone()).with_trust(self.trust_of(tenant));
        if let Some(builder) = self.builder {
            plugins = plugins.with_builder(Arc::clone(builder));
        }
        let grants = tenant.map_or_else(|| self.grants.clone(), |(_, tenant)| tenant.granted(self.grants));
        for (name, granted) in &grants {
            plugins.grant(name.as_str(), granted.clone());
        }
        if let Some((name, tenant)) = tenant {
            for dir in &tenant.plugins {
                add_dir(&plugins, dir, &grants)?;
            }
            if let Some(library) = self.library() {
                let alone = tenant.granted_alone(self.grants);
                add_library(&plugins, &library.of_tenant(name), &alone)?;
            }
            plugins.end_of_own();
        }
        for (name, component) in self.registered {
            let granted = grants.get(name.as_ref()).cloned().unwrap_or_default();
            plugins.register(Arc::clone(name), Arc::clone(component), granted);
        }
        for place in self.places {
            match place {
                PluginPlace::Dir(dir) => add_dir(&plugins, dir, &grants)?,
                PluginPlace::Library(library) => add_library(&plugins, library, &grants)?,
            }
        }
        Ok(plugins)
    }

    fn trust_of(&self, tenant: Option<(&Arc<str>, &Tenant)>) -> PluginTrust {
        match tenant.and_then(|(name, tenant)| Some((name, tenant.trust.clone()?))) {
            Some((name, policy)) => {
                PluginTrust { policy, tenant: Some(Arc::clone(name)), exempt: self.trust.exempt.clone() }
            }
            None => self.trust.clone(),
        }
    }

    /// The one that is changed.
    fn library(&self) -> Option<&Library> {
        self.places.iter().find_map(|place| match place {
            PluginPlace::Library(library) => Some(library),
            PluginPlace::Dir(_) => None,
        })
    }

    /// Returns the administration of a tenant's library, or with none that of the shared one.
    fn library_admin(&self, tenant: Option<(&Arc<str>, &Tenant)>) -> Option<LibraryAdmin> {
        let library = self.library()?;
        let own = |tenant: &(&Arc<str>, &Tenant)| tenant.1.trust.is_some();
        Some(match tenant {
            Some((name, known)) => LibraryAdmin {
                library: library.of_tenant(name),
                tenant: Some(Arc::clone(name)),
                trusts: vec![self.trust_of(tenant)],
                hold: self.hold,
                grants: known.granted_alone(self.grants),
            },
            None => LibraryAdmin {
                library: library.clone(),
                tenant: None,
                trusts: [self.trust.clone()]
                    .into_iter()
                    .chain(self.tenants.iter().filter(own).map(|tenant| self.trust_of(Some(tenant))))
                    .collect(),
                hold: self.hold,
                grants: self.grants.clone(),
            },
        })
    }
}

fn add_library(
    plugins: &Plugins,
    library: &Library,
    grants: &BTreeMap<String, Grants>,
) -> Result<(), OpenError> {
    let failed = |source| OpenError::Library { path: library.dir().to_owned(), source };
    plugins.add_library(library, grants).map_err(failed)
}

fn add_dir(plugins: &Plugins, dir: &Path, grants: &BTreeMap<String, Grants>) -> Result<(), OpenError> {
    let failed = |source| OpenError::Plugins { path: dir.to_owned(), source };
    plugins.add_dir(dir, grants).map(drop).map_err(failed)
}

/// Where this host runs, in the words that documents use.
fn facts(vars: Map) -> Facts {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    Facts { os: os.into(), arch: arch.into(), vars: vars.into(), scheduled: None }
}
