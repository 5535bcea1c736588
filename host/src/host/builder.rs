//! Setting up a host.

mod error;
mod open;
mod plugin_sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use phasm_engine::value::{Map, Value};
use phasm_sandbox::{Digest, Grants, Key, Limits, SandboxConfig, executor::Executor};
use tokio::runtime::Handle;

pub use self::error::OpenError;
use self::plugin_sources::PluginPlace;
use crate::{
    clock::TimeSource,
    notify::Endpoint,
    plugins::{self, Library, trust::Policy},
    secrets::Secrets,
    store::{Store, retention::Retention},
    tenants::tenant::Tenant,
    watch::{attempt_log::MAX_LOG_BYTES, spans::Tracer},
};
use phasm_artifacts::{ArtifactLimits, ArtifactPlace};

/// Sets up a [`Host`](super::Host).
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
    log_retention_bytes: Option<usize>,
    idle_timeout: Option<Duration>,
    threads: Option<NonZeroUsize>,
    time: Option<Arc<dyn TimeSource>>,
    runtime: Option<Handle>,
    artifact_place: Option<ArtifactPlace>,
    artifact_limits: ArtifactLimits,
}

impl HostBuilder {
    /// Keeps runs in `store`; without it, in memory, and nothing of what attempts write.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Keeps artifacts in `place`. Without it, a host on a store in memory keeps them in a temporary folder, and
    /// [`Planner::artifacts`](crate::Planner::artifacts) may name a place later.
    #[must_use]
    pub fn artifacts(mut self, place: ArtifactPlace) -> Self {
        self.artifact_place = Some(place);
        self
    }

    /// Sets the limits of artifacts.
    #[must_use]
    pub fn artifact_limits(mut self, limits: ArtifactLimits) -> Self {
        self.artifact_limits = limits;
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
    /// [`Host::library_admin`](super::Host::library_admin) changes; in it are those of tenants, too.
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

    /// Has a host that [claims](Self::auto_claim) delete runs that have ended, as far as this says, when it begins and every ten
    /// minutes. Without it all are kept.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Adds a webhook endpoint, under the name by which its deliveries are stored; a host that [claims](Self::auto_claim) delivers.
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
    pub fn max_concurrency_hint(mut self, attempts: u32) -> Self {
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
    pub fn log_retention_bytes(mut self, bytes: u64) -> Self {
        self.log_retention_bytes = Some(usize::try_from(bytes).unwrap_or(MAX_LOG_BYTES).min(MAX_LOG_BYTES));
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
    /// request for `idle_timeout`, and that waits for a person or for sixty times as long, is given back to the store until it is due
    /// or has a request. A second is a good value.
    #[must_use]
    pub fn auto_claim(mut self, idle_timeout: Duration) -> Self {
        self.idle_timeout = Some(idle_timeout);
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

    /// Replaces the sandbox by another executor, which runs on the engine's threads, and on those of callers as [`Host::submit`](super::Host::submit) says. For
    /// tests and special hosts.
    #[must_use]
    pub fn executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }
}
