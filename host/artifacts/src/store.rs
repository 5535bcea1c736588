//! The artifacts of a host: stored, found and deleted, within the limits of tenants.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use phasm_sandbox::{Digest, Tenants};
use tokio::{sync::Semaphore, task::spawn_blocking};

#[cfg(feature = "bucket")]
use super::{bucket::ArtifactBucket, cache::ContentCache};
use super::{
    bucket_config::BucketConfig,
    content_store::{Check, ContentStore, unreadable},
    error::ArtifactError,
    file_changes::read_only,
    folder::ArtifactFolder,
    owner::{ArtifactOwner, UPLOADS},
    reference::{Artifact, UNKNOWN_MEDIA},
    work_dir::{AttemptDir, StagedFile, WorkDir},
};

/// Files that are hashed or copied at once, on threads of their own.
const FILES_AT_ONCE: usize = 4;
/// Time that an upload is kept which no run names.
const UPLOAD_TIME: Duration = Duration::from_secs(24 * 3600);
/// Time in which the record of a run that names artifacts is stored.
const SUBMISSION_TIME: Duration = Duration::from_secs(3600);

/// Limits of artifacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArtifactLimits {
    /// Bytes of all files in `/artifacts/out` of one attempt.
    pub attempt_bytes: u64,
    /// Files and directories there.
    pub attempt_files: u64,
    /// Bytes of all artifacts of a tenant.
    pub stored_bytes: u64,
}

impl Default for ArtifactLimits {
    fn default() -> Self {
        Self { attempt_bytes: 4 << 30, attempt_files: 1000, stored_bytes: 64 << 30 }
    }
}

/// Artifacts of the runs of a store. Clones share it.
#[derive(Clone)]
pub struct ArtifactStore(Arc<StoreState>);

struct StoreState {
    contents: Box<dyn ContentStore>,
    work: WorkDir,
    limits: ArtifactLimits,
    /// Tenants whose artifacts are counted together.
    tenants: Tenants,
    /// Room that each tenant has used, counted when it is first needed.
    used: Mutex<BTreeMap<Arc<str>, TenantUsage>>,
    turns: Arc<Semaphore>,
}

/// Bytes of a tenant's artifacts.
#[derive(Clone, Copy, Default)]
struct TenantUsage {
    stored: u64,
    /// Bytes of files that are being stored.
    coming: u64,
}

impl TenantUsage {
    const fn total(self) -> u64 {
        self.stored.saturating_add(self.coming)
    }
}

impl std::fmt::Debug for ArtifactStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArtifactStore").finish_non_exhaustive()
    }
}

impl ArtifactStore {
    /// Opens the artifacts in the folder `dir`, which is made if it is missing. Files that ended processes left are removed.
    ///
    /// # Errors
    /// Fails when the folder cannot be made or read.
    pub fn open(dir: &Path, limits: ArtifactLimits, tenants: Tenants) -> io::Result<Self> {
        let (dir, work) = work_dir(dir)?;
        Ok(Self::of(Box::new(ArtifactFolder::open(dir)?), work, limits, tenants))
    }

    /// Opens the artifacts in a bucket. Files of attempts lie in the folder `dir`, which is made if it is missing.
    ///
    /// # Errors
    /// Fails when the folder cannot be made or read, and in a program without the feature `bucket`.
    #[cfg(feature = "bucket")]
    pub fn open_bucket(
        config: &BucketConfig,
        dir: &Path,
        limits: ArtifactLimits,
        tenants: Tenants,
    ) -> io::Result<Self> {
        let (_, work) = work_dir(dir)?;
        let cache = ContentCache::new(work.make("cache")?, config.cache_bytes);
        Ok(Self::of(Box::new(ArtifactBucket::new(config, cache)), work, limits, tenants))
    }

    #[cfg(not(feature = "bucket"))]
    pub(crate) fn open_bucket(_: &BucketConfig, _: &Path, _: ArtifactLimits, _: Tenants) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this program was built without buckets"))
    }

    fn of(contents: Box<dyn ContentStore>, work: WorkDir, limits: ArtifactLimits, tenants: Tenants) -> Self {
        let (used, turns) = (Mutex::default(), Arc::new(Semaphore::new(FILES_AT_ONCE)));
        Self(Arc::new(StoreState { contents, work, limits, tenants, used, turns }))
    }

    pub(crate) fn limits(&self) -> &ArtifactLimits {
        &self.0.limits
    }

    /// Makes the directories of one attempt.
    ///
    /// # Errors
    /// Fails when they cannot be made.
    pub(crate) fn attempt_dir(&self) -> Result<AttemptDir, ArtifactError> {
        self.0
            .work
            .attempt()
            .map_err(|error| ArtifactError::io("the attempt's directories cannot be made", error))
    }

    /// Puts the content of an artifact of `owner` at each of `paths`, as files to be read only. The content is compared with its digest
    /// once.
    ///
    /// # Errors
    /// Fails when the run does not name the artifact, and when its content is missing or damaged.
    pub(crate) async fn place(
        &self,
        owner: &ArtifactOwner,
        artifact: &Artifact,
        paths: Vec<PathBuf>,
    ) -> Result<(), ArtifactError> {
        let (owner, artifact) = (owner.clone(), artifact.clone());
        self.blocking(move |shared| {
            let file = shared.contents.file(&owner, &artifact, Check::Content)?;
            paths.iter().try_for_each(|path| {
                // A link costs nothing. Folders of some file systems have none.
                let placed =
                    fs::hard_link(&file.path, path).or_else(|_| fs::copy(&file.path, path).map(drop));
                placed.map_err(|error| unreadable(&file.path, &artifact, error))
            })
        })
        .await
    }

    /// Opens the content of an artifact that a run names, after it was compared with the digest.
    ///
    /// # Errors
    /// Fails when the run does not name the artifact, and when its content is missing or damaged.
    pub async fn read(&self, namespace: &str, run_id: &str, digest: Digest) -> Result<File, ArtifactError> {
        let owner = ArtifactOwner::new(namespace, run_id);
        self.blocking(move |shared| {
            let artifact = Artifact::unnamed(digest);
            shared.contents.file(&owner, &artifact, Check::Content)?.open(&artifact)
        })
        .await
    }

    /// Opens the content of an artifact for a reader that compares it with the digest.
    ///
    /// # Errors
    /// Fails when the run does not name the artifact, and when its content is missing.
    pub async fn read_part(
        &self,
        namespace: &str,
        run_id: &str,
        digest: Digest,
    ) -> Result<File, ArtifactError> {
        let owner = ArtifactOwner::new(namespace, run_id);
        self.blocking(move |shared| {
            let artifact = Artifact::unnamed(digest);
            shared.contents.file(&owner, &artifact, Check::Nothing)?.open(&artifact)
        })
        .await
    }

    /// Stores the file at `path`, which is moved away, as an artifact of `owner`. It is durable when this returns.
    ///
    /// # Errors
    /// Fails when the tenant has no room for it, and when it cannot be stored.
    pub(crate) async fn add(
        &self,
        owner: &ArtifactOwner,
        path: PathBuf,
        name: Arc<str>,
        media: Arc<str>,
    ) -> Result<Artifact, ArtifactError> {
        let owner = owner.clone();
        self.blocking(move |shared| shared.add(&owner, &path, &name, media)).await
    }

    /// Begins an upload. The file is stored when it is [finished](Upload::finish).
    ///
    /// # Errors
    /// Fails when no file can be made.
    pub fn upload(&self, namespace: &str) -> Result<Upload, ArtifactError> {
        let staged = self.0.work.staging();
        let file = File::create_new(staged.path())
            .map_err(|error| ArtifactError::at("no file can be made", staged.path(), error))?;
        Ok(Upload { store: self.clone(), namespace: namespace.into(), staged, file, size: 0 })
    }

    /// Notes that a run names artifacts which were uploaded, or made by other runs of its namespace.
    ///
    /// # Errors
    /// Fails with the first artifact that is not there.
    pub(crate) async fn name(
        &self,
        namespace: &Arc<str>,
        run_id: &Arc<str>,
        artifacts: Vec<Artifact>,
    ) -> Result<(), ArtifactError> {
        let owner = ArtifactOwner { namespace: Arc::clone(namespace), run_id: Arc::clone(run_id) };
        self.blocking(move |shared| {
            let digests: Vec<_> = artifacts.iter().map(|artifact| artifact.digest).collect();
            let missing = shared.name(&owner, &digests)?;
            let lost = artifacts.iter().find(|artifact| missing.contains(&artifact.digest));
            lost.map_or(Ok(()), |artifact| Err(ArtifactError::Missing(artifact.shown())))
        })
        .await
    }

    /// Notes that a run names all artifacts that an earlier run names whose results it takes over.
    ///
    /// # Errors
    /// Fails when the folder cannot be written.
    pub(crate) async fn take_over(
        &self,
        namespace: &Arc<str>,
        run_id: &Arc<str>,
        earlier: &Arc<str>,
    ) -> Result<(), ArtifactError> {
        let owner = ArtifactOwner { namespace: Arc::clone(namespace), run_id: Arc::clone(run_id) };
        let earlier = ArtifactOwner { run_id: Arc::clone(earlier), ..owner.clone() };
        self.blocking(move |shared| {
            let named = shared.contents.named_by(&earlier);
            let digests = named.map_err(|error| ArtifactError::io("it cannot be read", error))?;
            if digests.is_empty() {
                return Ok(());
            }
            shared.name(&owner, &digests).map(drop)
        })
        .await
    }

    /// Forgets the artifacts of runs that were deleted. Those that no other run names are deleted. Returns the bytes that were freed.
    ///
    /// # Errors
    /// Fails when the folder or bucket cannot be written.
    pub async fn forget(&self, namespace: &Arc<str>, run_ids: Vec<Arc<str>>) -> Result<u64, ArtifactError> {
        let namespace = Arc::clone(namespace);
        self.blocking(move |shared| {
            let freed = shared.contents.forget(&namespace, &run_ids);
            let freed = freed.map_err(|error| ArtifactError::io("artifacts of deleted runs stay", error))?;
            shared.give_back(&namespace, freed);
            Ok(freed)
        })
        .await
    }

    /// Deletes old uploads that no run names. Returns the runs whose artifacts were all named some time ago.
    ///
    /// # Errors
    /// Fails when the folder cannot be read or written.
    pub(crate) async fn old_owners(&self) -> Result<Vec<ArtifactOwner>, ArtifactError> {
        self.blocking(move |shared| {
            shared
                .old_owners()
                .map_err(|error| ArtifactError::io("old artifacts cannot be looked for", error))
        })
        .await
    }

    /// Runs `work` on a thread that may wait for the disk. If the caller stops waiting, the work continues, and keeps its turn until it ends.
    async fn blocking<R: Send + 'static>(
        &self,
        work: impl FnOnce(&StoreState) -> Result<R, ArtifactError> + Send + 'static,
    ) -> Result<R, ArtifactError> {
        let shared = Arc::clone(&self.0);
        let closed = |error| ArtifactError::io("it is closed", io::Error::other(error));
        let turn = Arc::clone(&self.0.turns).acquire_owned().await.map_err(closed)?;
        let working = spawn_blocking(move || {
            let _turn = turn;
            work(&shared)
        });
        let joined = working.await;
        joined.unwrap_or_else(|error| Err(ArtifactError::io("its thread ended", io::Error::other(error))))
    }
}

impl StoreState {
    /// Notes that a run names artifacts, within the limit of its tenant. Returns those that are not there.
    fn name(&self, owner: &ArtifactOwner, digests: &[Digest]) -> Result<Vec<Digest>, ArtifactError> {
        let written = |error| ArtifactError::io("it cannot be written", error);
        let mut room = 0_u64;
        for digest in digests {
            let cost = self.contents.cost(owner, digest).map_err(written)?;
            room = room.saturating_add(cost.unwrap_or_default());
        }
        self.reserve(&owner.namespace, "artifacts of other runs", room)?;
        let named = self.contents.name(owner, digests);
        self.settle(&owner.namespace, room, if named.is_ok() { room } else { 0 });
        named.map_err(written)
    }

    fn add(
        &self,
        owner: &ArtifactOwner,
        path: &Path,
        name: &Arc<str>,
        media: Arc<str>,
    ) -> Result<Artifact, ArtifactError> {
        let namespace = &owner.namespace;
        let failed = |error| ArtifactError::io(format!("`{name}` cannot be stored"), error);
        let (digest, size) = File::open(path).and_then(Digest::of_reader).map_err(failed)?;
        let artifact = Artifact { digest, size, media, name: Arc::clone(name) };
        // Equal files are stored once.
        let room = if self.contents.has(owner, &digest).map_err(failed)? { 0 } else { size };
        self.reserve(namespace, name, room)?;
        let added = read_only(path).and_then(|()| self.contents.add(owner, &digest, path));
        self.settle(namespace, room, if added.is_ok() { room } else { 0 });
        added.map(|()| artifact).map_err(failed)
    }

    fn tenant(&self, namespace: &str) -> Arc<str> {
        self.tenants.of(&namespace.into())
    }

    /// Reserves `size` bytes for the tenant of a namespace, until the file is stored or given up.
    fn reserve(&self, namespace: &str, name: &str, size: u64) -> Result<(), ArtifactError> {
        let tenant = self.tenant(namespace);
        let limit = self.limits.stored_bytes;
        let mut all = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(&tenant).copied();
        let fits = |used: TenantUsage| used.total().saturating_add(size) <= limit;
        let used = match known.filter(|used| fits(*used)) {
            Some(used) => used,
            // Other processes may have stored and deleted artifacts meanwhile: they are counted before a refusal.
            None => {
                let stored = self.count(&tenant);
                let stored =
                    stored.map_err(|error| ArtifactError::io("artifacts cannot be counted", error))?;
                TenantUsage { stored, coming: known.map_or(0, |used| used.coming) }
            }
        };
        let fits = fits(used);
        let coming = if fits { used.coming.saturating_add(size) } else { used.coming };
        all.insert(tenant, TenantUsage { coming, ..used });
        if fits {
            Ok(())
        } else {
            Err(ArtifactError::Full { name: name.to_owned(), size, used: used.total(), limit })
        }
    }

    /// Ends a reservation. `stored` are the bytes that are stored now.
    fn settle(&self, namespace: &str, reserved: u64, stored: u64) {
        self.change(namespace, |used| {
            used.coming = used.coming.saturating_sub(reserved);
            used.stored = used.stored.saturating_add(stored);
        });
    }

    fn give_back(&self, namespace: &str, size: u64) {
        self.change(namespace, |used| used.stored = used.stored.saturating_sub(size));
    }

    fn change(&self, namespace: &str, change: impl FnOnce(&mut TenantUsage)) {
        let mut all = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(used) = all.get_mut(&self.tenant(namespace)) {
            change(used);
        }
    }

    /// Counts the bytes of a tenant's artifacts.
    fn count(&self, tenant: &str) -> io::Result<u64> {
        let namespaces = self.contents.namespaces()?;
        let own = namespaces.iter().filter(|namespace| *self.tenant(namespace) == *tenant);
        own.map(|namespace| self.contents.usage(namespace)).sum()
    }

    fn old_owners(&self) -> io::Result<Vec<ArtifactOwner>> {
        let now = SystemTime::now();
        let mut old = Vec::new();
        for namespace in self.contents.namespaces()? {
            if let Some(before) = now.checked_sub(UPLOAD_TIME) {
                let freed = self.contents.forget_uploads(&namespace, before)?;
                self.give_back(&namespace, freed);
            }
            for (run_id, named) in self.contents.runs(&namespace)? {
                let is_old = now.duration_since(named).is_ok_and(|age| age > SUBMISSION_TIME);
                if is_old && run_id != UPLOADS {
                    old.push(ArtifactOwner { namespace: namespace.as_str().into(), run_id: run_id.into() });
                }
            }
        }
        Ok(old)
    }
}

/// An upload in progress; dropped, it leaves nothing.
pub struct Upload {
    store: ArtifactStore,
    namespace: Arc<str>,
    staged: StagedFile,
    file: File,
    size: u64,
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upload").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Upload {
    /// Appends `bytes`. The caller's thread writes them.
    ///
    /// # Errors
    /// Fails when an artifact may not be so large, and when the disk is full.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ArtifactError> {
        let limit = self.store.0.limits.attempt_bytes;
        self.size = self.size.saturating_add(bytes.len() as u64);
        if self.size > limit {
            return Err(ArtifactError::TooLarge(limit));
        }
        self.file.write_all(bytes).map_err(|error| ArtifactError::io("an upload cannot be written", error))
    }

    /// Stores the file. Without a run that names it, it is deleted after a day.
    ///
    /// # Errors
    /// Fails when the tenant has no room for it, and when it cannot be stored.
    pub async fn finish(self, name: &str, media: Option<&str>) -> Result<Artifact, ArtifactError> {
        let Self { store, namespace, staged, file, .. } = self;
        drop(file);
        let owner = ArtifactOwner { namespace, run_id: UPLOADS.into() };
        let media = media.unwrap_or(UNKNOWN_MEDIA).into();
        store.add(&owner, staged.path().to_owned(), name.into(), media).await
    }
}

/// Opens the folder for files of attempts. Files that ended processes left are removed.
fn work_dir(dir: &Path) -> io::Result<(PathBuf, WorkDir)> {
    let dir = std::path::absolute(dir)?;
    fs::create_dir_all(&dir)?;
    private(&dir)?;
    let work = WorkDir::open(&dir)?;
    Ok((dir, work))
}

/// Keeps other users of this machine out.
#[cfg(unix)]
fn private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn private(_: &Path) -> io::Result<()> {
    Ok(())
}
