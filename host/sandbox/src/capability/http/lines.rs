//! A line of the log for each request, when it is over.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
    time::{Instant, SystemTime},
};

use super::{
    budget::Moved,
    caller::Caller,
    failure::{Failure, Over},
    target::Target,
};
use crate::executor::{HostCall, Level};

/// What is said of a request that nobody waits for any more.
pub(super) const GIVEN_UP: &str = "given up";

/// Requests that are under way. What its attempt leaves behind is told when it ends, and nothing after.
#[derive(Default)]
pub(super) struct Lines(Mutex<BTreeMap<u32, Line>>);

pub(super) struct Line {
    target: Target,
    since: (Instant, SystemTime),
    status: Option<u16>,
    moved: Arc<Moved>,
}

/// A request that is to be told of.
pub(super) struct Ticket {
    caller: Arc<Caller>,
    number: u32,
}

impl Ticket {
    pub(super) fn new(caller: &Arc<Caller>, number: u32, target: &Target, moved: &Arc<Moved>) -> Self {
        let since = (Instant::now(), SystemTime::now());
        let line = Line { target: target.clone(), since, status: None, moved: Arc::clone(moved) };
        caller.lines.lock().insert(number, line);
        Self { caller: Arc::clone(caller), number }
    }

    pub(super) fn answered(&self, status: u16) {
        if let Some(line) = self.caller.lines.lock().get_mut(&self.number) {
            line.status = Some(status);
        }
    }

    /// What is made of a limit that was met.
    pub(super) fn over(&self, over: Over) -> Failure {
        self.caller.over(over)
    }

    /// Keeps for the attempt's message what an operator could have otherwise.
    pub(super) fn refuse(&self, failure: &Failure) {
        if failure.refusal {
            self.caller.refuse(&failure.why);
        }
    }

    /// Tells how it ended; well, if there is nothing to say.
    pub(super) fn end(&self, why: Option<&str>) {
        if let Some(line) = self.caller.lines.lock().remove(&self.number) {
            self.caller
                .transcript
                .note(if why.is_some() { Level::Warn } else { Level::Info }, &line.told(why));
            line.trace(&self.caller, self.number, why);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.end(Some(GIVEN_UP));
    }
}

impl Lines {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, Line>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is still under way when the attempt is over.
    pub(super) fn rest(&self) -> BTreeMap<u32, Line> {
        std::mem::take(&mut *self.lock())
    }
}

impl Line {
    pub(super) fn told(&self, why: Option<&str>) -> String {
        let Self { target, since: (since, _), status, moved } = self;
        let shown = target.shown();
        let status = status.map(|status| format!(" {status}")).unwrap_or_default();
        let why = why.map(|why| format!(", {why}")).unwrap_or_default();
        let (sent, received) = (moved.sent.load(Relaxed), moved.received.load(Relaxed));
        format!(
            "{shown}{status}{why}, sent {sent} bytes, received {received} bytes, {} ms",
            since.elapsed().as_millis()
        )
    }

    /// Tells whoever traces it.
    pub(super) fn trace(self, caller: &Caller, number: u32, why: Option<&str>) {
        let Self { target, since: (since, began), status, moved } = self;
        caller.transcript.called(|| HostCall {
            span: caller.span(number),
            url: target.url(),
            method: target.method,
            since: began,
            until: began + since.elapsed(),
            status,
            moved: (moved.sent.load(Relaxed), moved.received.load(Relaxed)),
            failed: why.map(ToOwned::to_owned),
        });
    }
}
