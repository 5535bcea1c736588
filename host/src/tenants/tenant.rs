//! Who shares a host: whose namespaces are whose, how much each may have of it, and what is its own.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{plugins::trust::Policy, secrets::Secrets};
use phasm_sandbox::{Allowance, Grants, Isolation, Tenants};

/// Somebody who shares a host with others. By default it has the namespace of its name, no quotas, and what all have.
#[derive(Clone, Debug, Default)]
pub struct Tenant {
    /// Its namespaces, besides the one of its name; `*` stands for all that nobody has.
    pub namespaces: Vec<Arc<str>>,
    /// How much it has beside others, where there is not enough for all: twice as much with twice the weight. 0 counts as 1.
    pub weight: u32,
    /// What it may have at most.
    pub quotas: Quotas,
    /// What each of its attempts may use, where that is less than others may.
    pub limits: Allowance,
    /// Where its guests run, unless a plugin's grants say it.
    pub isolation: Option<Isolation>,
    /// Directories with plugins that it alone has, searched before those of all.
    pub plugins: Vec<PathBuf>,
    /// What plugins may touch in its runs, in place of what they may in those of others. Limits of these hold as well, and where guests run.
    pub grants: BTreeMap<String, Grants>,
    /// Whether it has only the directories of its own grants, and none that all are granted.
    pub own_dirs: bool,
    /// Secrets that it alone has; one of all with the same name and key it does not have then.
    pub secrets: Secrets,
    /// Whose plugins its runs use, in place of what is said for all.
    pub trust: Option<Policy>,
}

impl Tenant {
    /// What plugins may touch in its runs, where `common` is what they may touch in everybody's.
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

    /// What plugins may touch that were added for it alone: nothing that is granted to those of all, whatever they are called, but bounded as
    /// those are.
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

/// What a tenant may have at most; what is not said is not bounded. Each host counts for itself, but for runs, which are counted in the
/// store.
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

/// What a store is told of one tenant: whoever submits to it without a configuration is judged by that.
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

    /// Nothing, where they are all that nobody else has.
    pub(crate) fn namespaces(&self, name: &Arc<str>) -> Vec<Arc<str>> {
        let is_rest = self.namespaces.iter().any(|namespace| **namespace == *Tenants::OTHERS);
        if is_rest { Vec::new() } else { self.namespaces.iter().chain([name]).cloned().collect() }
    }
}

/// Whose namespaces are whose, as a store was told.
pub(crate) fn known(tenants: &KnownTenants) -> Tenants {
    let mut all = Tenants::default();
    for (name, tenant) in tenants {
        all.add(name, 1, tenant.namespaces.iter().chain([name]).cloned());
    }
    all
}

/// What the sandbox knows of tenants.
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

/// What was left with a store about its tenants, as it was read last.
#[derive(Default)]
pub(crate) struct Left(Mutex<Option<(Instant, Arc<KnownTenants>)>>);

impl Left {
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
