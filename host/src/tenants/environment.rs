//! The environment of each tenant's runs on this host: plugins with their grants, and secrets. Each is made once.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc};

use phasm_engine::outcome::Outcome;
use tokio::sync::Mutex;

use crate::{
    dispatch::slots::{Rule, Rules},
    plugins::{LibraryAdmin, Plugins},
    secrets::Secrets,
    tenants::tenant::{KnownTenant, KnownTenants, Tenant, shares},
};
use phasm_sandbox::{
    Tenants,
    executor::{Executor, Invocation, Observer},
};

/// Plugins, and who changes the library among their places that is theirs alone.
type OwnPlugins = (Option<Plugins>, Option<LibraryAdmin>);

/// The environment of one tenant's runs.
#[derive(Default)]
pub(crate) struct TenantEnvironment {
    /// None where another executor stands for them.
    pub(crate) plugins: Option<Plugins>,
    pub(crate) secrets: Secrets,
    /// The administration of the library that only these runs use, or that all others use.
    pub(crate) library_admin: Option<LibraryAdmin>,
    /// Held while one run is counted and taken.
    pub(crate) admitting: Arc<Mutex<()>>,
}

/// The environments of all tenants.
#[derive(Default)]
pub(crate) struct TenantEnvironments {
    tenants: Tenants,
    /// The tenants as they are saved with a store.
    known: Arc<KnownTenants>,
    rules: Rules,
    /// The environment of namespaces without one of their own.
    common: TenantEnvironment,
    own: BTreeMap<Arc<str>, TenantEnvironment>,
}

impl TenantEnvironments {
    /// `offered` makes the plugins of a tenant, or with none those of all without their own.
    ///
    /// # Errors
    /// The error of `offered`.
    pub(crate) fn new<E>(
        tenants: &BTreeMap<Arc<str>, Tenant>,
        secrets: Secrets,
        offered: impl Fn(Option<(&Arc<str>, &Tenant)>) -> Result<OwnPlugins, E>,
    ) -> Result<Self, E> {
        let environment = |name: &Arc<str>, tenant: &Tenant| -> Result<TenantEnvironment, E> {
            let (plugins, library_admin) = offered(Some((name, tenant)))?;
            Ok(TenantEnvironment {
                plugins,
                library_admin,
                secrets: tenant.secrets.and(&secrets),
                ..TenantEnvironment::default()
            })
        };
        let own = tenants.iter().map(|(name, tenant)| Ok((Arc::clone(name), environment(name, tenant)?)));
        let own = own.collect::<Result<_, E>>()?;
        let (plugins, library_admin) = offered(None)?;
        let rule = |tenant: &Tenant| Rule { weight: tenant.weight.max(1), max_slots: tenant.quotas.running };
        Ok(Self {
            tenants: shares(tenants),
            known: Arc::new(
                tenants.iter().map(|(name, own)| (Arc::clone(name), KnownTenant::of(own))).collect(),
            ),
            rules: tenants.iter().map(|(name, tenant)| (Arc::clone(name), rule(tenant))).collect(),
            common: TenantEnvironment { plugins, library_admin, secrets, ..TenantEnvironment::default() },
            own,
        })
    }

    /// The environment of a namespace's runs.
    pub(crate) fn of(&self, namespace: &Arc<str>) -> &TenantEnvironment {
        if self.own.is_empty() {
            return &self.common;
        }
        self.own.get(&self.tenants.of(namespace)).unwrap_or(&self.common)
    }

    /// The environment of namespaces without one of their own.
    pub(crate) fn common(&self) -> &TenantEnvironment {
        &self.common
    }

    /// The environment of a tenant that has one of its own.
    pub(crate) fn own(&self, tenant: &str) -> Option<&TenantEnvironment> {
        self.own.get(tenant)
    }

    /// Tenants with an environment of their own.
    pub(crate) fn owners(&self) -> impl Iterator<Item = (&Arc<str>, &TenantEnvironment)> {
        self.own.iter()
    }

    /// The tenant that owns a namespace.
    pub(crate) fn tenant(&self, namespace: &Arc<str>) -> Arc<str> {
        self.tenants.of(namespace)
    }

    /// The tenants as they are saved with a store; empty where there are none.
    pub(crate) fn known(&self) -> &Arc<KnownTenants> {
        &self.known
    }

    /// The tenant's weight in fair shares.
    pub(crate) fn weight(&self, tenant: &str) -> u32 {
        self.tenants.weight(tenant)
    }

    /// By which rules slots are lent.
    pub(crate) fn rules(&self) -> Rules {
        self.rules.clone()
    }

    /// An executor that runs each attempt with the plugins of its tenant.
    pub(crate) fn executor(self: &Arc<Self>) -> Arc<dyn Executor> {
        match &self.common.plugins {
            Some(common) if self.own.is_empty() => Arc::new(common.clone()),
            _ => Arc::new(PerTenantExecutor(Arc::clone(self))),
        }
    }
}

/// Runs each attempt with the plugins of its tenant.
struct PerTenantExecutor(Arc<TenantEnvironments>);

impl Executor for PerTenantExecutor {
    fn execute(
        &self,
        invocation: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        match &self.0.of(&invocation.namespace).plugins {
            Some(plugins) => plugins.execute(invocation, observer),
            None => Box::pin(std::future::ready(Outcome::error("there are no plugins"))),
        }
    }

    fn is_pure(&self, namespace: &Arc<str>, executor_type: &str) -> bool {
        let plugins = self.0.of(namespace).plugins.as_ref();
        plugins.is_some_and(|plugins| plugins.is_pure(namespace, executor_type))
    }
}
