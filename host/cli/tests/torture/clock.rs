//! Wall clocks that are set under processes, by the library of Debian's package `faketime`.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// By how many seconds a wall clock may be off.
pub(crate) const OFFSETS: [i32; 3] = [0, 3600, -3600];

/// The offset is read each time. Monotonic clocks and the times of files are not changed.
const SWITCHES: [&str; 4] =
    ["FAKETIME_NO_CACHE", "FAKETIME_DONT_FAKE_MONOTONIC", "FAKETIME_DONT_FAKE_UTIME", "NO_FAKE_STAT"];

/// The wall clock of one process.
pub(crate) struct Clock {
    /// Says by how much it is off; the library reads it each time.
    file: PathBuf,
}

impl Clock {
    /// Gives a command a clock of its own, which is right at first. None where the library is not installed.
    pub(crate) fn give(command: &mut Command, file: PathBuf) -> Option<Self> {
        command.env("LD_PRELOAD", library()?).env("FAKETIME_TIMESTAMP_FILE", &file);
        for switch in SWITCHES {
            command.env(switch, "1");
        }
        let clock = Self { file };
        clock.set(0);
        Some(clock)
    }

    /// Sets it to so many seconds more than it is.
    pub(crate) fn set(&self, offset: i32) {
        // In one piece, as it may be read at any moment.
        let next = self.file.with_extension("next");
        fs::write(&next, format!("{offset:+}\n")).unwrap();
        fs::rename(next, &self.file).unwrap();
    }
}

/// Where it is; says that clocks were left out where it is not.
fn library() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| find().or_else(left_out)).as_deref()
}

fn find() -> Option<PathBuf> {
    let beside = |dir: PathBuf| dir.join("faketime/libfaketimeMT.so.1");
    let below = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| beside(entry.path()));
    below.chain([beside("/usr/lib".into()), beside("/usr/local/lib".into())]).find(|file| file.exists())
}

fn left_out() -> Option<PathBuf> {
    let said = "clocks that are set were left out: no libfaketime (Debian: apt-get install faketime)\n";
    assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
    // Not captured, as what passes is.
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    None
}
