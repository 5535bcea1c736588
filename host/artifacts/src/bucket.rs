//! Artifacts in a bucket, which hosts of any place share.
//!
//! ```text
//!  PREFIX/NAMESPACE/runs/RUN/DIGEST      one small object for each artifact that a run names, with the uploads in parts that were begun
//!                  /content/DIGEST/RUN   content, once for each of these runs
//! ```
//!
//! A bucket has no locks, so nothing is shared that would have to be counted: each run has its own copy, which the bucket makes itself.
//! A run's end deletes the run's objects, and no other run can be about to need them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::Range,
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use phasm_sandbox::Digest;
use tokio::runtime::Builder;

use self::client::{BucketClient, FilePart};
use super::{
    bucket_config::BucketConfig,
    cache::ContentCache,
    content_store::{Check, ContentStore, LocalFile},
    error::ArtifactError,
    names::{decoded, encoded},
    owner::{ArtifactOwner, UPLOADS},
    reference::Artifact,
};

mod client;
mod replies;
#[cfg(test)]
mod tests;

/// Bytes of a part of an upload, for objects of up to ten thousand parts.
const PART_BYTES: u64 = 64 << 20;
/// Most parts of an upload.
const MAX_PARTS: u64 = 10_000;
/// Most bytes that a bucket copies by one request.
const MAX_COPY_BYTES: u64 = 5 << 30;
/// Times that the copy of an artifact is tried, when the runs that had it are deleted meanwhile.
const MAX_COPIES: usize = 5;

/// A bucket of artifacts.
pub(crate) struct ArtifactBucket {
    client: BucketClient,
    prefix: String,
    cache: ContentCache,
    sizes: PartSizes,
}

/// Sizes from which content goes in parts.
#[derive(Clone, Copy)]
struct PartSizes {
    part: u64,
    copy: u64,
}

/// A marker of a run, in a list.
struct Marker {
    run_id: String,
    digest: Digest,
    written: SystemTime,
    /// Whether uploads in parts were begun.
    has_uploads: bool,
}

/// An artifact of a run, by its keys.
struct Keys {
    marker: String,
    content: String,
}

impl ArtifactBucket {
    /// Makes the client of a bucket. The bucket is first asked when something is stored or read.
    pub(crate) fn new(config: &BucketConfig, cache: ContentCache) -> Self {
        let prefix = config.prefix.trim_matches('/');
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let sizes = PartSizes { part: PART_BYTES, copy: MAX_COPY_BYTES };
        Self { client: BucketClient::new(config), prefix, cache, sizes }
    }

    fn namespace(&self, namespace: &str) -> String {
        format!("{}{}/", self.prefix, encoded(namespace))
    }

    fn holders(&self, namespace: &str, digest: &Digest) -> String {
        format!("{}content/{}/", self.namespace(namespace), digest.hex())
    }

    fn markers(&self, namespace: &str) -> String {
        format!("{}runs/", self.namespace(namespace))
    }

    fn keys_of(&self, owner: &ArtifactOwner, digest: &Digest) -> Keys {
        self.keys(&owner.namespace, &owner.run_id, digest)
    }

    fn keys(&self, namespace: &str, run_id: &str, digest: &Digest) -> Keys {
        let (run, digits) = (encoded(run_id), digest.hex());
        Keys {
            marker: format!("{}{run}/{digits}", self.markers(namespace)),
            content: format!("{}{run}", self.holders(namespace, digest)),
        }
    }

    /// Reads the markers that a list has, until `each` returns false.
    async fn each_marker(
        &self,
        namespace: &str,
        query: &[(&str, &str)],
        mut each: impl FnMut(Marker) -> bool,
    ) -> io::Result<()> {
        let markers = self.markers(namespace);
        self.client
            .list(query, |page| {
                page.contents.iter().all(|object| {
                    let name = object.key.strip_prefix(&markers).and_then(|rest| rest.split_once('/'));
                    let marker = name.and_then(|(run, digits)| {
                        let digest = format!("sha256:{digits}").parse().ok()?;
                        let (written, has_uploads) = (object.written(), object.size > 0);
                        Some(Marker { run_id: decoded(run)?, digest, written, has_uploads })
                    });
                    marker.is_none_or(&mut each)
                })
            })
            .await
    }

    async fn markers_of(&self, namespace: &str, run_id: &str) -> io::Result<Vec<Marker>> {
        let prefix = format!("{}{}/", self.markers(namespace), encoded(run_id));
        let mut found = Vec::new();
        let each = |marker| {
            found.push(marker);
            true
        };
        self.each_marker(namespace, &[("prefix", &prefix)], each).await?;
        Ok(found)
    }

    /// Returns the runs of a namespace that have an artifact, a few of them, with its size.
    async fn some_holders(&self, namespace: &str, digest: &Digest) -> io::Result<Vec<(String, u64)>> {
        let prefix = self.holders(namespace, digest);
        let mut found = Vec::new();
        let page = [("prefix", prefix.as_str()), ("max-keys", "10")];
        self.client
            .list(&page, |page| {
                found.extend(page.contents.into_iter().map(|object| (object.key, object.size)));
                false
            })
            .await?;
        Ok(found)
    }

    /// Writes the content of a file.
    async fn put(&self, keys: &Keys, digest: &Digest, staged: &Path) -> io::Result<()> {
        let size = fs::metadata(staged)?.len();
        if size <= self.sizes.part {
            // The marker comes first: after a crash between the two, the run's end still finds the artifact.
            self.mark_new(keys).await?;
            let whole = FilePart { file: staged, bytes: 0..size, digest: *digest };
            return self.client.put(&keys.content, &[], &whole).await.map(drop);
        }
        self.in_parts(keys, size, async |upload, number, bytes| {
            let part = FilePart { file: staged, bytes: bytes.clone(), digest: hashed(staged, &bytes)? };
            let number = number.to_string();
            self.client.put(&keys.content, &[("partNumber", &number), ("uploadId", upload)], &part).await
        })
        .await
    }

    /// Copies content that another run has.
    async fn copy(&self, from: &str, keys: &Keys, size: u64) -> io::Result<()> {
        if size <= self.sizes.copy {
            self.mark_new(keys).await?;
            return self.client.copy(from, &keys.content, &[], None).await.map(drop);
        }
        self.in_parts(keys, size, async |upload, number, bytes| {
            let number = number.to_string();
            let query = [("partNumber", number.as_str()), ("uploadId", upload)];
            self.client.copy(from, &keys.content, &query, Some(bytes)).await
        })
        .await
    }

    /// Writes content in parts, each by `write`, which returns its tag.
    async fn in_parts(
        &self,
        keys: &Keys,
        size: u64,
        write: impl AsyncFn(&str, usize, Range<u64>) -> io::Result<String>,
    ) -> io::Result<()> {
        let upload = self.client.begin_upload(&keys.content).await?;
        let written = async {
            // Before the first part: parts cost money, and the run's end finds them by this.
            self.mark(keys, |uploads| {
                uploads.insert(upload.clone());
            })
            .await?;
            let mut tags = Vec::new();
            for bytes in parts(size, self.sizes.part) {
                tags.push(write(&upload, tags.len() + 1, bytes).await?);
            }
            let completed = self.client.complete_upload(&keys.content, &upload, &tags).await;
            // The service may complete it and its response be lost: it then knows nothing of the upload when it is asked again.
            if completed.is_err() && self.client.size(&keys.content).await? != Some(size) {
                return completed;
            }
            self.mark(keys, |uploads| {
                uploads.remove(&upload);
            })
            .await
        };
        let written = written.await;
        if written.is_err() {
            let _ = self.client.abort_upload(&keys.content, &upload).await;
        }
        written
    }

    /// Writes the marker of an artifact, unless it is there.
    async fn mark_new(&self, keys: &Keys) -> io::Result<()> {
        match self.client.size(&keys.marker).await? {
            Some(_) => Ok(()),
            None => self.client.put_text(&keys.marker, "").await,
        }
    }

    /// Changes which uploads in parts the marker of an artifact has, one in a line.
    async fn mark(&self, keys: &Keys, change: impl FnOnce(&mut BTreeSet<String>)) -> io::Result<()> {
        let text = self.client.text(&keys.marker).await?.unwrap_or_default();
        let mut uploads = text.lines().map(str::to_owned).collect();
        change(&mut uploads);
        let lines: String = uploads.iter().map(|upload| format!("{upload}\n")).collect();
        self.client.put_text(&keys.marker, &lines).await
    }

    /// Notes that a run names an artifact. Returns whether its namespace has it.
    async fn name_one(&self, owner: &ArtifactOwner, digest: &Digest) -> io::Result<bool> {
        let keys = self.keys_of(owner, digest);
        if self.client.size(&keys.content).await?.is_some() {
            return Ok(true);
        }
        for _ in 0..MAX_COPIES {
            let holders = self.some_holders(&owner.namespace, digest).await?;
            if holders.is_empty() {
                return Ok(false);
            }
            for (holder, size) in &holders {
                match self.copy(holder, &keys, *size).await {
                    Ok(()) => {
                        self.forget_one(&owner.namespace, UPLOADS, digest, false).await?;
                        return Ok(true);
                    }
                    // Its run was deleted meanwhile.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(false)
    }

    /// Forgets one artifact of a run. Each step may have been done before a crash.
    async fn forget_one(
        &self,
        namespace: &str,
        run_id: &str,
        digest: &Digest,
        has_uploads: bool,
    ) -> io::Result<u64> {
        let keys = self.keys(namespace, run_id, digest);
        if has_uploads {
            let uploads = self.client.text(&keys.marker).await?.unwrap_or_default();
            for upload in uploads.lines() {
                match self.client.abort_upload(&keys.content, upload).await {
                    // Some services say so of uploads that have ended. It does not keep the rest.
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        tracing::warn!(error = %error, "artifacts: parts of an upload may stay in the bucket");
                    }
                    other => other?,
                }
            }
        }
        let freed = self.client.size(&keys.content).await?;
        if freed.is_some() {
            self.client.delete(&keys.content).await?;
        }
        self.client.delete(&keys.marker).await?;
        Ok(freed.unwrap_or_default())
    }

    async fn forget_all(&self, namespace: &str, markers: Vec<Marker>) -> io::Result<u64> {
        let mut freed = 0_u64;
        for Marker { run_id, digest, has_uploads, .. } in markers {
            freed = freed.saturating_add(self.forget_one(namespace, &run_id, &digest, has_uploads).await?);
        }
        Ok(freed)
    }

    /// Returns the markers of some runs. One list has those of all of them: ids of runs that end together are near each other, and
    /// most runs have no artifacts.
    async fn markers_of_all(&self, namespace: &str, run_ids: &[Arc<str>]) -> io::Result<Vec<Marker>> {
        // With the slash that follows in keys: without it they have another order.
        let part = |run_id: &str| format!("{}/", encoded(run_id));
        let wanted: BTreeSet<String> = run_ids.iter().map(|run_id| part(run_id)).collect();
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let each = |marker: Marker| {
            let run = part(&marker.run_id);
            if run > *last {
                return false;
            }
            if wanted.contains(&run) {
                found.push(marker);
            }
            true
        };
        let markers = self.markers(namespace);
        let after = format!("{markers}{first}");
        self.each_marker(namespace, &[("prefix", &markers), ("start-after", &after)], each).await?;
        Ok(found)
    }
}

impl ContentStore for ArtifactBucket {
    fn namespaces(&self) -> io::Result<Vec<String>> {
        waited(async {
            let mut found = Vec::new();
            let each = |page: replies::ObjectPage| {
                let names = page.common_prefixes.iter().filter_map(|common| {
                    decoded(common.prefix.strip_prefix(&self.prefix)?.trim_end_matches('/'))
                });
                found.extend(names);
                true
            };
            self.client.list(&[("prefix", &self.prefix), ("delimiter", "/")], each).await?;
            Ok(found)
        })
    }

    fn runs(&self, namespace: &str) -> io::Result<Vec<(String, SystemTime)>> {
        waited(async {
            let mut found = BTreeMap::new();
            let each = |marker: Marker| {
                let last = found.entry(marker.run_id).or_insert(marker.written);
                *last = marker.written.max(*last);
                true
            };
            self.each_marker(namespace, &[("prefix", &self.markers(namespace))], each).await?;
            Ok(found.into_iter().collect())
        })
    }

    fn named_by(&self, owner: &ArtifactOwner) -> io::Result<Vec<Digest>> {
        let markers = waited(self.markers_of(&owner.namespace, &owner.run_id))?;
        Ok(markers.into_iter().map(|marker| marker.digest).collect())
    }

    fn usage(&self, namespace: &str) -> io::Result<u64> {
        waited(async {
            let mut bytes = 0_u64;
            let each = |page: replies::ObjectPage| {
                bytes = page.contents.iter().fold(bytes, |sum, object| sum.saturating_add(object.size));
                true
            };
            let prefix = format!("{}content/", self.namespace(namespace));
            self.client.list(&[("prefix", &prefix)], each).await?;
            Ok(bytes)
        })
    }

    fn has(&self, owner: &ArtifactOwner, digest: &Digest) -> io::Result<bool> {
        Ok(waited(self.client.size(&self.keys_of(owner, digest).content))?.is_some())
    }

    fn cost(&self, owner: &ArtifactOwner, digest: &Digest) -> io::Result<Option<u64>> {
        if self.has(owner, digest)? {
            return Ok(Some(0));
        }
        let holders = waited(self.some_holders(&owner.namespace, digest))?;
        Ok(holders.first().map(|(_, size)| *size))
    }

    fn file(
        &self,
        owner: &ArtifactOwner,
        artifact: &Artifact,
        check: Check,
    ) -> Result<LocalFile, ArtifactError> {
        let keys = self.keys_of(owner, &artifact.digest);
        let failed = |error: io::Error| {
            if error.kind() == io::ErrorKind::NotFound {
                return ArtifactError::Missing(artifact.shown());
            }
            ArtifactError::io(format!("{} cannot be fetched", artifact.shown()), error)
        };
        // The cache is of all namespaces: that the run has the artifact is asked each time.
        if waited(self.client.size(&keys.content)).map_err(failed)?.is_none() {
            let is_named = waited(self.client.size(&keys.marker)).map_err(failed)?.is_some();
            let shown = artifact.shown();
            return Err(if is_named {
                ArtifactError::Missing(shown)
            } else {
                ArtifactError::NotOfRun(shown)
            });
        }
        let fetch = |path: &Path| waited(self.client.download(&keys.content, path)).map_err(failed);
        self.cache.file(artifact, check, fetch)
    }

    fn add(&self, owner: &ArtifactOwner, digest: &Digest, staged: &Path) -> io::Result<()> {
        waited(self.put(&self.keys_of(owner, digest), digest, staged))?;
        self.cache.put(digest, staged);
        Ok(())
    }

    fn name(&self, owner: &ArtifactOwner, digests: &[Digest]) -> io::Result<Vec<Digest>> {
        waited(async {
            let mut missing = Vec::new();
            for digest in digests {
                if !self.name_one(owner, digest).await? {
                    missing.push(*digest);
                }
            }
            Ok(missing)
        })
    }

    fn forget(&self, namespace: &str, run_ids: &[Arc<str>]) -> io::Result<u64> {
        waited(async {
            let markers = match run_ids {
                [one] => self.markers_of(namespace, one).await?,
                all => self.markers_of_all(namespace, all).await?,
            };
            self.forget_all(namespace, markers).await
        })
    }

    fn forget_uploads(&self, namespace: &str, before: SystemTime) -> io::Result<u64> {
        waited(async {
            let mut markers = self.markers_of(namespace, UPLOADS).await?;
            markers.retain(|marker| marker.written < before);
            self.forget_all(namespace, markers).await
        })
    }
}

/// Returns the parts of content of `size` bytes, each of `part` bytes at least but for the last.
fn parts(size: u64, part: u64) -> impl Iterator<Item = Range<u64>> {
    let part = part.max(size.div_ceil(MAX_PARTS)).max(1);
    (0..size.div_ceil(part)).map(move |index| index * part..size.min((index + 1) * part))
}

fn hashed(file: &Path, bytes: &Range<u64>) -> io::Result<Digest> {
    let mut file = File::open(file)?;
    file.seek(SeekFrom::Start(bytes.start))?;
    Digest::of_reader(file.take(bytes.end.saturating_sub(bytes.start))).map(|(digest, _)| digest)
}

/// Waits for requests, on a thread that may wait. They have a runtime of their own, so that the end of the host's does not break them.
fn waited<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    Builder::new_current_thread().enable_all().build()?.block_on(work)
}
