//! The task that drives a run, polled by the thread that has news for it.
//!
//! A driver has little to do at a time, and waking another thread for it costs as much as a small guest. So a thread with news
//! polls the driver itself where it may: the guest thread that has just ended an attempt, the caller that has submitted a run. All
//! others wake the control threads. Timers are those of the control runtime wherever the driver is polled, as no guest delays them.
//!
//! Serves chains of small attempts: two changes of thread were most of the cost of a chain's task, 87 µs and 20 µs without them
//! (`host/docs/design`, "Drivers are polled by the thread that has news").

#[cfg(test)]
mod model;
mod poll_state;

/// The atomics of [`poll_state`], which loom replaces in its test.
mod atomic {
    pub(super) use std::sync::atomic::{AtomicU8, Ordering};
}

use std::{
    cell::RefCell,
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Wake, Waker},
};

use tokio::runtime::Handle;

use self::poll_state::PollState;

/// Consecutive polls on one thread before other tasks have their turn there.
const MAX_POLLS: u32 = 8;

type Driving = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A driver, until it is over or cleared.
pub(crate) struct RunTask {
    state: PollState,
    driving: Mutex<Option<Driving>>,
    control: Handle,
}

/// Whether this thread polls a task that its news wakes.
enum Willing {
    /// The thread has no time for it.
    No,
    /// The thread polls the first task that it wakes.
    First,
    /// The task that the thread is going to poll.
    Task(Arc<RunTask>),
}

thread_local! {
    static WILLING: RefCell<Willing> = const { RefCell::new(Willing::No) };
}

/// Sends news to a driver, and polls it on this thread if none does.
pub(crate) fn notify_here(news: impl FnOnce()) {
    if let Some(task) = woken_by(news) {
        task.poll();
    }
}

/// Sends news to a driver, and polls it on a guest thread after the attempts that are polled next: news that can wait for
/// theirs.
pub(crate) fn notify_soon(guests: &Handle, news: impl FnOnce()) {
    if let Some(task) = woken_by(news) {
        guests.spawn(async move {
            // Everything else that is ready comes first.
            tokio::task::yield_now().await;
            task.poll();
        });
    }
}

/// Sends news to a driver that takes long to handle, and polls it on threads that may be held up.
pub(crate) fn notify_on(threads: &Handle, news: impl FnOnce()) {
    if let Some(task) = woken_by(news) {
        threads.spawn(async move { task.poll() });
    }
}

/// The task that `news` wakes and that the caller has to poll.
fn woken_by(news: impl FnOnce()) -> Option<Arc<RunTask>> {
    let before = WILLING.replace(Willing::First);
    news();
    if let Willing::Task(task) = WILLING.replace(before) { Some(task) } else { None }
}

impl RunTask {
    /// Makes a task. Nothing happens until it is [polled](Self::poll) for the first time.
    pub(crate) fn new(driving: impl Future<Output = ()> + Send + 'static, control: Handle) -> Arc<Self> {
        let driving: Driving = Box::pin(tokio::task::unconstrained(driving));
        Arc::new(Self { state: PollState::new(), driving: Mutex::new(Some(driving)), control })
    }

    /// Drops the driver.
    pub(crate) fn clear(&self) {
        let driving = self.driving().take();
        drop(driving);
    }

    /// Polls the driver, by the thread that made the task or was called by it.
    pub(crate) fn poll(self: &Arc<Self>) {
        let waker = Waker::from(Arc::clone(self));
        let mut context = Context::from_waker(&waker);
        let _timers = self.control.enter();
        for _ in 0..MAX_POLLS {
            self.state.begin();
            if self.poll_once(&mut context) || self.state.end() {
                return;
            }
        }
        self.state.hand_over();
        self.call_control();
    }

    /// Returns true once the driver is over or gone. One that panics is gone, as a tokio task would be.
    fn poll_once(&self, context: &mut Context<'_>) -> bool {
        let mut place = self.driving();
        let Some(driving) = place.as_mut() else { return true };
        let is_over =
            catch_unwind(AssertUnwindSafe(|| driving.as_mut().poll(context).is_ready())).unwrap_or(true);
        let driving = place.take_if(|_| is_over);
        drop(place);
        drop(driving);
        is_over
    }

    fn call_control(self: &Arc<Self>) {
        let task = Arc::clone(self);
        self.control.spawn(async move { task.poll() });
    }

    fn driving(&self) -> MutexGuard<'_, Option<Driving>> {
        self.driving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RunTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunTask").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Wake for RunTask {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.state.wake() {
            return;
        }
        let is_taken = WILLING.with_borrow_mut(|willing| {
            let is_taken = matches!(willing, Willing::First);
            if is_taken {
                *willing = Willing::Task(Arc::clone(self));
            }
            is_taken
        });
        if !is_taken {
            self.call_control();
        }
    }
}
