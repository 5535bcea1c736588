//! Fair shares: the next slot goes to the tenant that has used least for its weight, and among its runs to the most urgent.
//!
//! The measure is slots times the time for which a tenant held them, counted while another tenant waits for a slot: use that no
//! other tenant wants is free. Each slot lent counts a little more, so that tenants whose attempts take no time differ. A tenant
//! that was away has saved nothing up.
//!
//! One slot in sixteen of a tenant goes to the run that has been without one for longest, whatever its priority, so that none
//! waits for ever.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::Arc,
};

use phasm_engine::time::Millis;

use super::{Claimant, Rank, SlotRecipient};
use crate::{clock::Clock, metrics::TenantUse};

/// Slots times nanoseconds for a weight of one.
type Virtual = u128;

const NANOS_PER_MILLI: Virtual = 1_000_000;
/// Cost of a slot besides the time for which it is held, in nanoseconds: about the work of a small guest.
const SLOT_COST_NANOS: Virtual = 50_000;
/// One slot in this number goes to the run that has waited longest.
const STARVING_TURN: u64 = 16;

/// Rules by tenant.
pub(crate) type Rules = BTreeMap<Arc<str>, Rule>;

/// The rule of one tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Weight in fair shares.
    pub(crate) weight: u32,
    /// Slots that the tenant may hold; none for no quota.
    pub(crate) max_slots: Option<u32>,
}

impl Default for Rule {
    fn default() -> Self {
        Self { weight: 1, max_slots: None }
    }
}

/// The tenants that hold slots or wait for them.
#[derive(Debug)]
pub(super) struct FairShare<I> {
    rules: Rules,
    tenants: BTreeMap<Arc<str>, TenantQueue<I>>,
    /// Waiting tenants that may have more, by the use that was counted for them last. Use only grows.
    ready: BTreeSet<(Virtual, Arc<str>)>,
    /// The use of the tenant that was lent a slot last; a new tenant starts there and not behind it.
    now: Virtual,
    clock: Clock,
    /// When the time was read last; not read while there is one tenant.
    read_at: Option<Millis>,
    /// Time for which a tenant has waited besides others.
    contended: Millis,
    turns: u64,
}

/// The state of the other tenants.
struct Contention<'a> {
    now: &'a mut Virtual,
    /// Whether other tenants wait for a slot.
    others_wait: bool,
}

/// The queue of one tenant.
#[derive(Debug)]
struct TenantQueue<I> {
    weight: Virtual,
    max_slots: Option<u32>,
    /// The tenant's use, as of `contended`.
    used: Virtual,
    counted_at: Millis,
    /// Negative while more came back than were lent: never for long.
    held: i64,
    waiting: BTreeMap<Rank, SlotRequest<I>>,
    /// The same by how long they have gone without.
    starving: BTreeMap<u64, Rank>,
    /// Waiting runs that do not know yet that the quota is used up.
    unnotified: BTreeSet<Rank>,
    wanted: u64,
    lent: u64,
}

/// The request of one run.
#[derive(Debug)]
struct SlotRequest<I> {
    wanted: u32,
    inbox: I,
    turn: u64,
}

impl<I: SlotRecipient> FairShare<I> {
    pub(super) fn new(rules: Rules, clock: Clock) -> Self {
        Self {
            rules,
            tenants: BTreeMap::new(),
            ready: BTreeSet::new(),
            now: 0,
            clock,
            read_at: None,
            contended: 0,
            turns: 0,
        }
    }

    /// Whether a run waits for a slot and for nothing else.
    pub(super) fn any_waits(&self) -> bool {
        !self.ready.is_empty()
    }

    /// How many slots the runs of a tenant wait for.
    pub(super) fn queued(&self, tenant: &str) -> u64 {
        self.tenants.get(tenant).map_or(0, |queue| queue.wanted)
    }

    /// How many slots are waited for by those who may have more, and by those whose quota is used up.
    pub(super) fn waiting(&self) -> (u64, u64) {
        self.tenants.values().fold((0, 0), |(slots, quota), queue| {
            if queue.room() > 0 { (slots + queue.wanted, quota) } else { (slots, quota + queue.wanted) }
        })
    }

    /// Use of each tenant with a rule, and of all others together; empty without rules.
    pub(super) fn usage(&self) -> Vec<TenantUse> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let named =
            |tenant: &Arc<str>| TenantUse { tenant: Some(Arc::clone(tenant)), ..TenantUse::default() };
        let mut known: BTreeMap<_, _> = self.rules.keys().map(|tenant| (tenant, named(tenant))).collect();
        let mut others = TenantUse::default();
        for (tenant, queue) in &self.tenants {
            let usage = known.get_mut(tenant).unwrap_or(&mut others);
            usage.lent += queue.held.max(0).unsigned_abs();
            usage.waiting += queue.wanted;
        }
        known.into_values().chain([others]).collect()
    }

    /// How many a tenant may have, if it holds as many.
    pub(super) fn quota_met(&self, tenant: &str) -> Option<u32> {
        let queue = self.tenants.get(tenant)?;
        queue.max_slots.filter(|_| queue.room() == 0)
    }

    /// Takes back slots of a tenant.
    pub(super) fn come_back(&mut self, tenant: &Arc<str>, returned: i64) {
        self.with(tenant, |queue, _| queue.held -= returned);
    }

    /// Takes back `returned` slots of a run (a negative number was taken without asking), and replaces its request by `wanted`.
    /// Returns the number of `free` slots that it is lent at once, as no other run waits for them.
    pub(super) fn exchange(
        &mut self,
        claimant: &Claimant,
        inbox: &I,
        returned: i64,
        wanted: u32,
        free: u32,
    ) -> u32 {
        self.turns += 1;
        let turn = self.turns;
        let mut lent = 0;
        self.with(&claimant.tenant, |queue, contention| {
            queue.held -= returned;
            if !contention.others_wait && queue.is_alone(claimant.rank) {
                lent = wanted.min(free).min(queue.room());
                queue.used = queue.used.max(*contention.now);
                queue.hold(lent);
            }
            queue.set_request(claimant.rank, wanted - lent, inbox, turn);
        });
        lent
    }

    /// Lends up to `free` slots to the next run. Returns their number, and whether the run is the `caller`, which is not
    /// signalled. None if no run wants one.
    pub(super) fn lend(&mut self, free: u32, caller: Option<&Claimant>) -> Option<(u32, bool)> {
        let tenant = self.next_tenant()?;
        self.turns += 1;
        let turn = self.turns;
        let mut lent = None;
        self.with(&tenant, |queue, contention| {
            *contention.now = (*contention.now).max(queue.used);
            let most = if contention.others_wait { 1 } else { free };
            lent = queue.lend(most, turn, caller.filter(|caller| caller.tenant == tenant));
        });
        lent
    }

    /// The one that has used least.
    fn next_tenant(&mut self) -> Option<Arc<str>> {
        loop {
            let (used, tenant) = self.ready.first()?.clone();
            let queue = self.tenants.get_mut(&tenant)?;
            queue.count(self.contended);
            if queue.used == used {
                return Some(tenant);
            }
            let counted = queue.used;
            self.ready.remove(&(used, Arc::clone(&tenant)));
            self.ready.insert((counted, tenant));
        }
    }

    /// Changes a tenant's queue, and its place among those that wait.
    fn with(&mut self, tenant: &Arc<str>, change: impl FnOnce(&mut TenantQueue<I>, Contention<'_>)) {
        self.pass_time();
        if !self.tenants.contains_key(tenant) {
            let rule = self.rules.get(tenant).copied().unwrap_or_default();
            self.tenants.insert(Arc::clone(tenant), TenantQueue::new(rule, self.contended));
        }
        let Some(queue) = self.tenants.get_mut(tenant) else { return };
        let (was_ready, before) = (queue.is_ready(), queue.used);
        queue.count(self.contended);
        let others_wait = self.ready.len() > usize::from(was_ready);
        change(queue, Contention { now: &mut self.now, others_wait });
        queue.notify_unnotified();
        let is_ready = queue.is_ready();
        if is_ready && !was_ready {
            queue.used = queue.used.max(self.now);
        }
        let (used, is_idle) = (queue.used, queue.is_idle());
        let stays = was_ready && is_ready && before == used;
        if was_ready && !stays {
            self.ready.remove(&(before, Arc::clone(tenant)));
        }
        if is_ready && !stays {
            self.ready.insert((used, Arc::clone(tenant)));
        }
        if is_idle {
            self.tenants.remove(tenant);
        }
    }

    /// Reads the time, if there is more than one tenant.
    fn pass_time(&mut self) {
        if self.tenants.len() < 2 {
            self.read_at = None;
            return;
        }
        let now = self.clock.elapsed();
        let passed = self.read_at.map_or(0, |before| now.saturating_sub(before));
        self.read_at = Some(now);
        if !self.ready.is_empty() {
            self.contended += passed;
        }
    }
}

impl<I: SlotRecipient> TenantQueue<I> {
    fn new(rule: Rule, contended: Millis) -> Self {
        Self {
            weight: rule.weight.max(1).into(),
            max_slots: rule.max_slots,
            used: 0,
            counted_at: contended,
            held: 0,
            waiting: BTreeMap::new(),
            starving: BTreeMap::new(),
            unnotified: BTreeSet::new(),
            wanted: 0,
            lent: 0,
        }
    }

    /// How many more it may have.
    fn room(&self) -> u32 {
        let left = |most: u32| u32::try_from(i64::from(most).saturating_sub(self.held).max(0)).unwrap_or(0);
        self.max_slots.map_or(u32::MAX, left)
    }

    fn is_ready(&self) -> bool {
        !self.waiting.is_empty() && self.room() > 0
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.held == 0
    }

    /// Counts what it has used until now.
    fn count(&mut self, contended: Millis) {
        let passed = Virtual::from(contended - self.counted_at);
        self.counted_at = contended;
        let held = Virtual::from(self.held.max(0).unsigned_abs());
        self.used += passed * held * NANOS_PER_MILLI / self.weight;
    }

    fn set_request(&mut self, rank: Rank, wanted: u32, inbox: &I, turn: u64) {
        if wanted == 0 {
            return self.leave(rank);
        }
        self.wanted += u64::from(wanted);
        if self.max_slots.is_some() && self.room() > 0 {
            self.unnotified.insert(rank);
        } else {
            self.unnotified.remove(&rank);
        }
        match self.waiting.entry(rank) {
            // The run keeps waiting.
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                self.wanted -= u64::from(known.wanted);
                known.wanted = wanted;
                known.inbox = inbox.clone();
            }
            Entry::Vacant(place) => {
                place.insert(SlotRequest { wanted, inbox: inbox.clone(), turn });
                self.starving.insert(turn, rank);
            }
        }
    }

    fn leave(&mut self, rank: Rank) {
        self.unnotified.remove(&rank);
        if let Some(request) = self.waiting.remove(&rank) {
            self.starving.remove(&request.turn);
            self.wanted -= u64::from(request.wanted);
        }
    }

    /// Signals the runs that waited for scarce slots that there is no room any more.
    fn notify_unnotified(&mut self) {
        if self.room() > 0 {
            return;
        }
        for rank in std::mem::take(&mut self.unnotified) {
            // A run that is gone is found out when it is lent a slot.
            self.waiting.get(&rank).map(|request| request.inbox.lend(0));
        }
    }

    /// Lends up to `most` to one of its runs.
    fn lend(&mut self, most: u32, turn: u64, caller: Option<&Claimant>) -> Option<(u32, bool)> {
        let (rank, in_a_row) = self.next_run()?;
        let most = most.min(self.room()).min(in_a_row);
        let request = self.waiting.get_mut(&rank)?;
        let lent = request.wanted.min(most);
        let is_callers = caller.is_some_and(|caller| caller.rank == rank);
        if !is_callers && !request.inbox.lend(lent) {
            self.leave(rank);
            return Some((0, false));
        }
        request.wanted -= lent;
        let before = std::mem::replace(&mut request.turn, turn);
        self.starving.remove(&before);
        self.wanted -= u64::from(lent);
        if request.wanted == 0 {
            self.waiting.remove(&rank);
            self.unnotified.remove(&rank);
        } else {
            self.starving.insert(turn, rank);
        }
        self.hold(lent);
        Some((lent, is_callers))
    }

    fn hold(&mut self, lent: u32) {
        self.held += i64::from(lent);
        self.lent += u64::from(lent);
        self.used += Virtual::from(lent) * SLOT_COST_NANOS / self.weight;
    }

    /// Whether no other run of the tenant waits.
    fn is_alone(&self, rank: Rank) -> bool {
        self.waiting.keys().all(|known| *known == rank)
    }

    /// The next run, and the number of slots that it may have.
    fn next_run(&self) -> Option<(Rank, u32)> {
        let first = *self.waiting.first_key_value()?.0;
        if self.waiting.len() == 1 {
            return Some((first, u32::MAX));
        }
        match self.lent % STARVING_TURN {
            15 => self.starving.first_key_value().map(|(_, rank)| (*rank, 1)),
            at => Some((first, u32::try_from(STARVING_TURN - 1 - at).unwrap_or(1))),
        }
    }
}
