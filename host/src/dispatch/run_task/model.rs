//! A model of tasks and their wake-ups, in which loom tries every interleaving.

/// The source of [`super::poll_state`], with loom's atomics.
#[path = "poll_state.rs"]
#[expect(clippy::duplicate_mod, reason = "the same source is checked with other atomics")]
mod poll_state;

mod atomic {
    pub(super) use loom::sync::atomic::{AtomicU8, Ordering};
}

use loom::{
    cell::UnsafeCell,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
};

use self::poll_state::PollState;

/// News that only the polling thread reads, and the news that it has seen.
struct Model {
    state: PollState,
    news: AtomicU32,
    /// Accessed by the polling thread alone: loom fails if two poll at once, or one does not see the other's writes.
    seen: UnsafeCell<u32>,
}

impl Model {
    fn poll(&self) {
        loop {
            self.state.begin();
            let news = self.news.load(Relaxed);
            self.seen.with_mut(|seen| self.write(seen, news));
            if self.state.end() {
                return;
            }
            // The thread that is called: here the same one.
            self.state.hand_over();
        }
    }

    #[expect(unsafe_code, reason = "loom checks that no two threads are here at once")]
    fn write(&self, seen: *mut u32, news: u32) {
        // SAFETY: the state lets one thread poll at a time, which is what the model checks.
        unsafe { *seen = news }
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
        let model =
            Arc::new(Model { state: PollState::new(), news: AtomicU32::new(0), seen: UnsafeCell::new(0) });
        let notifiers: Vec<_> = (0..2)
            .map(|_| {
                let model = Arc::clone(&model);
                thread::spawn(move || model.notify())
            })
            .collect();
        model.poll();
        notifiers.into_iter().for_each(|notifier| notifier.join().unwrap());
        let mut seen = 0;
        model.seen.with(|value| seen = read(value));
        assert_eq!(seen, 2);
    });
}

#[expect(unsafe_code, reason = "all other threads have been joined")]
fn read(value: *const u32) -> u32 {
    // SAFETY: no other thread is left.
    unsafe { *value }
}
