//! Views of a run for readers.

mod events;
mod limit;
mod model;
mod named;
mod reason;
mod remarks;
mod unretried;
mod waiting;

pub use self::{
    events::{EventView, render, views},
    limit::{LeftOutValue, NoLimit, ShownValue, ValueKind, ViewLimit},
    model::{AttemptView, HookView, Metrics, RunView, TaskView, UsageView, WarningView},
    named::{NamedInput, NamedOutput},
    waiting::{Waiting, WaitsFor},
};
