//! Usage of a directory, for quotas: counted once, then kept up to date by what guests do.

use std::{
    collections::HashMap,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use cap_primitives::fs::{open_dir_nofollow, read_base_dir};

use super::usage::{Inode, OverQuota, Quota, Removal, Usage};

/// Usage of one directory; it is not counted while no grant of it has a quota.
#[derive(Default)]
pub(in crate::capability::dirs) struct Counter(Mutex<State>);

#[derive(Default)]
struct State {
    counted: Option<Instant>,
    usage: Usage,
    /// Number of times that guests have each file open. The bytes of a file without a name are freed when it is closed for the
    /// last time.
    open: HashMap<Inode, OpenFile>,
}

#[derive(Default)]
struct OpenFile {
    times: u32,
    nameless: bool,
}

impl Counter {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether there is a count. If the count leaves no room, it must be newer than `since`.
    pub(in crate::capability::dirs) fn is_counted(&self, quota: &Quota, since: Instant) -> bool {
        let state = self.state();
        let room = |most: Option<u64>, used: u64| most.is_none_or(|most| used < most);
        let has_room = room(quota.bytes, state.usage.bytes) && room(quota.files, state.usage.files);
        state.counted.is_some_and(|at| has_room || at > since)
    }

    /// Starts with `usage`, which was just counted.
    pub(in crate::capability::dirs) fn begin(&self, usage: Usage) {
        let mut state = self.state();
        state.usage = usage;
        state.counted = Some(Instant::now());
    }

    /// Adds `more`, if there is room for it.
    pub(in crate::capability::dirs) fn take(&self, quota: &Quota, more: Usage) -> Result<(), OverQuota> {
        let mut state = self.state();
        let bytes = state.usage.bytes.saturating_add(more.bytes);
        let files = state.usage.files.saturating_add(more.files);
        if let Some(most) = quota.bytes.filter(|most| more.bytes > 0 && bytes > *most) {
            return Err(OverQuota::Bytes(most));
        }
        if let Some(most) = quota.files.filter(|most| more.files > 0 && files > *most) {
            return Err(OverQuota::Files(most));
        }
        state.usage = Usage { bytes, files };
        Ok(())
    }

    /// Subtracts `less`.
    pub(in crate::capability::dirs) fn give(&self, less: Usage) {
        self.state().give(less);
    }

    pub(in crate::capability::dirs) fn opened(&self, inode: Inode) {
        self.state().open.entry(inode).or_default().times += 1;
    }

    /// Accounts for a closed file; `size` is called if the file has no name.
    pub(in crate::capability::dirs) fn closed(&self, inode: Inode, size: impl FnOnce() -> u64) {
        let mut state = self.state();
        let Some(open) = state.open.get_mut(&inode) else { return };
        open.times = open.times.saturating_sub(1);
        let (last, nameless) = (open.times == 0, open.nameless);
        if last {
            state.open.remove(&inode);
        }
        if last && nameless {
            state.give(Usage::bytes(size()));
        }
    }

    /// Accounts for a removed name of a file. While a guest has the file open, its bytes stay on the disk.
    pub(in crate::capability::dirs) fn removed(&self, removal: Removal) {
        let mut state = self.state();
        state.give(Usage::FILE);
        let Some(bytes) = removal.bytes else { return };
        match state.open.get_mut(&removal.inode) {
            Some(open) => open.nameless = true,
            None => state.give(Usage::bytes(bytes)),
        }
    }

    /// Invalidates the count.
    #[cfg(target_os = "linux")]
    pub(in crate::capability::dirs) fn forget(&self) {
        self.state().counted = None;
    }
}

impl State {
    fn give(&mut self, less: Usage) {
        self.usage.bytes = self.usage.bytes.saturating_sub(less.bytes);
        self.usage.files = self.usage.files.saturating_sub(less.files);
    }
}

/// Maximum number of files that are counted.
const MAX_COUNTED_FILES: u64 = 1_000_000;

/// Counts the files in `root` and below, without following links.
pub(in crate::capability::dirs) fn usage_below(root: &File) -> io::Result<Usage> {
    let mut usage = Usage::default();
    let mut left = vec![PathBuf::from(".")];
    while let Some(path) = left.pop() {
        match open_dir_nofollow(root, &path) {
            Ok(dir) => count(&dir, &path, &mut usage, &mut left)?,
            // Not accessible, or gone by now.
            Err(error) if is_skipped(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(usage)
}

fn count(dir: &File, path: &Path, usage: &mut Usage, left: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in read_base_dir(dir)? {
        let entry = entry?;
        usage.files += 1;
        if usage.files > MAX_COUNTED_FILES {
            return Err(io::Error::other(format!("more than {MAX_COUNTED_FILES} files are not counted")));
        }
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => left.push(path.join(entry.file_name())),
            Ok(metadata) if metadata.is_file() => usage.bytes = usage.bytes.saturating_add(metadata.len()),
            Ok(_) => {}
            Err(error) if is_skipped(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_skipped(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cap_primitives::fs::Metadata;

    use super::{super::usage::inode, *};

    /// R-I19.
    #[test]
    fn a_quota_has_room_until_it_is_full() {
        let counter = Counter::default();
        let quota = Quota { bytes: Some(10), files: Some(2) };
        let before = Instant::now();
        assert!(!counter.is_counted(&quota, before));
        counter.begin(Usage { bytes: 4, files: 1 });
        assert_eq!(counter.take(&quota, Usage::bytes(6)), Ok(()));
        assert_eq!(counter.take(&quota, Usage::bytes(1)), Err(OverQuota::Bytes(10)));
        assert_eq!(counter.take(&quota, Usage::FILE), Ok(()));
        assert_eq!(counter.take(&quota, Usage::FILE), Err(OverQuota::Files(2)));
        // A call that began before the count gains nothing from another one; a later call counts again.
        assert!(counter.is_counted(&quota, before));
        assert!(!counter.is_counted(&quota, Instant::now()));
        counter.give(Usage { bytes: 100, files: 1 });
        assert_eq!(counter.take(&quota, Usage { bytes: 10, files: 1 }), Ok(()));
        assert_eq!(counter.take(&Quota::default(), Usage::bytes(u64::MAX)), Ok(()));
    }

    /// R-I19: a deleted file uses space until it is closed.
    #[test]
    fn bytes_without_a_name_count_while_they_are_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "12345").unwrap();
        let metadata = Metadata::from_file(&File::open(&path).unwrap()).unwrap();
        let quota = Quota { bytes: Some(5), files: None };
        let counter = Counter::default();
        counter.begin(Usage { bytes: 5, files: 1 });
        counter.opened(inode(&metadata));
        counter.opened(inode(&metadata));
        counter.removed(Removal::of(&metadata));
        counter.closed(inode(&metadata), || unreachable!("another guest has it open"));
        assert_eq!(counter.take(&quota, Usage::bytes(1)), Err(OverQuota::Bytes(5)));
        counter.closed(inode(&metadata), || 5);
        assert_eq!(counter.take(&quota, Usage::bytes(5)), Ok(()));
    }

    /// R-I19.
    #[test]
    fn usage_is_counted_without_following_links() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("big"), [0; 1000]).unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join("a/b/c"), [0; 10]).unwrap();
        fs::write(dir.path().join("d"), [0; 3]).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("link")).unwrap();
        assert_eq!(usage_below(&File::open(dir.path()).unwrap()).unwrap(), Usage { bytes: 13, files: 5 });
    }
}
