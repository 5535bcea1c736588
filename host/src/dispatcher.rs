//! Who may run how many attempts, and running them.
//!
//! Slots are the attempts that may be in flight in this process. They are lent to runs by priority, then in submit
//! order; the engine picks the leaves. A run asks and gives back in one call per batch, under one short lock.

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::BTreeMap,
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::{Duration, Instant},
};

use phasm_engine::{
    event::Fence,
    metered::Metered,
    outcome::{Outcome, code},
    time::{Millis, Timestamp},
    weight::Weight,
};
use tokio::{
    runtime::Handle,
    sync::{
        Notify,
        mpsc::{self, UnboundedReceiver, UnboundedSender},
    },
    task::AbortHandle,
};

use crate::{
    clock::Clock,
    executor::{Executor, Invocation, Level, Observer},
    sandbox::Sandbox,
    seat::{tell_here, tell_on, tell_soon},
    store::{AttemptLog, Offer},
    upcoming::{Coming, Upcoming},
};

/// A run's place among those that want slots: higher priority first, then submit order.
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

/// What reaches a run's driver from the executor's side.
#[derive(Debug)]
pub(crate) enum Signal {
    /// So many slots are the run's to use.
    Lent(u32),
    /// The executor has started, when so much had elapsed, or just now.
    Started(Fence, Option<Millis>),
    /// The executor has returned; its slot is free.
    Finished(Fence, Outcome),
    /// A deadline met the attempt before the engine's own clock was heard; its slot is free.
    Interrupted(Fence),
    /// The attempt was aborted, or its future was lost; its slot is free.
    Gone(Fence),
    /// No activity for `maxInactivity`.
    Inactive(Fence),
    /// What the attempt wrote on another host, which is about to say that it is over.
    Wrote(Fence, AttemptLog),
}

impl Signal {
    /// Whether it brings a result that takes more than a small guest's time to record.
    fn is_heavy(&self) -> bool {
        let Self::Finished(_, outcome) = self else { return false };
        let mut weight = Weight::default();
        outcome.outputs.iter().for_each(|output| weight.add_json(&output.value, HEAVY));
        weight.bytes() > HEAVY
    }
}

/// So many bytes of outputs are a heavy result.
const HEAVY: usize = 64 << 10;

/// Something that takes a run's signals: the driver's inbox.
pub(crate) trait Inbox: Clone + Send + Sync + 'static {
    /// False when nobody listens any more.
    fn signal(&self, signal: Signal) -> bool;
}

/// The slots of this process, and those of other hosts that attempts may be offered to.
#[derive(Debug)]
pub(crate) struct Slots<I> {
    total: u32,
    state: Mutex<State<I>>,
    /// Told when the last slot has come back.
    idle: Notify,
    /// Told once when what was [listened](Self::listen) for has come.
    stirred: Notify,
}

#[derive(Debug)]
struct State<I> {
    /// How many may be lent. Negative while resumed attempts exceed the number: they wait for nobody.
    free: i64,
    waiting: BTreeMap<Rank, (u32, I)>,
    closed: bool,
    /// How many are lent beyond those of this process, for attempts that others may execute.
    elsewhere: i64,
    /// How many attempts may yet begin here.
    here: i64,
    listens: Stirs,
}

/// What whoever shares attempts with other hosts wants to hear of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stirs {
    /// That an attempt could begin here and none does.
    pub(crate) unused: bool,
    /// That runs want more slots than there are.
    pub(crate) starved: bool,
}

impl<I: Inbox> Slots<I> {
    pub(crate) fn new(slots: u32) -> Self {
        let state = State {
            free: i64::from(slots),
            waiting: BTreeMap::new(),
            closed: false,
            elsewhere: 0,
            here: i64::from(slots),
            listens: Stirs::default(),
        };
        Self { total: slots, state: Mutex::new(state), idle: Notify::new(), stirred: Notify::new() }
    }

    /// How many there are.
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// Gives `returned` slots back (a negative number takes so many without asking) and wishes for `wanted`; answers
    /// how many are lent at once. The rest of the wish stands until the next call, and is lent by signal.
    pub(crate) fn exchange(&self, rank: Rank, inbox: &I, returned: i64, wanted: u32) -> u32 {
        let mut state = self.state();
        state.free += returned;
        self.tell_idle(&state);
        if wanted == 0 {
            state.waiting.remove(&rank);
        } else {
            state.waiting.insert(rank, (wanted, inbox.clone()));
        }
        let lent = state.allot(Some(rank));
        self.stir(&mut state);
        lent
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

    pub(crate) fn give_back(&self, returned: i64) {
        let mut state = self.state();
        state.free += returned;
        self.tell_idle(&state);
        state.allot(None);
        self.stir(&mut state);
    }

    /// From now on so many are lent for attempts that others may execute.
    pub(crate) fn lend_elsewhere(&self, slots: u32) {
        let mut state = self.state();
        state.free += i64::from(slots) - state.elsewhere;
        state.elsewhere = i64::from(slots);
        state.allot(None);
        self.stir(&mut state);
    }

    /// Takes up to `most` of those that nobody here uses, for attempts of others: slots and places.
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
    pub(crate) async fn listen(&self, stirs: Stirs) {
        let told = self.stirred.notified();
        {
            let mut state = self.state();
            state.listens = stirs;
            self.stir(&mut state);
        }
        told.await;
    }

    fn stir(&self, state: &mut State<I>) {
        let Stirs { unused, starved } = state.listens;
        if (unused && state.unused() > 0) || (starved && state.is_starved()) {
            state.listens = Stirs::default();
            self.stirred.notify_one();
        }
    }

    /// A place for an attempt that begins here, whether there is one or not if it `must`.
    fn enter(&self, must: bool) -> bool {
        let mut state = self.state();
        let enters = must || state.here > 0;
        state.here -= i64::from(enters);
        enters
    }

    fn leave(&self, places: i64) {
        let mut state = self.state();
        state.here += places;
        self.stir(&mut state);
    }

    fn state(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<I: Inbox> State<I> {
    /// Places of attempts that are not about to be lent to somebody who waits.
    fn unused(&self) -> i64 {
        let is_about_to_be_lent = self.free > 0 && !self.waiting.is_empty();
        if self.closed || is_about_to_be_lent { 0 } else { self.here.max(0) }
    }

    fn is_starved(&self) -> bool {
        self.free <= 0 && !self.waiting.is_empty() && !self.closed
    }

    /// Lends free slots in rank order; what falls to `caller` is returned, the others hear by signal.
    fn allot(&mut self, caller: Option<Rank>) -> u32 {
        let mut own = 0;
        while self.free > 0 && !self.closed {
            let Some(mut entry) = self.waiting.first_entry() else { break };
            let rank = *entry.key();
            let (wanted, inbox) = entry.get_mut();
            let lent = (*wanted).min(u32::try_from(self.free).unwrap_or(u32::MAX));
            let taken = if Some(rank) == caller {
                own += lent;
                true
            } else {
                inbox.signal(Signal::Lent(lent))
            };
            self.free -= if taken { i64::from(lent) } else { 0 };
            *wanted -= lent;
            if *wanted == 0 || !taken {
                entry.remove();
            }
        }
        own
    }
}

/// What bounds an attempt besides its deadline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    /// `maxRuntime`, from the start of the executor.
    pub(crate) max_runtime: Option<Millis>,
    /// `maxInactivity`.
    pub(crate) max_inactivity: Option<Millis>,
}

/// An attempt that may be executed.
pub(crate) struct Attempt<I> {
    pub(crate) fence: Fence,
    pub(crate) invocation: Invocation,
    pub(crate) bounds: Bounds,
    pub(crate) observer: Arc<dyn Observer>,
    /// Hears how it goes.
    pub(crate) inbox: I,
    /// Where it waits for a thread.
    pub(crate) upcoming: Upcoming,
}

/// Attempts for which there is no place here.
#[derive(Debug)]
pub(crate) enum Outbound<I: Inbox> {
    /// One, and where it hears of a place.
    Attempt(Box<Outward<I>>),
    /// Nobody waits for it any more.
    Left(u64),
}

/// An attempt that waits for a place, here or on another host.
#[derive(Debug)]
pub(crate) struct Outward<I: Inbox> {
    /// Unique in this process.
    pub(crate) number: u64,
    pub(crate) fence: Fence,
    /// What others are told of it; nothing, if it is to be executed here.
    pub(crate) offer: Option<Offer>,
    pub(crate) tells: UnboundedSender<Word<I>>,
}

/// What an attempt hears that waits for a place.
#[derive(Debug)]
pub(crate) enum Word<I: Inbox> {
    /// It is to be executed here.
    Here(Place<I>),
    /// What another host says that executes it.
    There(Signal),
}

/// Runs attempts on the guests' runtime, or has others run them.
pub(crate) struct Dispatcher<I: Inbox> {
    pub(crate) slots: Slots<I>,
    executor: Arc<dyn Executor>,
    guests: Handle,
    control: Handle,
    clock: Clock,
    /// Where results are taken that take long to be.
    long: OnceLock<Sandbox>,
    /// Where attempts go that find no place here, if they may.
    outbound: OnceLock<UnboundedSender<Outbound<I>>>,
    last_outward: AtomicU64,
}

/// A place of an attempt that is executed here.
pub(crate) struct Place<I: Inbox>(Arc<Dispatcher<I>>);

impl<I: Inbox> std::fmt::Debug for Place<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Place")
    }
}

impl<I: Inbox> Drop for Place<I> {
    fn drop(&mut self) {
        self.0.slots.leave(1);
    }
}

impl<I: Inbox> Dispatcher<I> {
    pub(crate) fn new(
        slots: u32,
        executor: Arc<dyn Executor>,
        guests: Handle,
        control: Handle,
        clock: Clock,
    ) -> Self {
        let (long, outbound, last_outward) = (OnceLock::new(), OnceLock::new(), AtomicU64::new(0));
        Self { slots: Slots::new(slots), executor, guests, control, clock, long, outbound, last_outward }
    }

    /// The same, whose large results hold nobody up but those that compute long.
    pub(crate) fn beside(self, sandbox: Option<&Sandbox>) -> Self {
        Self { long: sandbox.cloned().map(OnceLock::from).unwrap_or_default(), ..self }
    }

    /// The same with all its slots, for another store.
    pub(crate) fn anew(&self) -> Self {
        let Self { slots, executor, guests, control, clock, long, .. } = self;
        Self::new(slots.total, Arc::clone(executor), guests.clone(), control.clone(), clock.clone())
            .beside(long.get())
    }

    /// Tells what came of an attempt where it holds nobody up.
    fn tell_end(&self, upcoming: &Upcoming, is_heavy: bool, end: impl FnOnce()) {
        match self.long.get() {
            Some(sandbox) if is_heavy => tell_on(sandbox.long_runtime(), end),
            _ if upcoming.is_empty() => tell_here(end),
            _ => tell_soon(&self.guests, end),
        }
    }

    /// From now on attempts that find no place here go there.
    pub(crate) fn send_out(&self, outbound: UnboundedSender<Outbound<I>>) {
        drop(self.outbound.set(outbound));
    }

    /// Whether attempts may find a place elsewhere.
    pub(crate) fn sends_out(&self) -> bool {
        self.outbound.get().is_some()
    }

    /// Slots and places [taken](Slots::take_unused) for attempts of others that did not come.
    pub(crate) fn give_back_room(&self, room: u32) {
        if room > 0 {
            self.slots.leave(i64::from(room));
            self.slots.give_back(i64::from(room));
        }
    }

    /// One of those that were [taken](Slots::take_unused).
    pub(crate) fn taken_place(self: &Arc<Self>) -> Place<I> {
        Place(Arc::clone(self))
    }

    /// A place for an attempt that waited, if there is one by now.
    pub(crate) fn place(self: &Arc<Self>) -> Option<Place<I>> {
        self.slots.enter(false).then(|| Place(Arc::clone(self)))
    }

    /// Starts one attempt. Whatever becomes of it, its slot comes back: by `Finished` or `Gone`, or directly once the
    /// driver has left. Where there is no place for it here, `offer` tells others of it.
    pub(crate) fn start(
        self: &Arc<Self>,
        attempt: Attempt<I>,
        offer: impl FnOnce(u64, &Invocation) -> Option<Offer>,
    ) -> AbortHandle {
        let must = attempt.invocation.resumed || !self.sends_out();
        if self.slots.enter(must) {
            return self.start_in(Place(Arc::clone(self)), attempt);
        }
        let number = self.last_outward.fetch_add(1, Ordering::Relaxed) + 1;
        let (tells, hears) = mpsc::unbounded_channel();
        let offer = offer(number, &attempt.invocation);
        let outward = Outbound::Attempt(Box::new(Outward { number, fence: attempt.fence, offer, tells }));
        // It ends with the host.
        let _ended = self.outbound.get().map(|outbound| outbound.send(outward));
        let waits = Waits { number, dispatcher: Arc::clone(self), hears };
        self.guests.spawn(waits.then_execute(attempt)).abort_handle()
    }

    /// Starts one that has a place here.
    pub(crate) fn start_in(self: &Arc<Self>, place: Place<I>, attempt: Attempt<I>) -> AbortHandle {
        let mut ticket = self.ticket(&attempt);
        ticket.coming = Some(attempt.upcoming.enter());
        self.guests.spawn(execute(place, ticket, attempt)).abort_handle()
    }

    fn ticket(self: &Arc<Self>, attempt: &Attempt<I>) -> Ticket<I> {
        let (fence, inbox) = (attempt.fence, attempt.inbox.clone());
        Ticket { fence, inbox, dispatcher: Arc::clone(self), started: None, coming: None, open: true }
    }

    /// Keeps the clock of `maxInactivity` beside an attempt that has just started; only its expiry is told (R-T5, R-T9).
    fn watch_activity(
        &self,
        fence: Fence,
        limit: Millis,
        inner: Arc<dyn Observer>,
        inbox: &I,
    ) -> Arc<dyn Observer> {
        let clock = self.clock.clone();
        let ear =
            Arc::new(ActivityClock { inner, last: AtomicU64::new(clock.elapsed()), clock: clock.clone() });
        let (weak, inbox) = (Arc::downgrade(&ear), inbox.clone());
        self.control.spawn(async move {
            loop {
                let Some(last) = weak.upgrade().map(|ear| ear.last.load(Ordering::Relaxed)) else { return };
                let ends = last.saturating_add(limit);
                if clock.elapsed() >= ends {
                    inbox.signal(Signal::Inactive(fence));
                    return;
                }
                clock.sleep_until(ends).await;
            }
        });
        ear
    }
}

async fn execute<I: Inbox>(place: Place<I>, mut ticket: Ticket<I>, attempt: Attempt<I>) {
    let Attempt { fence, mut invocation, bounds, observer, upcoming, .. } = attempt;
    let runtime_ends =
        bounds.max_runtime.and_then(|limit| Instant::now().checked_add(Duration::from_millis(limit)));
    let deadline = [invocation.deadline, runtime_ends].into_iter().flatten().min();
    invocation.deadline = deadline;
    ticket.coming = None;
    ticket.started = Some(ticket.dispatcher.clock.elapsed());
    if bounds.max_inactivity.is_some() || observer.is_followed() {
        ticket.tell_start();
    }
    let observer = match bounds.max_inactivity {
        None => observer,
        Some(limit) => ticket.dispatcher.watch_activity(fence, limit, observer, &ticket.inbox),
    };
    let mut execution = ticket.dispatcher.executor.execute(invocation, observer);
    let at_once = poll_fn(|context| Poll::Ready(execution.as_mut().poll(context))).await;
    let outcome = match at_once {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => {
            ticket.tell_start();
            execution.await
        }
    };
    let interrupted =
        outcome.code == code::TIMEOUT && deadline.is_some_and(|deadline| Instant::now() >= deadline);
    drop(place);
    let last = if interrupted { Signal::Interrupted(fence) } else { Signal::Finished(fence, outcome) };
    let (dispatcher, is_heavy) = (Arc::clone(&ticket.dispatcher), last.is_heavy());
    dispatcher.tell_end(&upcoming, is_heavy, || ticket.end(last));
}

/// Waits for a place, here or elsewhere.
struct Waits<I: Inbox> {
    number: u64,
    dispatcher: Arc<Dispatcher<I>>,
    hears: UnboundedReceiver<Word<I>>,
}

impl<I: Inbox> Drop for Waits<I> {
    fn drop(&mut self) {
        let outbound = self.dispatcher.outbound.get();
        let _ended = outbound.map(|outbound| outbound.send(Outbound::Left(self.number)));
    }
}

impl<I: Inbox> Waits<I> {
    async fn then_execute(mut self, attempt: Attempt<I>) {
        let mut ticket = self.dispatcher.ticket(&attempt);
        loop {
            match self.hears.recv().await {
                Some(Word::Here(place)) => {
                    drop(self);
                    return execute(place, ticket, attempt).await;
                }
                Some(Word::There(
                    last @ (Signal::Finished(..) | Signal::Interrupted(_) | Signal::Gone(_)),
                )) => {
                    return ticket.end(last);
                }
                Some(Word::There(signal)) => drop(ticket.inbox.signal(signal)),
                // The host is being closed: what became of the attempt is not known.
                None => std::future::pending().await,
            }
        }
    }
}

/// Sees to it that an attempt's slot comes back exactly once.
struct Ticket<I: Inbox> {
    fence: Fence,
    inbox: I,
    dispatcher: Arc<Dispatcher<I>>,
    /// What had elapsed at the start, until that is told: with the end, where the attempt is over at once and nobody follows it.
    /// Most are, and the driver has one turn for them instead of two.
    started: Option<Millis>,
    coming: Option<Coming>,
    open: bool,
}

impl<I: Inbox> Ticket<I> {
    fn tell_start(&mut self) {
        tell_here(|| self.signal_start());
    }

    fn signal_start(&mut self) {
        if let Some(elapsed) = self.started.take() {
            // Whether anybody listens shows at the end.
            self.inbox.signal(Signal::Started(self.fence, Some(elapsed)));
        }
    }

    fn end(&mut self, signal: Signal) {
        self.open = false;
        // Whoever hears of the end finds its place in the queue free.
        self.coming = None;
        self.signal_start();
        if !self.inbox.signal(signal) {
            self.dispatcher.slots.give_back(1);
        }
    }
}

impl<I: Inbox> Drop for Ticket<I> {
    fn drop(&mut self) {
        if self.open {
            self.end(Signal::Gone(self.fence));
        }
    }
}

/// Passes on what a guest says, and remembers when it last did.
struct ActivityClock {
    inner: Arc<dyn Observer>,
    clock: Clock,
    last: AtomicU64,
}

impl ActivityClock {
    fn touch(&self) {
        self.last.store(self.clock.elapsed(), Ordering::Relaxed);
    }
}

impl Observer for ActivityClock {
    fn log(&self, level: Level, text: &str) {
        self.touch();
        self.inner.log(level, text);
    }

    fn progress(&self, fraction: Option<f64>, text: &str) {
        self.touch();
        self.inner.progress(fraction, text);
    }

    fn activity(&self) {
        self.touch();
        self.inner.activity();
    }

    fn used(&self, metered: Metered) {
        self.inner.used(metered);
    }

    fn is_followed(&self) -> bool {
        self.inner.is_followed()
    }

    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.inner.hide(text)
    }

    fn may_go_on(&self, text: &str) -> bool {
        self.inner.may_go_on(text)
    }
}

/// An inbox that is a channel.
impl<M: From<Signal> + Send + 'static> Inbox for UnboundedSender<M> {
    fn signal(&self, signal: Signal) -> bool {
        self.send(signal.into()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use phasm_engine::{event::TaskId, value::Value};
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;

    fn rank(priority: u16, number: u64) -> Rank {
        Rank::new(priority, Timestamp(0), number)
    }

    fn lent(inbox: &mut UnboundedReceiver<Signal>) -> Vec<u32> {
        std::iter::from_fn(|| inbox.try_recv().ok())
            .map(|signal| if let Signal::Lent(slots) = signal { slots } else { panic!("{signal:?}") })
            .collect()
    }

    /// R-P5: slots go to runs by priority, then submit order.
    #[test]
    fn slots_are_granted_by_priority_then_submit_order() {
        let slots = Slots::new(4);
        let (first, mut first_hears) = unbounded_channel::<Signal>();
        let (second, mut second_hears) = unbounded_channel();
        let (urgent, mut urgent_hears) = unbounded_channel();
        assert_eq!(slots.exchange(rank(500, 1), &first, 0, 10), 4);
        assert_eq!(slots.exchange(rank(500, 2), &second, 0, 2), 0);
        assert_eq!(slots.exchange(rank(900, 3), &urgent, 0, 1), 0);
        assert_eq!(slots.exchange(rank(500, 1), &first, 3, 2), 2);
        assert_eq!(lent(&mut urgent_hears), [1]);
        assert_eq!(slots.exchange(rank(500, 1), &first, 2, 0), 0);
        assert_eq!(lent(&mut second_hears), [2]);
        assert!(lent(&mut first_hears).is_empty());
    }

    #[test]
    fn slots_of_a_run_that_left_go_to_the_next() {
        let slots = Slots::new(1);
        let (gone, hears) = unbounded_channel::<Signal>();
        let (next, mut next_hears) = unbounded_channel();
        assert_eq!(slots.exchange(rank(0, 1), &gone, 0, 1), 1);
        slots.exchange(rank(0, 2), &gone, 0, 1);
        slots.exchange(rank(0, 3), &next, 0, 1);
        drop(hears);
        slots.give_back(1);
        assert_eq!(lent(&mut next_hears), [1]);
    }

    #[test]
    fn what_is_closed_lends_nothing() {
        let slots = Slots::new(2);
        let (inbox, mut hears) = unbounded_channel::<Signal>();
        assert_eq!(slots.exchange(rank(0, 1), &inbox, 0, 1), 1);
        slots.close();
        assert_eq!(slots.exchange(rank(0, 2), &inbox, 0, 1), 0);
        slots.give_back(1);
        assert!(lent(&mut hears).is_empty());
    }

    /// A resumed attempt takes a slot without asking; the debt is paid before anybody is lent more.
    #[test]
    fn debts_are_paid_first() {
        let slots = Slots::new(1);
        let (inbox, mut hears) = unbounded_channel::<Signal>();
        let rank = rank(0, 1);
        assert_eq!(slots.exchange(rank, &inbox, -2, 1), 0);
        slots.give_back(1);
        assert!(lent(&mut hears).is_empty());
        slots.give_back(1);
        assert_eq!(lent(&mut hears), [1]);
    }

    /// Hears nothing.
    struct Deaf;

    impl Observer for Deaf {
        fn log(&self, _: Level, _: &str) {}
        fn progress(&self, _: Option<f64>, _: &str) {}
        fn activity(&self) {}
    }

    /// R-T5: log lines, progress and every other sign of life put the clock back.
    #[test]
    fn whatever_a_guest_says_is_activity() {
        let time = Arc::new(crate::clock::stepped::Stepped::default());
        time.pass(5);
        let clock = Clock::from(time as Arc<_>);
        let ear = ActivityClock { inner: Arc::new(Deaf), clock, last: AtomicU64::new(0) };
        let signs: [fn(&ActivityClock); 3] =
            [|ear| ear.log(Level::Trace, ""), |ear| ear.progress(None, ""), |ear| ear.activity()];
        for sign in signs {
            ear.last.store(0, Ordering::Relaxed);
            sign(&ear);
            assert_eq!(ear.last.load(Ordering::Relaxed), 5);
        }
    }

    /// Starts and says nothing more.
    struct Mute;

    impl Executor for Mute {
        fn execute(
            &self,
            _: Invocation,
            observer: Arc<dyn Observer>,
        ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
            Box::pin(async move {
                let _kept = observer;
                std::future::pending().await
            })
        }
    }

    /// Says one line and is over.
    struct Says;

    impl Executor for Says {
        fn execute(
            &self,
            _: Invocation,
            observer: Arc<dyn Observer>,
        ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
            observer.log(Level::Info, "started");
            Box::pin(std::future::ready(Outcome::error("")))
        }
    }

    /// Has heard of the attempt's start when its line comes.
    struct Follower(Mutex<UnboundedReceiver<Signal>>);

    impl Observer for Follower {
        fn log(&self, _: Level, _: &str) {
            let heard = self.0.lock().unwrap().try_recv();
            assert!(matches!(heard, Ok(Signal::Started(..))), "{heard:?}");
        }
        fn progress(&self, _: Option<f64>, _: &str) {}
        fn activity(&self) {}
        fn is_followed(&self) -> bool {
            true
        }
    }

    /// What was said of an attempt before its start was known could be answered before it: a run was cancelled that had not begun.
    #[test]
    fn whoever_follows_an_attempt_hears_first_that_it_has_started() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let handle = runtime.handle().clone();
        let dispatcher = Dispatcher::new(1, Arc::new(Says), handle.clone(), handle, Clock::start());
        let (inbox, hears) = unbounded_channel::<Signal>();
        let follower = Arc::new(Follower(Mutex::new(hears)));
        let attempt = Attempt {
            fence: Fence { task: TaskId(1), attempt: 1, dispatch: 1 },
            invocation: invocation(),
            bounds: Bounds::default(),
            observer: Arc::clone(&follower) as _,
            inbox,
            upcoming: Upcoming::default(),
        };
        Arc::new(dispatcher).start(attempt, |_, _| None);
        runtime.block_on(async {
            while follower.0.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        });
        let ended = follower.0.lock().unwrap().try_recv();
        assert!(matches!(ended, Ok(Signal::Finished(..))), "{ended:?}");
    }

    fn invocation() -> Invocation {
        Invocation {
            run_id: "run".into(),
            workflow: "w".into(),
            namespace: "default".into(),
            task_run_id: "run-1".into(),
            task: "a".into(),
            executor_type: "mute".into(),
            attempt: 1,
            dispatch: 1,
            resumed: false,
            deadline: None,
            config: Value::Null,
            inputs: Arc::default(),
            memory: None,
        }
    }

    /// R-T9: an attempt that waits for a thread is not inactive; the clock starts with the executor.
    #[test]
    fn inactivity_counts_from_the_start() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let handle = runtime.handle().clone();
        let dispatcher = Dispatcher::new(1, Arc::new(Mute), handle.clone(), handle, Clock::start());
        let (inbox, mut hears) = unbounded_channel::<Signal>();
        let fence = Fence { task: TaskId(1), attempt: 1, dispatch: 1 };
        let bounds = Bounds { max_inactivity: Some(0), ..Bounds::default() };
        let attempt = Attempt {
            fence,
            invocation: invocation(),
            bounds,
            observer: Arc::new(Deaf),
            inbox,
            upcoming: Upcoming::default(),
        };
        Arc::new(dispatcher).start(attempt, |_, _| None);
        let heard = runtime.block_on(async { [hears.recv().await, hears.recv().await] });
        assert!(matches!(heard, [Some(Signal::Started(..)), Some(Signal::Inactive(_))]), "{heard:?}");
    }
}
