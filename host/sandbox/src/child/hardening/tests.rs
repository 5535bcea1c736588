use std::{fs, net::TcpListener, os::fd::AsFd as _, process::Command, thread};

use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, Timespec, Timestamps, fcntl_getfl, fcntl_setfl, futimens,
        linkat, mkdirat, mknodat, symlinkat, utimensat,
    },
    io::fcntl_dupfd_cloexec,
};
use seccompiler::sock_filter;

use super::*;

/// Runs `attempted` on a thread of its own, which alone is locked in.
fn run_locked<T: Send + 'static>(dirs: Vec<DirGrant>, attempted: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = thread::spawn(move || {
        files(&dirs).unwrap();
        seccompiler::apply_filter(&filter().unwrap()).unwrap();
        attempted()
    });
    thread.join().unwrap()
}

/// R-I27.
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
        let now = Timespec { tv_sec: 1, tv_nsec: 0 };
        let times = Timestamps { last_access: now, last_modification: now };
        [
            ("read", fs::read(file("read")).is_ok()),
            ("read what may be written", fs::read(file("write")).is_ok()),
            ("write", fs::write(file("write"), "x").is_ok()),
            ("make", mkdirat(CWD, root.join("write/new"), Mode::RWXU).is_ok()),
            ("link", linkat(CWD, file("write"), CWD, root.join("write/link"), AtFlags::empty()).is_ok()),
            ("link symbolically", symlinkat("x", CWD, root.join("write/symlink")).is_ok()),
            ("make a pipe", mknodat(CWD, root.join("write/pipe"), FileType::Fifo, Mode::RWXU, 0).is_ok()),
            ("set times by a path", utimensat(CWD, file("write"), &times, AtFlags::empty()).is_ok()),
            ("set times", futimens(fs::File::open(file("write")).unwrap(), &times).is_ok()),
            ("duplicate", fcntl_dupfd_cloexec(io::stdin().as_fd(), 0).is_ok()),
            ("ask for signals", asks_for_signals(&fs::File::open(file("write")).unwrap())),
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
    assert_eq!(done, ["read", "read what may be written", "write", "make", "set times", "duplicate"]);
}

/// Whether a file can be made to signal. The flags that it has may be set again.
fn asks_for_signals(file: &fs::File) -> bool {
    let flags = fcntl_getfl(file).unwrap();
    fcntl_setfl(file, flags).unwrap();
    fcntl_setfl(file, flags | OFlags::from_bits_retain(libc::O_ASYNC.cast_unsigned())).is_ok()
}

/// The verdict of the filter on a call with these arguments, as the kernel comes to it.
fn verdict(program: &[sock_filter], call: u32, arguments: [u64; 6]) -> u32 {
    let words = [call, machine(), 0, 0].into_iter();
    let arguments = arguments.into_iter().flat_map(|argument| [argument as u32, (argument >> 32) as u32]);
    let data: Vec<u32> = words.chain(arguments).collect();
    let mut accumulator = 0;
    let mut at = 0;
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        let jump = |holds: bool| usize::from(if holds { jt } else { jf });
        at += 1;
        match code {
            0x20 => accumulator = data[k as usize / 4],
            0x54 => accumulator &= k,
            0x05 => at += k as usize,
            0x15 => at += jump(accumulator == k),
            0x25 => at += jump(accumulator > k),
            0x35 => at += jump(accumulator >= k),
            0x06 => return k,
            _ => panic!("instruction {code:#x} is not known here"),
        }
    }
}

/// The number of this machine in audits.
fn machine() -> u32 {
    if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 }
}

const ALLOW: u32 = 0x7fff_0000;

/// R-I27: the filter is a list of what is allowed. No other number gets past it, whatever the arguments.
#[test]
fn every_other_system_call_is_refused() {
    let program = filter().unwrap();
    let whole: Vec<_> = MEMORY_CALLS.iter().chain(TIME_CALLS).chain(FILE_CALLS).copied().collect();
    let part: Vec<_> = in_part().unwrap().into_iter().map(|(call, _)| call).collect();
    let refused = 0x0005_0000 | libc::EPERM.cast_unsigned();
    let arguments = [[0; 6], [1; 6], [2; 6], [u64::MAX; 6], [0, 0, 0, 2, 0, 0]];
    // Numbers of other ways in (x32) have a bit of their own.
    let numbers = (0..4096).flat_map(|call: u32| [call, call | 0x4000_0000, call | 0x8000_0000]);
    for call in numbers.chain([u32::MAX]) {
        for arguments in arguments {
            let found = verdict(&program, call, arguments);
            if whole.contains(&i64::from(call)) {
                assert_eq!(found, ALLOW, "{call}");
            } else if !part.contains(&i64::from(call)) {
                assert_eq!(found, refused, "{call} {arguments:?}");
            }
        }
    }
    let forbidden = [
        libc::SYS_symlinkat,
        libc::SYS_linkat,
        libc::SYS_mknodat,
        libc::SYS_clone,
        libc::SYS_execve,
        libc::SYS_socket,
        libc::SYS_ptrace,
        libc::SYS_memfd_create,
        libc::SYS_shmget,
        libc::SYS_io_uring_setup,
        libc::SYS_fchmod,
        libc::SYS_fchown,
    ];
    assert!(forbidden.iter().all(|call| !whole.contains(call) && !part.contains(call)));
}

/// R-I27: calls that are allowed in part, with what is allowed of each and what is not.
#[test]
fn arguments_of_system_calls_are_looked_at() {
    let program = filter().unwrap();
    let is_allowed = |call: i64, at: usize, argument: i32, more: &[(usize, i32)]| {
        let mut arguments = [0; 6];
        arguments[at] = u64::from(argument.cast_unsigned());
        more.iter().for_each(|(at, argument)| arguments[*at] = u64::from(argument.cast_unsigned()));
        verdict(&program, u32::try_from(call).unwrap(), arguments) == ALLOW
    };
    for command in 0..2048 {
        let known = [libc::F_DUPFD_CLOEXEC, libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL];
        assert_eq!(is_allowed(libc::SYS_fcntl, 1, command, &[]), known.contains(&command), "{command}");
    }
    const F_SETSIG: i32 = 10;
    for command in [libc::F_SETOWN, F_SETSIG, libc::F_NOTIFY, libc::F_SETLEASE, libc::F_DUPFD] {
        assert!(!is_allowed(libc::SYS_fcntl, 1, command, &[]), "{command}");
    }
    let flags = |flags| is_allowed(libc::SYS_fcntl, 1, libc::F_SETFL, &[(2, flags)]);
    assert!(flags(libc::O_NONBLOCK | libc::O_APPEND));
    assert!(!flags(libc::O_ASYNC) && !flags(libc::O_ASYNC | libc::O_NONBLOCK));
    let map = |flags, protection| is_allowed(libc::SYS_mmap, 3, flags, &[(2, protection)]);
    let (private, anonymous) = (libc::MAP_PRIVATE, libc::MAP_ANONYMOUS);
    let write = libc::PROT_READ | libc::PROT_WRITE;
    assert!(map(private, write) && map(private | anonymous | libc::MAP_FIXED, write));
    for shared in [libc::MAP_SHARED, libc::MAP_SHARED | anonymous, libc::MAP_SHARED_VALIDATE, 0, anonymous] {
        assert!(!map(shared, write), "{shared:#x}");
    }
    assert!(!map(private, libc::PROT_EXEC) && !map(private | anonymous, write | libc::PROT_EXEC));
    let protect = |protection| is_allowed(libc::SYS_mprotect, 2, protection, &[]);
    assert!(protect(write) && protect(0) && !protect(libc::PROT_READ | libc::PROT_EXEC));
    let path = |low: i32| is_allowed(libc::SYS_utimensat, 1, low, &[]);
    assert!(path(0) && !path(1));
    assert_ne!(
        verdict(&program, u32::try_from(libc::SYS_utimensat).unwrap(), [0, 1 << 32, 0, 0, 0, 0]),
        ALLOW
    );
}
