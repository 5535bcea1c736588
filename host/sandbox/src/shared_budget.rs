//! Resources of which a process has a fixed amount and guests want a share: descriptors, memory. A large holder leaves to others
//! as much as is free.

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use tokio::sync::Notify;

/// Units that guests share. A holder (a plugin, or one guest) may have as many units as are still free after it has them, a
/// tenant three times as many. So a single holder gets half of all units and a single tenant three quarters, several get equal
/// parts, and a newcomer always finds some.
pub(crate) struct SharedBudget {
    total: u64,
    taken: Mutex<Usage>,
    /// Notified when units were returned that a task waits for.
    freed: Notify,
}

#[derive(Default)]
struct Usage {
    all: u64,
    tenants: HashMap<Arc<str>, u64>,
    plugins: HashMap<Plugin, u64>,
    /// Number of tasks that wait.
    waiting: usize,
}

type Plugin = (Arc<str>, Arc<str>);

/// Units that a plugin or a guest may have for each free unit; a tenant may have three.
const SINGLE_FACTOR: u64 = 1;
const TENANT_FACTOR: u64 = 3;

impl SharedBudget {
    pub(crate) fn new(total: u64) -> Arc<Self> {
        Arc::new(Self { total, taken: Mutex::default(), freed: Notify::new() })
    }

    /// Makes a budget of half of the descriptors that the process may open. The others are for stores, connections and the host's
    /// own files.
    pub(crate) fn of_descriptors() -> Arc<Self> {
        Self::new(descriptors() / 2)
    }

    /// Returns the maximum number of units that one holder ever gets.
    pub(crate) fn max_for_one(&self) -> u64 {
        self.total.div_ceil(2)
    }

    /// Returns the number of units that are taken, and the total.
    pub(crate) fn usage(&self) -> (u64, u64) {
        (self.taken().all, self.total)
    }

    fn taken(&self) -> MutexGuard<'_, Usage> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(unix)]
fn descriptors() -> u64 {
    const MAX_DESCRIPTORS: u64 = 1 << 20;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current.unwrap_or(MAX_DESCRIPTORS).min(MAX_DESCRIPTORS)
}

#[cfg(not(unix))]
fn descriptors() -> u64 {
    1024
}

/// Units that one call has taken from a budget, at most `limit`. They are returned when the lease is dropped.
pub(crate) struct Lease {
    budget: Arc<SharedBudget>,
    tenant: Arc<str>,
    /// Plugin whose calls count together; without one the call counts by itself.
    plugin: Option<Plugin>,
    own: AtomicU64,
    limit: u64,
}

impl Lease {
    /// Makes the lease of a call that counts together with the others of its plugin.
    pub(crate) fn of_plugin(
        budget: &Arc<SharedBudget>,
        tenant: &Arc<str>,
        plugin: &Arc<str>,
        limit: u64,
    ) -> Arc<Self> {
        let plugin = Some((Arc::clone(tenant), Arc::clone(plugin)));
        Arc::new(Self::new(budget, tenant, plugin, limit))
    }

    /// Makes the lease of a call that counts by itself, and together with the others of its tenant.
    pub(crate) fn of_tenant(budget: &Arc<SharedBudget>, tenant: &Arc<str>, limit: u64) -> Self {
        Self::new(budget, tenant, None, limit)
    }

    fn new(budget: &Arc<SharedBudget>, tenant: &Arc<str>, plugin: Option<Plugin>, limit: u64) -> Self {
        let (budget, tenant) = (Arc::clone(budget), Arc::clone(tenant));
        Self { budget, tenant, plugin, own: AtomicU64::new(0), limit }
    }

    /// Takes one unit until the permit is dropped.
    ///
    /// # Errors
    /// Says which share is used up.
    pub(crate) fn take(self: &Arc<Self>) -> Result<Permit, BudgetError> {
        self.grow(1)?;
        Ok(Permit(Arc::clone(self)))
    }

    /// Raises the lease to at least `units`.
    ///
    /// # Errors
    /// Says which share is used up.
    pub(crate) fn reserve(&self, units: u64) -> Result<(), BudgetError> {
        match units.saturating_sub(self.own.load(Relaxed)) {
            0 => Ok(()),
            more => self.grow(more),
        }
    }

    /// Like [`Self::reserve`], but waits until there is room.
    pub(crate) async fn reserve_when_free(&self, units: u64) {
        let units = units.min(self.budget.max_for_one());
        if self.reserve(units).is_ok() {
            return;
        }
        let _waits = WaitGuard::of(&self.budget);
        loop {
            let freed = self.budget.freed.notified();
            if self.reserve(units).is_ok() {
                return;
            }
            freed.await;
        }
    }

    fn grow(&self, units: u64) -> Result<(), BudgetError> {
        let mut taken = self.budget.taken();
        let own = self.own.load(Relaxed).saturating_add(units);
        if own > self.limit {
            return Err(BudgetError::Own);
        }
        // Units that are free once this lease has them, plus one.
        let free = self.budget.total.saturating_sub(taken.all).saturating_add(1).saturating_sub(units);
        let (of_one, exhausted) = match &self.plugin {
            Some(plugin) => {
                let has = taken.plugins.get(plugin).copied().unwrap_or(0);
                (has.saturating_add(units), BudgetError::Plugin(has))
            }
            None => (own, BudgetError::One),
        };
        if of_one > free.saturating_mul(SINGLE_FACTOR) {
            return Err(exhausted);
        }
        let of_tenant = taken.tenants.get(&self.tenant).copied().unwrap_or(0);
        if of_tenant.saturating_add(units) > free.saturating_mul(TENANT_FACTOR) {
            return Err(BudgetError::Tenant(of_tenant));
        }
        taken.all += units;
        if let Some(plugin) = &self.plugin {
            *taken.plugins.entry(plugin.clone()).or_default() += units;
        }
        *taken.tenants.entry(Arc::clone(&self.tenant)).or_default() += units;
        self.own.store(own, Relaxed);
        Ok(())
    }

    fn shrink(&self, units: u64) {
        let mut taken = self.budget.taken();
        self.own.fetch_sub(units, Relaxed);
        taken.all -= units;
        if let Some(plugin) = &self.plugin {
            shrink(&mut taken.plugins, plugin, units);
        }
        shrink(&mut taken.tenants, &self.tenant, units);
        let is_waited_for = taken.waiting > 0;
        drop(taken);
        if is_waited_for {
            self.budget.freed.notify_waiters();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        match self.own.load(Relaxed) {
            0 => {}
            own => self.shrink(own),
        }
    }
}

/// Counts a task that waits for units.
struct WaitGuard<'b>(&'b SharedBudget);

impl<'b> WaitGuard<'b> {
    fn of(budget: &'b SharedBudget) -> Self {
        budget.taken().waiting += 1;
        Self(budget)
    }
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.taken().waiting -= 1;
    }
}

/// Share that is used up, with the number of units in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BudgetError {
    /// The call has reached its own limit.
    Own,
    /// The call has its share of the budget.
    One,
    /// All calls of the plugin have their share.
    Plugin(u64),
    /// All plugins of the tenant have their share.
    Tenant(u64),
}

/// The texts speak of descriptors.
impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own | Self::One => f.write_str("as many files open as this attempt may have"),
            Self::Plugin(count) => {
                write!(f, "{count} files open by attempts of this plugin, which is its part of the host's")
            }
            Self::Tenant(count) => {
                write!(f, "{count} files open by attempts of this tenant, which is its part of the host's")
            }
        }
    }
}

/// One unit; returned when dropped.
pub(crate) struct Permit(Arc<Lease>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.shrink(1);
    }
}

/// Lowers the count of `key` by `units`, and removes it at 0.
fn shrink<K: Eq + Hash>(counts: &mut HashMap<K, u64>, key: &K, units: u64) {
    if let Some(count) = counts.get_mut(key) {
        *count -= units;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    use super::*;

    fn lease(budget: &Arc<SharedBudget>, tenant: &str, plugin: &str) -> Arc<Lease> {
        Lease::of_plugin(budget, &tenant.into(), &plugin.into(), u64::MAX)
    }

    fn all(lease: &Arc<Lease>) -> Vec<Permit> {
        std::iter::from_fn(|| lease.take().ok()).collect()
    }

    fn is_empty(budget: &SharedBudget) -> bool {
        let taken = budget.taken();
        taken.all == 0 && taken.plugins.is_empty() && taken.tenants.is_empty() && taken.waiting == 0
    }

    /// R-I17.
    #[test]
    fn a_newcomer_always_finds_some() {
        let budget = SharedBudget::new(96);
        let first = all(&lease(&budget, "a", "x"));
        assert_eq!(first.len(), 48);
        let second = all(&lease(&budget, "a", "y"));
        assert_eq!(second.len(), 24);
        let mut others = Vec::new();
        for plugin in 0..20 {
            others.extend(all(&lease(&budget, "a", &plugin.to_string())));
        }
        let innocent = all(&lease(&budget, "b", "x"));
        assert!(innocent.len() >= 8, "{}", innocent.len());
        drop((first, second, others, innocent));
        assert!(is_empty(&budget));
    }

    /// R-I17.
    #[test]
    fn a_call_has_a_limit_of_its_own() {
        let lease = Lease::of_plugin(&SharedBudget::new(96), &"a".into(), &"x".into(), 2);
        let shares = (lease.take(), lease.take());
        assert_eq!(lease.take().err(), Some(BudgetError::Own));
        drop(shares);
        assert!(lease.take().is_ok());
    }

    /// R-I43.
    #[test]
    fn many_greedy_leases_leave_room_for_a_newcomer() {
        let budget = SharedBudget::new(1 << 30);
        let one = |tenant: &str| Lease::of_tenant(&budget, &tenant.into(), u64::MAX);
        let step = 1 << 20;
        let mut held = Vec::new();
        for tenant in ["a", "b", "c"] {
            for _ in 0..100 {
                let lease = one(tenant);
                let grown = (1..=64).take_while(|steps| lease.reserve(steps * step).is_ok()).count();
                held.push((grown, lease));
            }
        }
        assert_eq!(held.iter().filter(|(grown, _)| *grown == 64).count(), 12 + 3);
        assert!(budget.taken().all <= budget.total);
        let innocent = one("d");
        assert!(innocent.reserve(8 * step).is_ok());
        drop((held, innocent));
        assert!(is_empty(&budget));
    }

    /// R-I43.
    #[test]
    fn a_waiting_lease_gets_room_when_it_is_free() {
        let budget = SharedBudget::new(100);
        let (has, wants) = (Arc::new(Lease::of_tenant(&budget, &"a".into(), u64::MAX)), Arc::clone(&budget));
        has.reserve(50).unwrap();
        let wants = Lease::of_tenant(&wants, &"b".into(), u64::MAX);
        let mut waiting = pin!(wants.reserve_when_free(1000));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        drop(has);
        assert!(waiting.as_mut().poll(&mut context).is_ready());
        assert_eq!((wants.own.load(Relaxed), budget.taken().waiting), (50, 0));
    }
}
