//! Work on a guest thread: bounded in time, stopped when dropped, and an outcome even if the host panics.
//!
//! An attempt starts on the thread that polls it. After it has computed for a whole epoch it moves to the threads for long
//! computations, where attempts take turns.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use phasm_engine::outcome::Outcome;
use tokio::{runtime::Handle, task::JoinHandle};

use super::{
    fair_scheduler::Turn,
    fault,
    long_runners::Load,
    origin::Origin,
    poll_state,
    sandbox_core::SandboxCore,
    stopwatch::{Stopwatch, micros},
    ticker::Alarm,
};

/// Poll time from which an attempt counts as heavy: it holds up others that need a hundredth of that.
const HEAVY_POLL: Duration = Duration::from_micros(250);

pub(super) type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Polls its work in place on a guest thread, and moves it to one from any other thread.
pub struct Attempt {
    core: Arc<SandboxCore>,
    here: Option<BoundedWork>,
    there: Option<JoinHandle<Outcome>>,
}

impl Attempt {
    pub(super) fn new(core: Arc<SandboxCore>, origin: Origin, deadline: Option<Instant>, work: Work) -> Self {
        let of_work = Arc::clone(&core);
        let (alarm, turn, stops, load, computed) = (None, None, 0, Load::Light, Duration::ZERO);
        let work = BoundedWork { core: of_work, origin, deadline, alarm, work, turn, stops, load, computed };
        Self { core, here: Some(work), there: None }
    }

    /// Returns the threads that the work should move to, if not this one.
    fn elsewhere(&self) -> Option<Handle> {
        let work = self.here.as_ref()?;
        let threads = &self.core.threads;
        if work.is_long() || self.core.long_runners.is_long_runner(&work.origin) {
            Some(threads.long().clone())
        } else {
            (!threads.is_current()).then(|| threads.handle().clone())
        }
    }

    /// Moves the work to `threads`. There it takes turns if it computes long.
    fn send(&mut self, threads: &Handle, mut work: BoundedWork) {
        if work.is_long() || self.core.long_runners.is_long_runner(&work.origin) {
            work.turn = Some(self.core.scheduler.enter(&work.origin.namespace));
            self.there = Some(threads.spawn(work));
        } else {
            let core = Arc::clone(&self.core);
            self.there = Some(threads.spawn(Self { core, here: Some(work), there: None }));
        }
    }
}

impl Future for Attempt {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        loop {
            if let Some(threads) = self.elsewhere()
                && let Some(work) = self.here.take()
            {
                self.send(&threads, work);
            }
            if let Some(task) = &mut self.there {
                let ended = ready!(Pin::new(task).poll(context));
                let fault = |error| Outcome::error(format!("host fault: {error}"));
                return Poll::Ready(ended.unwrap_or_else(fault));
            }
            let Some(work) = &mut self.here else { return Poll::Pending };
            let polled = Pin::new(&mut *work).poll(context);
            if polled.is_ready() || !work.is_long() {
                return polled;
            }
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(task) = &self.there {
            task.abort();
        }
    }
}

/// Work that counts as a computing guest while it is polled, and ends at its deadline.
struct BoundedWork {
    core: Arc<SandboxCore>,
    origin: Origin,
    deadline: Option<Instant>,
    alarm: Option<Alarm>,
    work: Work,
    /// Set once it computes in turns.
    turn: Option<Turn>,
    /// Number of times that it yielded because its epoch was over.
    stops: u8,
    load: Load,
    computed: Duration,
}

impl BoundedWork {
    /// Returns whether it has computed for an epoch.
    fn is_long(&self) -> bool {
        self.load == Load::Long
    }

    fn poll_work(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        let Self { core, work, turn, stops, load, computed, .. } = self;
        if turn.as_mut().is_some_and(|turn| !turn.take(context.waker())) {
            return Poll::Pending;
        }
        let watch = if turn.is_some() { Stopwatch::of_thread() } else { Stopwatch::of_moment() };
        poll_state::begin(*computed, watch);
        let running = core.ticker.enter();
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        drop(running);
        let stopped = poll_state::end();
        let took = watch.elapsed();
        *computed += took;
        // A single stop may only mean that the system did not run this thread for a while.
        *stops = stops.saturating_add(stopped.into());
        if *stops > 1 {
            *load = Load::Long;
        } else if took >= HEAVY_POLL {
            *load = Load::Heavy;
        }
        match turn {
            Some(turn) => turn.give_back(took, stopped.then_some(context.waker())),
            None if stopped && *load != Load::Long => context.waker().wake_by_ref(),
            None => {}
        }
        polled.unwrap_or_else(|panic| Poll::Ready(fault::host_fault(&*panic)))
    }
}

impl Future for BoundedWork {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Poll::Ready(fault::timeout());
        }
        let mut poll = self.poll_work(context);
        let Self { core, origin, deadline, alarm, load, computed, .. } = &mut *self;
        match (&mut poll, *deadline) {
            (Poll::Ready(outcome), _) => {
                outcome.metered.cpu_us = outcome.metered.cpu_us.saturating_add(micros(*computed));
                core.long_runners.record(origin, *load);
            }
            (Poll::Pending, Some(deadline)) => {
                alarm.get_or_insert_with(|| core.ticker.alarm(deadline)).set(context.waker());
            }
            (Poll::Pending, None) => {}
        }
        poll
    }
}
