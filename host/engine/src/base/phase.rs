//! The ten phases and the edges between them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a task run (or a whole run, by its root) stands.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Phase {
    /// Exists; dependencies or a limit may still hold it, or a retry waits.
    #[default]
    Created,
    /// Handed to the executor's side; for a container, its first leaf has been.
    Ready,
    /// The executor has started; for a container, its first leaf has.
    Running,
    /// The executor returned code 1 and waits for a resume. Leaves only.
    Suspended,
    /// Ended well.
    Succeeded,
    /// Ended with a failure the executor expected.
    Failed,
    /// Ended with a fault of the system.
    Error,
    /// Ended by its deadline.
    Timeout,
    /// Never ran: `when` was false, no attempt was allowed, or a pipeline never came by.
    Skipped,
    /// Stopped from outside.
    Cancelled,
}

/// Which edges apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// A task run whose work is one executor.
    Leaf,
    /// The run of a dag, loop or pipeline.
    Container,
    /// A task whose attempts run a container.
    Wrapper,
}

impl Phase {
    /// All phases, in the order of Aether.
    pub const ALL: [Self; 10] = [
        Self::Created,
        Self::Ready,
        Self::Running,
        Self::Suspended,
        Self::Succeeded,
        Self::Failed,
        Self::Error,
        Self::Timeout,
        Self::Skipped,
        Self::Cancelled,
    ];

    /// The exact word of Aether.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "Created",
            Self::Ready => "Ready",
            Self::Running => "Running",
            Self::Suspended => "Suspended",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Error => "Error",
            Self::Timeout => "Timeout",
            Self::Skipped => "Skipped",
            Self::Cancelled => "Cancelled",
        }
    }

    /// Whether nothing follows.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        self >= Self::Succeeded
    }

    /// Whether a task run of `kind` may go from this phase to `to`: the one definition of legal edges.
    #[must_use]
    pub fn may_become(self, to: Self, kind: TaskKind) -> bool {
        if self.is_terminal() {
            return false;
        }
        match kind {
            TaskKind::Leaf => self.leaf_may_become(to),
            TaskKind::Container => self.container_may_become(to),
            TaskKind::Wrapper => {
                self.container_may_become(to)
                    || matches!((self, to), (Self::Ready | Self::Running, Self::Created))
            }
        }
    }

    fn leaf_may_become(self, to: Self) -> bool {
        let ended =
            matches!(to, Self::Succeeded | Self::Failed | Self::Error | Self::Timeout | Self::Cancelled);
        match self {
            Self::Created => matches!(to, Self::Ready | Self::Skipped | Self::Cancelled | Self::Error),
            Self::Ready => ended || matches!(to, Self::Running | Self::Created),
            Self::Running => ended || matches!(to, Self::Suspended | Self::Created),
            Self::Suspended => ended || matches!(to, Self::Running | Self::Created),
            Self::Succeeded
            | Self::Failed
            | Self::Error
            | Self::Timeout
            | Self::Skipped
            | Self::Cancelled => false,
        }
    }

    fn container_may_become(self, to: Self) -> bool {
        match self {
            Self::Created => to == Self::Ready || to.is_terminal(),
            Self::Ready => to == Self::Running || (to.is_terminal() && to != Self::Skipped),
            Self::Running => to.is_terminal() && to != Self::Skipped,
            Self::Suspended
            | Self::Succeeded
            | Self::Failed
            | Self::Error
            | Self::Timeout
            | Self::Skipped
            | Self::Cancelled => false,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
