//! The sandbox's one clockwork thread: epochs while guests compute, alarms while they wait.
//!
//! ```text
//!  guest threads                      ticker thread
//!  poll a guest ──enter()──▶ running  every 1 ms: alarms due? wake them
//!       │  ◀─── epoch callback ──────             running > 0? next epoch
//!  Pending ──alarm(deadline)──▶ alarms            nothing for a while? park until the next alarm
//! ```
//!
//! The thread belongs to no runtime, so no guest can starve it, and it sleeps whenever no guest computes.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    task::Waker,
    thread::{self, Thread},
    time::{Duration, Instant},
};

/// Interval of epochs while guests compute.
const PERIOD: Duration = Duration::from_millis(1);

/// Ticks without a computing guest before the thread parks: unparking it costs a call some microseconds, and calls
/// come in bursts.
const IDLE_TICKS: u32 = 50;

/// Handle to the ticker thread. Dropping it lets the thread end once no guest computes any more.
pub(super) struct Ticker {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// Guests being polled right now.
    running: AtomicUsize,
    parked: AtomicBool,
    stopping: AtomicBool,
    ticks: AtomicU64,
    alarms: Mutex<Alarms>,
    thread: OnceLock<Thread>,
}

#[derive(Default)]
struct Alarms {
    due: BTreeMap<(Instant, u64), Waker>,
    next_id: u64,
}

impl Ticker {
    /// Starts the thread, which calls `tick` once a period while guests compute.
    pub(super) fn start(tick: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let state = Arc::new(State::default());
        let of_thread = Arc::clone(&state);
        let handle =
            thread::Builder::new().name("phasm-ticker".into()).spawn(move || of_thread.run(&tick))?;
        // The thread only parks after its grace, and an unpark before this line finds it awake.
        let _ = state.thread.set(handle.thread().clone());
        Ok(Self { state })
    }

    /// Counts the caller as a computing guest until the guard is dropped.
    pub(super) fn enter(&self) -> RunningGuard<'_> {
        self.state.running.fetch_add(1, SeqCst);
        if self.state.parked.load(SeqCst) {
            self.state.unpark();
        }
        RunningGuard { state: &self.state }
    }

    /// An alarm that wakes a task at `deadline`, once it has been [set](Alarm::set).
    pub(super) fn alarm(&self, deadline: Instant) -> Alarm {
        Alarm { state: Arc::clone(&self.state), deadline, set: None }
    }

    /// Returns the number of ticks so far; it stands still while the thread is parked.
    pub(super) fn ticks(&self) -> u64 {
        self.state.ticks.load(SeqCst)
    }

    pub(super) fn is_parked(&self) -> bool {
        self.state.parked.load(SeqCst)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.state.stopping.store(true, SeqCst);
        self.state.unpark();
    }
}

/// Counts a guest that is being polled.
pub(super) struct RunningGuard<'a> {
    state: &'a State,
}

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        self.state.running.fetch_sub(1, SeqCst);
    }
}

/// Alarm that wakes one task at a certain time; cancelled when dropped.
pub(super) struct Alarm {
    state: Arc<State>,
    deadline: Instant,
    set: Option<(u64, Waker)>,
}

impl Alarm {
    /// Makes the alarm wake `waker`. Cheap when it already does.
    pub(super) fn set(&mut self, waker: &Waker) {
        if self.set.as_ref().is_some_and(|(_, known)| known.will_wake(waker)) {
            return;
        }
        self.cancel();
        let id = self.state.add_alarm(self.deadline, waker.clone());
        self.set = Some((id, waker.clone()));
    }

    fn cancel(&mut self) {
        if let Some((id, _)) = self.set.take() {
            self.state.alarms().due.remove(&(self.deadline, id));
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl State {
    fn run(&self, tick: &impl Fn()) {
        let mut next = Instant::now() + PERIOD;
        let mut idle = 0;
        loop {
            self.ticks.fetch_add(1, SeqCst);
            let now = Instant::now();
            let alarm = self.fire_due(now);
            // A new alarm wakes the thread between two ticks.
            if now >= next {
                next = next_tick(next, now);
                if self.running.load(SeqCst) > 0 {
                    idle = 0;
                    tick();
                } else if self.stopping.load(SeqCst) {
                    return;
                } else {
                    idle += 1;
                }
            }
            if idle > IDLE_TICKS {
                self.park(now, alarm);
                idle = 0;
                next = Instant::now() + PERIOD;
            } else {
                thread::park_timeout(next.saturating_duration_since(Instant::now()));
            }
        }
    }

    /// Parks until a guest is polled, an earlier alarm is set or `alarm` is due.
    fn park(&self, now: Instant, alarm: Option<Instant>) {
        self.parked.store(true, SeqCst);
        // A guest that comes between the last look and the flag is seen here; a later one sees the flag.
        let disturbed = self.running.load(SeqCst) > 0 || self.stopping.load(SeqCst);
        match alarm.or_else(|| self.next_alarm()) {
            _ if disturbed => {}
            Some(due) => thread::park_timeout(due.saturating_duration_since(now)),
            None => thread::park(),
        }
        self.parked.store(false, SeqCst);
    }

    /// Wakes all tasks that are due and returns when the next one is.
    fn fire_due(&self, now: Instant) -> Option<Instant> {
        loop {
            let mut alarms = self.alarms();
            let entry = alarms.due.first_entry()?;
            let (at, _) = *entry.key();
            if at > now {
                return Some(at);
            }
            let waker = entry.remove();
            drop(alarms);
            waker.wake();
        }
    }

    fn add_alarm(&self, deadline: Instant, waker: Waker) -> u64 {
        let mut alarms = self.alarms();
        let id = alarms.next_id;
        alarms.next_id += 1;
        alarms.due.insert((deadline, id), waker);
        let first = alarms.due.first_key_value().is_some_and(|(key, _)| *key == (deadline, id));
        drop(alarms);
        if first {
            self.unpark();
        }
        id
    }

    fn next_alarm(&self) -> Option<Instant> {
        self.alarms().due.first_key_value().map(|((at, _), _)| *at)
    }

    fn alarms(&self) -> MutexGuard<'_, Alarms> {
        self.alarms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unpark(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// Returns the next tick after `now`; missed ones are skipped, the phase is kept.
fn next_tick(last: Instant, now: Instant) -> Instant {
    let behind = now.saturating_duration_since(last).as_micros() / PERIOD.as_micros();
    last + PERIOD * u32::try_from(behind + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::mpsc::{Receiver, Sender, channel},
        task::Wake,
    };

    use super::*;

    #[test]
    fn the_schedule_keeps_its_phase_and_skips_what_it_missed() {
        let start = Instant::now();
        let us = Duration::from_micros;
        for (now, next) in [(0, 1000), (999, 1000), (1000, 2000), (1001, 2000), (7300, 8000)] {
            assert_eq!(next_tick(start, start + us(now)), start + us(next), "{now}");
        }
    }

    fn ticker() -> (Ticker, Receiver<()>) {
        let (sender, ticks) = channel();
        (Ticker::start(move || sender.send(()).unwrap_or_default()).unwrap(), ticks)
    }

    fn wait_until_parked(ticker: &Ticker) {
        while !ticker.is_parked() {
            thread::yield_now();
        }
    }

    #[test]
    fn it_ticks_while_a_guest_computes_and_parks_afterwards() {
        let (ticker, ticks) = ticker();
        for _ in 0..3 {
            wait_until_parked(&ticker);
            ticks.try_iter().for_each(drop);
            let running = ticker.enter();
            for _ in 0..5 {
                ticks.recv().unwrap();
            }
            drop(running);
        }
        wait_until_parked(&ticker);
        let before = ticker.ticks();
        for _ in 0..10_000 {
            thread::yield_now();
        }
        assert_eq!(ticker.ticks(), before);
    }

    #[test]
    fn it_ends_with_its_owner_but_not_before_the_last_guest_has_yielded() {
        let (ticker, ticks) = ticker();
        let state = Arc::clone(&ticker.state);
        let running = RunningGuard { state: &state };
        state.running.fetch_add(1, SeqCst);
        drop(ticker);
        for _ in 0..5 {
            ticks.recv().unwrap();
        }
        drop(running);
        // The thread owns the sender.
        while ticks.recv().is_ok() {}
    }

    struct Rings(Mutex<Sender<u8>>, u8);

    impl Wake for Rings {
        fn wake(self: Arc<Self>) {
            let _ = self.0.lock().unwrap().send(self.1);
        }
    }

    #[test]
    fn alarms_ring_in_order_unless_dropped_and_for_the_last_waker_set() {
        let (ticker, _) = ticker();
        wait_until_parked(&ticker);
        let (sender, rung) = channel();
        let waker = |n| Waker::from(Arc::new(Rings(Mutex::new(sender.clone()), n)));
        let now = Instant::now();
        let mut alarms: Vec<_> =
            [90, 30, 60, 45].map(|ms| ticker.alarm(now + Duration::from_millis(ms))).into();
        for (alarm, n) in alarms.iter_mut().zip(1..) {
            alarm.set(&waker(n));
        }
        alarms[1].set(&waker(7));
        drop(alarms.remove(3));
        assert_eq!([rung.recv(), rung.recv(), rung.recv()], [Ok(7), Ok(3), Ok(1)]);
        drop(alarms);
        assert!(ticker.state.alarms().due.is_empty());
    }
}
