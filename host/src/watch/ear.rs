//! Hears one attempt for the watchers, and for its run.

use std::{borrow::Cow, sync::Arc};

use phasm_engine::{event::Fence, run::Run};

use super::{LogLine, Notice, ProgressNote, Watchers};
use crate::{
    executor::{Level, Observer},
    logbook::Logbook,
    secrets::Secrets,
    store::AttemptLog,
};

/// What one attempt says, and to whom.
pub(crate) struct Ear {
    watchers: Watchers,
    task: Arc<str>,
    fence: Fence,
    secrets: Secrets,
    book: Logbook,
}

impl Ear {
    /// `kept` is how many bytes of the log are kept with the run.
    pub(crate) fn new(watchers: Watchers, run: &Run, fence: Fence, secrets: &Secrets, kept: usize) -> Self {
        let task = run.task(fence.task).map(|task| run.path(task)).unwrap_or_default().into();
        Self { watchers, task, ..Self::alone(fence, secrets, kept) }
    }

    /// Of an attempt whose run is driven elsewhere: what is kept of it goes there.
    pub(crate) fn alone(fence: Fence, secrets: &Secrets, kept: usize) -> Self {
        let (watchers, task) = (Watchers::default(), "".into());
        Self { watchers, task, fence, secrets: secrets.clone(), book: Logbook::new(kept) }
    }

    /// What is to be kept of the attempt, which is over, if it wrote anything.
    pub(crate) fn close(&self) -> Option<AttemptLog> {
        self.book.close(self.fence)
    }
}

impl Observer for Ear {
    fn log(&self, level: Level, text: &str) {
        let text = self.hide(text);
        self.book.write(level, &text);
        if self.watchers.any() {
            let (task, attempt) = (Arc::clone(&self.task), self.fence.attempt);
            let line = LogLine { task, attempt, level, text: text.into_owned() };
            self.watchers.send(&Notice::Log(Arc::new(line)));
        }
    }

    fn progress(&self, fraction: Option<f64>, text: &str) {
        if self.watchers.any() {
            let (task, attempt) = (Arc::clone(&self.task), self.fence.attempt);
            let note = ProgressNote { task, attempt, fraction, text: self.hide(text).into_owned() };
            self.watchers.send(&Notice::Progress(Arc::new(note)));
        }
    }

    fn activity(&self) {}

    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.secrets.hide(text)
    }

    fn may_go_on(&self, text: &str) -> bool {
        self.secrets.may_go_on(text)
    }
}
