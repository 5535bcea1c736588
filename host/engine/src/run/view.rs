//! Views of a run for readers.

mod events;
mod model;
mod reason;
mod remarks;
mod waiting;

pub use self::{
    events::{EventView, render, views},
    model::{
        AttemptView, HookView, Metrics, NamedInput, NamedOutput, RunView, TaskView, UsageView, WarningView,
    },
    waiting::{Waiting, WaitsFor},
};
