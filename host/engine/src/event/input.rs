//! Input from outside.

use crate::{outcome::Outcome, usage::ResourceUsage, value::Map};

use super::{Fence, Requester, RunningQuota, TaskId};

/// Everything that can happen to a run from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The host lets so many leaves be dispatched; what the run cannot use it leaves.
    Lent(u32),
    /// The executor has started.
    Started(Fence),
    /// The executor has returned, or the host reports in its place.
    Finished(Fence, Outcome),
    /// The executor's side stopped the attempt at its deadline before the engine's own clock was heard.
    Interrupted(Fence),
    /// The quota that keeps leaves from the slots they wait for; nothing, if it is the slots themselves that there are too few of.
    Held(Option<RunningQuota>),
    /// Resources used by an attempt that is over without an outcome.
    Metered(Fence, ResourceUsage),
    /// The dispatcher's clock of inactivity ran out.
    Inactive(Fence),
    /// A suspended task gets its answer, from that caller if it is known.
    Resumed(TaskId, Map, Option<Requester>),
    /// The user cancels the run.
    Cancelled(Option<Requester>),
    /// The user cancels one task.
    TaskCancelled(TaskId, Option<Requester>),
    /// Time has passed.
    Tick,
}
