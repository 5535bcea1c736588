//! Tenants and their namespaces.

use std::{collections::BTreeMap, sync::Arc};

use super::{isolation::Isolation, limits::Allowance};

/// Tenants that share a sandbox. A namespace without a tenant is a tenant by itself, of weight 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tenants {
    of: BTreeMap<Arc<str>, Arc<str>>,
    /// Tenant of all namespaces that were given to no other.
    others: Option<Arc<str>>,
    weights: BTreeMap<Arc<str>, u32>,
    requests: BTreeMap<Arc<str>, u32>,
    limits: BTreeMap<Arc<str>, Allowance>,
    isolation: BTreeMap<Arc<str>, Isolation>,
}

impl Tenants {
    /// Pattern for all namespaces that are not given by name.
    pub const OTHERS: &str = "*";

    /// Adds a tenant with these namespaces. With twice the weight of another it computes twice as much, if both always compute; a
    /// weight of 0 counts as 1.
    pub fn add(&mut self, tenant: &Arc<str>, weight: u32, namespaces: impl IntoIterator<Item = Arc<str>>) {
        self.weights.insert(Arc::clone(tenant), weight.max(1));
        for namespace in namespaces {
            if *namespace == *Self::OTHERS {
                self.others = Some(Arc::clone(tenant));
            } else {
                self.of.insert(namespace, Arc::clone(tenant));
            }
        }
    }

    /// Limits the HTTP requests that a tenant's attempts make within a minute.
    pub fn limit_requests(&mut self, tenant: &Arc<str>, per_minute: u32) {
        self.requests.insert(Arc::clone(tenant), per_minute);
    }

    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "there are no requests"))]
    pub(crate) fn requests(&self) -> impl Iterator<Item = (&Arc<str>, u32)> {
        self.requests.iter().map(|(tenant, most)| (tenant, *most))
    }

    /// Returns the tenant of a namespace.
    #[must_use]
    pub fn of(&self, namespace: &Arc<str>) -> Arc<str> {
        Arc::clone(self.of.get(namespace).or(self.others.as_ref()).unwrap_or(namespace))
    }

    /// Returns the weight of a tenant.
    #[must_use]
    pub fn weight(&self, tenant: &str) -> u32 {
        self.weights.get(tenant).copied().unwrap_or(1)
    }

    /// Sets limits on each attempt of a tenant, which count where they are lower than the general ones.
    pub fn limit(&mut self, tenant: &Arc<str>, limits: Allowance) {
        if !limits.is_empty() {
            self.limits.insert(Arc::clone(tenant), limits);
        }
    }

    /// Returns the limits on each attempt of a tenant.
    #[must_use]
    pub fn limits(&self, tenant: &str) -> Option<&Allowance> {
        self.limits.get(tenant)
    }

    /// Sets the isolation of a tenant's guests, unless a plugin's [`Grants`](crate::Grants) set it.
    pub fn isolate(&mut self, tenant: &Arc<str>, isolation: Isolation) {
        self.isolation.insert(Arc::clone(tenant), isolation);
    }

    /// Returns the isolation of a tenant's guests, if it was set.
    #[must_use]
    pub fn isolation(&self, tenant: &str) -> Option<Isolation> {
        self.isolation.get(tenant).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-Q1.
    #[test]
    fn every_namespace_has_a_tenant() {
        let mut tenants = Tenants::default();
        let whose = |tenants: &Tenants, namespace: &str| tenants.of(&namespace.into()).to_string();
        tenants.add(&"acme".into(), 3, ["acme".into(), "prod".into()]);
        assert_eq!([whose(&tenants, "prod"), whose(&tenants, "x")], ["acme", "x"]);
        tenants.add(&"guests".into(), 0, ["*".into()]);
        assert_eq!([whose(&tenants, "acme"), whose(&tenants, "x")], ["acme", "guests"]);
        assert_eq!([tenants.weight("acme"), tenants.weight("guests"), tenants.weight("x")], [3, 1, 1]);
    }
}
