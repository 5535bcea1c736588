//! Files of this host with the content of artifacts in a bucket, so that several attempts fetch it once.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use phasm_sandbox::Digest;

use super::{
    content_store::{Check, LocalFile, verify},
    error::ArtifactError,
    file_changes::{absent, read_only},
    reference::Artifact,
};

/// Fetched content, of so many bytes at most next to what attempts use.
pub(crate) struct ContentCache {
    dir: PathBuf,
    most: u64,
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    files: HashMap<Digest, Arc<CachedFile>>,
    /// Counts uses, so that the file that was not used for the longest time is known.
    uses: u64,
    /// Bytes of all files.
    total: u64,
}

/// A file of the cache.
#[derive(Debug)]
struct CachedFile {
    path: PathBuf,
    /// Locked while the content is fetched: others that need it wait.
    content: Mutex<Option<CachedContent>>,
}

#[derive(Clone, Copy, Debug)]
struct CachedContent {
    bytes: u64,
    last_use: u64,
}

impl ContentCache {
    /// Makes a cache in an empty directory.
    pub(crate) fn new(dir: PathBuf, most: u64) -> Self {
        Self { dir, most, state: Mutex::default() }
    }

    /// Returns the file with the content of an artifact, which `fetch` writes to a path if it is not there. Content was compared with its
    /// digest when it was fetched. With [`Check::Content`] it is compared again: a damaged file is fetched again.
    ///
    /// # Errors
    /// Fails when the content cannot be fetched, and when it is damaged.
    pub(crate) fn file(
        &self,
        artifact: &Artifact,
        check: Check,
        fetch: impl FnOnce(&Path) -> Result<(), ArtifactError>,
    ) -> Result<LocalFile, ArtifactError> {
        let file = self.entry(&artifact.digest);
        let filled = self.fill(&file, artifact, check, fetch);
        self.evict();
        match filled {
            Ok(()) => Ok(LocalFile { path: file.path.clone(), kept: Some(file) }),
            Err(error) => {
                self.remove_empty(&artifact.digest, &file);
                Err(error)
            }
        }
    }

    fn fill(
        &self,
        file: &CachedFile,
        artifact: &Artifact,
        check: Check,
        fetch: impl FnOnce(&Path) -> Result<(), ArtifactError>,
    ) -> Result<(), ArtifactError> {
        let mut content = file.content.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(CachedContent { bytes, .. }) = *content
            && (check == Check::Nothing || verify(&file.path, artifact).is_ok())
        {
            self.set(&mut content, bytes);
            return Ok(());
        }
        self.clear(&mut content);
        let failed = |error| ArtifactError::io(format!("{} cannot be fetched", artifact.shown()), error);
        absent(fs::remove_file(&file.path)).map_err(failed)?;
        let fetched = fetch(&file.path).and_then(|()| verify(&file.path, artifact));
        let fetched = fetched.and_then(|()| {
            read_only(&file.path).map_err(failed)?;
            fs::metadata(&file.path).map_err(failed)
        });
        match fetched {
            Ok(found) => {
                self.set(&mut content, found.len());
                Ok(())
            }
            Err(error) => {
                let _ = fs::remove_file(&file.path);
                Err(error)
            }
        }
    }

    /// Moves a file that was stored into the cache, since the next attempt is likely to read it.
    pub(crate) fn put(&self, digest: &Digest, staged: &Path) {
        let file = self.entry(digest);
        if let Ok(mut content) = file.content.try_lock()
            && content.is_none()
            && let Ok(found) = fs::metadata(staged)
            && fs::rename(staged, &file.path).is_ok()
        {
            self.set(&mut content, found.len());
        }
        drop(file);
        self.evict();
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entry(&self, digest: &Digest) -> Arc<CachedFile> {
        let mut state = self.state();
        let file = state.files.entry(*digest).or_insert_with(|| {
            let path = self.dir.join(digest.hex());
            Arc::new(CachedFile { path, content: Mutex::default() })
        });
        Arc::clone(file)
    }

    /// Notes a use of a file of so many bytes.
    fn set(&self, content: &mut Option<CachedContent>, bytes: u64) {
        self.clear(content);
        let mut state = self.state();
        state.uses += 1;
        state.total = state.total.saturating_add(bytes);
        *content = Some(CachedContent { bytes, last_use: state.uses });
    }

    fn clear(&self, content: &mut Option<CachedContent>) {
        let bytes = content.take().map_or(0, |content| content.bytes);
        let mut state = self.state();
        state.total = state.total.saturating_sub(bytes);
    }

    /// Removes the entry of a file that could not be fetched, unless others use it.
    fn remove_empty(&self, digest: &Digest, file: &Arc<CachedFile>) {
        let mut state = self.state();
        // The map's and the caller's.
        if Arc::strong_count(file) == 2 {
            state.files.remove(digest);
        }
    }

    /// Removes the files that were not used for the longest time, once there are too many bytes. Files in use stay: a later call
    /// removes them.
    fn evict(&self) {
        let mut state = self.state();
        if state.total <= self.most {
            return;
        }
        // The map alone has them, and a new use needs the lock. The order of locks elsewhere is content before state: this must not wait.
        let is_unused = |file: &Arc<CachedFile>| Arc::strong_count(file) == 1;
        let unused = state.files.iter().filter(|(_, file)| is_unused(file)).filter_map(|(digest, file)| {
            let content = (*file.content.try_lock().ok()?)?;
            Some((content.last_use, content.bytes, *digest))
        });
        let mut unused: Vec<_> = unused.collect();
        unused.sort_unstable_by_key(|(last_use, ..)| *last_use);
        // More than the excess, so that the next file does not look through all again.
        let wanted = self.most / 4 * 3;
        for (_, bytes, digest) in unused {
            if state.total <= wanted {
                break;
            }
            state.total = state.total.saturating_sub(bytes);
            if let Some(file) = state.files.remove(&digest) {
                let _ = fs::remove_file(&file.path);
            }
        }
    }
}
