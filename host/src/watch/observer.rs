//! Hears one attempt for the watchers, and for its run.

mod rate_limit;

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use phasm_engine::{event::Fence, run::Run, text, usage::ResourceUsage};

use self::rate_limit::RateLimiter;
use crate::watch::hub::{LogLine, Notice, ProgressNote, Watchers};
use crate::{
    secrets::Secrets,
    store::AttemptLog,
    watch::{attempt_log::LogTail, spans::Calls},
};
use phasm_sandbox::executor::{HostCall, Level, Observer};

/// Passes on what one attempt writes: to watchers, and to its log.
pub(crate) struct AttemptObserver {
    watchers: Watchers,
    task: Arc<str>,
    fence: Fence,
    secrets: Secrets,
    book: LogTail,
    pace: Mutex<RateLimiter<Notice>>,
    metered: Mutex<ResourceUsage>,
    calls: Option<Calls>,
}

impl AttemptObserver {
    /// `kept` is how many bytes of the log are kept with the run.
    pub(crate) fn new(watchers: Watchers, run: &Run, fence: Fence, secrets: &Secrets, kept: usize) -> Self {
        let task = run.task(fence.task).map(|task| run.path(task)).unwrap_or_default().into();
        Self { watchers, task, ..Self::alone(fence, secrets, kept) }
    }

    /// An observer of an attempt of another host: its log goes there.
    pub(crate) fn alone(fence: Fence, secrets: &Secrets, kept: usize) -> Self {
        let (watchers, task) = (Watchers::default(), "".into());
        Self {
            watchers,
            task,
            fence,
            secrets: secrets.clone(),
            book: LogTail::new(kept),
            pace: Mutex::default(),
            metered: Mutex::default(),
            calls: None,
        }
    }

    /// Hears of the requests that it makes, too.
    pub(crate) fn tracing(self, calls: Option<Calls>) -> Self {
        Self { calls, ..self }
    }

    /// Returns the log of the attempt, which is over, if it wrote anything.
    pub(crate) fn close(&self) -> Option<AttemptLog> {
        self.tell_last();
        self.book.close(self.fence)
    }

    /// Resources that the attempt has used, as far as reported.
    pub(crate) fn metered(&self) -> ResourceUsage {
        *self.metered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far it was last, if that came too soon to be told.
    fn tell_last(&self) {
        let last = self.pace.lock().unwrap_or_else(PoisonError::into_inner).last();
        last.into_iter().for_each(|notice| self.watchers.send(&notice));
    }
}

impl Observer for AttemptObserver {
    fn log(&self, level: Level, text: &str) {
        let text = self.hide(text);
        self.book.write(level, &text);
        if self.watchers.any() {
            self.tell_last();
            let (task, attempt) = (Arc::clone(&self.task), self.fence.attempt);
            let line = LogLine { task, attempt, level, text: text.into_owned() };
            self.watchers.send(&Notice::Log(Arc::new(line)));
        }
    }

    fn progress(&self, fraction: Option<f64>, text: &str) {
        if self.watchers.any() {
            let (task, attempt) = (Arc::clone(&self.task), self.fence.attempt);
            let text = text::brief(&self.hide(text)).into_owned();
            let note = Notice::Progress(Arc::new(ProgressNote { task, attempt, fraction, text }));
            let told = self.pace.lock().unwrap_or_else(PoisonError::into_inner).take(note, Instant::now());
            told.into_iter().for_each(|notice| self.watchers.send(&notice));
        }
    }

    fn activity(&self) {}

    fn used(&self, metered: ResourceUsage) {
        *self.metered.lock().unwrap_or_else(PoisonError::into_inner) = metered;
    }

    fn is_followed(&self) -> bool {
        self.watchers.any()
    }

    fn is_traced(&self) -> bool {
        self.calls.is_some()
    }

    fn called(&self, call: HostCall) {
        if let Some(calls) = &self.calls {
            calls.ended(call);
        }
    }

    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.secrets.hide(text)
    }

    fn may_go_on(&self, text: &str) -> bool {
        self.secrets.may_go_on(text)
    }
}
