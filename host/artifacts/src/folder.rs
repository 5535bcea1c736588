//! Artifacts in a folder, which hosts of one machine or of one network file system share.
//!
//! ```text
//!  stored/NAMESPACE/lock             shared while a file is added, exclusive while runs are forgotten
//!                  /blobs/ab/cdef…   content, by its digest
//!                  /names/DIGEST/RUN one empty file for each run that names the artifact
//!                  /runs/RUN/DIGEST  the same, by run
//! ```
//!
//! A blob is alive while its folder in `names` is not empty. So work per deleted run grows with the run's own artifacts alone.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use phasm_sandbox::Digest;

use super::{
    content_store::{Check, ContentStore, LocalFile, verify},
    error::ArtifactError,
    file_changes::absent,
    names::{decoded, encoded},
    owner::{ArtifactOwner, UPLOADS},
    reference::Artifact,
};

/// A folder of artifacts.
pub(crate) struct ArtifactFolder {
    root: PathBuf,
}

/// A lock on the artifacts of a namespace. The kernel releases it when the process ends.
struct NamespaceLock(#[expect(dead_code, reason = "held for its lock")] File);

impl ArtifactFolder {
    /// Opens the folder at `root`, an absolute path.
    ///
    /// # Errors
    /// Fails when it cannot be made.
    pub(crate) fn open(root: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(root.join("stored"))?;
        Ok(Self { root })
    }

    fn namespace(&self, namespace: &str) -> PathBuf {
        self.root.join("stored").join(encoded(namespace))
    }

    fn run_dir(&self, namespace: &str, run_id: &str) -> PathBuf {
        self.namespace(namespace).join("runs").join(encoded(run_id))
    }

    fn names_dir(&self, namespace: &str, digest: &Digest) -> PathBuf {
        self.namespace(namespace).join("names").join(digest.hex())
    }

    /// Returns the path of an artifact's content, whether it exists or not.
    fn blob(&self, namespace: &str, digest: &Digest) -> PathBuf {
        let digits = digest.hex();
        let (first, rest) = digits.split_at(2);
        self.namespace(namespace).join("blobs").join(first).join(rest)
    }

    fn note(&self, namespace: &str, run_id: &str, digest: &Digest) -> io::Result<()> {
        // By run first: after a crash between the two, the run's end still finds the digest.
        let (runs, names) = (self.run_dir(namespace, run_id), self.names_dir(namespace, digest));
        for (dir, name) in [(&runs, digest.hex()), (&names, encoded(run_id))] {
            fs::create_dir_all(dir)?;
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(dir.join(name))?;
            // Uploads are kept for a time from the last one on.
            file.set_modified(SystemTime::now())?;
            sync_dir(dir)?;
            dir.parent().map_or(Ok(()), sync_dir)?;
        }
        Ok(())
    }

    /// Returns the digests of the artifacts that a run names.
    fn digests(&self, namespace: &str, run_id: &str) -> io::Result<Vec<Digest>> {
        let names = entries(&self.run_dir(namespace, run_id))?;
        Ok(names.iter().filter_map(|digits| format!("sha256:{digits}").parse().ok()).collect())
    }

    fn forget_run(&self, namespace: &str, run_id: &str) -> io::Result<u64> {
        let dir = self.run_dir(namespace, run_id);
        if !dir.exists() {
            return Ok(0);
        }
        let _lock = self.lock(namespace, File::lock)?;
        let mut freed = 0;
        for digest in self.digests(namespace, run_id)? {
            freed += self.forget_one(namespace, run_id, &digest)?;
        }
        absent(fs::remove_dir(&dir))?;
        Ok(freed)
    }

    /// Forgets one artifact of a run. Each step may have been done before a crash.
    fn forget_one(&self, namespace: &str, run_id: &str, digest: &Digest) -> io::Result<u64> {
        let names = self.names_dir(namespace, digest);
        absent(fs::remove_file(names.join(encoded(run_id))))?;
        let mut freed = 0;
        let is_last = match fs::remove_dir(&names) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => false,
            Err(error) => return Err(error),
        };
        if is_last {
            let blob = self.blob(namespace, digest);
            let bytes = fs::metadata(&blob).map_or(0, |found| found.len());
            absent(fs::remove_file(&blob))?;
            freed = bytes;
        }
        absent(fs::remove_file(self.run_dir(namespace, run_id).join(digest.hex())))?;
        Ok(freed)
    }

    fn lock(&self, namespace: &str, take: fn(&File) -> io::Result<()>) -> io::Result<NamespaceLock> {
        let dir = self.namespace(namespace);
        fs::create_dir_all(&dir)?;
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(dir.join("lock"))?;
        take(&file)?;
        Ok(NamespaceLock(file))
    }
}

impl ContentStore for ArtifactFolder {
    fn namespaces(&self) -> io::Result<Vec<String>> {
        entries(&self.root.join("stored"))
    }

    fn runs(&self, namespace: &str) -> io::Result<Vec<(String, SystemTime)>> {
        let dir = self.namespace(namespace).join("runs");
        let mut runs = Vec::new();
        for run_id in entries(&dir)? {
            match fs::metadata(self.run_dir(namespace, &run_id)) {
                Ok(found) => runs.push((run_id, found.modified()?)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(runs)
    }

    fn named_by(&self, owner: &ArtifactOwner) -> io::Result<Vec<Digest>> {
        self.digests(&owner.namespace, &owner.run_id)
    }

    fn usage(&self, namespace: &str) -> io::Result<u64> {
        let blobs = self.namespace(namespace).join("blobs");
        let mut bytes = 0_u64;
        for first in entries(&blobs)? {
            for entry in read_dir(&blobs.join(first))? {
                bytes = bytes.saturating_add(entry?.metadata()?.len());
            }
        }
        Ok(bytes)
    }

    fn has(&self, owner: &ArtifactOwner, digest: &Digest) -> io::Result<bool> {
        // Equal files of a namespace are stored once.
        Ok(self.blob(&owner.namespace, digest).exists())
    }

    fn cost(&self, owner: &ArtifactOwner, digest: &Digest) -> io::Result<Option<u64>> {
        Ok(self.has(owner, digest)?.then_some(0))
    }

    fn file(
        &self,
        owner: &ArtifactOwner,
        artifact: &Artifact,
        check: Check,
    ) -> Result<LocalFile, ArtifactError> {
        let ArtifactOwner { namespace, run_id } = owner;
        if !self.run_dir(namespace, run_id).join(artifact.digest.hex()).exists() {
            return Err(ArtifactError::NotOfRun(artifact.shown()));
        }
        let blob = self.blob(namespace, &artifact.digest);
        if check == Check::Content {
            verify(&blob, artifact)?;
        }
        Ok(LocalFile::stays(blob))
    }

    fn add(&self, owner: &ArtifactOwner, digest: &Digest, staged: &Path) -> io::Result<()> {
        let ArtifactOwner { namespace, run_id } = owner;
        File::open(staged)?.sync_all()?;
        let _lock = self.lock(namespace, File::lock_shared)?;
        self.note(namespace, run_id, digest)?;
        let blob = self.blob(namespace, digest);
        let dir = blob.parent().unwrap_or(&self.root);
        fs::create_dir_all(dir)?;
        // Also where there is such a blob: this one is known to be whole.
        fs::rename(staged, &blob)?;
        sync_dir(dir)?;
        dir.parent().map_or(Ok(()), sync_dir)
    }

    fn name(&self, owner: &ArtifactOwner, digests: &[Digest]) -> io::Result<Vec<Digest>> {
        let ArtifactOwner { namespace, run_id } = owner;
        let mut missing = Vec::new();
        // The lock keeps another run's end from deleting one of them before it is noted.
        let _lock = self.lock(namespace, File::lock_shared)?;
        for digest in digests {
            if self.blob(namespace, digest).exists() {
                self.note(namespace, run_id, digest)?;
                // From now on it lives as long as its runs. The order matters: it always has a name.
                absent(fs::remove_file(self.names_dir(namespace, digest).join(encoded(UPLOADS))))?;
                absent(fs::remove_file(self.run_dir(namespace, UPLOADS).join(digest.hex())))?;
            } else {
                missing.push(*digest);
            }
        }
        Ok(missing)
    }

    fn forget(&self, namespace: &str, run_ids: &[Arc<str>]) -> io::Result<u64> {
        run_ids.iter().map(|run_id| self.forget_run(namespace, run_id)).sum()
    }

    fn forget_uploads(&self, namespace: &str, before: SystemTime) -> io::Result<u64> {
        let dir = self.run_dir(namespace, UPLOADS);
        if !dir.exists() {
            return Ok(0);
        }
        let _lock = self.lock(namespace, File::lock)?;
        let mut freed = 0;
        for digest in self.digests(namespace, UPLOADS)? {
            if fs::metadata(dir.join(digest.hex()))?.modified()? < before {
                freed += self.forget_one(namespace, UPLOADS, &digest)?;
            }
        }
        Ok(freed)
    }
}

/// Returns the decoded names in a directory; none, if it does not exist.
fn entries(dir: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in read_dir(dir)? {
        let name = entry?.file_name();
        names.extend(name.to_str().and_then(decoded));
    }
    names.sort();
    Ok(names)
}

fn read_dir(dir: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    let found = match fs::read_dir(dir) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    Ok(found.into_iter().flatten())
}

/// Makes the names in a directory durable.
fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
