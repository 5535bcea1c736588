//! Whose namespaces are whose.

use std::{collections::BTreeMap, sync::Arc};

use super::{Allowance, Isolation};

/// Who shares a sandbox. A namespace that nobody was given is a tenant by itself, of weight 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tenants {
    of: BTreeMap<Arc<str>, Arc<str>>,
    weights: BTreeMap<Arc<str>, u32>,
    limits: BTreeMap<Arc<str>, Allowance>,
    isolation: BTreeMap<Arc<str>, Isolation>,
}

impl Tenants {
    /// Makes a tenant known that has these namespaces. With twice the weight of another it computes twice as much, if both would
    /// compute always; 0 counts as 1.
    pub fn add(&mut self, tenant: &Arc<str>, weight: u32, namespaces: impl IntoIterator<Item = Arc<str>>) {
        self.weights.insert(Arc::clone(tenant), weight.max(1));
        self.of.extend(namespaces.into_iter().map(|namespace| (namespace, Arc::clone(tenant))));
    }

    /// Whose a namespace is.
    #[must_use]
    pub fn of(&self, namespace: &Arc<str>) -> Arc<str> {
        Arc::clone(self.of.get(namespace).unwrap_or(namespace))
    }

    /// What a tenant computes beside others.
    #[must_use]
    pub fn weight(&self, tenant: &str) -> u32 {
        self.weights.get(tenant).copied().unwrap_or(1)
    }

    /// What each attempt of a tenant may use, where that is less than others may.
    pub fn limit(&mut self, tenant: &Arc<str>, limits: Allowance) {
        if !limits.is_empty() {
            self.limits.insert(Arc::clone(tenant), limits);
        }
    }

    /// What a tenant's attempts may use at most.
    #[must_use]
    pub fn limits(&self, tenant: &str) -> Option<&Allowance> {
        self.limits.get(tenant)
    }

    /// Where a tenant's guests run, unless a plugin's [`Grants`](crate::Grants) say it.
    pub fn isolate(&mut self, tenant: &Arc<str>, isolation: Isolation) {
        self.isolation.insert(Arc::clone(tenant), isolation);
    }

    /// Where that is, if it was said.
    #[must_use]
    pub fn isolation(&self, tenant: &str) -> Option<Isolation> {
        self.isolation.get(tenant).copied()
    }
}
