//! Artifacts of one attempt: those that its inputs name, as files, and the files that its outputs name, as artifacts.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    fs,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use phasm_engine::{
    outcome::{Outcome, Output, code},
    value::{Map, Value},
};
use phasm_sandbox::{Digest, DirGrant, Quota, executor::Invocation};

use super::{
    error::ArtifactError,
    owner::ArtifactOwner,
    reference::{Artifact, ReferencePlace, UNKNOWN_MEDIA, replaced},
    store::ArtifactStore,
    work_dir::AttemptDir,
};

/// Directory of all directories of artifacts, as guests see it.
pub const GUEST_DIR: &str = "/artifacts/";
/// Directory of the artifacts that the inputs name, as the guest sees it.
const INPUTS: &str = "/artifacts/in";
/// Directory of new files, as the guest sees it.
const OUTPUTS: &str = "/artifacts/out";

/// Directories of an attempt that is granted artifacts. They are removed when this is dropped, which comes after the guest's end.
pub struct AttemptFiles {
    store: ArtifactStore,
    owner: ArtifactOwner,
    dir: AttemptDir,
    /// Artifacts that the inputs name.
    given: BTreeMap<Digest, Artifact>,
}

impl std::fmt::Debug for AttemptFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AttemptFiles").field("given", &self.given).finish_non_exhaustive()
    }
}

/// An artifact, and the names under which it is to be placed in the attempt's directory.
struct Placement {
    artifact: Artifact,
    names: Vec<String>,
}

impl AttemptFiles {
    /// Makes the directories of an attempt, and adds them to its invocation. Each reference in the inputs gets a member `path`.
    ///
    /// # Errors
    /// Fails when the run does not name an artifact of the inputs, and when one is missing or damaged.
    pub async fn prepare(store: &ArtifactStore, invocation: &mut Invocation) -> Result<Self, ArtifactError> {
        let (namespace, run_id) = (Arc::clone(&invocation.namespace), Arc::clone(&invocation.run_id));
        let (owner, dir) = (ArtifactOwner { namespace, run_id }, store.attempt_dir()?);
        let mut files = Self { store: store.clone(), owner, dir, given: BTreeMap::new() };
        let (inputs, placements) = placed(&invocation.inputs);
        for Placement { artifact, names } in placements {
            let paths = names.iter().map(|name| files.dir.inputs().join(name)).collect();
            files.store.place(&files.owner, &artifact, paths).await?;
            files.given.insert(artifact.digest, artifact);
        }
        if !files.given.is_empty() {
            invocation.inputs = Arc::new(inputs);
            invocation.dirs.push(DirGrant::read_only(files.dir.inputs(), INPUTS));
        }
        let limits = store.limits();
        let quota = Quota { bytes: Some(limits.attempt_bytes), files: Some(limits.attempt_files) };
        invocation.dirs.push(DirGrant { quota, ..DirGrant::read_write(files.dir.outputs(), OUTPUTS) });
        Ok(files)
    }

    /// Stores the files that the outputs name, and puts references in their place. Files of an attempt that failed are not stored,
    /// and its outputs stay as they are.
    pub async fn store_outputs(self, outcome: Outcome) -> Outcome {
        if ![code::SUCCEEDED, code::SUSPENDED].contains(&outcome.code) {
            return outcome;
        }
        match self.with_references(&outcome.outputs).await {
            Ok(outputs) => Outcome { outputs, ..outcome },
            // The attempt failed: nothing of it is kept.
            Err(error) => Outcome { metered: outcome.metered, ..Outcome::error(error.to_string()) },
        }
    }

    /// Returns the outputs with references in the place of files. No file is stored before every output was checked.
    async fn with_references(&self, outputs: &[Output]) -> Result<Vec<Output>, ArtifactError> {
        let mut stored = BTreeMap::new();
        // Files are stored between two walks over the outputs: a walk cannot wait.
        for file in self.named_files(outputs)? {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let artifact =
                self.store.add(&self.owner, file.clone(), name.into(), UNKNOWN_MEDIA.into()).await?;
            stored.insert(file, artifact);
        }
        let with_references = |output: &Output| {
            let value = replaced(&output.value, &mut vec![output.name.to_string()], &mut |found| {
                if let Some(known) = Artifact::of_object(found.object) {
                    return self.given_back(&known, found.path).map(Some);
                }
                let file = self.output_file(&found)?;
                Ok(file.and_then(|file| stored.get(&file)).map(|artifact| reference(found.object, artifact)))
            })?;
            Ok(Output {
                name: Arc::clone(&output.name),
                value: value.unwrap_or_else(|| output.value.clone()),
            })
        };
        outputs.iter().map(with_references).collect()
    }

    /// Returns the files that the outputs name, each once.
    ///
    /// # Errors
    /// Fails with the first output that names something else than the attempt's own files and the artifacts that it was given.
    fn named_files(&self, outputs: &[Output]) -> Result<BTreeSet<PathBuf>, ArtifactError> {
        let mut files = BTreeSet::new();
        for output in outputs {
            replaced(&output.value, &mut vec![output.name.to_string()], &mut |found| {
                if let Some(known) = Artifact::of_object(found.object) {
                    self.given_back(&known, found.path)?;
                } else if let Some(file) = self.output_file(&found)? {
                    check_file(&file).map_err(|why| not_a_file(&found, why))?;
                    files.insert(file);
                }
                Ok::<_, ArtifactError>(None)
            })?;
        }
        Ok(files)
    }

    /// Returns the host's path of the file that an object names, if it names one of `/artifacts/out`.
    fn output_file(&self, found: &ReferencePlace<'_>) -> Result<Option<PathBuf>, ArtifactError> {
        let written = found.object.get("artifact").and_then(Value::as_str);
        let Some(rest) = written.and_then(|written| written.strip_prefix(OUTPUTS)) else { return Ok(None) };
        if !rest.starts_with('/') {
            return Ok(None);
        }
        let mut path = self.dir.outputs();
        for component in Path::new(rest.trim_start_matches('/')).components() {
            match component {
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(not_a_file(found, "leads out of /artifacts/out"));
                }
            }
            // No link is followed, on the way or at its end. The guest could make none, and has ended.
            if fs::symlink_metadata(&path).is_ok_and(|entry| entry.is_symlink()) {
                return Err(not_a_file(found, "is a link"));
            }
        }
        Ok(Some(path))
    }

    /// Returns the reference to an artifact that the attempt was given and returns.
    fn given_back(&self, known: &Artifact, path: &[String]) -> Result<Value, ArtifactError> {
        self.given
            .get(&known.digest)
            .map(Artifact::to_value)
            .ok_or_else(|| ArtifactError::NotOfRun(format!("{} of output {}", known.digest, path.join("."))))
    }
}

/// # Errors
/// The words for a path that is no file.
fn check_file(path: &Path) -> Result<(), &'static str> {
    match fs::symlink_metadata(path) {
        Ok(entry) if entry.is_file() => Ok(()),
        Ok(_) => Err("is no file"),
        Err(_) => Err("does not exist"),
    }
}

fn not_a_file(found: &ReferencePlace<'_>, why: &str) -> ArtifactError {
    let path = found.object.get("artifact").and_then(Value::as_str).unwrap_or_default();
    let why = format!("{why}; expected the path of a file that the attempt wrote");
    ArtifactError::NotAFile { output: found.path.join("."), path: path.to_owned(), why }
}

/// Returns the reference to a new artifact, with the name, the media type and the other members that the guest wrote.
fn reference(object: &Map, artifact: &Artifact) -> Value {
    let text = |member: &str, other: &Arc<str>| {
        object.get(member).and_then(Value::as_str).map_or_else(|| Arc::clone(other), Arc::from)
    };
    let artifact = Artifact {
        name: text("name", &artifact.name),
        media: text("media", &artifact.media),
        ..artifact.clone()
    };
    let mut members = object.clone();
    if let Value::Object(own) = artifact.to_value() {
        members.extend(own.iter().map(|(name, value)| (Arc::clone(name), value.clone())));
    }
    members.into()
}

/// Returns the inputs with a `path` in each reference, and the files that are to be there, each artifact once.
fn placed(inputs: &[(Arc<str>, Value)]) -> (Vec<(Arc<str>, Value)>, impl Iterator<Item = Placement>) {
    let (mut placements, mut names) = (BTreeMap::new(), BTreeMap::new());
    let mut with_paths = Vec::with_capacity(inputs.len());
    for (input, value) in inputs {
        let other = replaced(value, &mut vec![input.to_string()], &mut |ReferencePlace { object, path }| {
            let Some(artifact) = Artifact::of_object(object) else { return Ok::<_, Infallible>(None) };
            let name = free_name(path, &mut names);
            let mut members = object.clone();
            members.insert("path".into(), format!("{INPUTS}/{name}").into());
            let placement =
                placements.entry(artifact.digest).or_insert(Placement { artifact, names: Vec::new() });
            placement.names.push(name);
            Ok(Some(members.into()))
        });
        let Ok(other) = other;
        with_paths.push((Arc::clone(input), other.unwrap_or_else(|| value.clone())));
    }
    (with_paths, placements.into_values())
}

/// Returns the name of a file for an input: the input's name, and members and indices after a dot, such as `rows` or `files.0`.
///
/// `names` has the names that are taken, each with the last number that was added to it.
fn free_name(path: &[String], names: &mut BTreeMap<String, u32>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let chars = path.iter().flat_map(|part| [".", part]).flat_map(str::chars).skip(1).take(200);
    let plain: String = chars.map(|c| if is_plain(c) { c } else { '_' }).collect();
    let plain = if plain.trim_matches('.').is_empty() { "_".to_owned() } else { plain };
    let mut name = plain.clone();
    // Equal names count on from the last one: from the first, many of them would take the square of their number.
    let mut number = names.get(&plain).copied().unwrap_or(1);
    while names.contains_key(&name) {
        number += 1;
        name = format!("{plain}-{number}");
    }
    names.insert(plain, number);
    names.entry(name.clone()).or_insert(1);
    name
}
