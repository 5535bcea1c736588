//! What decides: a [`Decider`] reads the state, emits events and asks for commands. How one does so is the only thing
//! [`decider`] tells; the files beside it hold what is decided about what, each as more of what a `Decider` can do.

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
mod retry;
mod reuse;
mod room;
mod rules;
mod take;
mod timers;
mod wrapper;

pub(super) use self::decider::{Decider, Worklist};
use super::{MOST_STEP_BYTES, MOST_TASK_RUNS, env};
