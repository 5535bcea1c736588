//! Tests of artifacts in a bucket of a real server.

use std::{
    fs,
    io::Read as _,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use phasm_sandbox::{AwsSigning, Digest, HttpConfig, SigningKey, Tenants};
use tempfile::TempDir;

use super::{ArtifactBucket, PartSizes, parts};
use crate::{
    Addressing, Artifact, ArtifactError, ArtifactLimits, ArtifactStore, BucketConfig,
    cache::ContentCache,
    content_store::{Check, ContentStore},
    owner::{ArtifactOwner, UPLOADS},
    tests::s3_server::{BUCKET, KEY_ID, S3Server},
};

fn config(server: &S3Server) -> BucketConfig {
    let signing =
        AwsSigning { access_key_id: KEY_ID.into(), region: "eu-central-1".into(), service: "s3".into() };
    BucketConfig {
        endpoint: server.url.as_str().into(),
        name: BUCKET.into(),
        addressing: Addressing::Path,
        prefix: "phasm/artifacts".into(),
        key: SigningKey { signing, secret: fs::read_to_string(&server.key_file).unwrap().into() },
        cache_bytes: 1 << 20,
        http: HttpConfig::default(),
    }
}

/// A bucket, the server that has it, and a directory for files.
struct World {
    server: S3Server,
    dir: TempDir,
    bucket: ArtifactBucket,
}

impl World {
    fn new() -> Self {
        let (server, dir) = (S3Server::start(), tempfile::tempdir().unwrap());
        let bucket = host(&config(&server), dir.path(), "cache");
        Self { server, dir, bucket }
    }

    /// Stores content for a run.
    fn add(&self, namespace: &str, run: &str, content: &str) -> Artifact {
        let staged = self.dir.path().join("staged");
        fs::write(&staged, content).unwrap();
        let artifact = Artifact::unnamed(Digest::of(content.as_bytes()));
        self.bucket.add(&ArtifactOwner::new(namespace, run), &artifact.digest, &staged).unwrap();
        artifact
    }
}

/// Another host's client of the same bucket.
fn host(config: &BucketConfig, dir: &Path, cache: &str) -> ArtifactBucket {
    let dir = dir.join(cache);
    fs::create_dir(&dir).unwrap();
    ArtifactBucket::new(config, ContentCache::new(dir, config.cache_bytes))
}

fn content(bucket: &ArtifactBucket, run: &str, artifact: &Artifact) -> Result<String, ArtifactError> {
    let file = bucket.file(&run_of(run), artifact, Check::Content)?;
    let mut text = String::new();
    file.open(artifact)?.read_to_string(&mut text).unwrap();
    Ok(text)
}

fn run_of(id: &str) -> ArtifactOwner {
    ArtifactOwner::new("default", id)
}

fn runs(ids: &[&str]) -> Vec<Arc<str>> {
    ids.iter().map(|id| (*id).into()).collect()
}

/// R-I170: what one host stores another one reads, as long as a run names it, and nothing stays of the run.
#[test]
fn hosts_share_a_bucket() {
    let world = World::new();
    let artifact = world.add("default", "run-1", "hello");
    let other = host(&config(&world.server), world.dir.path(), "other");
    assert_eq!(content(&other, "run-1", &artifact).unwrap(), "hello");
    assert!(matches!(content(&other, "run-2", &artifact), Err(ArtifactError::NotOfRun(_))));
    assert_eq!(other.namespaces().unwrap(), ["default"]);
    assert_eq!(other.runs("default").unwrap()[0].0, "run-1");
    assert_eq!(other.named_by(&run_of("run-1")).unwrap(), [artifact.digest]);
    assert_eq!(other.usage("default").unwrap(), 5);
    assert_eq!(other.forget("default", &runs(&["run-1"])).unwrap(), 5);
    assert!(matches!(content(&world.bucket, "run-1", &artifact), Err(ArtifactError::NotOfRun(_))));
    assert_eq!(world.server.files(), Vec::<std::path::PathBuf>::new());
}

/// R-I170: a run that names an artifact of another one has a copy of its own; namespaces have nothing in common.
#[test]
fn each_run_has_its_copy() {
    let world = World::new();
    let artifact = world.add("default", "run-1", "hello");
    let bucket = &world.bucket;
    let digests = [artifact.digest, Digest::of(b"other")];
    assert_eq!(bucket.cost(&run_of("run-2"), &artifact.digest).unwrap(), Some(5));
    assert_eq!(bucket.name(&run_of("run-2"), &digests).unwrap(), [Digest::of(b"other")]);
    assert_eq!(bucket.cost(&run_of("run-2"), &artifact.digest).unwrap(), Some(0));
    assert_eq!(bucket.cost(&ArtifactOwner::new("other", "run-3"), &artifact.digest).unwrap(), None);
    assert_eq!(
        bucket.name(&ArtifactOwner::new("other", "run-3"), &[artifact.digest]).unwrap(),
        [artifact.digest]
    );
    assert_eq!(bucket.forget("default", &runs(&["run-1"])).unwrap(), 5);
    assert_eq!(content(bucket, "run-2", &artifact).unwrap(), "hello");
}

/// R-I170: an upload goes to the first run that names it, and is deleted when none does.
#[test]
fn uploads_wait_for_a_run() {
    let world = World::new();
    let bucket = &world.bucket;
    let (named, lost) = (world.add("default", UPLOADS, "named"), world.add("default", UPLOADS, "lost"));
    assert!(bucket.name(&run_of("run"), &[named.digest]).unwrap().is_empty());
    assert_eq!(bucket.named_by(&run_of(UPLOADS)).unwrap(), [lost.digest]);
    let (past, future) = (Duration::from_secs(3600), Duration::from_secs(3600));
    assert_eq!(bucket.forget_uploads("default", SystemTime::now() - past).unwrap(), 0);
    assert_eq!(bucket.forget_uploads("default", SystemTime::now() + future).unwrap(), 4);
    assert_eq!(content(bucket, "run", &named).unwrap(), "named");
}

/// R-I170: the artifacts of many runs are found by one list, in whatever order and with whatever names.
#[test]
fn many_runs_are_forgotten_at_once() {
    let world = World::new();
    let ids = ["a", "a-b", "a b", "b", "ü", "z"];
    for id in ids {
        world.add("default", id, id);
    }
    let gone = runs(&["z", "a", "none", "a-b", "ü"]);
    assert_eq!(world.bucket.forget("default", &gone).unwrap(), 1 + 1 + 3 + 2);
    let mut left: Vec<_> = world.bucket.runs("default").unwrap().into_iter().map(|(run, _)| run).collect();
    left.sort();
    assert_eq!(left, ["a b", "b"]);
}

/// R-I170: large content goes in parts, up, down and from run to run.
#[test]
fn large_content_goes_in_parts() {
    let mut world = World::new();
    world.bucket.sizes = PartSizes { part: 5 << 20, copy: 6 << 20 };
    let large = "0123456789abcdef".repeat(700_000);
    let artifact = world.add("default", "run-1", &large);
    let other = host(&config(&world.server), world.dir.path(), "other");
    assert_eq!(content(&other, "run-1", &artifact).unwrap(), large);
    assert_eq!(world.bucket.forget("default", &runs(&["run-1"])).unwrap(), large.len() as u64);
    assert_eq!(world.server.files(), Vec::<std::path::PathBuf>::new());
}

/// R-I170: an upload that a host's end broke off leaves no parts once its run is deleted.
#[test]
fn nothing_stays_of_a_broken_upload() {
    let world = World::new();
    let bucket = &world.bucket;
    let staged = world.dir.path().join("staged");
    fs::write(&staged, "x".repeat(6 << 20)).unwrap();
    let digest = Digest::of(&fs::read(&staged).unwrap());
    let keys = bucket.keys("default", "run", &digest);
    let begun = super::waited(async {
        let upload = bucket.client.begin_upload(&keys.content).await?;
        bucket.mark(&keys, |uploads| uploads.extend([upload.clone()])).await?;
        let bytes = 0..5 << 20;
        let part = super::FilePart { file: &staged, digest: super::hashed(&staged, &bytes)?, bytes };
        bucket.client.put(&keys.content, &[("partNumber", "1"), ("uploadId", &upload)], &part).await
    });
    begun.unwrap();
    assert!(!world.server.files().is_empty());
    assert!(matches!(content(bucket, "run", &Artifact::unnamed(digest)), Err(ArtifactError::Missing(_))));
    assert_eq!(bucket.forget("default", &runs(&["run"])).unwrap(), 0);
    assert_eq!(world.server.files(), Vec::<std::path::PathBuf>::new());
}

/// R-I170: an upload that the service knows no more does not keep the run's artifacts.
#[test]
fn ended_uploads_keep_nothing() {
    let world = World::new();
    let bucket = &world.bucket;
    let artifact = world.add("default", "run", "hello");
    let keys = bucket.keys_of(&run_of("run"), &artifact.digest);
    let unknown = "0a81cc3d-d4ab-4091-bee6-b24986a51494".to_owned();
    super::waited(bucket.mark(&keys, |uploads| uploads.extend([unknown]))).unwrap();
    assert_eq!(bucket.forget("default", &runs(&["run"])).unwrap(), 5);
    assert_eq!(world.server.files(), Vec::<std::path::PathBuf>::new());
}

/// R-I171: content that is damaged in the bucket is an error that names it; content that is damaged in the host's cache is fetched again.
#[test]
fn damage_is_found() {
    let world = World::new();
    let artifact = world.add("default", "run", "hello");
    let cached = world.dir.path().join("cache").join(artifact.digest.hex());
    replace(&cached, "jello");
    assert_eq!(content(&world.bucket, "run", &artifact).unwrap(), "hello");
    let stored = world.server.files().into_iter().find(|path| fs::read(path).unwrap() == b"hello").unwrap();
    replace(&stored, "jello");
    assert_eq!(content(&world.bucket, "run", &artifact).unwrap(), "hello");
    let other = host(&config(&world.server), world.dir.path(), "other");
    let error = content(&other, "run", &artifact).unwrap_err().to_string();
    assert!(error.contains("is damaged") && error.contains(&artifact.digest.to_string()), "{error}");
    assert!(fs::read_dir(world.dir.path().join("other")).unwrap().next().is_none());
    fs::remove_file(&stored).unwrap();
    let error = content(&world.bucket, "run", &artifact).unwrap_err().to_string();
    assert!(error.contains("is missing"), "{error}");
}

fn replace(path: &Path, text: &str) {
    fs::remove_file(path).unwrap();
    fs::write(path, text).unwrap();
}

/// R-I171: a wrong key, a bucket that is missing and a server that is gone are errors which say so without the server's address.
#[test]
fn refusals_are_told() {
    let world = World::new();
    let mut wrong = config(&world.server);
    wrong.key.secret = "wrong".into();
    let refused = |config: &BucketConfig, cache| {
        let bucket = host(config, world.dir.path(), cache);
        bucket.usage("default").unwrap_err().to_string()
    };
    let error = refused(&wrong, "wrong");
    assert!(error.contains("SignatureDoesNotMatch"), "{error}");
    let missing = BucketConfig { name: "nothing".into(), ..config(&world.server) };
    let error = refused(&missing, "missing");
    assert!(error.contains("NoSuchBucket"), "{error}");
    let gone = BucketConfig { endpoint: "http://127.0.0.1:9".into(), ..config(&world.server) };
    let error = refused(&gone, "gone");
    assert_eq!(error, "the bucket cannot be reached; the log of the host says why");
}

/// R-I170: the cache holds so much, and never removes what is in use.
#[test]
fn the_cache_is_bounded() {
    let world = World::new();
    let small = BucketConfig { cache_bytes: 10, ..config(&world.server) };
    let bucket = host(&small, world.dir.path(), "small");
    let all = ["12345", "23456", "34567"].map(|text| world.add("default", "run", text));
    let used = bucket.file(&run_of("run"), &all[0], Check::Content).unwrap();
    for artifact in &all {
        drop(bucket.file(&run_of("run"), artifact, Check::Content).unwrap());
    }
    let in_cache = || fs::read_dir(world.dir.path().join("small")).unwrap().count();
    assert_eq!((fs::read_to_string(&used.path).unwrap().as_str(), in_cache()), ("12345", 2));
    drop(used);
}

/// R-I170: quotas of tenants count copies, too.
#[tokio::test]
async fn copies_count() {
    let (server, dir) = (S3Server::start(), tempfile::tempdir().unwrap());
    let limits = ArtifactLimits { stored_bytes: 8, ..ArtifactLimits::default() };
    let store = ArtifactStore::open_bucket(&config(&server), dir.path(), limits, Tenants::default()).unwrap();
    let mut upload = store.upload("default").unwrap();
    upload.write(b"hello").unwrap();
    let artifact = upload.finish("a.txt", None).await.unwrap();
    let namespace: Arc<str> = "default".into();
    store.name(&namespace, &"run-1".into(), vec![artifact.clone()]).await.unwrap_err();
    let freed = store.forget(&namespace, vec![UPLOADS.into()]).await.unwrap();
    assert_eq!(freed, 5);
    assert!(server.files().is_empty());
}

#[test]
fn parts_cover_everything_once() {
    assert_eq!(parts(0, 10).count(), 0);
    assert_eq!(parts(25, 10).collect::<Vec<_>>(), [0..10, 10..20, 20..25]);
    let huge = 5 << 40;
    let all: Vec<_> = parts(huge, 64 << 20).collect();
    assert!(all.len() <= 10_000 && all.last().unwrap().end == huge);
    assert!(all.iter().zip(all.iter().skip(1)).all(|(one, next)| one.end == next.start));
}
