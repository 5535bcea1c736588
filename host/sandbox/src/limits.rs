//! What one call may use.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use wasmtime::ResourceLimiter;

use super::pool::TABLES_PER_SLOT;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// The operator's limits on every call; past one of them the attempt ends with code 3. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Linear memory of all of a guest's modules together. An invocation may lower it.
    pub memory: u64,
    /// Linear memories of one guest.
    pub memories: u32,
    /// Tables of one guest.
    pub tables: u32,
    /// Elements of each table.
    pub table_elements: u32,
    /// Core module instances of one guest.
    pub instances: u32,
    /// Stack of the guest's own functions.
    pub stack: u64,
    /// Component-model handles alive at once.
    pub handles: u32,
    /// Host resources (files, streams, timers) alive at once.
    pub resources: u32,
    /// Files, directories and streams of them open at once, beside the granted directories themselves.
    pub descriptors: u32,
    /// What the guest hands to the host in one call.
    pub hostcall: u64,
    /// Random bytes asked for in one call.
    pub random: u64,
    /// Message, detail, names and values of an outcome together.
    pub output: u64,
    /// JSON values in the outputs and the detail of an outcome together.
    pub output_values: u32,
    /// Log text of one attempt, its standard output and error included; a line counts 32 bytes at least.
    pub log: u64,
    /// One log line; the rest is cut off.
    pub line: u64,
    /// A component, before it is compiled.
    pub component: u64,
    /// Memory of a child process that compiles a component ([`children`](super::SandboxConfig::children)).
    pub compile_memory: u64,
    /// CPU time of such a process, all its threads together; by the clock it may take four times as long.
    pub compile_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 * MIB,
            memories: 8,
            tables: 16,
            table_elements: 65_536,
            instances: 64,
            stack: 512 * KIB,
            handles: 10_000,
            resources: 1_000,
            descriptors: 64,
            hostcall: 16 * MIB,
            random: MIB,
            output: 8 * MIB,
            output_values: 250_000,
            log: MIB,
            line: 8 * KIB,
            component: 64 * MIB,
            compile_memory: 1024 * MIB,
            compile_time: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// Slots of the sandbox with which so many guests never wait for one another, whatever plugins they are of.
    #[must_use]
    pub fn slots_for(&self, guests: u32) -> u32 {
        guests.saturating_mul(self.memories.max(self.tables.div_ceil(TABLES_PER_SLOT)).max(1))
    }
}

/// A limit an attempt ran into; its text names it for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exceeded {
    Memory(u64),
    /// What the task asked for itself, below the operator's limit.
    OwnMemory(u64),
    TableElements(u32),
    Log(u64),
    Output(u64),
    OutputValues(u32),
    Random(u64),
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Memory(limit) => write!(f, "memory limit of {} reached (limits.memory)", Size(limit)),
            Self::OwnMemory(limit) => {
                write!(f, "memory limit of {} reached (resources.memory of the task)", Size(limit))
            }
            Self::TableElements(limit) => {
                write!(f, "table limit of {limit} elements reached (limits.table-elements)")
            }
            Self::Log(limit) => write!(f, "log over its limit of {} (limits.log)", Size(limit)),
            Self::Output(limit) => write!(f, "output over its limit of {} (limits.output)", Size(limit)),
            Self::OutputValues(limit) => {
                write!(f, "output over its limit of {limit} JSON values (limits.output-values)")
            }
            Self::Random(limit) => {
                write!(f, "more random bytes in one call than the limit of {}", Size(limit))
            }
        }
    }
}

impl std::error::Error for Exceeded {}

/// A number of bytes for people: `64 MiB`, `1000 bytes`.
pub(super) struct Size(pub(super) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n >= MIB && n % MIB == 0 => write!(f, "{} MiB", n / MIB),
            n if n >= KIB && n % KIB == 0 => write!(f, "{} KiB", n / KIB),
            n => write!(f, "{n} bytes"),
        }
    }
}

/// Counts what one guest's memories and tables take.
///
/// Growing past the limit is a trap, not a refusal: a guest that ignores a refused `memory.grow` would go on for ever,
/// and one that heeds it dies with less to say.
#[derive(Debug)]
pub(super) struct Meter {
    memory: u64,
    is_own: bool,
    used: u64,
    last_growth: u64,
    memories: u32,
    tables: u32,
    table_elements: u32,
    instances: u32,
}

impl Meter {
    /// A meter for one call; `memory` lowers the operator's limit, never raises it.
    pub(super) fn new(limits: &Limits, memory: Option<u64>) -> Self {
        Self {
            memory: memory.map_or(limits.memory, |own| own.min(limits.memory)),
            is_own: memory.is_some_and(|own| own < limits.memory),
            used: 0,
            last_growth: 0,
            memories: limits.memories,
            tables: limits.tables,
            table_elements: limits.table_elements,
            instances: limits.instances,
        }
    }

    /// What its memories may take together.
    #[cfg(target_os = "linux")]
    pub(super) fn memory(&self) -> u64 {
        self.memory
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let growth = desired.saturating_sub(current) as u64;
        let used = self.used.saturating_add(growth);
        if used > self.memory {
            let exceeded = if self.is_own { Exceeded::OwnMemory } else { Exceeded::Memory };
            return Err(exceeded(self.memory).into());
        }
        (self.used, self.last_growth) = (used, growth);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.used -= std::mem::take(&mut self.last_growth);
        Ok(())
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.table_elements as usize {
            return Err(Exceeded::TableElements(self.table_elements).into());
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.instances as usize
    }

    fn tables(&self) -> usize {
        self.tables as usize
    }

    fn memories(&self) -> usize {
        self.memories as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invocation_lowers_the_memory_limit_and_never_raises_it() {
        let limits = Limits::default();
        for (asked, granted) in
            [(None, 64 * MIB), (Some(MIB), MIB), (Some(1024 * MIB), 64 * MIB), (Some(0), 0)]
        {
            assert_eq!(Meter::new(&limits, asked).memory, granted, "{asked:?}");
        }
    }

    #[test]
    fn all_memories_of_a_guest_count_together() {
        let mut meter = Meter::new(&Limits::default(), Some(3 * 65_536));
        assert!(meter.memory_growing(0, 65_536, None).unwrap());
        assert!(meter.memory_growing(0, 2 * 65_536, None).unwrap());
        let error = meter.memory_growing(65_536, 2 * 65_536, None).unwrap_err();
        assert_eq!(error.to_string(), "memory limit of 192 KiB reached (resources.memory of the task)");
    }

    #[test]
    fn growth_that_failed_is_given_back() {
        let mut meter = Meter::new(&Limits::default(), Some(65_536));
        assert!(meter.memory_growing(0, 65_536, None).unwrap());
        meter.memory_grow_failed(wasmtime::Error::msg("no")).unwrap();
        assert!(meter.memory_growing(0, 65_536, None).unwrap());
    }

    #[test]
    fn sizes_read_well() {
        for (bytes, text) in [(0, "0 bytes"), (1000, "1000 bytes"), (8192, "8 KiB"), (64 * MIB, "64 MiB")] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
