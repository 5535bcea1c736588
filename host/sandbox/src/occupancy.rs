//! Use of a sandbox's resources.

/// Use of a sandbox's resources, and the number of faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Slots of the pool.
    pub slots: u32,
    /// Slots that guests hold at this moment.
    pub slots_used: u32,
    /// Linear memory that guests have taken in addition to the parts of their slots, in bytes.
    pub memory_beyond: u64,
    /// Maximum of [`Self::memory_beyond`] for all guests, in bytes.
    pub memory_beyond_most: u64,
    /// Processes that are calling guests at this moment.
    pub processes: u32,
    /// Maximum number of processes that call guests at once.
    pub processes_most: u32,
    /// Processes that are kept for the next call.
    pub processes_idle: u32,
    /// Processes that were started since the sandbox was made.
    pub processes_started: u64,
    /// Number of calls that ended with each kind of fault, since the sandbox was made.
    pub faults: Vec<(FaultKind, u64)>,
}

/// Kind of fault that ends a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The guest computed until its deadline.
    Timeout,
    /// The guest reached a limit.
    Limit,
    /// The guest exited.
    Exit,
    /// The guest trapped.
    Trap,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Timeout, Self::Limit, Self::Exit, Self::Trap];

    /// Returns the word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Limit => "limit",
            Self::Exit => "exit",
            Self::Trap => "trap",
        }
    }
}
