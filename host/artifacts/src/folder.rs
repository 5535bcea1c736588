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
    time::SystemTime,
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use phasm_sandbox::Digest;

/// Holder of artifacts that were uploaded and that no run names yet. No run has this id.
pub(crate) const UPLOADS: &str = "+uploads";

/// Characters of folder names that stand for themselves.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

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
    pub(crate) fn blob(&self, namespace: &str, digest: &Digest) -> PathBuf {
        let digits = digest.hex();
        let (first, rest) = digits.split_at(2);
        self.namespace(namespace).join("blobs").join(first).join(rest)
    }

    /// Returns the namespaces that have artifacts.
    ///
    /// # Errors
    /// Fails when the folder cannot be read.
    pub(crate) fn namespaces(&self) -> io::Result<Vec<String>> {
        entries(&self.root.join("stored"))
    }

    /// Returns the runs of a namespace that name artifacts, and when each named the last one.
    ///
    /// # Errors
    /// Fails when the folder cannot be read.
    pub(crate) fn runs(&self, namespace: &str) -> io::Result<Vec<(String, SystemTime)>> {
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

    /// Returns the digests of the artifacts that a run names.
    ///
    /// # Errors
    /// Fails when the folder cannot be read.
    pub(crate) fn named_by(&self, namespace: &str, run_id: &str) -> io::Result<Vec<Digest>> {
        let names = entries(&self.run_dir(namespace, run_id))?;
        Ok(names.iter().filter_map(|digits| format!("sha256:{digits}").parse().ok()).collect())
    }

    /// Returns whether a run names the artifact.
    pub(crate) fn is_named(&self, namespace: &str, run_id: &str, digest: &Digest) -> bool {
        self.run_dir(namespace, run_id).join(digest.hex()).exists()
    }

    /// Returns the bytes of all artifacts of a namespace.
    ///
    /// # Errors
    /// Fails when the folder cannot be read.
    pub(crate) fn usage(&self, namespace: &str) -> io::Result<u64> {
        let blobs = self.namespace(namespace).join("blobs");
        let mut bytes = 0_u64;
        for first in entries(&blobs)? {
            for entry in read_dir(&blobs.join(first))? {
                bytes = bytes.saturating_add(entry?.metadata()?.len());
            }
        }
        Ok(bytes)
    }

    /// Moves `staged`, a file of the same file system with that digest, into the folder, and notes that the run names it. The file
    /// and its names are durable when this returns.
    ///
    /// # Errors
    /// Fails when the folder cannot be written. The artifact may be there then, and goes with the run.
    pub(crate) fn add(
        &self,
        namespace: &str,
        run_id: &str,
        digest: &Digest,
        staged: &Path,
    ) -> io::Result<()> {
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

    /// Notes that a run names artifacts which are there. Returns those that are not.
    ///
    /// # Errors
    /// Fails when the folder cannot be written.
    pub(crate) fn name(&self, namespace: &str, run_id: &str, digests: &[Digest]) -> io::Result<Vec<Digest>> {
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

    /// Forgets the artifacts of a run, and deletes those that no other run names. Returns the bytes that were deleted.
    ///
    /// # Errors
    /// Fails when the folder cannot be written. Some of the run's artifacts may be forgotten by then.
    pub(crate) fn forget(&self, namespace: &str, run_id: &str) -> io::Result<u64> {
        let dir = self.run_dir(namespace, run_id);
        if !dir.exists() {
            return Ok(0);
        }
        let _lock = self.lock(namespace, File::lock)?;
        let mut freed = 0;
        for digest in self.named_by(namespace, run_id)? {
            freed += self.forget_one(namespace, run_id, &digest)?;
        }
        absent(fs::remove_dir(&dir))?;
        Ok(freed)
    }

    /// Forgets uploads that are older than `before`.
    ///
    /// # Errors
    /// Fails when the folder cannot be written.
    pub(crate) fn forget_uploads(&self, namespace: &str, before: SystemTime) -> io::Result<u64> {
        let dir = self.run_dir(namespace, UPLOADS);
        if !dir.exists() {
            return Ok(0);
        }
        let _lock = self.lock(namespace, File::lock)?;
        let mut freed = 0;
        for digest in self.named_by(namespace, UPLOADS)? {
            if fs::metadata(dir.join(digest.hex()))?.modified()? < before {
                freed += self.forget_one(namespace, UPLOADS, &digest)?;
            }
        }
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

/// Names and ids as names of files.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// Returns the decoded names in a directory; none, if it does not exist.
fn entries(dir: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in read_dir(dir)? {
        let name = entry?.file_name();
        names.extend(
            name.to_str().and_then(|name| Some(percent_decode_str(name).decode_utf8().ok()?.into_owned())),
        );
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

fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Makes the names in a directory durable.
fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
