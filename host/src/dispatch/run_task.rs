//! Where a run's driver is polled.
//!
//! A driver has little to do at a time, and waking another thread for it costs as much as a small guest. So whoever has
//! news for it and may do its work, does: the guest thread that has just ended an attempt, the caller that has submitted a
//! run. All others wake the engine's threads. Its clocks are the engine's wherever it is polled, as no guest delays those.

use std::{
    cell::{Cell, RefCell},
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicU8,
            Ordering::{AcqRel, Acquire, Release},
        },
    },
    task::{Context, Wake, Waker},
};

use tokio::runtime::Handle;

/// How often it is polled in one place before others have their turn.
const TURNS: u32 = 8;

/// So many small attempts that follow each other one by one are executed where the driver is polled, before others have their turn.
pub(crate) const FOLLOWING: u32 = 8;

/// Nobody polls it, and nothing has happened.
const IDLE: u8 = 0;
/// Somebody is going to poll it.
const CALLED: u8 = 1;
/// Somebody polls it.
const POLLED: u8 = 2;
/// Somebody polls it, and has to do so once more.
const AGAIN: u8 = 3;

type Driving = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Holds a driver until it is through, or is told to let go.
pub(crate) struct Seat {
    state: AtomicU8,
    driving: Mutex<Option<Driving>>,
    control: Handle,
}

/// What a thread does with a seat that its news has woken.
enum Here {
    /// It has no time for it.
    Busy,
    /// It polls the first.
    Free,
    Called(Arc<Seat>),
}

thread_local! {
    static HERE: RefCell<Here> = const { RefCell::new(Here::Busy) };
    static EXECUTES: Cell<bool> = const { Cell::new(false) };
    static LENT: Cell<u32> = const { Cell::new(0) };
}

/// Tells some driver news of an attempt that this thread executes, and polls it here if nobody does.
pub(crate) fn tell_here(news: impl FnOnce()) {
    if let Some(seat) = called_by(news) {
        let before = (EXECUTES.replace(true), LENT.replace(FOLLOWING));
        seat.poll();
        EXECUTES.set(before.0);
        LENT.set(before.1);
    }
}

/// Whether this thread polls a driver besides executing attempts: it is awake, and could go on with the next.
pub(crate) fn is_executing() -> bool {
    EXECUTES.get()
}

/// Whether this thread, which polls a driver, may execute a small attempt as well.
pub(crate) fn is_lent() -> bool {
    LENT.get() > 0
}

/// As [`is_lent`], for who executes one if it is so; for as many as it is lent for.
pub(crate) fn take_lent() -> bool {
    let left = LENT.get();
    LENT.set(left.saturating_sub(1));
    left > 0
}

/// Lends this thread, if it is none of the engine's, for so many small attempts that `work` begins.
pub(crate) fn lend_caller<T>(control: &Handle, attempts: u32, work: impl FnOnce() -> T) -> T {
    let is_callers = Handle::try_current().map_or(true, |current| current.id() != control.id());
    let before = LENT.replace(if is_callers { attempts } else { 0 });
    let done = work();
    LENT.set(before);
    done
}

/// Tells some driver news that can wait until others have come: those of the attempts that are to be polled next.
pub(crate) fn tell_soon(guests: &Handle, news: impl FnOnce()) {
    if let Some(seat) = called_by(news) {
        guests.spawn(async move {
            // Whatever else there is to poll comes first, within bounds.
            tokio::task::yield_now().await;
            seat.poll();
        });
    }
}

/// Tells some driver news that it takes long to take: on threads that may be held up.
pub(crate) fn tell_on(threads: &Handle, news: impl FnOnce()) {
    if let Some(seat) = called_by(news) {
        threads.spawn(async move { seat.poll() });
    }
}

/// The seat that somebody is to poll after the news.
fn called_by(news: impl FnOnce()) -> Option<Arc<Seat>> {
    let before = HERE.replace(Here::Free);
    news();
    if let Here::Called(seat) = HERE.replace(before) { Some(seat) } else { None }
}

impl Seat {
    /// Nothing happens until it is [polled](Self::poll) for the first time.
    pub(crate) fn new(driving: impl Future<Output = ()> + Send + 'static, control: Handle) -> Arc<Self> {
        let driving: Driving = Box::pin(tokio::task::unconstrained(driving));
        Arc::new(Self { state: AtomicU8::new(CALLED), driving: Mutex::new(Some(driving)), control })
    }

    /// Drops the driver, which stands still from now on.
    pub(crate) fn clear(&self) {
        let driving = self.driving().take();
        drop(driving);
    }

    /// Polls the driver; for whoever made or called it.
    pub(crate) fn poll(self: &Arc<Self>) {
        let waker = Waker::from(Arc::clone(self));
        let mut context = Context::from_waker(&waker);
        let _clocks = self.control.enter();
        for _ in 0..TURNS {
            self.state.store(POLLED, Release);
            if self.poll_once(&mut context) {
                return;
            }
            if self.state.compare_exchange(POLLED, IDLE, AcqRel, Acquire).is_ok() {
                return;
            }
        }
        self.state.store(CALLED, Release);
        self.call_engine();
    }

    /// [`Self::poll`] for a caller, whose thread may execute one small attempt if it is none of the engine's.
    pub(crate) fn poll_lent(self: &Arc<Self>) {
        lend_caller(&self.control, 1, || self.poll());
    }

    /// True once there is nothing left to poll. A driver that panics is gone, as a task would be.
    fn poll_once(&self, context: &mut Context<'_>) -> bool {
        let mut place = self.driving();
        let Some(driving) = place.as_mut() else { return true };
        let over =
            catch_unwind(AssertUnwindSafe(|| driving.as_mut().poll(context).is_ready())).unwrap_or(true);
        let driving = place.take_if(|_| over);
        drop(place);
        drop(driving);
        over
    }

    fn call_engine(self: &Arc<Self>) {
        let seat = Arc::clone(self);
        self.control.spawn(async move { seat.poll() });
    }

    fn driving(&self) -> MutexGuard<'_, Option<Driving>> {
        self.driving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Wake for Seat {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let next = |state| match state {
            IDLE => Some(CALLED),
            POLLED => Some(AGAIN),
            _ => None,
        };
        if self.state.fetch_update(AcqRel, Acquire, next) != Ok(IDLE) {
            return;
        }
        let is_free = HERE.with_borrow_mut(|here| {
            let is_free = matches!(here, Here::Free);
            if is_free {
                *here = Here::Called(Arc::clone(self));
            }
            is_free
        });
        if !is_free {
            self.call_engine();
        }
    }
}
