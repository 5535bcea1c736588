//! Whose namespaces are whose.

use std::{collections::BTreeMap, sync::Arc};

/// Who shares a sandbox. A namespace that nobody was given is a tenant by itself, of weight 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tenants {
    of: BTreeMap<Arc<str>, Arc<str>>,
    weights: BTreeMap<Arc<str>, u32>,
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
}
