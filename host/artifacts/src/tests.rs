//! Tests of artifacts without guests.

mod contents;
#[cfg(feature = "bucket")]
pub(crate) mod s3_server;

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use phasm_engine::{
    outcome::{Outcome, code},
    value::{Map, Value},
};
use phasm_sandbox::{Digest, Tenants, executor::Invocation};
use tempfile::TempDir;

use self::contents::contents;
use super::{
    Artifact, ArtifactError, ArtifactLimits, ArtifactPlace, ArtifactStore, AttemptFiles, HostArtifacts,
};

const LIMITS: ArtifactLimits = ArtifactLimits { attempt_bytes: 1000, attempt_files: 10, stored_bytes: 100 };

fn store(dir: &TempDir) -> ArtifactStore {
    ArtifactStore::open(dir.path(), LIMITS, Tenants::default()).unwrap()
}

fn invocation(run: &str, inputs: Vec<(&str, Value)>) -> Invocation {
    Invocation {
        run_id: run.into(),
        inputs: Arc::new(inputs.into_iter().map(|(name, value)| (name.into(), value)).collect()),
        ..Invocation::first("guest")
    }
}

/// An attempt of a run, and the host's paths of its directories.
struct Attempt {
    files: AttemptFiles,
    invocation: Invocation,
}

impl Attempt {
    async fn begin(
        store: &ArtifactStore,
        run: &str,
        inputs: Vec<(&str, Value)>,
    ) -> Result<Self, ArtifactError> {
        let mut invocation = invocation(run, inputs);
        let files = AttemptFiles::prepare(store, &mut invocation).await?;
        Ok(Self { files, invocation })
    }

    fn dir(&self, guest: &str) -> &Path {
        &self.invocation.dirs.iter().find(|dir| dir.guest == guest).unwrap().host
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.dir("/artifacts/out").join(name), content).unwrap();
    }

    /// Ends the attempt with one output that names a file.
    async fn end(self, artifact: &str) -> Outcome {
        self.files
            .store_outputs(
                Outcome::default().output("file", json(&format!("{{\"artifact\": {artifact:?}}}"))),
            )
            .await
    }
}

fn json(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

/// Stores a file with that content as an artifact of a run; the value that names it.
async fn made(store: &ArtifactStore, run: &str, content: &str) -> Value {
    let attempt = Attempt::begin(store, run, Vec::new()).await.unwrap();
    attempt.write("f.txt", content);
    let outcome = attempt.end("/artifacts/out/f.txt").await;
    assert_eq!(outcome.code, code::SUCCEEDED, "{}", outcome.message);
    outcome.outputs.first().unwrap().value.clone()
}

/// R-I150: a file goes from one attempt to another by its digest, and the host alone says its size.
#[tokio::test]
async fn a_file_goes_from_one_attempt_to_another() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    let value = made(&store, "run", "hello").await;
    let artifact = Artifact::of(&value).unwrap();
    assert_eq!((artifact.digest, artifact.size, &*artifact.name), (Digest::of(b"hello"), 5, "f.txt"));
    let nested = json(&format!("{{\"all\": [{}, 1]}}", value.to_json()));
    let attempt =
        Attempt::begin(&store, "run", vec![("rows", value.clone()), ("many", nested)]).await.unwrap();
    let inputs: Map = attempt.invocation.inputs.iter().cloned().collect();
    let path = |value: &Value| value.member("path").and_then(Value::as_str).unwrap().to_owned();
    assert_eq!(path(&inputs["rows"]), "/artifacts/in/rows");
    let many = inputs["many"].member("all").and_then(Value::as_array).unwrap();
    assert_eq!(path(&many[0]), "/artifacts/in/many.all.0");
    for name in ["rows", "many.all.0"] {
        assert_eq!(fs::read(attempt.dir("/artifacts/in").join(name)).unwrap(), b"hello");
    }
    assert!(attempt.invocation.dirs.iter().any(|dir| dir.read_only && dir.guest == "/artifacts/in"));
    // Equal names get the next number that is free.
    let names = [("ä", "_"), ("ö", "_-2"), ("_-2", "_-2-2"), ("ü", "_-3")];
    let equal = names.map(|(input, _)| (input, value.clone())).to_vec();
    let numbered = Attempt::begin(&store, "run", equal).await.unwrap();
    for (input, (_, name)) in numbered.invocation.inputs.iter().map(|(_, value)| value).zip(names) {
        assert_eq!(path(input), format!("/artifacts/in/{name}"));
        assert_eq!(fs::read(numbered.dir("/artifacts/in").join(name)).unwrap(), b"hello");
    }
    // An attempt may return an artifact that it was given: without the path, which is its own.
    let returned =
        attempt.files.store_outputs(Outcome::default().output("same", inputs["rows"].clone())).await;
    assert_eq!(returned.outputs.first().unwrap().value, value);
}

/// R-I151: an output names files of its own attempt only, and an input artifacts of its own run only.
#[tokio::test]
async fn nothing_else_can_be_named() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    let value = made(&store, "run", "secret").await;
    for (named, why) in [
        ("/artifacts/out/../in/x", "leads out of /artifacts/out"),
        ("/artifacts/out/none", "does not exist"),
        ("/artifacts/out/dir", "is no file"),
        ("/artifacts/out/", "is no file"),
        ("/artifacts/out/link", "is a link"),
        ("/artifacts/out/linked/f", "is a link"),
        (&*Digest::of(b"secret").to_string(), "does not belong to this run"),
    ] {
        let attempt = Attempt::begin(&store, "run", Vec::new()).await.unwrap();
        let out = attempt.dir("/artifacts/out").to_owned();
        fs::create_dir(out.join("dir")).unwrap();
        // A guest can make no links; a fault of the sandbox shall not be enough.
        std::os::unix::fs::symlink("/etc/passwd", out.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", out.join("linked")).unwrap();
        let outcome = attempt.end(named).await;
        assert_eq!((outcome.code, outcome.outputs.len()), (code::ERROR, 0), "{named}");
        assert!(outcome.message.contains(why), "{named}: {}", outcome.message);
    }
    // Nothing is stored before every output was looked at.
    let attempt = Attempt::begin(&store, "run", Vec::new()).await.unwrap();
    attempt.write("good", "unwanted");
    let outputs = ["/artifacts/out/good", "/artifacts/out/bad"];
    let outputs = outputs.map(|path| json(&format!("{{\"artifact\": {path:?}}}")));
    let outcome =
        outputs.into_iter().fold(Outcome::default(), |outcome, output| outcome.output("file", output));
    assert_eq!(attempt.files.store_outputs(outcome).await.code, code::ERROR);
    assert!(store.read("default", "run", Digest::of(b"unwanted")).await.is_err());
    // Other texts are no files.
    for text in ["rows.csv", "/artifacts/outside", "sha256:12", "/etc/passwd"] {
        let attempt = Attempt::begin(&store, "run", Vec::new()).await.unwrap();
        let outcome = attempt.end(text).await;
        let shown = outcome.outputs.first().map(|output| output.value.to_json());
        assert_eq!(shown, Some(format!("{{\"artifact\":{text:?}}}")));
    }
    for (run, value) in
        [("other", value.clone()), ("run", Artifact::unnamed(Digest::of(b"guess")).to_value())]
    {
        let refused = Attempt::begin(&store, run, vec![("x", value)]).await.err().unwrap();
        assert!(matches!(refused, ArtifactError::NotOfRun(_)), "{refused}");
    }
    // Another namespace has artifacts of its own.
    let mut elsewhere = Invocation { namespace: "other".into(), ..invocation("run", vec![("x", value)]) };
    assert!(AttemptFiles::prepare(&store, &mut elsewhere).await.is_err());
}

/// R-I151: nothing of a failed attempt is stored, and its directories are gone.
#[tokio::test]
async fn a_failed_attempt_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    let attempt = Attempt::begin(&store, "run", Vec::new()).await.unwrap();
    attempt.write("f", "content");
    let (files, value) = (attempt.files, json("{\"artifact\": \"/artifacts/out/f\"}"));
    let failed = files.store_outputs(Outcome::failed("no").output("file", value.clone())).await;
    assert_eq!(failed.outputs.first().unwrap().value, value, "it stays as the guest wrote it");
    let suspended = Attempt::begin(&store, "run", Vec::new()).await.unwrap();
    suspended.write("f", "part");
    let suspended = suspended.files.store_outputs(Outcome::suspended().output("file", value)).await;
    assert!(Artifact::of(&suspended.outputs.first().unwrap().value).is_some(), "partial outputs are kept");
    let stopped = Attempt::begin(&store, "run", Vec::new()).await.unwrap();
    stopped.write("f", "content");
    drop(stopped);
    drop(store);
    // The store is dropped last: the threads that remove directories have ended.
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while contents(dir.path()).len() > 1 && std::time::Instant::now() < deadline {
        tokio::task::yield_now().await;
    }
    assert_eq!(contents(dir.path()).len(), 1, "{:?}", contents(dir.path()));
}

/// R-I152: a tenant's artifacts have a limit, equal ones count once, and room comes back with deleted runs.
#[tokio::test]
async fn the_room_of_a_tenant_is_limited() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    let (forty, fifty) = ("x".repeat(40), "y".repeat(50));
    made(&store, "a", &forty).await;
    made(&store, "b", &forty).await;
    made(&store, "b", &fifty).await;
    let attempt = Attempt::begin(&store, "c", Vec::new()).await.unwrap();
    attempt.write("f", "z".repeat(11));
    let full = attempt.end("/artifacts/out/f").await;
    let says = "artifact `f` has 11 bytes, and the tenant's artifacts have 90 bytes of at most 100 bytes";
    assert!(full.code == code::ERROR && full.message.contains(says), "{}", full.message);
    assert_eq!(store.forget(&"default".into(), vec!["a".into()]).await.unwrap(), 0, "b names it, too");
    assert_eq!(store.forget(&"default".into(), vec!["b".into()]).await.unwrap(), 90);
    made(&store, "c", &"z".repeat(100)).await;
    // Many at once get no more than one after the other.
    store.forget(&"default".into(), vec!["c".into()]).await.unwrap();
    let all = (0..8).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let attempt = Attempt::begin(&store, "d", Vec::new()).await.unwrap();
            attempt.write("f", format!("{n}{}", "-".repeat(29)));
            attempt.end("/artifacts/out/f").await.code
        })
    });
    let mut stored = 0;
    for one in all.collect::<Vec<_>>() {
        stored += usize::from(one.await.unwrap() == code::SUCCEEDED);
    }
    assert_eq!(stored, 3);
}

/// R-I153: a missing or damaged file is an error that names it, and storing the same content again replaces it.
#[tokio::test]
async fn damage_is_found_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    let value = made(&store, "run", "hello").await;
    let blob = contents(&dir.path().join("stored")).pop().unwrap();
    fs::remove_file(&blob).unwrap();
    let missing = Attempt::begin(&store, "run", vec![("x", value.clone())]).await.err().unwrap().to_string();
    assert!(missing.contains("`f.txt` (sha256:") && missing.contains("is missing"), "{missing}");
    fs::write(&blob, "hellO").unwrap();
    let damaged = Attempt::begin(&store, "run", vec![("x", value.clone())]).await.err().unwrap().to_string();
    assert!(damaged.contains("`f.txt` (sha256:") && damaged.contains("is damaged"), "{damaged}");
    assert!(store.read("default", "run", Digest::of(b"hello")).await.is_err());
    made(&store, "run", "hello").await;
    assert!(Attempt::begin(&store, "run", vec![("x", value)]).await.is_ok());
    let mut content = String::new();
    store.read("default", "run", Digest::of(b"hello")).await.unwrap().read_to_string(&mut content).unwrap();
    assert_eq!(content, "hello");
}

/// R-I153: where nothing can be stored, the attempt fails with the reason, and nothing is half there.
#[tokio::test]
async fn a_store_that_cannot_be_written_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    let attempt = Attempt::begin(&store, "run", Vec::new()).await.unwrap();
    attempt.write("f.txt", "content");
    // In the place of the directory of runs is a file.
    fs::create_dir_all(dir.path().join("stored/default")).unwrap();
    fs::write(dir.path().join("stored/default/runs"), "").unwrap();
    let outcome = attempt.end("/artifacts/out/f.txt").await;
    assert!(
        outcome.code == code::ERROR && outcome.message.contains("`f.txt` cannot be stored"),
        "{}",
        outcome.message
    );
    assert!(!outcome.message.contains(dir.path().to_str().unwrap()), "{}", outcome.message);
}

/// R-I154: an upload is kept for a day, or as long as runs name it.
#[tokio::test]
async fn uploads_are_kept_while_runs_name_them() {
    let dir = tempfile::tempdir().unwrap();
    let artifacts = HostArtifacts::new(Some(ArtifactPlace::Folder(dir.path().into())), LIMITS);
    let store = artifacts.store().await.unwrap();
    let mut upload = store.upload("default").unwrap();
    upload.write(b"hel").unwrap();
    upload.write(b"lo").unwrap();
    let artifact = upload.finish("a.txt", Some("text/plain")).await.unwrap();
    let given = |value: Value| Map::from([("file".into(), value)]);
    let (namespace, first, second): (Arc<str>, Arc<str>, Arc<str>) =
        ("default".into(), "1".into(), "2".into());
    artifacts.name(&namespace, &first, &given(artifact.to_value()), None).await.unwrap();
    artifacts.name(&namespace, &second, &Map::new(), Some(&first)).await.unwrap();
    let unknown = Artifact::unnamed(Digest::of(b"none")).to_value();
    let refused = artifacts.name(&namespace, &first, &given(unknown), None).await.unwrap_err();
    assert!(matches!(refused, ArtifactError::Missing(_)), "{refused}");
    artifacts.forget(&namespace, vec![first]).await;
    let of_second = store.read(&namespace, &second, artifact.digest).await;
    assert!(of_second.is_ok(), "a rerun keeps what it took over");
    artifacts.forget(&namespace, vec![second]).await;
    assert_eq!(contents(dir.path()), Vec::<PathBuf>::new());
    let mut too_large = store.upload("default").unwrap();
    assert!(matches!(too_large.write(&[0; 1001]), Err(ArtifactError::TooLarge(1000))));
    drop(too_large);
    // An upload that no run names goes with the first look after a day.
    let mut old = store.upload("default").unwrap();
    old.write(b"old").unwrap();
    let old = old.finish("old", None).await.unwrap();
    assert!(artifacts.old_owners().await.unwrap().is_empty());
    assert_eq!(contents(dir.path()).len(), 1);
    let mark = dir.path().join("stored/default/runs/%2Buploads").join(old.digest.hex());
    let yesterday = SystemTime::now() - Duration::from_secs(25 * 3600);
    fs::File::options().write(true).open(mark).unwrap().set_modified(yesterday).unwrap();
    artifacts.old_owners().await.unwrap();
    assert_eq!(contents(dir.path()), Vec::<PathBuf>::new());
}

/// R-I154: files of a process that was killed are removed when the store is opened again, and those of a living one stay.
#[tokio::test]
async fn leftovers_of_killed_processes_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    let attempt = Attempt::begin(&store, "run", Vec::new()).await.unwrap();
    attempt.write("alive", "content");
    let left = dir.path().join("work/killed");
    fs::create_dir_all(left.join("0/out")).unwrap();
    fs::write(left.join("lock"), "").unwrap();
    fs::write(left.join("0/out/f"), "content").unwrap();
    let other = self::store(&dir);
    assert!(!left.exists());
    assert!(attempt.dir("/artifacts/out").join("alive").exists());
    drop(other);
}

/// R-I151: names of inputs become names of files, whatever they are.
#[tokio::test]
async fn names_of_inputs_are_names_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    let value = made(&store, "run", "hello").await;
    let names = ["../../etc", "a/b", "a_b", "", "..", "n\u{e4}me", "x".repeat(300).leak()];
    let inputs = names.iter().map(|name| (*name, value.clone())).collect();
    let attempt = Attempt::begin(&store, "run", inputs).await.unwrap();
    let mut found: Vec<_> =
        fs::read_dir(attempt.dir("/artifacts/in")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found.len(), names.len(), "{found:?}");
    for (_, value) in attempt.invocation.inputs.iter() {
        let path = value.member("path").and_then(Value::as_str).unwrap();
        let name = path.strip_prefix("/artifacts/in/").unwrap();
        assert!(found.iter().any(|found| found == name), "{path}");
    }
}
