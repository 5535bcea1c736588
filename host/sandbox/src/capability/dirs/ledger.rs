//! What lies in a directory, as far as quotas go: counted once, then kept up to date by what guests do.

use std::{
    collections::HashMap,
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use cap_primitives::fs::{Metadata, MetadataExt as _, open_dir_nofollow, read_base_dir};

use crate::limits::Size;

/// What a granted directory may hold, whoever put it there; checked when a guest adds something. By default anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Quota {
    /// Bytes of all files together, as long as they say they are.
    pub bytes: Option<u64>,
    /// Files and directories.
    pub files: Option<u64>,
}

impl Quota {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Something that is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Usage {
    pub(super) bytes: u64,
    pub(super) files: u64,
}

impl Usage {
    pub(super) const FILE: Self = Self { bytes: 0, files: 1 };

    pub(super) const fn bytes(bytes: u64) -> Self {
        Self { bytes, files: 0 }
    }
}

/// A quota that has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Full {
    Bytes(u64),
    Files(u64),
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bytes(limit) => write!(f, "quota of {}", Size(limit)),
            Self::Files(limit) => write!(f, "quota of {limit} files"),
        }
    }
}

/// A file, whatever it is called.
pub(crate) type Inode = (u64, u64);

pub(super) fn inode(metadata: &Metadata) -> Inode {
    (metadata.dev(), metadata.ino())
}

/// A file or directory that has a name less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Gone {
    inode: Inode,
    /// Of a file that has no other name.
    bytes: Option<u64>,
}

impl Gone {
    /// What `metadata` said before that.
    pub(super) fn of(metadata: &Metadata) -> Self {
        let is_last = metadata.is_file() && metadata.nlink() <= 1;
        Self { inode: inode(metadata), bytes: is_last.then(|| metadata.len()) }
    }
}

/// The count of one directory; nothing is counted while no grant of it has a quota.
#[derive(Default)]
pub(super) struct Ledger(Mutex<State>);

#[derive(Default)]
struct State {
    counted: Option<Instant>,
    usage: Usage,
    /// Files that guests have open, so often. Bytes of one that has no name any more are given back with the last.
    open: HashMap<Inode, Opened>,
}

#[derive(Default)]
struct Opened {
    times: u32,
    nameless: bool,
}

impl Ledger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is a count at all, and one that was made after `since` if the last one leaves no room.
    pub(super) fn is_counted(&self, quota: &Quota, since: Instant) -> bool {
        let state = self.state();
        let room = |most: Option<u64>, used: u64| most.is_none_or(|most| used < most);
        let has_room = room(quota.bytes, state.usage.bytes) && room(quota.files, state.usage.files);
        state.counted.is_some_and(|at| has_room || at > since)
    }

    /// Begins with `usage`, which was found just now.
    pub(super) fn begin(&self, usage: Usage) {
        let mut state = self.state();
        (state.usage, state.counted) = (usage, Some(Instant::now()));
    }

    /// Adds `more`, if there is room for it.
    pub(super) fn take(&self, quota: &Quota, more: Usage) -> Result<(), Full> {
        let mut state = self.state();
        let bytes = state.usage.bytes.saturating_add(more.bytes);
        let files = state.usage.files.saturating_add(more.files);
        if let Some(most) = quota.bytes.filter(|most| more.bytes > 0 && bytes > *most) {
            return Err(Full::Bytes(most));
        }
        if let Some(most) = quota.files.filter(|most| more.files > 0 && files > *most) {
            return Err(Full::Files(most));
        }
        state.usage = Usage { bytes, files };
        Ok(())
    }

    /// Takes `less` out again.
    pub(super) fn give(&self, less: Usage) {
        self.state().give(less);
    }

    pub(super) fn opened(&self, inode: Inode) {
        self.state().open.entry(inode).or_default().times += 1;
    }

    /// One less has the file open; `size` is asked for if it has no name.
    pub(super) fn closed(&self, inode: Inode, size: impl FnOnce() -> u64) {
        let mut state = self.state();
        let Some(opened) = state.open.get_mut(&inode) else { return };
        opened.times = opened.times.saturating_sub(1);
        let (last, nameless) = (opened.times == 0, opened.nameless);
        if last {
            state.open.remove(&inode);
        }
        if last && nameless {
            state.give(Usage::bytes(size()));
        }
    }

    /// A name of the file is gone. While somebody has it open its bytes stay on the disk.
    pub(super) fn removed(&self, Gone { inode, bytes }: Gone) {
        let mut state = self.state();
        state.give(Usage::FILE);
        let Some(bytes) = bytes else { return };
        match state.open.get_mut(&inode) {
            Some(opened) => opened.nameless = true,
            None => state.give(Usage::bytes(bytes)),
        }
    }

    /// What lies there is not known any more.
    #[cfg(target_os = "linux")]
    pub(super) fn forget(&self) {
        self.state().counted = None;
    }
}

impl State {
    fn give(&mut self, less: Usage) {
        self.usage.bytes = self.usage.bytes.saturating_sub(less.bytes);
        self.usage.files = self.usage.files.saturating_sub(less.files);
    }
}

/// More is not counted.
const MOST_FILES: u64 = 1_000_000;

/// What lies in `root` and below, without following links.
pub(super) fn usage(root: &File) -> io::Result<Usage> {
    let mut usage = Usage::default();
    let mut left = vec![PathBuf::from(".")];
    while let Some(path) = left.pop() {
        match open_dir_nofollow(root, &path) {
            Ok(dir) => count(&dir, &path, &mut usage, &mut left)?,
            // Somebody else's, or gone by now.
            Err(error) if is_passed_over(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(usage)
}

fn count(dir: &File, path: &Path, usage: &mut Usage, left: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in read_base_dir(dir)? {
        let entry = entry?;
        usage.files += 1;
        if usage.files > MOST_FILES {
            return Err(io::Error::other(format!("more than {MOST_FILES} files are not counted")));
        }
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => left.push(path.join(entry.file_name())),
            Ok(metadata) if metadata.is_file() => usage.bytes = usage.bytes.saturating_add(metadata.len()),
            Ok(_) => {}
            Err(error) if is_passed_over(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_passed_over(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// R-I19.
    #[test]
    fn a_quota_has_room_until_it_is_full() {
        let ledger = Ledger::default();
        let quota = Quota { bytes: Some(10), files: Some(2) };
        let before = Instant::now();
        assert!(!ledger.is_counted(&quota, before));
        ledger.begin(Usage { bytes: 4, files: 1 });
        assert_eq!(ledger.take(&quota, Usage::bytes(6)), Ok(()));
        assert_eq!(ledger.take(&quota, Usage::bytes(1)), Err(Full::Bytes(10)));
        assert_eq!(ledger.take(&quota, Usage::FILE), Ok(()));
        assert_eq!(ledger.take(&quota, Usage::FILE), Err(Full::Files(2)));
        // What began before the count has nothing to hope for, what begins later counts again.
        assert!(ledger.is_counted(&quota, before));
        assert!(!ledger.is_counted(&quota, Instant::now()));
        ledger.give(Usage { bytes: 100, files: 1 });
        assert_eq!(ledger.take(&quota, Usage { bytes: 10, files: 1 }), Ok(()));
        assert_eq!(ledger.take(&Quota::default(), Usage::bytes(u64::MAX)), Ok(()));
    }

    /// R-I19: a file that was deleted takes its place until it is closed.
    #[test]
    fn bytes_without_a_name_count_while_they_are_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "12345").unwrap();
        let metadata = Metadata::from_file(&File::open(&path).unwrap()).unwrap();
        let quota = Quota { bytes: Some(5), files: None };
        let ledger = Ledger::default();
        ledger.begin(Usage { bytes: 5, files: 1 });
        ledger.opened(inode(&metadata));
        ledger.opened(inode(&metadata));
        ledger.removed(Gone::of(&metadata));
        ledger.closed(inode(&metadata), || unreachable!("somebody else has it"));
        assert_eq!(ledger.take(&quota, Usage::bytes(1)), Err(Full::Bytes(5)));
        ledger.closed(inode(&metadata), || 5);
        assert_eq!(ledger.take(&quota, Usage::bytes(5)), Ok(()));
    }

    /// R-I19.
    #[test]
    fn what_lies_there_is_counted_without_following_links() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("big"), [0; 1000]).unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join("a/b/c"), [0; 10]).unwrap();
        fs::write(dir.path().join("d"), [0; 3]).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("link")).unwrap();
        assert_eq!(usage(&File::open(dir.path()).unwrap()).unwrap(), Usage { bytes: 13, files: 5 });
    }
}
