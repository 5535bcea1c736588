//! Attempts on their way to an executor: slots and fair shares, threads, and the form in which attempts go to other hosts.

pub(crate) mod attempt;
pub(crate) mod backlog;
pub(crate) mod bounds;
pub(crate) mod dispatcher;
pub(crate) mod run_task;
pub(crate) mod signal;
pub(crate) mod slots;
pub(crate) mod wire;
