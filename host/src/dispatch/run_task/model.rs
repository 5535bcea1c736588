//! A model of tasks and their wake-ups, in which loom tries every interleaving.

/// The source of [`super::poll_state`], with loom's atomics.
#[path = "poll_state.rs"]
#[expect(clippy::duplicate_mod, reason = "the same source is checked with other atomics")]
mod poll_state;

mod atomic {
    pub(super) use loom::sync::atomic::{AtomicU8, Ordering};
}

use loom::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
};

use self::poll_state::PollState;

/// News that only the polling thread reads, and the news that it has seen.
struct Model {
    state: PollState,
    news: AtomicU32,
    /// Locked while a thread polls, as the driver is. No thread waits for it, since one thread polls at a time.
    seen: Mutex<u32>,
}

impl Model {
    fn poll(&self) {
        loop {
            self.state.begin();
            let mut seen = self.seen.try_lock().expect("one thread polls at a time");
            *seen = self.news.load(Relaxed);
            drop(seen);
            if self.state.end() {
                return;
            }
            // The thread that is called: here the same one.
            self.state.hand_over();
        }
    }

    fn notify(&self) {
        self.news.fetch_add(1, Relaxed);
        if self.state.wake() {
            self.poll();
        }
    }
}

/// Whatever the interleaving, one thread polls at a time, and the last poll has seen all news.
#[test]
fn no_wake_up_is_lost_and_one_thread_polls() {
    let mut builder = loom::model::Builder::new();
    // A fault of so small a state shows with two preemptions; without a bound there are too many orders to try.
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let model = Arc::new(Model { state: PollState::new(), news: AtomicU32::new(0), seen: Mutex::new(0) });
        let notifiers: Vec<_> = (0..2)
            .map(|_| {
                let model = Arc::clone(&model);
                thread::spawn(move || model.notify())
            })
            .collect();
        model.poll();
        notifiers.into_iter().for_each(|notifier| notifier.join().unwrap());
        assert_eq!(*model.seen.lock().unwrap(), 2);
    });
}
