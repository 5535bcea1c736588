//! What a run has come to: changed by applied events, and by the agenda of what waits for its turn.

mod agenda;
mod apply;
mod children;
mod clocks;
mod enter;
mod scope;
mod task;
mod wait;

pub(super) use self::{
    apply::merge_outputs,
    wait::{WaitKind, Waits},
};
pub use self::{
    scope::{Course, Ended, Failures, LoopCourse, Next, PipelineCourse, Scope, Tally},
    task::{Attempt, Clocks, HookOf, MAX_DEPTH, Place, QueueKey, Since, TaskRun, Turn},
};
use super::{MOST_TASK_RUNS, MOST_WARNINGS, Run, node_at};
