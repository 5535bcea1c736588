//! The artifacts of a host, which are opened when they are first needed.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use phasm_engine::value::Map;
use phasm_sandbox::Tenants;
use tokio::{sync::OnceCell, task::spawn_blocking};
use uuid::Uuid;

use super::{
    bucket_config::BucketConfig,
    error::ArtifactError,
    owner::ArtifactOwner,
    reference::Artifact,
    store::{ArtifactLimits, ArtifactStore},
};

/// Place of artifacts.
#[derive(Clone, Debug)]
pub enum ArtifactPlace {
    /// A folder, which is made when it is first needed.
    Folder(PathBuf),
    /// A folder for temporary files, which is removed with the host: runs in memory end with it, too.
    Temporary,
    /// A bucket. A program without the feature `bucket` cannot open it.
    Bucket {
        /// The bucket.
        bucket: Box<BucketConfig>,
        /// The folder for files of attempts; without it, one for temporary files that is removed with the host.
        work: Option<PathBuf>,
    },
}

impl ArtifactPlace {
    /// Returns the place beside a store's file.
    #[must_use]
    pub fn beside(store: &Path) -> Self {
        let mut name = OsString::from(store);
        name.push(".artifacts");
        Self::Folder(name.into())
    }
}

/// The artifacts of a host. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct HostArtifacts(Arc<Lazy>);

#[derive(Debug, Default)]
struct Lazy {
    place: OnceLock<ArtifactPlace>,
    limits: ArtifactLimits,
    tenants: Tenants,
    opened: OnceCell<ArtifactStore>,
    temporary: OnceLock<PathBuf>,
}

impl HostArtifacts {
    /// Makes the artifacts of a host. Without a place, [`Self::set_place`] may set it later.
    #[must_use]
    pub fn new(place: Option<ArtifactPlace>, limits: ArtifactLimits) -> Self {
        Self::of_tenants(place, limits, Tenants::default())
    }

    /// Makes the artifacts of a host with tenants, whose artifacts are counted together.
    #[must_use]
    pub fn of_tenants(place: Option<ArtifactPlace>, limits: ArtifactLimits, tenants: Tenants) -> Self {
        let (opened, temporary) = (OnceCell::new(), OnceLock::new());
        let place = place.map(OnceLock::from).unwrap_or_default();
        Self(Arc::new(Lazy { place, limits, tenants, opened, temporary }))
    }

    /// Sets the place, unless it was set before.
    pub fn set_place(&self, place: ArtifactPlace) {
        let _ = self.0.place.set(place);
    }

    /// Returns whether there may be artifacts: a folder that was never made has none.
    fn may_hold_any(&self) -> bool {
        self.0.opened.initialized()
            || match self.0.place.get() {
                Some(ArtifactPlace::Folder(folder)) => folder.exists(),
                Some(ArtifactPlace::Temporary) | None => false,
                Some(ArtifactPlace::Bucket { .. }) => true,
            }
    }

    /// Returns the store, which is opened by the first caller.
    ///
    /// # Errors
    /// Fails when there is no place for artifacts, and when it cannot be opened.
    pub async fn store(&self) -> Result<ArtifactStore, ArtifactError> {
        self.0.opened.get_or_try_init(|| self.open()).await.cloned()
    }

    /// Returns the store, if any artifact was ever stored in it.
    ///
    /// # Errors
    /// Fails when it cannot be opened.
    pub async fn store_if_used(&self) -> Result<Option<ArtifactStore>, ArtifactError> {
        if self.may_hold_any() { self.store().await.map(Some) } else { Ok(None) }
    }

    async fn open(&self) -> Result<ArtifactStore, ArtifactError> {
        let lazy = Arc::clone(&self.0);
        let opening = spawn_blocking(move || lazy.open());
        let failed = |error| ArtifactError::io("its folder cannot be opened", io::Error::other(error));
        opening.await.map_err(failed)?
    }

    /// Notes which artifacts a new run names: those of its parameters, and those of the earlier run whose results it takes over.
    ///
    /// # Errors
    /// Fails when a parameter names an artifact that is not there.
    pub async fn name(
        &self,
        namespace: &Arc<str>,
        run_id: &Arc<str>,
        parameters: &Map,
        earlier: Option<&Arc<str>>,
    ) -> Result<(), ArtifactError> {
        let named = parameters.values().flat_map(Artifact::named_in);
        let named: BTreeMap<_, _> = named.map(|artifact| (artifact.digest, artifact)).collect();
        if !named.is_empty() {
            self.store().await?.name(namespace, run_id, named.into_values().collect()).await?;
        }
        if let Some(earlier) = earlier
            && let Some(store) = self.store_if_used().await?
        {
            store.take_over(namespace, run_id, earlier).await?;
        }
        Ok(())
    }

    /// Returns the owners of artifacts that may be gone, after uploads that no run names were deleted. A submission may have failed
    /// after its artifacts were named, and a process may have ended between the deletion of a run and of its artifacts.
    ///
    /// # Errors
    /// Fails when the folder cannot be read or written.
    pub async fn old_owners(&self) -> Result<Vec<ArtifactOwner>, ArtifactError> {
        match self.store_if_used().await? {
            Some(store) => store.old_owners().await,
            None => Ok(Vec::new()),
        }
    }

    /// Forgets the artifacts of runs that were deleted. They are deleted later if that fails.
    pub async fn forget(&self, namespace: &Arc<str>, run_ids: Vec<Arc<str>>) {
        if run_ids.is_empty() {
            return;
        }
        let forgotten = match self.store_if_used().await {
            Ok(Some(store)) => store.forget(namespace, run_ids).await.map(drop),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = forgotten {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "artifacts of deleted runs of {namespace} stay"
            );
        }
    }
}

impl Lazy {
    fn open(&self) -> Result<ArtifactStore, ArtifactError> {
        let (folder, bucket) = match self.place.get() {
            Some(ArtifactPlace::Folder(folder)) => (folder.clone(), None),
            Some(ArtifactPlace::Temporary) => (self.temporary_folder(), None),
            Some(ArtifactPlace::Bucket { bucket, work }) => {
                (work.clone().unwrap_or_else(|| self.temporary_folder()), Some(&**bucket))
            }
            None => return Err(ArtifactError::NoPlace),
        };
        let (limits, tenants) = (self.limits, self.tenants.clone());
        let opened = match bucket {
            Some(bucket) => ArtifactStore::open_bucket(bucket, &folder, limits, tenants),
            None => ArtifactStore::open(&folder, limits, tenants),
        };
        opened.map_err(|error| ArtifactError::at("its folder cannot be opened", &folder, error))
    }

    fn temporary_folder(&self) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("phasm-artifacts-{}", Uuid::now_v7()));
        self.temporary.get_or_init(|| folder).clone()
    }
}

impl Drop for Lazy {
    fn drop(&mut self) {
        drop(self.opened.take());
        if let Some(folder) = self.temporary.get() {
            // The system removes leftovers in its folder for temporary files.
            let _ = fs::remove_dir_all(folder);
        }
    }
}
