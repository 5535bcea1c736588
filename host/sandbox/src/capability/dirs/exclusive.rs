//! Directories that one attempt at a time uses.

use std::{fs::File, io};

use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, openat},
    io::Errno,
};
use tokio::{sync::OwnedMutexGuard, task::spawn_blocking};

use super::{SharedDirs, grant::DirGrant, host_dir::HostDir};

/// Locks of an attempt's exclusive directories. They are released when this is dropped, and by the kernel when the process ends.
#[derive(Default)]
pub(crate) struct DirLocks {
    #[cfg_attr(not(test), expect(dead_code, reason = "held, not read"))]
    held: Vec<DirLock>,
}

/// Lock of one directory.
#[expect(dead_code, reason = "held, not read")]
struct DirLock {
    /// The kernel's lock, against other processes. Dropped first.
    file: File,
    /// The turn among the attempts of this process, which get it in the order in which they came.
    turn: OwnedMutexGuard<()>,
}

impl DirLocks {
    /// Waits until the attempt has each of its exclusive directories for itself.
    ///
    /// # Errors
    /// The message for the user when one cannot be opened or locked.
    pub(crate) async fn acquire(shared: &SharedDirs, grants: &[DirGrant]) -> Result<Self, String> {
        let mut wanted = Vec::new();
        for grant in grants.iter().filter(|grant| grant.exclusive) {
            let opened = shared.host_dirs.open(&grant.host).await;
            let locked = opened.and_then(|(host_dir, file)| Ok((host_dir, lockable(&file)?)));
            let (host_dir, file) = locked.map_err(|error| failed(grant, &error))?;
            wanted.push((host_dir, file, grant));
        }
        // One order for all attempts: two that want the same two directories never wait for each other.
        wanted.sort_by_key(|(host_dir, ..)| host_dir.inode());
        wanted.dedup_by_key(|(host_dir, ..)| host_dir.inode());
        let mut held = Vec::with_capacity(wanted.len());
        for (host_dir, file, grant) in wanted {
            held.push(DirLock::acquire(&host_dir, file).await.map_err(|error| failed(grant, &error))?);
        }
        Ok(Self { held })
    }
}

impl DirLock {
    async fn acquire(host_dir: &HostDir, file: File) -> io::Result<Self> {
        let turn = host_dir.turn().await;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Self { file, turn }),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(error.into()),
        }
        // Another process has it. The thread keeps the turn while it waits, also if the attempt ends meanwhile: so a directory never
        // takes more than one thread.
        let waiting = spawn_blocking(move || {
            loop {
                match flock(&file, FlockOperation::LockExclusive) {
                    Ok(()) => return Ok(Self { file, turn }),
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        });
        waiting.await.map_err(io::Error::other)?
    }
}

/// Opens a directory anew: the kernel locks no file that was opened for its path alone.
fn lockable(directory: &File) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(openat(directory, ".", flags, Mode::empty())?))
}

/// Returns the message for all who see the run; where the directory lies is the operator's affair.
fn failed(grant: &DirGrant, error: &io::Error) -> String {
    tracing::warn!(%error, "granted directory {} cannot be locked", grant.host.display());
    format!("granted directory `{}` cannot be locked: {error}", grant.guest)
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use tokio::{sync::oneshot, time::timeout};

    use super::*;

    fn exclusive(dir: &std::path::Path) -> DirGrant {
        DirGrant { exclusive: true, ..DirGrant::read_write(dir, "/data") }
    }

    /// R-I148: attempts of one process get the directory in the order in which they came, and a dropped one leaves no lock.
    #[tokio::test]
    async fn attempts_have_it_one_after_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let shared = Arc::new(SharedDirs::default());
        let grants = [exclusive(dir.path()), exclusive(&dir.path().join("."))];
        let first = DirLocks::acquire(&shared, &grants).await.unwrap();
        assert_eq!(first.held.len(), 1, "the same directory twice is one lock");
        let (sender, mut second) = oneshot::channel();
        let waiting = tokio::spawn({
            let shared = Arc::clone(&shared);
            let [grant, _] = grants;
            async move { sender.send(DirLocks::acquire(&shared, &[grant]).await.is_ok()) }
        });
        tokio::task::yield_now().await;
        assert!(second.try_recv().is_err());
        // One that gives up while it waits is none.
        let third = [exclusive(dir.path())];
        assert!(timeout(Duration::from_millis(1), DirLocks::acquire(&shared, &third)).await.is_err());
        drop(first);
        assert_eq!(second.await, Ok(true));
        waiting.await.unwrap().unwrap();
        DirLocks::acquire(&shared, &[exclusive(dir.path())]).await.unwrap();
    }

    /// R-I148: other processes are kept out, and wait on one thread.
    #[tokio::test]
    async fn processes_have_it_one_after_the_other() {
        let dir = tempfile::tempdir().unwrap();
        // Another open file is to the kernel what another process is.
        let other = File::open(dir.path()).unwrap();
        flock(&other, FlockOperation::LockExclusive).unwrap();
        let shared = SharedDirs::default();
        let grants = [exclusive(dir.path())];
        assert!(timeout(Duration::from_millis(20), DirLocks::acquire(&shared, &grants)).await.is_err());
        drop(other);
        let held = DirLocks::acquire(&shared, &grants).await.unwrap();
        let other = File::open(dir.path()).unwrap();
        assert_eq!(flock(&other, FlockOperation::NonBlockingLockExclusive), Err(Errno::WOULDBLOCK));
        drop(held);
        flock(&other, FlockOperation::NonBlockingLockExclusive).unwrap();
    }

    #[tokio::test]
    async fn other_grants_lock_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let held = DirLocks::acquire(&SharedDirs::default(), &[DirGrant::read_write(dir.path(), "/data")])
            .await
            .unwrap();
        assert!(held.held.is_empty());
        let gone = DirLocks::acquire(&SharedDirs::default(), &[exclusive(&dir.path().join("gone"))]).await;
        assert!(gone.is_err_and(|why| why.contains("`/data` cannot be locked")));
    }
}
