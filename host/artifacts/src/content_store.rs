//! Where the content of artifacts lies, and which runs name it.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use phasm_sandbox::Digest;

use super::{error::ArtifactError, owner::ArtifactOwner, reference::Artifact};

/// A place of content by digest, which knows the runs that name it. Its functions wait for a disk or a network.
///
/// An artifact of a namespace is there while a run names it. Namespaces share nothing.
pub(crate) trait ContentStore: Send + Sync {
    /// Returns the namespaces that have artifacts.
    ///
    /// # Errors
    /// Fails when the place cannot be read.
    fn namespaces(&self) -> io::Result<Vec<String>>;

    /// Returns the runs of a namespace that name artifacts, and when each named the last one.
    ///
    /// # Errors
    /// Fails when the place cannot be read.
    fn runs(&self, namespace: &str) -> io::Result<Vec<(String, SystemTime)>>;

    /// Returns the digests of the artifacts that a run names.
    ///
    /// # Errors
    /// Fails when the place cannot be read.
    fn named_by(&self, owner: &ArtifactOwner) -> io::Result<Vec<Digest>>;

    /// Returns the bytes of all artifacts of a namespace.
    ///
    /// # Errors
    /// Fails when the place cannot be read.
    fn usage(&self, namespace: &str) -> io::Result<u64>;

    /// Returns whether content is there, so that nothing more is stored when the run adds it.
    ///
    /// # Errors
    /// Fails when the place cannot be read.
    fn has(&self, owner: &ArtifactOwner, digest: &Digest) -> io::Result<bool>;

    /// Returns the bytes that are stored in addition when the run names an artifact; none if the namespace has no such artifact.
    ///
    /// # Errors
    /// Fails when the place cannot be read.
    fn cost(&self, owner: &ArtifactOwner, digest: &Digest) -> io::Result<Option<u64>>;

    /// Returns a file of this host with the content of an artifact that the run names. With [`Check::Content`], it was compared with its
    /// digest.
    ///
    /// # Errors
    /// Fails when the run does not name the artifact, and when its content is missing or damaged.
    fn file(
        &self,
        owner: &ArtifactOwner,
        artifact: &Artifact,
        check: Check,
    ) -> Result<LocalFile, ArtifactError>;

    /// Stores `staged`, a file of the work directory with that digest, which is moved away, and notes that the run names it. The content
    /// and its names are durable when this returns.
    ///
    /// # Errors
    /// Fails when the place cannot be written. The artifact may be there then, and goes with the run.
    fn add(&self, owner: &ArtifactOwner, digest: &Digest, staged: &Path) -> io::Result<()>;

    /// Notes that a run names artifacts of its namespace. Returns those that are not there.
    ///
    /// # Errors
    /// Fails when the place cannot be written.
    fn name(&self, owner: &ArtifactOwner, digests: &[Digest]) -> io::Result<Vec<Digest>>;

    /// Forgets the artifacts of runs, and deletes those that no other run names. Returns the bytes that were deleted.
    ///
    /// # Errors
    /// Fails when the place cannot be written. Some artifacts may be forgotten by then.
    fn forget(&self, namespace: &str, run_ids: &[Arc<str>]) -> io::Result<u64>;

    /// Forgets uploads that are older than `before`. Returns the bytes that were deleted.
    ///
    /// # Errors
    /// Fails when the place cannot be written.
    fn forget_uploads(&self, namespace: &str, before: SystemTime) -> io::Result<u64>;
}

/// Whether content is compared with its digest before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// The content is compared.
    Content,
    /// The reader compares it.
    Nothing,
}

/// A file of this host with the content of an artifact. It is not removed while this lives.
#[derive(Debug)]
pub(crate) struct LocalFile {
    pub(crate) path: PathBuf,
    #[expect(dead_code, reason = "held for its life")]
    pub(crate) kept: Option<Arc<dyn Send + Sync + std::fmt::Debug>>,
}

impl LocalFile {
    /// Returns a file that stays as long as its runs.
    pub(crate) fn stays(path: PathBuf) -> Self {
        Self { path, kept: None }
    }

    /// Opens the file.
    ///
    /// # Errors
    /// Fails when it is missing, or cannot be read.
    pub(crate) fn open(&self, artifact: &Artifact) -> Result<File, ArtifactError> {
        File::open(&self.path).map_err(|error| unreadable(&self.path, artifact, error))
    }
}

/// Compares a file with the digest of an artifact.
///
/// # Errors
/// Fails when it has other content, is missing, or cannot be read.
pub(crate) fn verify(path: &Path, artifact: &Artifact) -> Result<(), ArtifactError> {
    let hashed = File::open(path).and_then(Digest::of_reader);
    match hashed {
        Ok((found, _)) if found == artifact.digest => Ok(()),
        Ok((found, _)) => Err(ArtifactError::Damaged { artifact: artifact.shown(), found }),
        Err(error) => Err(unreadable(path, artifact, error)),
    }
}

pub(crate) fn unreadable(path: &Path, artifact: &Artifact, error: io::Error) -> ArtifactError {
    if error.kind() == io::ErrorKind::NotFound {
        return ArtifactError::Missing(artifact.shown());
    }
    ArtifactError::at(format!("{} cannot be read", artifact.shown()), path, error)
}
