//! Scheduler of guests that compute long.
//!
//! The number of turns equals the number of threads; a turn lasts one epoch. Turns go to the tenant that has computed least for
//! its weight, so that many guests of one tenant do not delay those of another. Within a tenant every other turn goes to the
//! guest that began first, so that guests with equal needs end one after another instead of all at the last moment. The turns in
//! between go to the guest that has computed least, so that a short one does not wait for long ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
    time::Duration,
};

use super::tenants::Tenants;

/// Nanoseconds of computing, for a weight of one.
type VirtualTime = u64;

/// Scheduler of turns.
#[derive(Debug)]
pub(super) struct FairScheduler {
    tenants: Arc<Tenants>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Turns that are not taken.
    free: usize,
    /// Position of the tenant that had the last turn. New tenants start there, not behind it.
    now: VirtualTime,
    last_id: u64,
    tenants: BTreeMap<Arc<str>, TenantQueue>,
    /// Tenants with waiting guests, by the time that they have computed.
    waiting: BTreeSet<(VirtualTime, Arc<str>)>,
}

/// Guests of one tenant.
#[derive(Debug, Default)]
struct TenantQueue {
    at: VirtualTime,
    computed: Duration,
    guests: usize,
    waiters: WaitQueue,
    /// Guests that were given a turn and have not claimed it yet.
    given: BTreeSet<u64>,
}

/// Waiting guests of one tenant.
#[derive(Debug, Default)]
struct WaitQueue {
    /// Ordered by start, the earliest first.
    waiting: BTreeMap<u64, Waiting>,
    /// The same guests, ordered by the time that they have computed.
    by_computed: BTreeSet<(Duration, u64)>,
    /// Whether the last turn went to the guest that began first.
    served_first: bool,
}

#[derive(Debug)]
struct Waiting {
    computed: Duration,
    waker: Waker,
}

/// Place of a guest in the scheduler, until dropped.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Arc<FairScheduler>,
    tenant: Arc<str>,
    /// Increases with every guest that enters.
    id: u64,
    computed: Duration,
    state: TurnState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnState {
    /// Wants no turn.
    Idle,
    Waiting,
    Active,
}

impl FairScheduler {
    /// Makes a scheduler that gives `at_once` turns at a time.
    pub(super) fn new(at_once: usize, tenants: Arc<Tenants>) -> Self {
        Self { tenants, state: Mutex::new(State { free: at_once, ..State::default() }) }
    }

    /// Returns a place for a guest of a namespace.
    pub(super) fn enter(self: &Arc<Self>, namespace: &Arc<str>) -> Turn {
        let tenant = self.tenants.of(namespace);
        let mut state = self.state();
        state.last_id += 1;
        let (id, now) = (state.last_id, state.now);
        let queue = state.tenants.entry(Arc::clone(&tenant)).or_default();
        if queue.guests == 0 {
            queue.at = now;
        }
        queue.guests += 1;
        drop(state);
        Turn { turns: Arc::clone(self), tenant, id, computed: Duration::ZERO, state: TurnState::Idle }
    }

    /// Returns the time that the guests of a tenant have computed, since the first of those that are here entered.
    pub(super) fn computed(&self, tenant: &str) -> Duration {
        self.state().tenants.get(tenant).map(|queue| queue.computed).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Returns whether it is this guest's turn; if not, `waker` is woken when it is.
    pub(super) fn take(&mut self, waker: &Waker) -> bool {
        let mut state = self.turns.state();
        match self.state {
            TurnState::Active => return true,
            TurnState::Idle => state.enqueue(&self.tenant, self.id, self.computed, waker.clone()),
            TurnState::Waiting => state.set_waker(&self.tenant, self.id, waker),
        }
        let given = state.given();
        let has = state.claim(&self.tenant, self.id);
        self.state = if has { TurnState::Active } else { TurnState::Waiting };
        drop(state);
        // A guest that has its turn is polled already: waken as well, it would be polled again and again for as long as it waits.
        given.into_iter().filter(|one| !(has && one.will_wake(waker))).for_each(Waker::wake);
        has
    }

    /// Returns the turn after `computed` time. A guest that wants to continue at once passes `again`, which is woken for its next
    /// turn.
    pub(super) fn give_back(&mut self, computed: Duration, again: Option<&Waker>) {
        self.computed = self.computed.saturating_add(computed);
        let weight = self.turns.tenants.weight(&self.tenant);
        let mut state = self.turns.state();
        state.charge(&self.tenant, computed, weight);
        state.free += 1;
        if let Some(waker) = again {
            state.enqueue(&self.tenant, self.id, self.computed, waker.clone());
        }
        self.state = if again.is_some() { TurnState::Waiting } else { TurnState::Idle };
        let given = state.given();
        drop(state);
        given.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        state.leave(&self.tenant, self.id, self.state);
        let given = state.given();
        drop(state);
        given.into_iter().for_each(Waker::wake);
    }
}

impl State {
    fn enqueue(&mut self, tenant: &Arc<str>, id: u64, computed: Duration, waker: Waker) {
        let Some(queue) = self.tenants.get_mut(tenant) else { return };
        if queue.waiters.is_empty() {
            // A tenant that was idle has saved up no time.
            queue.at = queue.at.max(self.now);
            self.waiting.insert((queue.at, Arc::clone(tenant)));
        }
        queue.waiters.join(id, computed, waker);
    }

    fn set_waker(&mut self, tenant: &Arc<str>, id: u64, waker: &Waker) {
        let queue = self.tenants.get_mut(tenant);
        if let Some(known) = queue.and_then(|queue| queue.waiters.waiting.get_mut(&id)) {
            known.waker.clone_from(waker);
        }
    }

    /// Gives the free turns away, and returns the wakers of the guests that got one.
    fn given(&mut self) -> Vec<Waker> {
        let mut given = Vec::new();
        while self.free > 0
            && let Some((at, tenant)) = self.waiting.pop_first()
        {
            let Some(queue) = self.tenants.get_mut(&tenant) else { continue };
            let Some((id, waker)) = queue.waiters.next() else { continue };
            queue.given.insert(id);
            if !queue.waiters.is_empty() {
                self.waiting.insert((at, tenant));
            }
            self.now = self.now.max(at);
            self.free -= 1;
            given.push(waker);
        }
        given
    }

    fn claim(&mut self, tenant: &Arc<str>, id: u64) -> bool {
        self.tenants.get_mut(tenant).is_some_and(|queue| queue.given.remove(&id))
    }

    fn charge(&mut self, tenant: &Arc<str>, computed: Duration, weight: u32) {
        let Some(queue) = self.tenants.get_mut(tenant) else { return };
        let nanos = u64::try_from(computed.as_nanos()).unwrap_or(u64::MAX) / u64::from(weight);
        let at = queue.at.saturating_add(nanos.max(1));
        queue.computed = queue.computed.saturating_add(computed);
        let before = mem::replace(&mut queue.at, at);
        if self.waiting.remove(&(before, Arc::clone(tenant))) {
            self.waiting.insert((at, Arc::clone(tenant)));
        }
    }

    fn leave(&mut self, tenant: &Arc<str>, id: u64, state: TurnState) {
        let Some(queue) = self.tenants.get_mut(tenant) else { return };
        let had = state == TurnState::Active || queue.given.remove(&id);
        self.free += usize::from(had);
        if state == TurnState::Waiting {
            queue.waiters.leave(id);
        }
        if queue.waiters.is_empty() {
            self.waiting.remove(&(queue.at, Arc::clone(tenant)));
        }
        queue.guests -= 1;
        if queue.guests == 0 {
            self.tenants.remove(tenant);
        }
    }
}

impl WaitQueue {
    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn join(&mut self, id: u64, computed: Duration, waker: Waker) {
        self.by_computed.insert((computed, id));
        self.waiting.insert(id, Waiting { computed, waker });
    }

    /// Removes the guest that is next and returns it.
    fn next(&mut self) -> Option<(u64, Waker)> {
        self.served_first = !self.served_first;
        let id =
            if self.served_first { *self.waiting.first_key_value()?.0 } else { self.by_computed.first()?.1 };
        self.leave(id).map(|waker| (id, waker))
    }

    fn leave(&mut self, id: u64) -> Option<Waker> {
        let Waiting { computed, waker } = self.waiting.remove(&id)?;
        self.by_computed.remove(&(computed, id));
        Some(waker)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        sync::atomic::{AtomicUsize, Ordering::SeqCst},
        task::{Wake, Waker},
    };

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn turns(at_once: usize, weights: &[(&str, u32)]) -> Arc<FairScheduler> {
        let mut tenants = Tenants::default();
        for (name, weight) in weights {
            tenants.add(&Arc::from(*name), *weight, [Arc::from(*name)]);
        }
        Arc::new(FairScheduler::new(at_once, Arc::new(tenants)))
    }

    /// Plays `rounds` rounds, in each of which a guest with a turn computes and asks for the next. Returns the number of turns of
    /// each tenant.
    fn play(guests: &mut [(&'static str, Turn)], rounds: usize) -> HashMap<&'static str, u32> {
        let mut had = HashMap::new();
        for _ in 0..rounds {
            for (tenant, turn) in guests.iter_mut() {
                if turn.take(Waker::noop()) {
                    *had.entry(*tenant).or_default() += 1;
                    turn.give_back(MS, Some(Waker::noop()));
                    break;
                }
            }
        }
        had
    }

    fn enter(turns: &Arc<FairScheduler>, tenants: &[(&'static str, usize)]) -> Vec<(&'static str, Turn)> {
        let mut guests: Vec<_> = tenants
            .iter()
            .flat_map(|(tenant, count)| (0..*count).map(|_| (*tenant, turns.enter(&Arc::from(*tenant)))))
            .collect();
        for (_, turn) in &mut guests {
            turn.take(Waker::noop());
        }
        guests
    }

    /// R-I28.
    #[test]
    fn a_tenant_with_one_guest_computes_as_much_as_one_with_many() {
        let turns = turns(1, &[]);
        let mut guests = enter(&turns, &[("many", 99), ("one", 1)]);
        let had = play(&mut guests, 1000);
        assert!(had["one"].abs_diff(had["many"]) <= 2, "{had:?}");
    }

    /// R-I28.
    #[test]
    fn weights_are_kept() {
        let turns = turns(1, &[("heavy", 3)]);
        let mut guests = enter(&turns, &[("light", 4), ("heavy", 4)]);
        let had = play(&mut guests, 1000);
        assert!(had["heavy"].abs_diff(750) <= 5, "{had:?}");
    }

    /// Counts how often it was woken.
    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    /// A guest that waits for something else, such as a timer, takes its turn only when that wakes it.
    #[test]
    fn a_guest_that_takes_its_turn_is_not_woken_for_it() {
        let turns = turns(1, &[]);
        let wakes = [Arc::<Wakes>::default(), Arc::default()];
        let [first, second] = [Waker::from(Arc::clone(&wakes[0])), Waker::from(Arc::clone(&wakes[1]))];
        let woken = || [wakes[0].0.load(SeqCst), wakes[1].0.load(SeqCst)];
        let (mut one, mut other) = (turns.enter(&Arc::from("a")), turns.enter(&Arc::from("a")));
        for _ in 0..3 {
            assert!(one.take(&first));
            one.give_back(MS, None);
        }
        assert_eq!(woken(), [0, 0]);
        assert!(one.take(&first) && !other.take(&second));
        one.give_back(MS, None);
        assert_eq!(woken(), [0, 1], "the one that waited is");
        assert!(other.take(&second));
    }

    /// Returns the number of turns that were taken when each of the guests ended. They are of one tenant, share one thread, begin
    /// in this order, and need `needs` turns each.
    fn ends(needs: &[u32]) -> Vec<u32> {
        let turns = turns(1, &[]);
        let mut left: Vec<_> =
            enter(&turns, &[("a", needs.len())]).into_iter().zip(needs.iter().copied()).collect();
        let mut ends = vec![0; needs.len()];
        for played in 1..=needs.iter().sum() {
            let had =
                left.iter_mut().position(|((_, turn), left)| *left > 0 && turn.take(Waker::noop())).unwrap();
            let ((_, turn), left) = &mut left[had];
            *left -= 1;
            turn.give_back(MS, (*left > 0).then_some(Waker::noop()));
            if *left == 0 {
                ends[had] = played;
            }
        }
        ends
    }

    /// R-I28.
    #[test]
    fn guests_that_need_as_much_end_one_after_another() {
        let ends = ends(&[100; 100]);
        assert!(ends.is_sorted(), "{ends:?}");
        for (place, end) in (1..).zip(ends) {
            assert!(end <= 200 * place, "the guest {place} ended after {end} turns");
        }
    }

    /// R-I28.
    #[test]
    fn a_short_guest_does_not_wait_for_long_ones() {
        let mut needs = vec![1000; 50];
        needs.push(5);
        let short = ends(&needs)[50];
        assert!(short <= 2 * 5 * 51, "it ended after {short} turns");
    }

    #[test]
    fn an_idle_tenant_saves_up_no_time() {
        let turns = turns(1, &[]);
        let mut guests = enter(&turns, &[("always", 2), ("sometimes", 1)]);
        let mut away = guests.pop().unwrap();
        drop(mem::replace(&mut away.1, turns.enter(&"sometimes".into())));
        play(&mut guests, 500);
        away.1.take(Waker::noop());
        guests.push(away);
        let had = play(&mut guests, 100);
        assert!(had["sometimes"] <= 51, "{had:?}");
    }

    #[test]
    fn turns_are_limited_and_a_leaving_guest_frees_its_turn() {
        let turns = turns(2, &[]);
        let mut guests = enter(&turns, &[("a", 5)]);
        let has = |guests: &mut Vec<(&str, Turn)>| {
            guests.iter_mut().map(|(_, turn)| turn.take(Waker::noop())).filter(|has| *has).count()
        };
        assert_eq!(has(&mut guests), 2);
        guests.remove(0);
        assert_eq!(has(&mut guests), 2);
        guests[0].1.give_back(MS, None);
        assert_eq!(
            guests.iter_mut().skip(1).map(|(_, turn)| turn.take(Waker::noop())).filter(|h| *h).count(),
            2
        );
        drop(guests);
        let state = turns.state();
        assert_eq!((state.free, state.tenants.len(), state.waiting.len()), (2, 0, 0));
    }
}
