//! Views of a run for readers.

mod events;
mod look;
mod view;
mod waiting;

pub use self::{
    events::{EventView, render, views},
    look::{Progress, Times},
    view::{
        AttemptView, HookView, Metrics, NamedInput, NamedOutput, RunView, TaskView, UsageView, WarningView,
    },
    waiting::{Waiting, WaitsFor},
};
