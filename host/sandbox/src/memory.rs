//! Memory of the machine for all guests together, and its division.
//!
//! ```text
//!  all-memory │ part, part, part, … one for each slot, whatever others do │ shared by guests that need more than their part │
//! ```
//!
//! A guest never waits for its part, and the part is not counted. Beyond it a guest takes free memory, as long as it leaves as
//! much to others as it has.

use std::{
    fmt, fs,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use phasm_files::Size;

use super::shared_budget::{BudgetError, SharedBudget};

/// Minimum part of a slot, in bytes: the memory of a small guest.
const MIN_SLOT_BYTES: u64 = 1 << 20;
/// Memory that is assumed where neither the operator nor the machine says.
const DEFAULT_BYTES: u64 = 4 << 30;

/// Memory of all guests of a sandbox.
pub(super) struct Memory {
    pub(super) all: u64,
    /// Memory that the guest of one slot has for itself, in bytes.
    pub(super) part: u64,
    /// Memory that all guests share.
    pub(super) pool: Arc<SharedBudget>,
    /// Held while a large guest's memory is mapped or unmapped.
    mapping: Mutex<()>,
}

impl Memory {
    /// Divides `all` among `slots`, or among fewer if there is not enough; `all` defaults to half of the machine's memory.
    pub(super) fn divide(all: Option<u64>, slots: u32) -> (Self, u32) {
        let all = all.unwrap_or_else(|| of_machine().unwrap_or(DEFAULT_BYTES) / 2);
        let most = u32::try_from(all / 2 / MIN_SLOT_BYTES).unwrap_or(u32::MAX).max(1);
        let slots = slots.clamp(1, most);
        let part = all / 2 / u64::from(slots);
        let pool = SharedBudget::new(all - part * u64::from(slots));
        (Self { all, part, pool, mapping: Mutex::default() }, slots)
    }

    /// Makes the memory of a process that runs one guest, where the parent counts memory.
    #[cfg(target_os = "linux")]
    pub(super) fn uncounted() -> Self {
        Self { all: u64::MAX, part: u64::MAX, pool: SharedBudget::new(0), mapping: Mutex::default() }
    }

    /// Locks out other threads that map or unmap much memory.
    pub(super) fn lock_mapping(&self) -> MutexGuard<'_, ()> {
        self.mapping.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the maximum memory that one guest ever gets.
    pub(super) fn max_for_one(&self) -> u64 {
        self.part.saturating_add(self.pool.max_for_one())
    }
}

/// Error of a guest that got no more memory, though its own limit allowed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoMemory {
    /// Memory of all guests together, in bytes.
    pub(super) all: u64,
    pub(super) exhausted: BudgetError,
    /// Memory that the guest would have had, in bytes.
    pub(super) wanted: u64,
}

impl fmt::Display for NoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { all, exhausted, wanted } = *self;
        let who = match exhausted {
            BudgetError::Tenant(_) => "the tenant's attempts have",
            BudgetError::Own | BudgetError::One | BudgetError::Plugin(_) => "this attempt has",
        };
        write!(
            f,
            "no {} of memory for one attempt: of the {} that all share {who} their part (limits.all-memory)",
            Size(wanted),
            Size(all)
        )
    }
}

impl std::error::Error for NoMemory {}

/// Returns the memory that this process may use: that of the machine or of its control group, whichever is less.
fn of_machine() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(of_group);
    let machine = fs::read_to_string("/proc/meminfo").ok().as_deref().and_then(total);
    limits.chain(machine).min()
}

/// Returns the smallest limit of a group in a line of `/proc/self/cgroup`, and of the groups above it.
fn of_group(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (root, file) = if controllers.is_empty() {
        ("/sys/fs/cgroup", "memory.max")
    } else if controllers.split(',').any(|controller| controller == "memory") {
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
    } else {
        return None;
    };
    let groups = Path::new(path.trim_start_matches('/')).ancestors();
    let limit = |group: &Path| fs::read_to_string(Path::new(root).join(group).join(file)).ok();
    groups.filter_map(|group| limit(group)?.trim().parse().ok()).min()
}

/// Returns `MemTotal` of `/proc/meminfo`, in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I43.
    #[test]
    fn half_is_divided_among_the_slots_and_half_is_shared() {
        let (mib, gib) = (1 << 20, 1 << 30);
        let rows = [
            (8 * gib, 2048, (2048, 2 * mib)),
            (4 * gib, 2048, (2048, mib)),
            (gib, 2048, (512, mib)),
            (gib, 16, (16, 32 * mib)),
            (mib, 16, (1, mib / 2)),
            (0, 16, (1, 0)),
        ];
        for (all, slots, (expected, part)) in rows {
            let (memory, slots) = Memory::divide(Some(all), slots);
            assert_eq!((slots, memory.part), (expected, part), "{all}");
            assert!(memory.max_for_one() <= all);
        }
        let (machine, _) = Memory::divide(None, 1);
        assert!(machine.all > 0);
    }

    #[test]
    fn the_machines_memory_is_read() {
        assert_eq!(total("MemFree: 1 kB\n"), None);
        assert_eq!(total("MemTotal:       24576 kB\nMemFree: 1 kB\n"), Some(24 << 20));
        for line in ["", "4:cpu:/", "memory", "0::/there/is/no/such/group"] {
            assert!(of_group(line).is_none_or(|limit| limit > 0), "{line}");
        }
    }
}
