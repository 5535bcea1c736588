//! Resource limits of a child, which it sets before it reads anything.

use std::{io, time::Duration};

use super::hardening;
use rustix::{
    io::Errno,
    process::{
        DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setpriority_process, setrlimit,
    },
};

/// Resources that a child may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResourceLimits {
    /// Writable memory, in bytes.
    pub(super) memory: u64,
    /// CPU time of all threads together.
    pub(super) cpu: Option<Duration>,
    /// Files that it can have open, in addition to its own few.
    pub(super) files: u64,
}

/// Number of files for standard streams, and for look-ups of the standard library.
const OWN_FILES: u64 = 16;
/// Time after which a child is killed that did not end at its CPU limit, in seconds.
const CPU_GRACE_SECONDS: u64 = 5;
/// The priority of guests' threads.
const NICE: i32 = 10;

impl ResourceLimits {
    /// Applies the limits to this process, for good.
    pub(super) fn enter(self) -> io::Result<()> {
        hardening::capabilities()?;
        lower(Resource::Core, 0, 0)?;
        let files = self.files.saturating_add(OWN_FILES);
        lower(Resource::Nofile, files, files)?;
        lower(Resource::Data, self.memory, self.memory)?;
        if let Some(cpu) = self.cpu {
            let seconds = cpu.as_secs() + u64::from(cpu.subsec_nanos() > 0);
            lower(Resource::Cpu, seconds, seconds + CPU_GRACE_SECONDS)?;
        }
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        setpriority_process(None, NICE)
            .or_else(|error| if error == Errno::ACCESS { Ok(()) } else { Err(error) })?;
        Ok(())
    }
}

/// Address space in addition to the memory, in bytes: allocators and threads reserve more than they use.
#[cfg(feature = "compile")]
const RESERVED_ADDRESS_BYTES: u64 = 4 << 30;

/// Limits the address space of this process, and lets it write to no file.
#[cfg(feature = "compile")]
pub(super) fn limit_addresses(memory: u64) -> io::Result<()> {
    let addresses = memory.saturating_add(RESERVED_ADDRESS_BYTES);
    lower(Resource::As, addresses, addresses)?;
    lower(Resource::Fsize, 0, 0)
}

/// Lowers a limit, and keeps one that is lower.
fn lower(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    Ok(setrlimit(resource, Rlimit { current: Some(soft.min(most)), maximum: Some(hard.min(most)) })?)
}
