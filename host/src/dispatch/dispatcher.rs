//! Running attempts, here or on other hosts.

use std::{
    borrow::Cow,
    future::poll_fn,
    pin::pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::{Duration, Instant},
};

use phasm_engine::{
    event::Fence,
    outcome::{Outcome, code},
    time::Millis,
    usage::ResourceUsage,
    weight::Weight,
};
use tokio::{
    runtime::Handle,
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    task::AbortHandle,
};
use tracing::Instrument as _;

use crate::{
    clock::Clock,
    dispatch::{
        backlog::{Coming, Upcoming},
        run_task::{notify_here, notify_on, notify_soon},
        slots::{Borrower, Rules, Slots},
    },
    metrics::{Ended, Gauges, Measuring},
    store::{AttemptLog, Offer},
};
use phasm_sandbox::{
    Sandbox,
    executor::{Executor, HostCall, Invocation, Level, Observer},
};

/// A signal to a run's driver from the executor's side.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Slots that the run may use.
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
    /// The log of an attempt on another host, which is about to report its end.
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

/// Bytes of outputs that make a result heavy.
const HEAVY: usize = 64 << 10;

/// Something that takes a run's signals: the driver's inbox.
pub(crate) trait Inbox: Borrower + Send + Sync + 'static {
    /// Returns false if the driver is gone.
    fn signal(&self, signal: Signal) -> bool;
}

/// Bounds of an attempt besides its deadline.
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
    /// The tenant whose slot it has; none for an attempt of another host.
    pub(crate) tenant: Option<Arc<str>>,
    /// The host's clock when the attempt could have begun; unknown for an attempt of another host.
    pub(crate) due: Option<Millis>,
}

/// Attempts for which there is no place here.
#[derive(Debug)]
pub(crate) enum Outbound<I: Inbox> {
    /// One, and where it hears of a place.
    Attempt(Box<Outward<I>>),
    /// An attempt that waits no more.
    Left(u64),
}

/// An attempt that waits for a place, here or on another host.
#[derive(Debug)]
pub(crate) struct Outward<I: Inbox> {
    /// Unique in this process.
    pub(crate) number: u64,
    pub(crate) fence: Fence,
    /// The offer to other hosts; none, if it must be executed here.
    pub(crate) offer: Option<Offer>,
    pub(crate) tells: UnboundedSender<Word<I>>,
}

/// A message to an attempt that waits for a place.
#[derive(Debug)]
pub(crate) enum Word<I: Inbox> {
    /// Execute it here.
    Here(Place<I>),
    /// A signal from the host that executes it.
    There(Signal),
}

/// Runs attempts on the guests' runtime, or has others run them.
pub(crate) struct Dispatcher<I: Inbox> {
    pub(crate) slots: Slots<I>,
    executor: Arc<dyn Executor>,
    guests: Handle,
    control: Handle,
    clock: Clock,
    gauges: Arc<Gauges>,
    /// Where results are taken that take long to be, and attempts begin that follow another.
    sandbox: OnceLock<Sandbox>,
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
        (slots, rules): (u32, Rules),
        executor: Arc<dyn Executor>,
        guests: Handle,
        control: Handle,
        clock: Clock,
    ) -> Self {
        let (sandbox, outbound, last_outward) = (OnceLock::new(), OnceLock::new(), AtomicU64::new(0));
        let slots = Slots::new(slots, rules, clock.clone());
        let gauges = Arc::default();
        Self { slots, executor, guests, control, clock, gauges, sandbox, outbound, last_outward }
    }

    /// The same, which counts there.
    pub(crate) fn counting(self, gauges: &Arc<Gauges>) -> Self {
        Self { gauges: Arc::clone(gauges), ..self }
    }

    /// Where guests run, if they do.
    pub(crate) fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.get()
    }

    /// Sets the sandbox, whose threads for long computations also handle heavy results.
    pub(crate) fn beside(self, sandbox: Option<&Sandbox>) -> Self {
        Self { sandbox: sandbox.cloned().map(OnceLock::from).unwrap_or_default(), ..self }
    }

    /// Reports the end of an attempt where that delays no other.
    fn tell_end(&self, upcoming: &Upcoming, is_heavy: bool, end: impl FnOnce()) {
        match self.sandbox.get() {
            Some(sandbox) if is_heavy => notify_on(sandbox.long_runtime(), end),
            _ if upcoming.is_empty() => notify_here(end),
            _ => notify_soon(&self.guests, end),
        }
    }

    /// From now on attempts that find no place here go there.
    pub(crate) fn send_out(&self, outbound: UnboundedSender<Outbound<I>>) {
        drop(self.outbound.set(outbound));
    }

    /// Whether an attempt would begin here, and nothing outside could tell that it has (R-D6).
    pub(crate) fn is_pure(&self, namespace: &Arc<str>, executor_type: &str) -> bool {
        let is_here = !self.sends_out() || self.slots.has_place();
        is_here && self.executor.is_pure(namespace, executor_type)
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
        // The exchange ends with the host.
        let _ended = self.outbound.get().map(|outbound| outbound.send(outward));
        let waits = Waits { number, dispatcher: Arc::clone(self), hears };
        self.guests.spawn(waits.then_execute(attempt)).abort_handle()
    }

    /// Starts an attempt that has a place here.
    pub(crate) fn start_in(self: &Arc<Self>, place: Place<I>, attempt: Attempt<I>) -> AbortHandle {
        let mut ticket = self.ticket(&attempt);
        ticket.coming = Some(attempt.upcoming.enter());
        self.guests.spawn(execute(place, ticket, attempt)).abort_handle()
    }

    fn ticket(self: &Arc<Self>, attempt: &Attempt<I>) -> Ticket<I> {
        let (fence, inbox, tenant) = (attempt.fence, attempt.inbox.clone(), attempt.tenant.clone());
        let (measuring, started, coming) = (None, None, None);
        Ticket { fence, inbox, tenant, dispatcher: Arc::clone(self), measuring, started, coming, open: true }
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
    let Attempt { fence, mut invocation, bounds, observer, upcoming, due, .. } = attempt;
    let runtime_ends =
        bounds.max_runtime.and_then(|limit| Instant::now().checked_add(Duration::from_millis(limit)));
    let deadline = [invocation.deadline, runtime_ends].into_iter().flatten().min();
    invocation.deadline = deadline;
    ticket.begin(&invocation.executor_type, due);
    if bounds.max_inactivity.is_some() || observer.is_followed() {
        ticket.tell_start();
    }
    let observer = match bounds.max_inactivity {
        None => observer,
        Some(limit) => ticket.dispatcher.watch_activity(fence, limit, observer, &ticket.inbox),
    };
    let Invocation { run_id, namespace, task, attempt, .. } = &invocation;
    let span =
        tracing::info_span!("attempt", run = &**run_id, namespace = &**namespace, task = &**task, attempt);
    let execution = span.in_scope(|| ticket.dispatcher.executor.execute(invocation, observer));
    let mut execution = pin!(execution.instrument(span));
    let at_once = poll_fn(|context| Poll::Ready(execution.as_mut().poll(context))).await;
    let outcome = match at_once {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => {
            ticket.coming = None;
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
    tenant: Option<Arc<str>>,
    dispatcher: Arc<Dispatcher<I>>,
    /// The host's clock at the start, until that is reported: together with the end, if the attempt is over at once and no
    /// watcher follows it. Most are, and the driver has one turn for them instead of two.
    started: Option<Millis>,
    measuring: Option<Measuring>,
    coming: Option<Coming>,
    open: bool,
}

impl<I: Inbox> Ticket<I> {
    fn begin(&mut self, executor: &str, due: Option<Millis>) {
        self.coming.as_mut().map(Coming::begin);
        let Dispatcher { clock, gauges, .. } = &*self.dispatcher;
        let measuring = gauges.attempts.begin(executor, due, clock.elapsed_micros());
        (self.measuring, self.started) = (Some(measuring), Some(measuring.began()));
    }

    /// Counts what has come to an end here.
    fn measure(&mut self, last: &Signal) {
        let Some(measuring) = self.measuring.take() else { return };
        let ended = match last {
            Signal::Finished(_, outcome) => Ended::of(outcome.code),
            Signal::Interrupted(_) => Ended::Timeout,
            Signal::Gone(_)
            | Signal::Lent(_)
            | Signal::Started(..)
            | Signal::Inactive(_)
            | Signal::Wrote(..) => Ended::Stopped,
        };
        let Dispatcher { clock, gauges, .. } = &*self.dispatcher;
        gauges.attempts.end(measuring, ended, clock.elapsed_micros());
    }

    fn tell_start(&mut self) {
        notify_here(|| self.signal_start());
    }

    fn signal_start(&mut self) {
        if let Some(elapsed) = self.started.take() {
            // Whether anybody listens shows at the end.
            self.inbox.signal(Signal::Started(self.fence, Some(elapsed)));
        }
    }

    fn end(&mut self, signal: Signal) {
        self.open = false;
        self.measure(&signal);
        // The receiver of the end finds the place in the backlog free.
        self.coming = None;
        self.signal_start();
        if !self.inbox.signal(signal) {
            let slots = &self.dispatcher.slots;
            match &self.tenant {
                Some(tenant) => slots.give_back_of(tenant, 1),
                None => slots.give_back(1),
            }
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

    fn used(&self, metered: ResourceUsage) {
        self.inner.used(metered);
    }

    fn is_followed(&self) -> bool {
        self.inner.is_followed()
    }

    fn is_traced(&self) -> bool {
        self.inner.is_traced()
    }

    fn called(&self, call: HostCall) {
        self.inner.called(call);
    }

    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.inner.hide(text)
    }

    fn may_go_on(&self, text: &str) -> bool {
        self.inner.may_go_on(text)
    }
}

impl<M: From<Signal>> Borrower for UnboundedSender<M> {
    fn lend(&self, slots: u32) -> bool {
        self.send(Signal::Lent(slots).into()).is_ok()
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
    use std::{pin::Pin, sync::Mutex};

    use phasm_engine::{event::TaskId, value::Value};
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

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

    /// A log line that came before the start was known could be acted upon too early: a run was cancelled that had not begun.
    #[test]
    fn whoever_follows_an_attempt_hears_first_that_it_has_started() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let handle = runtime.handle().clone();
        let dispatcher =
            Dispatcher::new((1, Rules::new()), Arc::new(Says), handle.clone(), handle, Clock::start());
        let (inbox, hears) = unbounded_channel::<Signal>();
        let follower = Arc::new(Follower(Mutex::new(hears)));
        let attempt = Attempt {
            fence: Fence { task: TaskId(1), attempt: 1, dispatch: 1 },
            invocation: invocation(),
            bounds: Bounds::default(),
            observer: Arc::clone(&follower) as _,
            inbox,
            upcoming: Upcoming::default(),
            tenant: None,
            due: None,
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
            trace: None,
        }
    }

    /// R-T9: an attempt that waits for a thread is not inactive; the clock starts with the executor.
    #[test]
    fn inactivity_counts_from_the_start() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let handle = runtime.handle().clone();
        let dispatcher =
            Dispatcher::new((1, Rules::new()), Arc::new(Mute), handle.clone(), handle, Clock::start());
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
            tenant: None,
            due: None,
        };
        Arc::new(dispatcher).start(attempt, |_, _| None);
        let heard = runtime.block_on(async { [hears.recv().await, hears.recv().await] });
        assert!(matches!(heard, [Some(Signal::Started(..)), Some(Signal::Inactive(_))]), "{heard:?}");
    }
}
