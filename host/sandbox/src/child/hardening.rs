//! Hardening of a process before its first guest: capabilities, Landlock and seccomp.

use std::{collections::BTreeMap, io, path::Path};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, Scope,
};
use rustix::{
    io::Errno,
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
        set_capabilities,
    },
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction,
    SeccompCmpArgLen::{Dword, Qword},
    SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, apply_filter_all_threads,
};

use crate::capability::dirs::DirGrant;

/// Version of Landlock; an older kernel enforces the rules that it knows.
const LANDLOCK_ABI: ABI = ABI::V6;

/// Gives up the capabilities of this thread and of those that it starts, which a process has that root started.
///
/// # Errors
/// Fails when the kernel keeps one.
pub(super) fn capabilities() -> io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // A process without capabilities may not do so and need not. An older kernel does not know all of them.
            Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // A kernel that has no ambient capabilities grants none.
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// Restricts this thread, and those that it starts, to the granted files, and to no network. Does nothing on a kernel without
/// Landlock.
///
/// # Errors
/// Fails when the kernel refuses its own rules.
pub(super) fn files(dirs: &[DirGrant]) -> io::Result<()> {
    let ruleset =
        Ruleset::default().handle_access(AccessFs::from_all(LANDLOCK_ABI)).map_err(io::Error::other)?;
    let ruleset = ruleset.handle_access(AccessNet::from_all(LANDLOCK_ABI)).map_err(io::Error::other)?;
    let ruleset = ruleset.scope(Scope::from_all(LANDLOCK_ABI)).map_err(io::Error::other)?;
    let mut ruleset = ruleset.create().map_err(io::Error::other)?;
    for DirGrant { host, read_only, .. } in dirs {
        // A missing directory is reported by the call that needs it.
        if let Ok(rule) = rule(host, *read_only) {
            ruleset = ruleset.add_rule(rule).map_err(io::Error::other)?;
        }
    }
    ruleset.restrict_self().map(drop).map_err(io::Error::other)
}

fn rule(host: &Path, read_only: bool) -> io::Result<PathBeneath<PathFd>> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer;
    let access: BitFlags<AccessFs> = if read_only { read } else { read | write };
    Ok(PathBeneath::new(PathFd::new(host).map_err(io::Error::other)?, access))
}

/// Restricts every thread of this process to these system calls; any other fails.
///
/// # Errors
/// Fails when the kernel does not take the filter.
pub(super) fn system_calls() -> io::Result<()> {
    apply_filter_all_threads(&filter()?).map_err(io::Error::other)
}

fn filter() -> io::Result<BpfProgram> {
    let whole = MEMORY_CALLS.iter().chain(TIME_CALLS).chain(FILE_CALLS).map(|call| (*call, Vec::new()));
    let mut allowed: BTreeMap<i64, Vec<SeccompRule>> = whole.collect();
    allowed.extend(in_part().map_err(io::Error::other)?);
    let refused = SeccompAction::Errno(u32::try_from(libc::EPERM).map_err(io::Error::other)?);
    let machine = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = SeccompFilter::new(allowed, refused, SeccompAction::Allow, machine);
    filter.and_then(TryInto::try_into).map_err(io::Error::other)
}

/// Rules of the calls that are allowed with some arguments only. One of a call's rules must fit.
fn in_part() -> Result<Vec<(i64, Vec<SeccompRule>)>, BackendError> {
    let private = || bits(3, libc::MAP_TYPE, libc::MAP_PRIVATE);
    let not_executable = || bits(2, libc::PROT_EXEC, 0);
    let command = |command| number(1, command);
    Ok(vec![
        // Shared mappings do not count against the limit of memory. No code is loaded any more.
        (libc::SYS_mmap, vec![SeccompRule::new(vec![private()?, not_executable()?])?]),
        (libc::SYS_mprotect, vec![SeccompRule::new(vec![not_executable()?])?]),
        (
            libc::SYS_fcntl,
            vec![
                SeccompRule::new(vec![command(libc::F_DUPFD_CLOEXEC)?])?,
                SeccompRule::new(vec![command(libc::F_GETFD)?])?,
                SeccompRule::new(vec![command(libc::F_SETFD)?])?,
                SeccompRule::new(vec![command(libc::F_GETFL)?])?,
                // A descriptor that signals could reach processes outside.
                SeccompRule::new(vec![command(libc::F_SETFL)?, bits(2, libc::O_ASYNC, 0)?])?,
            ],
        ),
        // For an open file, and not for a path, which Landlock does not guard.
        (
            libc::SYS_utimensat,
            vec![SeccompRule::new(vec![SeccompCondition::new(1, Qword, SeccompCmpOp::Eq, 0)?])?],
        ),
    ])
}

/// Returns the condition that an argument is a number.
fn number(argument: u8, wanted: i32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, Dword, SeccompCmpOp::Eq, u64::from(wanted.cast_unsigned()))
}

/// Returns the condition that the bits `mask` of an argument are `wanted`.
fn bits(argument: u8, mask: i32, wanted: i32) -> Result<SeccompCondition, BackendError> {
    let op = SeccompCmpOp::MaskedEq(u64::from(mask.cast_unsigned()));
    SeccompCondition::new(argument, Dword, op, u64::from(wanted.cast_unsigned()))
}

/// Calls about memory, threads, and the end of the process.
const MEMORY_CALLS: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
];

/// Calls about time, and waiting.
const TIME_CALLS: &[i64] = &[
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_epoll_pwait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    libc::SYS_nanosleep,
    libc::SYS_ppoll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
];

/// Calls on open files, and opening those that Landlock allows.
const FILE_CALLS: &[i64] = &[
    libc::SYS_close,
    libc::SYS_copy_file_range,
    libc::SYS_faccessat2,
    libc::SYS_fadvise64,
    libc::SYS_fallocate,
    libc::SYS_fdatasync,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_getdents64,
    libc::SYS_lseek,
    libc::SYS_mkdirat,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_statx,
    libc::SYS_unlinkat,
    libc::SYS_write,
    libc::SYS_writev,
];

#[cfg(test)]
mod tests;
