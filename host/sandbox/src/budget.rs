//! What a process has once and many guests want: descriptors. Who has much of it leaves to others what is free.

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// Units that guests share. A plugin may have as many as are free then, a tenant three times as many: one of them alone gets half,
/// or three quarters, several get equal parts, and whoever comes next finds some.
pub(crate) struct Budget {
    total: u64,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: u64,
    tenants: HashMap<Arc<str>, u64>,
    plugins: HashMap<Plugin, u64>,
}

type Plugin = (Arc<str>, Arc<str>);

/// What a plugin may have for each unit that is free, and a tenant.
const PLUGIN: u64 = 1;
const TENANT: u64 = 3;

impl Budget {
    pub(crate) fn new(total: u64) -> Arc<Self> {
        Arc::new(Self { total, taken: Mutex::default() })
    }

    /// Half of the descriptors that the process may open: the others are for stores, connections and the host's own files.
    pub(crate) fn of_descriptors() -> Arc<Self> {
        Self::new(descriptors() / 2)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(unix)]
fn descriptors() -> u64 {
    const MANY: u64 = 1 << 20;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current.unwrap_or(MANY).min(MANY)
}

#[cfg(not(unix))]
fn descriptors() -> u64 {
    1024
}

/// One call that takes from a budget, at most `limit` units.
pub(crate) struct Holder {
    budget: Arc<Budget>,
    plugin: Plugin,
    own: AtomicU64,
    limit: u64,
}

impl Holder {
    pub(crate) fn new(budget: &Arc<Budget>, tenant: &Arc<str>, plugin: &Arc<str>, limit: u64) -> Arc<Self> {
        let plugin = (Arc::clone(tenant), Arc::clone(plugin));
        Arc::new(Self { budget: Arc::clone(budget), plugin, own: AtomicU64::new(0), limit })
    }

    /// Takes a unit until the share is dropped.
    ///
    /// # Errors
    /// Whose part is used up.
    pub(crate) fn take(self: &Arc<Self>) -> Result<Share, Spent> {
        let mut taken = self.budget.taken();
        if self.own.load(Relaxed) >= self.limit {
            return Err(Spent::Own(self.limit));
        }
        let free = self.budget.total.saturating_sub(taken.all);
        let of_plugin = taken.plugins.get(&self.plugin).copied().unwrap_or(0);
        let of_tenant = taken.tenants.get(&self.plugin.0).copied().unwrap_or(0);
        if of_plugin >= free * PLUGIN {
            return Err(Spent::Plugin(of_plugin));
        }
        if of_tenant >= free * TENANT {
            return Err(Spent::Tenant(of_tenant));
        }
        taken.all += 1;
        *taken.plugins.entry(self.plugin.clone()).or_default() += 1;
        *taken.tenants.entry(Arc::clone(&self.plugin.0)).or_default() += 1;
        self.own.fetch_add(1, Relaxed);
        Ok(Share(Arc::clone(self)))
    }
}

/// Why there is nothing left, with how much there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spent {
    /// The call has as much as one may have.
    Own(u64),
    /// All calls of the plugin have their part of what the host has.
    Plugin(u64),
    /// All of the tenant's plugins have.
    Tenant(u64),
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(limit) => write!(f, "more than {limit} files, directories and streams open at once"),
            Self::Plugin(count) => {
                write!(f, "{count} files open by attempts of this plugin, which is its part of the host's")
            }
            Self::Tenant(count) => {
                write!(f, "{count} files open by attempts of this tenant, which is its part of the host's")
            }
        }
    }
}

/// One unit; given back when dropped.
pub(crate) struct Share(Arc<Holder>);

impl Drop for Share {
    fn drop(&mut self) {
        let Holder { budget, plugin, own, .. } = &*self.0;
        let mut taken = budget.taken();
        own.fetch_sub(1, Relaxed);
        taken.all -= 1;
        less(&mut taken.plugins, plugin);
        less(&mut taken.tenants, &plugin.0);
    }
}

/// One less of `key`, which is forgotten with the last one.
fn less<K: Eq + Hash>(counts: &mut HashMap<K, u64>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(budget: &Arc<Budget>, tenant: &str, plugin: &str) -> Arc<Holder> {
        Holder::new(budget, &tenant.into(), &plugin.into(), u64::MAX)
    }

    fn all(holder: &Arc<Holder>) -> Vec<Share> {
        std::iter::from_fn(|| holder.take().ok()).collect()
    }

    /// R-I17.
    #[test]
    fn whoever_comes_next_finds_some() {
        let budget = Budget::new(96);
        let first = all(&holder(&budget, "a", "x"));
        assert_eq!(first.len(), 48);
        let second = all(&holder(&budget, "a", "y"));
        assert_eq!(second.len(), 24);
        let mut others = Vec::new();
        for plugin in 0..20 {
            others.extend(all(&holder(&budget, "a", &plugin.to_string())));
        }
        let innocent = all(&holder(&budget, "b", "x"));
        assert!(innocent.len() >= 8, "{}", innocent.len());
        drop((first, second, others, innocent));
        let taken = budget.taken();
        assert!(taken.all == 0 && taken.plugins.is_empty() && taken.tenants.is_empty());
    }

    /// R-I17.
    #[test]
    fn a_call_has_a_limit_of_its_own() {
        let holder = Holder::new(&Budget::new(96), &"a".into(), &"x".into(), 2);
        let shares = (holder.take(), holder.take());
        assert_eq!(holder.take().err(), Some(Spent::Own(2)));
        drop(shares);
        assert!(holder.take().is_ok());
    }
}
