//! What decides: reads the state and emits events.

mod attempt;
mod bind;
mod close;
mod container;
mod dispatch;
mod hooks;
mod loops;
mod outputs;
mod recover;
mod retry;
mod rules;
mod suspend;
mod timers;
mod wrapper;

pub(super) use self::rules::outcome_member;
use super::{MOST_TASK_RUNS, Run, Step, env, node_at, state::merge_outputs};
