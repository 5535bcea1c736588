//! Requests to the host.

use std::sync::Arc;

use crate::{
    time::{Millis, Timestamp},
    value::Value,
};

use super::{Bindings, Fence};

/// A request to the host, to be carried out once the events of the same step are durable.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Execute one attempt.
    Dispatch(Dispatch),
    /// Stop an attempt, best effort; the run does not wait for it.
    Abort(Fence),
}

/// One dispatch of one attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// Which one.
    pub fence: Fence,
    /// `taskName`.
    pub task_name: Arc<str>,
    /// `executor.type`.
    pub executor_type: Arc<str>,
    /// Since when the attempt could have begun, as far as the run alone is concerned.
    pub due: Timestamp,
    /// Whether the attempt was suspended and is called again.
    pub resumed: bool,
    /// `executor.config`, an object.
    pub config: Value,
    /// The bound inputs, overlaid by resume payloads.
    pub inputs: Bindings,
    /// `resources.memory` in bytes.
    pub memory: Option<u64>,
    /// The earliest of all absolute clocks.
    pub deadline: Option<Timestamp>,
    /// `maxRuntime`, which counts from the start of the executor.
    pub max_runtime: Option<Millis>,
    /// `maxInactivity`, kept by the dispatcher.
    pub max_inactivity: Option<Millis>,
}
