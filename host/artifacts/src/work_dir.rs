//! Directories of attempts while they run.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use tokio::{runtime::Handle, task::spawn_blocking};
use uuid::Uuid;

/// Number of times that a directory is tried to be removed. The process of a stopped attempt may still write for a moment.
const REMOVALS: u32 = 20;

/// Time after which a directory that is being made belongs to a process that has ended.
const MAKING_TIME: Duration = Duration::from_secs(3600);

/// Directory of this process for files of attempts. Those of processes that have ended are removed when a store is opened.
pub(crate) struct WorkDir {
    path: PathBuf,
    next: AtomicU64,
    #[expect(dead_code, reason = "held for its lock")]
    lock: File,
}

impl WorkDir {
    /// Makes the directory of this process below `root`.
    ///
    /// # Errors
    /// Fails when it cannot be made.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let all = root.join("work");
        fs::create_dir_all(&all)?;
        remove_ended(&all)?;
        // The lock is taken before the directory has its name: another process never finds it without.
        let id = Uuid::now_v7();
        let (new, path) = (all.join(format!(".new-{id}")), all.join(id.to_string()));
        fs::create_dir(&new)?;
        let lock = OpenOptions::new().read(true).write(true).create_new(true).open(new.join("lock"))?;
        lock.lock()?;
        fs::rename(&new, &path)?;
        Ok(Self { path, next: AtomicU64::new(0), lock })
    }

    /// Makes a directory for one attempt.
    ///
    /// # Errors
    /// Fails when it cannot be made.
    pub(crate) fn attempt(&self) -> io::Result<AttemptDir> {
        let path = self.path.join(self.next.fetch_add(1, Relaxed).to_string());
        fs::create_dir(&path)?;
        let dir = AttemptDir { path };
        fs::create_dir(dir.inputs())?;
        fs::create_dir(dir.outputs())?;
        Ok(dir)
    }

    /// Makes a directory that lives as long as this one.
    ///
    /// # Errors
    /// Fails when it cannot be made.
    #[cfg(feature = "bucket")]
    pub(crate) fn make(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        fs::create_dir(&path)?;
        Ok(path)
    }

    /// Returns a path for a file that is about to be stored.
    pub(crate) fn staging(&self) -> StagedFile {
        StagedFile { path: self.path.join(format!("new-{}", self.next.fetch_add(1, Relaxed))) }
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        // Leftovers go with the next store that is opened here.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the directories of processes that have ended.
fn remove_ended(all: &Path) -> io::Result<()> {
    for entry in fs::read_dir(all)? {
        let entry = entry?;
        let path = entry.path();
        let has_ended = if entry.file_name().as_encoded_bytes().starts_with(b".new-") {
            // A process that makes its directory has no lock for a moment.
            entry.metadata()?.modified()?.elapsed().is_ok_and(|age| age > MAKING_TIME)
        } else {
            File::open(path.join("lock")).map_or(true, |lock| lock.try_lock().is_ok())
        };
        if has_ended {
            let _ = fs::remove_dir_all(&path);
        }
    }
    Ok(())
}

/// Directories of one attempt; removed when this is dropped.
pub(crate) struct AttemptDir {
    path: PathBuf,
}

impl AttemptDir {
    pub(crate) fn inputs(&self) -> PathBuf {
        self.path.join("in")
    }

    pub(crate) fn outputs(&self) -> PathBuf {
        self.path.join("out")
    }
}

impl Drop for AttemptDir {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        // An attempt that is stopped is dropped on a thread that others wait for.
        match Handle::try_current() {
            Ok(_) => drop(spawn_blocking(move || remove(&path))),
            Err(_) => remove(&path),
        }
    }
}

fn remove(path: &Path) {
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(path) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
    tracing::warn!("files of an attempt cannot be removed: {}", path.display());
}

/// A file that is about to be stored; removed when this is dropped, unless it was moved by then.
pub(crate) struct StagedFile {
    path: PathBuf,
}

impl StagedFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
