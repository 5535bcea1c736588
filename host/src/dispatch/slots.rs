//! Slots: the attempts that may be in flight in this process.
//!
//! They are lent to runs: by tenant, then by priority, then in submit order ([`fair_share`]); the engine picks the leaves. A run
//! asks and gives back in one call per batch, under one short lock.

mod fair_share;
#[cfg(test)]
mod tests;

use std::{
    cmp::Reverse,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use phasm_engine::time::Timestamp;
use tokio::sync::Notify;

use self::fair_share::FairShare;
pub(crate) use self::fair_share::{Rule, Rules};
use crate::{clock::Clock, metrics::SlotUse};

/// A run's place among those of its tenant that want slots: higher priority first, then submit order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    priority: Reverse<u16>,
    submitted_at: Timestamp,
    number: u64,
}

impl Rank {
    /// `number` tells runs of one instant apart.
    pub(crate) fn new(priority: u16, submitted_at: Timestamp, number: u64) -> Self {
        Self { priority: Reverse(priority), submitted_at, number }
    }
}

/// A borrower of slots.
pub(crate) trait SlotRecipient: Clone {
    /// Grants slots; zero means "ask again for the slots that you wait for". Returns false if the borrower is gone.
    fn lend(&self, slots: u32) -> bool;
}

/// A run of a tenant that wants slots.
#[derive(Clone, Debug)]
pub(crate) struct Claimant {
    pub(crate) tenant: Arc<str>,
    pub(crate) rank: Rank,
}

/// The result of an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotGrant {
    /// How many slots are lent at once.
    pub(crate) lent: u32,
    /// How many the tenant may have at most, if it holds as many.
    pub(crate) quota: Option<u32>,
}

/// The slots of this process, and those of other hosts that attempts may be offered to.
#[derive(Debug)]
pub(crate) struct Slots<I> {
    total: u32,
    state: Mutex<State<I>>,
    /// Told when the last slot has come back.
    idle: Notify,
    /// Told once when what was [listened](Self::listen) for has come.
    woken: Notify,
}

#[derive(Debug)]
struct State<I> {
    /// Number that may be lent. Negative while resumed attempts exceed the total: they do not wait.
    free: i64,
    fair_share: FairShare<I>,
    closed: bool,
    /// How many are lent beyond those of this process, for attempts that others may execute.
    elsewhere: i64,
    /// How many attempts may yet begin here.
    here: i64,
    listens: WakeConditions,
}

/// Conditions that wake the exchange with other hosts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WakeConditions {
    /// That an attempt could begin here and none does.
    pub(crate) unused: bool,
    /// That runs want more slots than there are.
    pub(crate) starved: bool,
}

impl<I: SlotRecipient> Slots<I> {
    pub(crate) fn new(slots: u32, rules: Rules, clock: Clock) -> Self {
        let state = State {
            free: i64::from(slots),
            fair_share: FairShare::new(rules, clock),
            closed: false,
            elsewhere: 0,
            here: i64::from(slots),
            listens: WakeConditions::default(),
        };
        Self { total: slots, state: Mutex::new(state), idle: Notify::new(), woken: Notify::new() }
    }

    /// How many there are.
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// Gives `returned` slots back (a negative number takes slots without asking) and requests `wanted`; returns the number that is
    /// lent at once. The rest of the request stands until the next call, and is lent by signal. A signal of zero slots means that the
    /// tenant's quota is used up meanwhile: the claimant asks again.
    pub(crate) fn exchange(&self, claimant: &Claimant, inbox: &I, returned: i64, wanted: u32) -> SlotGrant {
        let mut state = self.state();
        state.free += returned;
        self.tell_idle(&state);
        let free = if state.closed { 0 } else { u32::try_from(state.free.max(0)).unwrap_or(u32::MAX) };
        let at_once = state.fair_share.exchange(claimant, inbox, returned, wanted, free);
        state.free -= i64::from(at_once);
        let lent = at_once + state.allot(Some(claimant));
        self.notify_waiters_of(&mut state);
        SlotGrant { lent, quota: state.fair_share.quota_met(&claimant.tenant) }
    }

    /// From now on none is lent.
    pub(crate) fn close(&self) {
        self.state().closed = true;
    }

    /// Whether none is lent any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Waits until none is lent.
    pub(crate) async fn until_idle(&self) {
        loop {
            let told = self.idle.notified();
            if self.is_idle(&self.state()) {
                return;
            }
            told.await;
        }
    }

    fn is_idle(&self, state: &State<I>) -> bool {
        state.free >= i64::from(self.total) + state.elsewhere
    }

    fn tell_idle(&self, state: &State<I>) {
        if self.is_idle(state) {
            self.idle.notify_waiters();
        }
    }

    /// Gives slots back that a tenant's runs had.
    pub(crate) fn give_back_of(&self, tenant: &Arc<str>, returned: i64) {
        let mut state = self.state();
        state.fair_share.come_back(tenant, returned);
        self.take_back(state, returned);
    }

    /// Gives slots back that were [taken](Self::take_unused) for attempts of others.
    pub(crate) fn give_back(&self, returned: i64) {
        self.take_back(self.state(), returned);
    }

    fn take_back(&self, mut state: MutexGuard<'_, State<I>>, returned: i64) {
        state.free += returned;
        self.tell_idle(&state);
        state.allot(None);
        self.notify_waiters_of(&mut state);
    }

    /// Slots in use and waited for.
    pub(crate) fn usage(&self) -> SlotUse {
        let state = self.state();
        let lent = i64::from(self.total) + state.elsewhere - state.free;
        let (waiting, waiting_for_quota) = state.fair_share.waiting();
        let (total, lent) = (self.total, u64::try_from(lent).unwrap_or(0));
        SlotUse { total, lent, waiting, waiting_for_quota, tenants: state.fair_share.usage() }
    }

    /// How many slots the runs of a tenant wait for.
    pub(crate) fn queued(&self, tenant: &str) -> u64 {
        self.state().fair_share.queued(tenant)
    }

    /// From now on so many are lent for attempts that others may execute.
    pub(crate) fn lend_elsewhere(&self, slots: u32) {
        let mut state = self.state();
        state.free += i64::from(slots) - state.elsewhere;
        state.elsewhere = i64::from(slots);
        state.allot(None);
        self.notify_waiters_of(&mut state);
    }

    /// Takes up to `most` slots and places that no run here uses, for attempts of other hosts.
    pub(crate) fn take_unused(&self, most: u32) -> u32 {
        let mut state = self.state();
        let taken = state.unused().min(i64::from(most)).min(state.free).max(0);
        state.free -= taken;
        state.here -= taken;
        u32::try_from(taken).unwrap_or(0)
    }

    /// How many attempts could begin here and do not.
    pub(crate) fn unused(&self) -> u32 {
        u32::try_from(self.state().unused()).unwrap_or(0)
    }

    /// Whether runs want more than there are.
    pub(crate) fn is_starved(&self) -> bool {
        self.state().is_starved()
    }

    /// Waits for one of these; at once, if it is so already.
    pub(crate) async fn listen(&self, stirs: WakeConditions) {
        let told = self.woken.notified();
        {
            let mut state = self.state();
            state.listens = stirs;
            self.notify_waiters_of(&mut state);
        }
        told.await;
    }

    fn notify_waiters_of(&self, state: &mut State<I>) {
        let WakeConditions { unused, starved } = state.listens;
        if (unused && state.unused() > 0) || (starved && state.is_starved()) {
            state.listens = WakeConditions::default();
            self.woken.notify_one();
        }
    }

    /// Whether an attempt could begin here now.
    pub(crate) fn has_place(&self) -> bool {
        self.state().here > 0
    }

    /// A place for an attempt that begins here, whether there is one or not if it `must`.
    pub(crate) fn enter(&self, must: bool) -> bool {
        let mut state = self.state();
        let enters = must || state.here > 0;
        state.here -= i64::from(enters);
        enters
    }

    pub(crate) fn leave(&self, places: i64) {
        let mut state = self.state();
        state.here += places;
        self.notify_waiters_of(&mut state);
    }

    fn state(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<I: SlotRecipient> State<I> {
    /// Places that are not about to be lent to a waiting run.
    fn unused(&self) -> i64 {
        let is_about_to_be_lent = self.free > 0 && self.fair_share.any_waits();
        if self.closed || is_about_to_be_lent { 0 } else { self.here.max(0) }
    }

    fn is_starved(&self) -> bool {
        self.free <= 0 && self.fair_share.any_waits() && !self.closed
    }

    /// Lends free slots; what falls to `caller` is returned, the others hear by signal.
    fn allot(&mut self, caller: Option<&Claimant>) -> u32 {
        let mut own = 0;
        while self.free > 0 && !self.closed {
            let free = u32::try_from(self.free).unwrap_or(u32::MAX);
            let Some((lent, is_callers)) = self.fair_share.lend(free, caller) else { break };
            self.free -= i64::from(lent);
            own += if is_callers { lent } else { 0 };
        }
        own
    }
}
