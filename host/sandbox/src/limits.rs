//! Limits on one call.

mod allowance;
mod limit_error;
mod meter;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::allowance::{Allowance, Limit};
pub(super) use self::{
    allowance::{Ceiling, Ceilings, SetBy},
    limit_error::{LimitError, Owner},
    meter::{GrowthError, Meter},
};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Tables in the pool per slot: a guest's function table and that of its adapter. A guest with more tables takes more slots.
pub(super) const TABLES_PER_SLOT: u32 = 2;

/// Value of a limit that is not set.
pub(super) const UNLIMITED: u64 = u64::MAX;

/// The operator's limits on every call. An attempt that exceeds one ends with code 3. Sizes are in bytes. Tenants, plugins and
/// tasks may have lower limits ([`Allowance`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Linear memory of all of a guest's modules together. An invocation may lower it.
    pub memory: u64,
    /// Time that an attempt may compute, not counting waits; unlimited by default.
    pub cpu: Option<Duration>,
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
    /// Files, directories and streams of them open at once, not counting the granted directories themselves.
    pub descriptors: u32,
    /// Bytes that the guest hands to the host in one call.
    pub hostcall: u64,
    /// Random bytes asked for in one call.
    pub random: u64,
    /// Message, detail, names and values of an outcome together.
    pub output: u64,
    /// JSON values in the outputs and the detail of an outcome together.
    pub output_values: u32,
    /// Log text of one attempt, its standard output and error included; a line counts at least 32 bytes.
    pub log: u64,
    /// One log line; the rest is cut off.
    pub line: u64,
    /// TCP connections that an attempt begins, and look-ups of names that it makes for them: so many of either.
    pub tcp_connects: u32,
    /// TCP connections of an attempt at once. One more is refused.
    pub tcp_connections: u32,
    /// Bytes that an attempt sends by TCP.
    pub tcp_sent: u64,
    /// Bytes that an attempt receives by TCP.
    pub tcp_received: u64,
    /// Time within which a TCP connection is established, including the wait for other connections of its plugin to end.
    pub tcp_connect_time: Duration,
    /// Size of a component, before it is compiled.
    pub component: u64,
    /// Memory of a child process that compiles a component ([`children`](super::SandboxConfig::children)).
    pub compile_memory: u64,
    /// CPU time of such a process, all its threads together. Its wall-clock limit is four times as long.
    pub compile_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 * MIB,
            cpu: None,
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
            tcp_connects: 100,
            tcp_connections: 8,
            tcp_sent: 16 * MIB,
            tcp_received: 64 * MIB,
            tcp_connect_time: Duration::from_secs(30),
            component: 64 * MIB,
            compile_memory: 1024 * MIB,
            compile_time: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// Returns the number of slots with which `guests` guests never wait for one another, whatever plugins they run.
    #[must_use]
    pub fn slots_for(&self, guests: u32) -> u32 {
        guests.saturating_mul(self.memories.max(self.tables.div_ceil(TABLES_PER_SLOT)).max(1))
    }
}
