//! How much of a sandbox is in use.

/// How much of a sandbox is in use, and how calls have ended that did not return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Slots of the pool.
    pub slots: u32,
    /// Slots that guests hold at this moment.
    pub slots_used: u32,
    /// Linear memory that guests have beyond the parts of their slots, in bytes.
    pub memory_beyond: u64,
    /// How much of that there is for all of them, in bytes.
    pub memory_beyond_most: u64,
    /// Processes that call guests at this moment.
    pub processes: u32,
    /// How many may do so at once.
    pub processes_most: u32,
    /// Processes that are kept for the next call.
    pub processes_idle: u32,
    /// Processes that were started since the sandbox was made.
    pub processes_started: u64,
    /// How often calls have ended with each kind of fault, since the sandbox was made.
    pub faults: Vec<(FaultKind, u64)>,
}

/// How a call ends that does not return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// At its deadline, while it computed.
    Timeout,
    /// At a limit.
    Limit,
    /// The guest exited.
    Exit,
    /// The guest trapped.
    Trap,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Timeout, Self::Limit, Self::Exit, Self::Trap];

    /// Its word.
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
