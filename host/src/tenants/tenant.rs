//! Tenants of a host: their namespaces, quotas, limits, grants and policies.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{plugins::trust::Policy, secrets::Secrets};
use phasm_sandbox::{Allowance, Grants, Isolation, Tenants};

/// A tenant of a host. By default it owns the namespace of its name, has no quotas, and shares everything else.
#[derive(Clone, Debug, Default)]
pub struct Tenant {
    /// Namespaces besides the one of its name; `*` stands for all that no other tenant owns.
    pub namespaces: Vec<Arc<str>>,
    /// How much it has beside others, where there is not enough for all: twice as much with twice the weight. 0 counts as 1.
    pub weight: u32,
    /// Quotas of all its runs together.
    pub quotas: Quotas,
    /// Limits of each of its attempts, where they are lower than the common ones.
    pub limits: Allowance,
    /// Where its guests run, unless a plugin's grants say it.
    pub isolation: Option<Isolation>,
    /// Directories with plugins that it alone has, searched before those of all.
    pub plugins: Vec<PathBuf>,
    /// Grants of plugins in its runs, which replace the common grants. The limits and the isolation of the common grants stay in
    /// force.
    pub grants: BTreeMap<String, Grants>,
    /// Whether it has only the directories of its own grants, and none that all are granted.
    pub own_dirs: bool,
    /// Secrets that it alone has; one of all with the same name and key it does not have then.
    pub secrets: Secrets,
    /// The trust policy for its runs, which replaces the common one.
    pub trust: Option<Policy>,
}

impl Tenant {
    /// The grants of plugins in this tenant's runs, given the `common` ones.
    pub(crate) fn granted(&self, common: &BTreeMap<String, Grants>) -> BTreeMap<String, Grants> {
        let theirs = |grants: &Grants| {
            let dirs = if self.own_dirs { Vec::new() } else { grants.dirs.clone() };
            Grants { dirs, ..grants.clone() }
        };
        let own = |(plugin, grants): (&String, &Grants)| {
            let bounded = common.get(plugin).map_or_else(|| grants.clone(), |common| bounded(grants, common));
            (plugin.clone(), bounded)
        };
        let common = common.iter().map(|(plugin, grants)| (plugin.clone(), theirs(grants)));
        common.chain(self.grants.iter().map(own)).collect()
    }

    /// The grants of plugins that were added for this tenant alone: no common grant by the same name counts, but the limits of
    /// the common grants do.
    pub(crate) fn granted_alone(&self, common: &BTreeMap<String, Grants>) -> BTreeMap<String, Grants> {
        let bounds =
            |(plugin, common): (&String, &Grants)| (plugin.clone(), bounded(&Grants::default(), common));
        let bounds: BTreeMap<_, _> = common.iter().map(bounds).collect();
        self.granted(&bounds)
    }
}

/// A tenant's grants, with the bounds that those of all have: what a plugin may use, and where its guests run unless the tenant's say so.
fn bounded(own: &Grants, common: &Grants) -> Grants {
    let limits = own.limits.clone().within(&common.limits);
    Grants { limits, isolation: own.isolation.or(common.isolation), ..own.clone() }
}

/// Quotas of a tenant; an absent one is no bound. Each host counts for itself, except for runs, which the store counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quotas {
    /// Attempts that hold a slot at once; others wait.
    pub running: Option<u32>,
    /// Tasks that wait for a slot: while there are as many, no run is taken.
    pub queued: Option<u32>,
    /// Runs that have not ended: while there are as many, no run is taken.
    pub open_runs: Option<u32>,
    /// Bytes of its runs in the store: while there are as many, no run is taken.
    pub stored: Option<u64>,
    /// Runs that are taken within a minute.
    pub runs_per_minute: Option<u32>,
    /// Requests by HTTP of its attempts within a minute; more are refused.
    pub requests_per_minute: Option<u32>,
}

impl Quotas {
    /// Whether any of them may refuse a submission.
    pub(crate) fn bound_submissions(&self) -> bool {
        let Self { queued, open_runs, runs_per_minute, stored, .. } = self;
        stored.is_some() || [queued, open_runs, runs_per_minute].iter().any(|quota| quota.is_some())
    }
}

/// A tenant as it is saved with a store, so that processes without a configuration submit under the same quotas.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KnownTenant {
    namespaces: Vec<Arc<str>>,
    pub(crate) quotas: Quotas,
}

/// By name.
pub(crate) type KnownTenants = BTreeMap<Arc<str>, KnownTenant>;

impl KnownTenant {
    pub(crate) fn of(tenant: &Tenant) -> Self {
        Self { namespaces: tenant.namespaces.clone(), quotas: tenant.quotas }
    }

    /// The tenant's namespaces; empty if it owns all that no other tenant does.
    pub(crate) fn namespaces(&self, name: &Arc<str>) -> Vec<Arc<str>> {
        let is_rest = self.namespaces.iter().any(|namespace| **namespace == *Tenants::OTHERS);
        if is_rest { Vec::new() } else { self.namespaces.iter().chain([name]).cloned().collect() }
    }
}

/// Owners of namespaces, from the tenants that are saved with a store.
pub(crate) fn known(tenants: &KnownTenants) -> Tenants {
    let mut all = Tenants::default();
    for (name, tenant) in tenants {
        all.add(name, 1, tenant.namespaces.iter().chain([name]).cloned());
    }
    all
}

/// Shares of the tenants in the sandbox.
pub(crate) fn shares(tenants: &BTreeMap<Arc<str>, Tenant>) -> Tenants {
    let mut shares = Tenants::default();
    for (name, tenant) in tenants {
        shares.add(name, tenant.weight, tenant.namespaces.iter().chain([name]).cloned());
        shares.limit(name, tenant.limits.clone());
        tenant.isolation.into_iter().for_each(|isolation| shares.isolate(name, isolation));
        tenant.quotas.requests_per_minute.into_iter().for_each(|most| shares.limit_requests(name, most));
    }
    shares
}

/// For how long what was left with a store is believed by those who submit often.
const FRESH: Duration = Duration::from_secs(1);

/// Cache of the tenants that are saved with the store.
#[derive(Default)]
pub(crate) struct QuotaCache(Mutex<Option<(Instant, Arc<KnownTenants>)>>);

impl QuotaCache {
    pub(crate) fn fresh(&self) -> Option<Arc<KnownTenants>> {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.as_ref().filter(|(at, _)| at.elapsed() < FRESH).map(|(_, known)| Arc::clone(known))
    }

    pub(crate) fn keep(&self, known: &Arc<KnownTenants>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), Arc::clone(known)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phasm_sandbox::Limit;

    /// R-Q6: one more thing that is granted takes no bound away.
    #[test]
    fn a_tenants_grants_keep_the_bounds_of_those_of_all() {
        let limits = Allowance::default().with(Limit::Memory, 8).with(Limit::Cpu, 5);
        let common = Grants { limits, isolation: Some(Isolation::Process), ..Grants::default() };
        let own = Grants { limits: Allowance::default().with(Limit::Cpu, 9), ..Grants::default() };
        let granted = |own: Grants| {
            let tenant = Tenant { grants: BTreeMap::from([("echo".into(), own)]), ..Tenant::default() };
            tenant.granted(&BTreeMap::from([("echo".into(), common.clone())])).remove("echo").unwrap()
        };
        let kept = granted(own.clone());
        assert_eq!((kept.limits.get(Limit::Memory), kept.limits.get(Limit::Cpu)), (Some(8), Some(5)));
        assert_eq!(kept.isolation, Some(Isolation::Process));
        let said = granted(Grants { isolation: Some(Isolation::Shared), ..own });
        assert_eq!(said.isolation, Some(Isolation::Shared));
    }
}
