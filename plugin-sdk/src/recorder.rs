//! Recorder of calls to the host, in the place of the host's functions where an executor is tested natively.

use std::cell::RefCell;

use crate::bindings::phasm::executor::types::Level;

/// A call of the executor to the host.
#[derive(Clone, Debug, PartialEq)]
pub enum HostCall {
    /// A log line.
    Log(Level, String),
    /// How far the work is.
    Progress(Option<f64>, String),
    /// A sign of life.
    Heartbeat,
}

thread_local! {
    static CALLS: RefCell<Vec<HostCall>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn log(level: Level, text: &str) {
    push(HostCall::Log(level, text.to_owned()));
}

pub(crate) fn progress(fraction: Option<f64>, text: &str) {
    push(HostCall::Progress(fraction, text.to_owned()));
}

pub(crate) fn heartbeat() {
    push(HostCall::Heartbeat);
}

/// Returns the calls since the last time.
pub(crate) fn take() -> Vec<HostCall> {
    CALLS.take()
}

fn push(call: HostCall) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}
