//! The plain values that a document sets and a run goes by: no expressions, no names of other things.
//!
//! A new knob is its value here, its field in the table of the object that has it (`document`), and its place in the
//! plan's [`Settings`](crate::plan::Settings) or [`Node`](crate::plan::Node).

mod aggregate;
mod hook;
mod parameter;
mod retry;
mod secret;
mod timeout;
mod tolerance;

pub(crate) use parameter::TypeMismatch;
pub use {
    aggregate::{Aggregate, AggregateStrategy},
    hook::HookType,
    parameter::ParameterType,
    retry::{Backoff, Growth, MaxAttempts},
    secret::SecretRef,
    timeout::{Expiry, TimeoutPolicy},
    tolerance::Tolerance,
};
