//! The bookkeeping of a [queue](super::FairQueue), without clock, threads or channels.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{Holder, QueueUsage};

/// Places times nanoseconds, for a weight of one.
type Virtual = u128;

/// Cost of a place besides the time for which it is held, in nanoseconds, so that holders whose work takes no time take turns.
const PLACE_COST_NANOS: Virtual = 50_000;
/// Holdings are compared for a weight of one, as multiples of this fraction.
const FRACTION: u128 = 1 << 32;

/// Result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Place,
    /// The number under which the request waits.
    Waits(u64),
    Full,
}

/// Shares of the holders of one resource. `W` is what waits.
#[derive(Debug)]
pub(super) struct Shares<W> {
    places: Pool,
    /// Set if no place is kept free for the next tenant, as for turns that end soon.
    is_short: bool,
    waiting: Pool,
    tenants: BTreeMap<Arc<str>, Tenant<W>>,
    /// Tenants that wait. If the first may not take a place, none may.
    order: BTreeSet<(u128, Virtual, Arc<str>)>,
    /// Use of the tenant that was served last. A tenant that comes starts there: it has saved nothing up.
    now: Virtual,
    last_number: u64,
    waited: u64,
    refused: u64,
}

/// A number of equal things, some of which are taken.
#[derive(Clone, Copy, Debug)]
struct Pool {
    all: usize,
    taken: usize,
}

#[derive(Debug)]
struct Tenant<W> {
    weight: u32,
    held: usize,
    waiting: usize,
    used: Virtual,
    keys: BTreeMap<Arc<str>, Key<W>>,
    /// Keys that wait, the next one first.
    order: BTreeSet<(usize, Virtual, Arc<str>)>,
    /// Use of the key that was served last, where a key that comes starts.
    now: Virtual,
}

/// A request that waits, and its number of places.
#[derive(Debug)]
struct Request<W> {
    places: usize,
    waiter: W,
}

#[derive(Debug)]
struct Key<W> {
    held: usize,
    used: Virtual,
    waiting: BTreeMap<u64, Request<W>>,
}

impl Pool {
    /// The rule of fair shares: whether a holder may take more of which it, and its tenant, have so many together.
    fn may_take(self, together: usize, weight: u32) -> bool {
        together < self.free().saturating_mul(weight.max(1) as usize)
    }

    fn free(self) -> usize {
        self.all - self.taken
    }
}

impl<W> Shares<W> {
    pub(super) fn new(places: usize, waiting: usize) -> Self {
        Self {
            places: Pool { all: places, taken: 0 },
            is_short: false,
            waiting: Pool { all: waiting, taken: 0 },
            tenants: BTreeMap::new(),
            order: BTreeSet::new(),
            now: 0,
            last_number: 0,
            waited: 0,
            refused: 0,
        }
    }

    /// Shares of turns that end soon: every place may be taken.
    pub(super) fn of_turns(places: usize, waiting: usize) -> Self {
        Self { is_short: true, ..Self::new(places, waiting) }
    }

    /// Takes places, or else a place to wait for them.
    pub(super) fn enter(&mut self, holder: &Holder, places: usize, waiter: impl FnOnce() -> W) -> Entry {
        if self.try_enter(holder, places) {
            return Entry::Place;
        }
        let waiting = self.tenants.get(&holder.tenant).map_or(0, |tenant| {
            tenant.waiting + tenant.keys.get(&holder.key).map_or(0, |key| key.waiting.len())
        });
        if !self.waiting.may_take(waiting, holder.weight) {
            self.refused += 1;
            return Entry::Full;
        }
        self.waiting.taken += 1;
        self.waited += 1;
        self.last_number += 1;
        let number = self.last_number;
        self.with(holder, |tenant, key| {
            tenant.waiting += 1;
            key.waiting.insert(number, Request { places, waiter: waiter() });
        });
        Entry::Waits(number)
    }

    /// Takes places, if the holder may have them at once. Places that are kept free for the next request are not taken.
    pub(super) fn try_enter(&mut self, holder: &Holder, places: usize) -> bool {
        let may = self.may_hold(holder) && places <= self.places.free() && !self.saves_up();
        if may {
            self.take(holder, places);
        }
        may
    }

    /// Gives back places that were held for so long.
    pub(super) fn leave(&mut self, holder: &Holder, places: usize, held: Duration) {
        self.places.taken -= places;
        self.with(holder, |tenant, key| {
            (tenant.held, key.held) = (tenant.held - places, key.held - places);
            tenant.charge(key, held.as_nanos().saturating_mul(places as Virtual));
        });
    }

    /// Gives places that `from` has held for so long to another holder, if that one may take them.
    pub(super) fn hand_over(&mut self, from: &Holder, to: &Holder, places: usize, held: Duration) -> bool {
        self.leave(from, places, held);
        let may = self.may_hold(to);
        self.refused += u64::from(!may);
        self.take(if may { to } else { from }, places);
        may
    }

    /// Removes a request that waits no more. None if it has been served.
    pub(super) fn stop_waiting(&mut self, holder: &Holder, number: u64) -> Option<W> {
        let mut left = None;
        self.with(holder, |tenant, key| {
            left = key.waiting.remove(&number).map(|request| request.waiter);
            tenant.waiting -= usize::from(left.is_some());
        });
        self.waiting.taken -= usize::from(left.is_some());
        left
    }

    /// Takes places for the next request, if it may have them.
    pub(super) fn next(&mut self) -> Option<W> {
        let (holder, places) = self.first()?;
        if !self.may_hold(&holder) || places > self.places.free() {
            return None;
        }
        let mut next = None;
        // In one step, or the holder would be forgotten in between.
        self.take_and(&holder, places, |tenant, key| {
            next = key.waiting.pop_first().map(|(_, request)| request.waiter);
            tenant.waiting -= 1;
        });
        self.waiting.taken -= 1;
        next
    }

    /// Returns whether a tenant holds one place, and waits for none.
    pub(super) fn has_one(&self, tenant: &str) -> bool {
        self.tenants.get(tenant).is_some_and(|tenant| tenant.held == 1 && tenant.waiting == 0)
    }

    /// Number of all places.
    pub(super) const fn places(&self) -> usize {
        self.places.all
    }

    pub(super) fn usage(&self) -> QueueUsage {
        QueueUsage {
            places: self.places.all as u64,
            held: self.places.taken as u64,
            waiting: self.waiting.taken as u64,
            waited: self.waited,
            refused: self.refused,
        }
    }

    /// Returns whether nothing is held and nothing waits, so that nothing is remembered of anyone.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let is_unused = self.places.taken == 0 && self.waiting.taken == 0;
        assert_eq!(is_unused, self.tenants.is_empty() && self.order.is_empty());
        is_unused
    }

    /// The next request: its holder, and its number of places.
    fn first(&self) -> Option<(Holder, usize)> {
        let (_, _, name) = self.order.first()?;
        let tenant = self.tenants.get(name)?;
        let (_, _, key) = tenant.order.first()?;
        let (_, request) = tenant.keys.get(key)?.waiting.first_key_value()?;
        let holder = Holder { tenant: Arc::clone(name), key: Arc::clone(key), weight: tenant.weight };
        Some((holder, request.places))
    }

    /// Returns whether the next request has its turn and waits for more places than are free: smaller ones would overtake it for ever.
    fn saves_up(&self) -> bool {
        let first = self.first();
        first.is_some_and(|(holder, places)| places > self.places.free() && self.may_hold(&holder))
    }

    fn may_hold(&self, holder: &Holder) -> bool {
        if self.is_short {
            return self.places.taken < self.places.all;
        }
        let together = self
            .tenants
            .get(&holder.tenant)
            .map_or(0, |tenant| tenant.held + tenant.keys.get(&holder.key).map_or(0, |key| key.held));
        self.places.may_take(together, holder.weight)
    }

    fn take(&mut self, holder: &Holder, places: usize) {
        self.take_and(holder, places, |_, _| {});
    }

    fn take_and(&mut self, holder: &Holder, places: usize, also: impl FnOnce(&mut Tenant<W>, &mut Key<W>)) {
        self.places.taken += places;
        let now = self.with(holder, |tenant, key| {
            also(tenant, key);
            (tenant.held, key.held) = (tenant.held + places, key.held + places);
            tenant.now = tenant.now.max(key.used);
            let before = tenant.used;
            tenant.charge(key, PLACE_COST_NANOS);
            before
        });
        self.now = self.now.max(now);
    }

    /// Changes a holder, and its place in the order of those that wait. Holders without anything are forgotten.
    fn with<T>(&mut self, holder: &Holder, change: impl FnOnce(&mut Tenant<W>, &mut Key<W>) -> T) -> T {
        let (name, now) = (&holder.tenant, self.now);
        let mut tenant = self.tenants.remove(name).unwrap_or_else(|| Tenant::new(holder.weight.max(1), now));
        if let Some((need, used)) = tenant.rank() {
            self.order.remove(&(need, used, Arc::clone(name)));
        }
        let was_waiting = tenant.waiting > 0;
        let changed = tenant.with(&holder.key, change);
        if tenant.waiting > 0 && !was_waiting {
            tenant.used = tenant.used.max(now);
        }
        if let Some((need, used)) = tenant.rank() {
            self.order.insert((need, used, Arc::clone(name)));
        }
        if !tenant.is_idle() {
            self.tenants.insert(Arc::clone(name), tenant);
        }
        changed
    }
}

impl<W> Tenant<W> {
    fn new(weight: u32, now: Virtual) -> Self {
        let (keys, order) = (BTreeMap::new(), BTreeSet::new());
        Self { weight, held: 0, waiting: 0, used: now, keys, order, now: 0 }
    }

    fn is_idle(&self) -> bool {
        self.held == 0 && self.waiting == 0
    }

    /// Its place among the tenants that wait, if it does: what it and its next key hold, then what it has used.
    fn rank(&self) -> Option<(u128, Virtual)> {
        let (held, _, _) = self.order.first()?;
        Some(((self.held + held) as u128 * FRACTION / u128::from(self.weight), self.used))
    }

    fn charge(&mut self, key: &mut Key<W>, nanos: Virtual) {
        self.used += nanos / Virtual::from(self.weight);
        key.used += nanos;
    }

    fn with<T>(&mut self, name: &Arc<str>, change: impl FnOnce(&mut Self, &mut Key<W>) -> T) -> T {
        let new = || Key { held: 0, used: self.now, waiting: BTreeMap::new() };
        let mut key = self.keys.remove(name).unwrap_or_else(new);
        self.order.remove(&(key.held, key.used, Arc::clone(name)));
        let changed = change(self, &mut key);
        if !key.waiting.is_empty() {
            self.order.insert((key.held, key.used, Arc::clone(name)));
        }
        if key.held > 0 || !key.waiting.is_empty() {
            self.keys.insert(Arc::clone(name), key);
        }
        changed
    }
}
