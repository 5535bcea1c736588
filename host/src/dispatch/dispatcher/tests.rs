//! Tests of starting attempts.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use phasm_engine::{
    event::{Fence, TaskId},
    outcome::Outcome,
};
use phasm_sandbox::executor::{Executor, Invocation, Level, Observer};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{Dispatcher, activity::ActivityClock};
use crate::{
    clock::{Clock, manual::ManualClock},
    dispatch::{attempt::Attempt, backlog::Backlog, bounds::Bounds, signal::Signal, slots::Rules},
};

/// Ignores everything.
struct SilentObserver;

impl Observer for SilentObserver {
    fn log(&self, _: Level, _: &str) {}
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}

/// R-T5: log lines, progress and every other sign of life put the clock back.
#[test]
fn every_report_of_a_guest_is_activity() {
    let time = Arc::new(ManualClock::default());
    time.pass(5);
    let clock = Clock::from(time as Arc<_>);
    let activity = ActivityClock { inner: Arc::new(SilentObserver), clock, last: AtomicU64::new(0) };
    let signs: [fn(&ActivityClock); 3] = [
        |activity| activity.log(Level::Trace, ""),
        |activity| activity.progress(None, ""),
        |activity| activity.activity(),
    ];
    for sign in signs {
        activity.last.store(0, Ordering::Relaxed);
        sign(&activity);
        assert_eq!(activity.last.load(Ordering::Relaxed), 5);
    }
}

/// Starts and reports nothing more.
struct HangingExecutor;

impl Executor for HangingExecutor {
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

/// Writes one line and is over.
struct OneLineExecutor;

impl Executor for OneLineExecutor {
    fn execute(
        &self,
        _: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        observer.log(Level::Info, "started");
        Box::pin(std::future::ready(Outcome::error("")))
    }
}

/// Expects the signal of the start before the first line.
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
fn a_follower_learns_of_the_start_before_the_first_line() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let handle = runtime.handle().clone();
    let dispatcher =
        Dispatcher::new(1, Rules::new(), Arc::new(OneLineExecutor), handle.clone(), handle, Clock::start());
    let (inbox, hears) = unbounded_channel::<Signal>();
    let follower = Arc::new(Follower(Mutex::new(hears)));
    let attempt = Attempt {
        fence: Fence { task: TaskId(1), attempt: 1, dispatch: 1 },
        invocation: Invocation::first("mute"),
        bounds: Bounds::default(),
        observer: Arc::clone(&follower) as _,
        inbox,
        backlog: Backlog::default(),
        tenant: None,
        due: None,
        offer: None,
    };
    Arc::new(dispatcher).start(attempt);
    runtime.block_on(async {
        while follower.0.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    });
    let ended = follower.0.lock().unwrap().try_recv();
    assert!(matches!(ended, Ok(Signal::Finished(..))), "{ended:?}");
}

/// R-T9: an attempt that waits for a thread is not inactive; the clock starts with the executor.
#[test]
fn inactivity_counts_from_the_start() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let handle = runtime.handle().clone();
    let dispatcher =
        Dispatcher::new(1, Rules::new(), Arc::new(HangingExecutor), handle.clone(), handle, Clock::start());
    let (inbox, mut hears) = unbounded_channel::<Signal>();
    let fence = Fence { task: TaskId(1), attempt: 1, dispatch: 1 };
    let bounds = Bounds { max_inactivity: Some(0), ..Bounds::default() };
    let attempt = Attempt {
        fence,
        invocation: Invocation::first("mute"),
        bounds,
        observer: Arc::new(SilentObserver),
        inbox,
        backlog: Backlog::default(),
        tenant: None,
        due: None,
        offer: None,
    };
    Arc::new(dispatcher).start(attempt);
    let heard = runtime.block_on(async { [hears.recv().await, hears.recv().await] });
    assert!(matches!(heard, [Some(Signal::Started(..)), Some(Signal::Inactive(_))]), "{heard:?}");
}
