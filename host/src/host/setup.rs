//! Setting up a host.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use phasm_engine::{
    event::Facts,
    value::{Map, Value},
};
use tokio::{
    runtime::{Builder as RuntimeBuilder, Handle, Runtime},
    sync::mpsc::UnboundedSender,
};

use super::{Control, Host};
use crate::{
    clock::{Clock, TimeSource},
    core::{Agenda, Shared, Terms},
    dispatch::{dispatcher::Dispatcher, slots::Rules},
    notify::{Endpoint, Outlets},
    plugins::{
        self, Librarian, Library, LibraryError, Plugins,
        trust::{PluginTrust, Policy},
    },
    retention::Retention,
    run::{lifecycle::Tidings, message::Message, registry::Registry},
    secrets::Secrets,
    store::{HostId, Memory, Store},
    tenants::{
        environment::Realms,
        tenant::{self, Left, Tenant},
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
    /// [`Host::librarian`] changes; in it are those of tenants, too.
    #[must_use]
    pub fn plugin_library(mut self, library: Library) -> Self {
        self.places.push(PluginPlace::Library(library));
        self
    }

    /// Uses only plugins that somebody vouches for, as far as this says; by default whatever is offered.
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

    /// Uses a component that nobody vouches for, as one that a program carries.
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

    /// Makes somebody known who shares the host.
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

    /// Has somebody told of runs, under a name by which what is to be delivered is kept; a host that [claims](Self::claiming) delivers. It
    /// has letters, digits and `-`.
    #[must_use]
    pub fn endpoint(mut self, name: impl Into<Arc<str>>, endpoint: Endpoint) -> Self {
        self.endpoints.insert(name.into(), endpoint);
        self
    }

    /// Leaves a word with every run that is submitted, for whoever goes on with it, as where its configuration lies. Nothing here
    /// reads it; [`journal::origin`](crate::journal::origin) finds it again.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<Arc<str>>) -> Self {
        self.origin = Some(origin.into());
        self
    }

    /// Tells `tracer` what runs, their steps, attempts and requests took. Without one nobody hears of it.
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

    /// Drives every run of the store that is due, whoever submitted it, and keeps only those in memory that something happens
    /// to: one that nobody has asked anything for `patience`, and that waits for a person or sixty times as long, is given back
    /// to the store until it is due or asked something. A second is a good value.
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

    /// Decides what runs do next on a runtime of the caller's, which goes on with it or not. For tests.
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

    /// Tells the sandbox whose guests there will be.
    fn tell_sandbox(&mut self) {
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

    /// Opens the host.
    ///
    /// # Errors
    /// [`OpenError`] when threads, sandbox or plugin directories are not to be had.
    pub fn open(mut self) -> Result<Host, OpenError> {
        self.tell_sandbox();
        let outlets = Outlets::new(
            self.endpoints,
            #[cfg(feature = "http")]
            self.sandbox.http.clone(),
        );
        let (control, engine) = engine(self.runtime, self.threads)?;
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
                Some(sandbox) => Ok((Some(offered.to(tenant, sandbox)?), offered.librarian(tenant))),
                None => Ok((None, None)),
            }
        };
        let realms = Arc::new(Realms::new(&self.tenants, self.secrets, found)?);
        let executor = self.executor.unwrap_or_else(|| realms.executor());
        let slots = (self.slots.unwrap_or(DEFAULT_SLOTS), realms.rules());
        let gauges = Arc::default();
        let dispatcher = dispatcher(slots, executor, sandbox.as_ref(), &engine, &clock).counting(&gauges);
        let kept_log = self.kept_log.unwrap_or(KEPT_LOG);
        let has_others = self.store.is_some();
        let store = self.store.unwrap_or_else(|| Arc::new(Memory::default()));
        let shared = Arc::new(Shared {
            store,
            dispatcher: Arc::new(dispatcher),
            clock,
            realms,
            registry: Registry::default(),
            plans: Arc::default(),
            host: HostId::unique(),
            // What a store keeps that only this host has, nobody asks for: it would take memory for nothing.
            kept_log: if has_others { kept_log } else { 0 },
            control: engine,
            due: Arc::default(),
            patience: self.patience,
            retention: Arc::new(self.retention),
            closed: AtomicBool::new(false),
            in_doubt: AtomicBool::new(false),
            driven: AtomicU64::new(0),
            tidings: Tidings::default(),
            gauges,
            tracer: self.tracer,
            terms: Terms { facts: facts(self.vars), origin: self.origin, allow_missing: self.allow_missing },
            agenda: Agenda::default(),
            outlets: Arc::new(outlets),
            left: Left::default(),
            lending: Arc::default(),
        });
        let host = Host { shared, kept_log, control };
        host.open_store(has_others);
        Ok(host)
    }
}

/// Attempts in flight unless configured: enough for a thousand that wait in host calls.
const DEFAULT_SLOTS: u32 = 2048;

/// What executes attempts, as many at once as the sandbox has room for.
fn dispatcher(
    (wanted, rules): (u32, Rules),
    executor: Arc<dyn Executor>,
    sandbox: Option<&Sandbox>,
    engine: &Handle,
    clock: &Clock,
) -> Dispatcher<UnboundedSender<Message>> {
    let (guests, room) = match sandbox {
        Some(sandbox) => (sandbox.guest_runtime().clone(), sandbox.slots()),
        None => (engine.clone(), u32::MAX),
    };
    Dispatcher::new((wanted.min(room), rules), executor, guests, engine.clone(), clock.clone())
        .beside(sandbox)
}

/// Where runs are decided on: there, or on threads of the host's own.
fn engine(runtime: Option<Handle>, threads: Option<NonZeroUsize>) -> Result<(Control, Handle), OpenError> {
    if let Some(runtime) = runtime {
        return Ok((Control(None), runtime));
    }
    let threads = own_threads(threads).map_err(OpenError::Threads)?;
    let engine = threads.handle().clone();
    Ok((Control(Some(threads)), engine))
}

fn own_threads(number: Option<NonZeroUsize>) -> std::io::Result<Runtime> {
    RuntimeBuilder::new_multi_thread()
        .worker_threads(number.map_or_else(engine_threads, NonZeroUsize::get))
        .thread_name("phasm-engine")
        .enable_all()
        .build()
}

/// Most of the machine's threads are the guests'.
fn engine_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |threads| (threads.get() / 4).max(1))
}

/// What is offered to all.
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
    /// The plugins of a tenant, or of all who have none of their own. What is loaded for one is loaded for nobody else.
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

    /// Who changes the library of a tenant, or that of all.
    fn librarian(&self, tenant: Option<(&Arc<str>, &Tenant)>) -> Option<Librarian> {
        let library = self.library()?;
        let own = |tenant: &(&Arc<str>, &Tenant)| tenant.1.trust.is_some();
        Some(match tenant {
            Some((name, known)) => Librarian {
                library: library.of_tenant(name),
                tenant: Some(Arc::clone(name)),
                trusts: vec![self.trust_of(tenant)],
                hold: self.hold,
                grants: known.granted_alone(self.grants),
            },
            None => Librarian {
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
