//! The clock of `maxInactivity`.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use phasm_engine::{event::Fence, time::Millis, usage::ResourceUsage};
use phasm_sandbox::executor::{HostCall, Level, Observer};
use tokio::runtime::Handle;

use crate::{
    clock::Clock,
    dispatch::signal::{Inbox, Signal},
};

/// Passes on what a guest reports, and remembers when that was last.
pub(super) struct ActivityClock {
    pub(super) inner: Arc<dyn Observer>,
    pub(super) clock: Clock,
    pub(super) last: AtomicU64,
}

/// Keeps the clock of `maxInactivity` for an attempt that has just started; only its expiry is reported (R-T5, R-T9).
pub(super) fn watch<I: Inbox>(
    control: &Handle,
    clock: &Clock,
    fence: Fence,
    limit: Millis,
    inner: Arc<dyn Observer>,
    inbox: &I,
) -> Arc<dyn Observer> {
    let last = AtomicU64::new(clock.elapsed());
    let observer = Arc::new(ActivityClock { inner, last, clock: clock.clone() });
    let clock = clock.clone();
    let weak = Arc::downgrade(&observer);
    let inbox = inbox.clone();
    control.spawn(async move {
        loop {
            let Some(last) = weak.upgrade().map(|observer| observer.last.load(Ordering::Relaxed)) else {
                return;
            };
            let ends = last.saturating_add(limit);
            if clock.elapsed() >= ends {
                inbox.signal(Signal::Inactive(fence));
                return;
            }
            clock.sleep_until(ends).await;
        }
    });
    observer
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

    fn used(&self, usage: ResourceUsage) {
        self.inner.used(usage);
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
