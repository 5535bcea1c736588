//! What the runs of each tenant find on this host: plugins and what these may touch, secrets. Each tenant's is made once.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc};

use phasm_engine::outcome::Outcome;
use tokio::sync::Mutex;

use crate::{
    dispatch::slots::Rules,
    plugins::{Librarian, Plugins},
    secrets::Secrets,
    tenants::tenant::{KnownTenant, KnownTenants, Tenant, shares},
};
use phasm_sandbox::{
    Tenants,
    executor::{Executor, Invocation, Observer},
};

/// Plugins, and who changes the library among their places that is theirs alone.
type OwnPlugins = (Option<Plugins>, Option<Librarian>);

/// What the runs of one tenant find here.
#[derive(Default)]
pub(crate) struct Realm {
    /// None where another executor stands for them.
    pub(crate) plugins: Option<Plugins>,
    pub(crate) secrets: Secrets,
    /// Who changes the library that only its runs find, or all others' as well.
    pub(crate) librarian: Option<Librarian>,
    /// Held while one run is counted and taken.
    pub(crate) admitting: Arc<Mutex<()>>,
}

/// Those of all tenants.
#[derive(Default)]
pub(crate) struct Realms {
    tenants: Tenants,
    /// What others are told of them.
    known: Arc<KnownTenants>,
    weights: Rules,
    /// Of whoever has nothing of its own.
    common: Realm,
    own: BTreeMap<Arc<str>, Realm>,
}

impl Realms {
    /// `offered` makes the plugins of a tenant, or of all who have none of their own.
    ///
    /// # Errors
    /// That of `plugins`.
    pub(crate) fn new<E>(
        tenants: &BTreeMap<Arc<str>, Tenant>,
        secrets: Secrets,
        offered: impl Fn(Option<(&Arc<str>, &Tenant)>) -> Result<OwnPlugins, E>,
    ) -> Result<Self, E> {
        let realm = |name: &Arc<str>, tenant: &Tenant| -> Result<Realm, E> {
            let (plugins, librarian) = offered(Some((name, tenant)))?;
            Ok(Realm { plugins, librarian, secrets: tenant.secrets.and(&secrets), ..Realm::default() })
        };
        let own = tenants.iter().map(|(name, tenant)| Ok((Arc::clone(name), realm(name, tenant)?)));
        let own = own.collect::<Result<_, E>>()?;
        let (plugins, librarian) = offered(None)?;
        let weight = |tenant: &Tenant| (tenant.weight.max(1), tenant.quotas.running);
        Ok(Self {
            tenants: shares(tenants),
            known: Arc::new(
                tenants.iter().map(|(name, own)| (Arc::clone(name), KnownTenant::of(own))).collect(),
            ),
            weights: tenants.iter().map(|(name, tenant)| (Arc::clone(name), weight(tenant))).collect(),
            common: Realm { plugins, librarian, secrets, ..Realm::default() },
            own,
        })
    }

    /// What the runs of a namespace find here.
    pub(crate) fn of(&self, namespace: &Arc<str>) -> &Realm {
        if self.own.is_empty() {
            return &self.common;
        }
        self.own.get(&self.tenants.of(namespace)).unwrap_or(&self.common)
    }

    /// What those find that have nothing of their own.
    pub(crate) fn common(&self) -> &Realm {
        &self.common
    }

    /// What the runs of a tenant find that has something of its own.
    pub(crate) fn own(&self, tenant: &str) -> Option<&Realm> {
        self.own.get(tenant)
    }

    /// Those who have something of their own.
    pub(crate) fn owners(&self) -> impl Iterator<Item = (&Arc<str>, &Realm)> {
        self.own.iter()
    }

    /// Whose a namespace is.
    pub(crate) fn tenant(&self, namespace: &Arc<str>) -> Arc<str> {
        self.tenants.of(namespace)
    }

    /// What others are told of its tenants; nothing, where there are none.
    pub(crate) fn known(&self) -> &Arc<KnownTenants> {
        &self.known
    }

    /// What a tenant has beside others.
    pub(crate) fn weight(&self, tenant: &str) -> u32 {
        self.tenants.weight(tenant)
    }

    /// By which rules slots are lent.
    pub(crate) fn rules(&self) -> Rules {
        self.weights.clone()
    }

    /// Executes attempts with the plugins of whoever they belong to.
    pub(crate) fn executor(self: &Arc<Self>) -> Arc<dyn Executor> {
        match &self.common.plugins {
            Some(common) if self.own.is_empty() => Arc::new(common.clone()),
            _ => Arc::new(OfEach(Arc::clone(self))),
        }
    }
}

/// Executes attempts with the plugins of whoever they belong to.
struct OfEach(Arc<Realms>);

impl Executor for OfEach {
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

    fn is_sealed(&self, namespace: &Arc<str>, executor_type: &str) -> bool {
        let plugins = self.0.of(namespace).plugins.as_ref();
        plugins.is_some_and(|plugins| plugins.is_sealed(namespace, executor_type))
    }
}
