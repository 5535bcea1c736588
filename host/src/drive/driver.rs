//! One run's loop: wait for one event, step the engine, hand the decisions to the store, carry out what is durable.
//!
//! ```text
//!  inbox ─┐
//!  timer ─┼─▶ next_event ─▶ advance: Run::step … ─▶ Batch ── flush ─▶ store
//!  commit ┘       ▲                                                     │
//!                 └────────────────── durable: replies, watchers, commands ─▶ dispatcher ─▶ executor
//! ```
//!
//! At most one commit is in flight. Everything that is decided meanwhile makes the next batch, so that a busy run commits in groups.
//! Pure attempts, whose start nothing outside can tell, do not wait for their record: they begin at once, and their results make
//! the next batch. All other effects wait until their batch is durable.

mod attempts;
mod batch;
mod commit;
mod inbox;
mod leave;
mod requests;
mod slots;

use std::{
    mem,
    sync::{Arc, atomic::Ordering},
};

use phasm_engine::{
    event::{Command, Input},
    run::{Run, Step},
    time::{Millis, Timestamp},
};

pub(crate) use self::leave::FollowUp;
use self::{attempts::Attempts, batch::Batch, commit::Commit, inbox::Inbox, slots::SlotAccount};
use crate::{
    clock::RunClock,
    core::HostCore,
    dispatch::slots::Claimant,
    metrics::ActiveRunGuard,
    notify::Subscribers,
    run::{
        message::{DriveStatus, Message},
        registry::Entry,
    },
    store::{Lease, Letter, Pending, StoreError},
    watch::spans::DrivenSpans,
};

/// A run whose next clock is nearer than the host's idle timeout times this stays loaded: loading it again has its price.
const KEEP_LOADED_FACTOR: u32 = 60;

/// Drives one run to its end.
pub(crate) struct Driver {
    core: Arc<HostCore>,
    entry: Arc<Entry>,
    run: Run,
    clock: RunClock,
    lease: Lease,
    inbox: Inbox,
    attempts: Attempts,
    slots: SlotAccount,
    batch: Batch,
    commit: Option<Commit>,
    /// Requests from the store that are being read. Until they are, nothing else is handled: what a request stops must not begin.
    reading: Option<Pending<Vec<Letter>>>,
    /// Commands that begin without their record (R-D6).
    pure: Vec<Command>,
    subscribers: Subscribers,
    _counted: ActiveRunGuard,
    /// Spans of the run, where it belongs to a trace.
    spans: Option<DrivenSpans>,
    /// Reason for the run's end, or a remark on it, once it has ended.
    remark: Option<Option<Arc<str>>>,
}

/// An event that a driver waits for.
enum Event {
    /// Messages are in the inbox.
    Received,
    /// The commit in flight has ended.
    Committed(Result<(), StoreError>),
    /// Requests from the store have been read.
    Requests(Result<Vec<Letter>, StoreError>),
    /// A clock of the run is due.
    Timer,
    /// The run could be given back to the store, and nothing has come for it for the host's idle timeout.
    Idle,
}

impl Driver {
    pub(crate) fn new(
        core: Arc<HostCore>,
        entry: Arc<Entry>,
        run: Run,
        lease: Lease,
        claimant: Claimant,
    ) -> Self {
        let clock = RunClock::from(core.clock.clone(), run.now());
        let subscribers = core.webhooks.subscribers(&lease.head, &run.plan().notify);
        let counted = core.gauges.drives();
        let spans = DrivenSpans::of(&run, core.tracer.as_ref());
        Self {
            core,
            entry,
            run,
            clock,
            lease,
            inbox: Inbox::new(),
            attempts: Attempts::default(),
            slots: SlotAccount::new(claimant),
            batch: Batch::default(),
            commit: None,
            reading: None,
            pure: Vec::new(),
            subscribers,
            _counted: counted,
            spans,
            remark: None,
        }
    }

    /// Makes the step durable that the run is driven from, before anybody learns of it (R-D2). Its commands wait for
    /// [`Self::drive`], so that requests to a run that is loaded for them come first.
    ///
    /// # Errors
    /// The store's; nothing was recorded, and every slot is given back.
    pub(crate) async fn record_first(&mut self, step: Step) -> Result<(), StoreError> {
        // The first record of a new run has its first attempts in it. A loaded run handles requests first.
        let is_new = usize::try_from(self.run.seq()) == Ok(step.events.len());
        self.collect(step);
        if is_new {
            self.fill_slots(self.run.now());
        }
        let mut waiting = self.flush();
        while self.commit.is_some() {
            if is_new {
                self.begin_pure();
            }
            match self.next_event().await {
                Event::Committed(Ok(())) => waiting.extend(self.finish_commit()),
                Event::Committed(Err(error)) => {
                    // Their slots are in the driver's hand until it has given them back.
                    waiting.extend(self.commit.take().into_iter().flat_map(|commit| commit.effects.commands));
                    self.batch.effects.commands.splice(0..0, waiting);
                    self.abandon_start();
                    return Err(error);
                }
                // Only a pure attempt can have sent something, as nothing else has begun and no caller reaches the run yet.
                Event::Received | Event::Timer | Event::Requests(_) | Event::Idle => self.step_inputs(),
            }
        }
        self.batch.effects.commands.splice(0..0, waiting);
        Ok(())
    }

    /// Makes the run reachable here; `messages` reach it first.
    pub(crate) fn open(&self, messages: Vec<Message>) {
        messages.into_iter().for_each(|message| self.inbox.send(message));
        self.entry.status.send_if_modified(|status| {
            let was_lost = matches!(status, DriveStatus::Lost(_));
            if was_lost {
                *status = DriveStatus::Active;
            }
            was_lost
        });
        self.entry.epoch.store(self.lease.epoch, Ordering::Release);
        self.entry.set_driver(Some(self.inbox.sender()));
    }

    /// Drives the run until it and its hooks have ended, it is given back, or its store fails. Returns the work that is left for
    /// the host.
    pub(crate) async fn drive(mut self) -> Option<FollowUp> {
        // Requests that the run was loaded for come before anything begins.
        self.inbox.receive_now();
        loop {
            self.advance();
            if self.commit.is_none() && !self.inbox.dismissals.is_empty() {
                let fenced = Arc::new(self.lease.lost());
                return self.leave(Err(fenced));
            }
            if self.is_over() {
                return self.leave(Ok(()));
            }
            match self.next_event().await {
                Event::Received | Event::Timer => {}
                Event::Committed(Ok(())) => {
                    let commands = self.finish_commit();
                    self.carry_out(commands);
                }
                Event::Committed(Err(error)) => {
                    let error = Arc::new(error);
                    self.fail_commit(&error);
                    return self.leave(Err(error));
                }
                Event::Requests(Ok(requests)) => {
                    let now = self.now();
                    self.handle_requests(now, requests);
                }
                Event::Requests(Err(error)) => return self.leave(Err(Arc::new(error))),
                Event::Idle => match self.give_back().await {
                    Ok(true) => return None,
                    Ok(false) => {}
                    Err(error) => return self.leave(Err(Arc::new(error))),
                },
            }
        }
    }

    /// Whether the run has ended and everything of it is recorded.
    fn is_over(&self) -> bool {
        self.run.is_over() && self.commit.is_none() && self.batch.is_empty()
    }

    /// Waits for one event. A commit comes first, as others wait for its effects.
    async fn next_event(&mut self) -> Event {
        let can_step = self.can_step();
        let is_quiet = self.commit.is_none() && self.reading.is_none() && self.could_rest();
        let idle = self
            .core
            .idle_timeout
            .filter(|_| is_quiet)
            .map(|idle_timeout| self.core.clock.after(idle_timeout));
        let timer = self.clock.next(self.run.next_wait());
        let wake_at = [timer, idle].into_iter().flatten().min().filter(|_| can_step);
        let Self { core, inbox, commit, reading, .. } = self;
        tokio::select! {
            biased;
            result = pending(commit.as_mut().map(|commit| &mut commit.durable)) => Event::Committed(result),
            requests = pending(reading.as_mut()) => {
                *reading = None;
                Event::Requests(requests)
            }
            () = inbox.receive(), if can_step => Event::Received,
            () = sleep(core, wake_at) => if idle.is_some() { Event::Idle } else { Event::Timer },
        }
    }

    /// Whether the run may take inputs. It may not while a caller waits to see it as the commit in flight leaves it, nor before
    /// requests from the store that are being read.
    fn can_step(&self) -> bool {
        let is_observed = self.commit.as_ref().is_some_and(|commit| commit.effects.are_observed());
        !is_observed && self.reading.is_none() && !self.batch.is_full()
    }

    /// Takes all inputs there are, and begins what may begin.
    fn advance(&mut self) {
        self.read_requests();
        if self.can_step() {
            self.step_inputs();
        }
        if self.reading.is_some() {
            return;
        }
        if self.batch.must_flush(self.commit.is_some()) {
            let commands = self.flush();
            self.carry_out(commands);
        }
        self.begin_pure();
    }

    fn step_inputs(&mut self) {
        let now = self.now();
        self.handle_received(now);
        // Every other input has served what is due as well.
        let is_due = self.run.next_wait().is_some_and(|at| at <= now);
        if is_due && !self.batch.is_full() {
            self.step(now, Input::Tick);
        }
        self.fill_slots(now);
    }

    fn now(&mut self) -> Timestamp {
        let Self { clock, run, .. } = self;
        clock.follow(|| run.lengths_end())
    }

    /// Begins attempts whose start nothing outside can tell (R-D6).
    fn begin_pure(&mut self) {
        let pure = mem::take(&mut self.pure);
        self.carry_out(pure);
    }

    /// Steps the engine. Returns true if it dropped the input.
    fn step(&mut self, now: Timestamp, input: Input) -> bool {
        let dropped = self.run.dropped_inputs();
        let step = self.run.step(now, input);
        let is_dropped = self.run.dropped_inputs() > dropped;
        let used = self.attempts.used(&step.commands);
        self.collect(step);
        for (fence, metered) in used {
            let step = self.run.step(now, Input::Metered(fence, metered));
            self.collect(step);
        }
        is_dropped
    }

    /// Adds a step to the batch.
    fn collect(&mut self, step: Step) {
        let commands = self.batch.add(self.run.seq(), self.run.now(), step);
        self.slots.take_for(&commands);
        for command in commands {
            if self.is_pure(&command) {
                self.pure.push(command);
            } else {
                self.batch.effects.commands.push(command);
            }
        }
    }
}

/// Waits for a future that may be absent, which is never over.
async fn pending<F: Future + Unpin>(future: Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn sleep(core: &HostCore, until: Option<Millis>) {
    match until {
        Some(at) => core.clock.sleep_until(at).await,
        None => std::future::pending().await,
    }
}
