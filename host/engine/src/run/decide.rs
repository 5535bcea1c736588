//! Decisions: a [`Decider`] reads the state, emits events and requests commands. The mechanism is in [`decider`]; each of the
//! other files adds the decisions about one subject as methods of `Decider`.

mod attempt;
mod bind;
mod close;
mod container;
mod decider;
mod dispatch;
mod ending;
mod hooks;
mod loops;
mod outputs;
mod policy;
mod retry;
mod reuse;
mod room;
mod take;
mod timers;
mod wrapper;

pub(super) use self::decider::{Decider, Worklist};
use super::{MAX_STEP_BYTES, MAX_TASK_RUNS, env};
