//! Opening a host from its settings.

use std::sync::Arc;

use phasm_engine::{event::Facts, value::Map};
use phasm_sandbox::{EgressSecret, Sandbox};

use super::{HostBuilder, OpenError, plugin_sources::PluginSources};
use crate::{
    clock::Clock,
    host::Host,
    notify::Webhooks,
    planner::{HostSettings, Planner, PlanningContext},
    plugins::trust::PluginTrust,
    run::lifecycle::LifecycleFeed,
    store::HostId,
    tenants::{
        environment::TenantEnvironments,
        tenant::{self, Tenant},
    },
    watch::attempt_log::DEFAULT_LOG_BYTES,
};
use phasm_artifacts::HostArtifacts;

/// Attempts in flight unless configured: enough for a thousand that wait in host calls.
const DEFAULT_SLOTS: u32 = 2048;

impl HostBuilder {
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
        let webhooks = Webhooks::new(
            self.endpoints,
            #[cfg(feature = "http")]
            self.sandbox.http.clone(),
        );
        let clock = self.time.map_or_else(Clock::start, Clock::from);
        let sandbox = if self.executor.is_some() { None } else { Some(Sandbox::new(self.sandbox)?) };
        let shares = tenant::shares(&self.tenants);
        let artifacts = HostArtifacts::of_tenants(self.artifact_place, self.artifact_limits, shares);
        let sources = PluginSources {
            builder: self.builder.as_ref(),
            places: &self.places,
            registered: &self.registered,
            grants: &self.grants,
            trust: PluginTrust { policy: self.trust, tenant: None, exempt: self.exempt },
            tenants: &self.tenants,
            hold: self.hold_all,
            artifacts: artifacts.clone(),
        };
        let found = |tenant: Option<(&Arc<str>, &Tenant)>| -> Result<_, OpenError> {
            match &sandbox {
                Some(sandbox) => Ok((Some(sources.plugins(tenant, sandbox)?), sources.library_admin(tenant))),
                None => Ok((None, None)),
            }
        };
        let environments = Arc::new(TenantEnvironments::new(&self.tenants, self.secrets, found)?);
        Ok(Planner {
            executor: self.executor.unwrap_or_else(|| environments.executor()),
            environments,
            artifacts,
            webhooks: Arc::new(webhooks),
            clock,
            plans: Arc::default(),
            host: HostId::unique(),
            gauges: Arc::default(),
            lifecycle: LifecycleFeed::default(),
            tracer: self.tracer,
            sandbox,
            context: PlanningContext {
                facts: facts(self.vars),
                origin: self.origin,
                allow_missing: self.allow_missing,
            },
            settings: HostSettings {
                slots: self.slots.unwrap_or(DEFAULT_SLOTS),
                idle_timeout: self.idle_timeout,
                retention: self.retention,
                threads: self.threads,
                runtime: self.runtime,
                log_bytes: self.log_retention_bytes.unwrap_or(DEFAULT_LOG_BYTES),
            },
        })
    }
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
