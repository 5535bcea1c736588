//! Hardening of a process before its first guest: Landlock and seccomp.

use std::{collections::BTreeMap, io, path::Path};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, Scope,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};

use crate::capability::dirs::DirGrant;

/// Version of Landlock; an older kernel enforces the rules that it knows.
const LANDLOCK_ABI: ABI = ABI::V6;

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
        | AccessFs::MakeSym
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
    let allowed: BTreeMap<i64, Vec<_>> =
        MEMORY_CALLS.iter().chain(TIME_CALLS).chain(FILE_CALLS).map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(u32::try_from(libc::EPERM).map_err(io::Error::other)?);
    let machine = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = SeccompFilter::new(allowed, refused, SeccompAction::Allow, machine);
    filter.and_then(TryInto::try_into).map_err(io::Error::other)
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
    libc::SYS_mmap,
    libc::SYS_mprotect,
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
    libc::SYS_fcntl,
    libc::SYS_fdatasync,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_getdents64,
    libc::SYS_linkat,
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
    libc::SYS_symlinkat,
    libc::SYS_unlinkat,
    libc::SYS_utimensat,
    libc::SYS_write,
    libc::SYS_writev,
];

#[cfg(test)]
mod tests {
    use std::{fs, net::TcpListener, process::Command, thread};

    use rustix::fs::{CWD, Mode, mkdirat};

    use super::*;

    /// Runs `attempted` on a thread of its own, which alone is locked in.
    fn run_locked<T: Send + 'static>(
        dirs: Vec<DirGrant>,
        attempted: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let thread = thread::spawn(move || {
            files(&dirs).unwrap();
            seccompiler::apply_filter(&filter().unwrap()).unwrap();
            attempted()
        });
        thread.join().unwrap()
    }

    #[test]
    fn nothing_is_left_but_what_is_granted() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for name in ["read", "write", "other"] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("file"), name).unwrap();
        }
        let grant = |name: &str, read_only| DirGrant { read_only, ..DirGrant::read_only(path(name), "/") };
        let (root, own) = (dir.path().to_owned(), rustix::process::getpid());
        let attempted = run_locked(vec![grant("read", true), grant("write", false)], move || {
            let file = |name: &str| root.join(name).join("file");
            [
                ("read", fs::read(file("read")).is_ok()),
                ("read what may be written", fs::read(file("write")).is_ok()),
                ("write", fs::write(file("write"), "x").is_ok()),
                ("make", mkdirat(CWD, root.join("write/new"), Mode::RWXU).is_ok()),
                ("write what may be read", fs::write(file("read"), "x").is_ok()),
                ("read what is not granted", fs::read(file("other")).is_ok()),
                ("read what everybody may", fs::read("/etc/passwd").is_ok()),
                ("run", Command::new("/bin/true").spawn().is_ok()),
                ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
                ("signal", rustix::process::test_kill_process(own).is_ok()),
                ("start a thread", thread::Builder::new().spawn(|| ()).is_ok()),
            ]
        });
        let done: Vec<_> = attempted.iter().filter(|(_, done)| *done).map(|(what, _)| *what).collect();
        assert_eq!(done, ["read", "read what may be written", "write", "make"]);
    }
}
