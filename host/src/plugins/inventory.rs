//! Plugins as far as they are known without building or loading.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::{Arc, OnceLock},
};

use phasm_engine::plan::{ExecutorResolution, Executors};

use super::{
    folders::{broken_manifest, scan},
    library::{Library, LibraryError, PluginVersion, VersionRequest, held, higher, no_version},
    manifest::Manifest,
    plugin::Means,
    source::{Builder, Source},
};
use crate::plugins::trust::PluginTrust;
use phasm_sandbox::Digest;

/// The plugins of some directories, to check documents against; none of them can be called.
#[derive(Default)]
pub struct PluginInventory {
    named: BTreeMap<Arc<str>, Vec<Candidate>>,
    /// All that libraries hold, also what is not used.
    shelf: Vec<PluginVersion>,
    memory: Option<u64>,
    means: Means,
}

impl PluginInventory {
    /// No plugins yet, and calls that may use `memory` bytes.
    #[must_use]
    pub fn new(memory: u64) -> Self {
        Self { memory: Some(memory), ..Self::default() }
    }

    /// Adds the manifests of source folders that `builder` has built and that have not changed since.
    #[must_use]
    pub fn with_builder(mut self, builder: Arc<dyn Builder>) -> Self {
        self.means.builder = Some(builder);
        self
    }

    /// Refuses unsigned plugins, as a host with this policy does.
    #[must_use]
    pub fn with_trust(mut self, trust: PluginTrust) -> Self {
        self.means.trust = Arc::new(trust);
        self
    }

    /// The names that plugins have, also those of which every version is held.
    #[must_use]
    pub fn names(&self) -> Vec<Arc<str>> {
        let shelved = self.shelf.iter().map(|stored| Arc::from(stored.name.as_str()));
        let all: BTreeSet<_> = self.named.keys().cloned().chain(shelved).collect();
        all.into_iter().collect()
    }

    /// Adds what `dir` holds; of equal names the first wins.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn add_dir(&mut self, dir: &Path) -> io::Result<()> {
        for (name, source) in scan(dir)? {
            let candidate = Candidate { source, glance: Glance::default(), stored: None };
            self.named.entry(name.into()).or_default().push(candidate);
        }
        Ok(())
    }

    /// Adds the versions that a library has approved.
    ///
    /// # Errors
    /// When the library cannot be read.
    pub fn add_library(&mut self, library: &Library) -> Result<(), LibraryError> {
        self.shelf.extend(library.all()?);
        for stored in self.shelf.iter().filter(|stored| stored.held.is_empty()) {
            let source = Source::File(library.path(&stored.digest));
            let candidate = Candidate { source, glance: Glance::default(), stored: Some(stored.clone()) };
            self.named.entry(stored.name.as_str().into()).or_default().push(candidate);
        }
        Ok(())
    }

    /// Resolves each of `types`. Files are read for their manifests; the manifest of a folder is unknown while the folder has to
    /// be built.
    #[must_use]
    pub fn executors(&self, types: &[Arc<str>]) -> Executors {
        let names = self.named.keys().cloned().collect();
        let executors = Executors::any().installed(names);
        let executors = types.iter().fold(executors, |all, name| all.with(name.clone(), self.find(name)));
        match self.memory {
            Some(limit) => executors.memory(limit),
            None => executors,
        }
    }

    /// Returns the source folder that `executor_type` stands for, if it has to be built before its manifest is known.
    #[must_use]
    pub fn unbuilt(&self, executor_type: &str) -> Option<&Path> {
        let (name, version) = split(executor_type);
        let mut candidates = self.named.get(name)?.iter();
        let first = candidates.find(|candidate| version.is_some() || candidate.is_offered())?;
        match (&first.source, first.says(&self.means)) {
            (Source::Folder(folder), None) => Some(folder),
            _ => None,
        }
    }

    fn find(&self, executor_type: &str) -> ExecutorResolution {
        if executor_type.starts_with("sha256:") {
            return ExecutorResolution::Executor(Box::default());
        }
        let (name, version) = split(executor_type);
        let candidates = self.named.get(name).map(Vec::as_slice).unwrap_or_default();
        let offered = candidates.iter().filter(|candidate| version.is_some() || candidate.is_offered());
        let found = fitting(version, offered.map(|candidate| candidate.says(&self.means)));
        match found {
            ExecutorResolution::Unknown => self.not_used(name, version),
            ExecutorResolution::Refused(why) => {
                ExecutorResolution::Refused(format!("plugin `{name}`: {why}").into())
            }
            ExecutorResolution::Executor(_) | ExecutorResolution::Broken(_) => found,
        }
    }

    /// The message for a plugin in a library that is not in use.
    fn not_used(&self, name: &str, version: Option<&str>) -> ExecutorResolution {
        let shelf: Vec<_> = self.shelf.iter().collect();
        let held = held(name, version, &shelf).map(|why| ExecutorResolution::Refused(why.into()));
        let absent = || no_version(name, version, &shelf).map(|why| ExecutorResolution::Broken(why.into()));
        held.or_else(absent).unwrap_or(ExecutorResolution::Unknown)
    }
}

struct Candidate {
    source: Source,
    glance: Glance,
    /// The library's entry that the plugin came from.
    stored: Option<PluginVersion>,
}

impl Candidate {
    /// Whether the bare name may mean it.
    fn is_offered(&self) -> bool {
        self.stored.as_ref().is_none_or(PluginVersion::is_offered)
    }

    /// Its version, and what it says; nothing if it cannot be asked yet.
    fn says(&self, means: &Means) -> Option<Result<(Option<&str>, &Inspection), &str>> {
        let said = match self.glance.at(&self.source, self.stored.as_ref(), means)? {
            Ok(said) => said,
            Err(why) => return Some(Err(why)),
        };
        let version = self.stored.as_ref().map(|stored| stored.version.as_str());
        Some(Ok((version.or(said.manifest.version.as_deref()), said)))
    }
}

/// A plugin, looked at.
struct Inspection {
    manifest: Manifest,
    /// Why it is not used.
    refused: Option<Arc<str>>,
}

impl Inspection {
    /// Nothing of what would have to be built, or was compiled elsewhere.
    fn read(source: &Source, stored: Option<&PluginVersion>, means: &Means) -> Option<Result<Self, String>> {
        if source.is_compiled() {
            return None;
        }
        if let Source::Folder(folder) = source
            && let Some(why) = broken_manifest(folder)
        {
            return Some(Err(why));
        }
        let read = match (source, stored) {
            (Source::File(path), Some(stored)) => stored.read(path).map(|bytes| (bytes.into(), None)),
            _ => source.read_as_it_lies(means.builder.as_deref())?,
        };
        Some(read.and_then(|(bytes, path)| {
            let signature = means.signature(path.as_deref(), stored)?;
            let refused = means.refuse(&bytes, &Digest::of(&bytes), signature.as_deref());
            Ok(Self { manifest: Manifest::unchecked(&bytes, path.as_deref())?, refused })
        }))
    }

    fn found(&self) -> ExecutorResolution {
        match &self.refused {
            Some(why) => ExecutorResolution::Refused(Arc::clone(why)),
            None => ExecutorResolution::Executor(Box::new(self.manifest.pinned())),
        }
    }
}

/// Values that are read at most once.
#[derive(Default)]
struct Glance(OnceLock<Option<Result<Inspection, String>>>);

impl Glance {
    /// Reads the plugin in `source`, unless it must be built first.
    fn at(
        &self,
        source: &Source,
        stored: Option<&PluginVersion>,
        means: &Means,
    ) -> Option<Result<&Inspection, &str>> {
        let said = self.0.get_or_init(|| Inspection::read(source, stored, means)).as_ref()?;
        Some(said.as_ref().map_err(String::as_str))
    }
}

/// `name` and, if there is one, the version of `name@version`.
fn split(executor_type: &str) -> (&str, Option<&str>) {
    match executor_type.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (executor_type, None),
    }
}

/// Returns the first manifest that fits, or of a version prefix the highest; `None` elements are plugins whose manifest is
/// unknown.
///
/// An unknown manifest may have any version, and an unreadable one has none.
fn fitting<'m>(
    version: Option<&str>,
    candidates: impl Iterator<Item = Option<Result<(Option<&'m str>, &'m Inspection), &'m str>>>,
) -> ExecutorResolution {
    let asked = version.map(VersionRequest::read);
    let fits =
        |found: Option<&str>| asked.as_ref().is_none_or(|asked| found.is_some_and(|found| asked.fits(found)));
    let mut unknown = false;
    let mut best: Option<(&str, &Inspection)> = None;
    for candidate in candidates {
        match (candidate, &asked) {
            (Some(Ok((Some(found), said))), Some(VersionRequest::Beginning { .. })) if fits(Some(found)) => {
                if best.is_none_or(|(best, _)| higher(found, best).is_lt()) {
                    best = Some((found, said));
                }
            }
            (Some(Ok((found, said))), _) if fits(found) => return said.found(),
            (Some(Err(why)), None) => return ExecutorResolution::Refused(why.into()),
            (Some(_), _) => {}
            (None, None) => return ExecutorResolution::Executor(Box::default()),
            (None, Some(_)) => unknown = true,
        }
    }
    match best {
        Some((_, said)) => said.found(),
        None if unknown => ExecutorResolution::Executor(Box::default()),
        None => ExecutorResolution::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    #[test]
    fn manifests_beside_components_are_known_and_folders_are_trusted() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("echo.wasm"), COMPONENT).unwrap();
        fs::write(at("echo.toml"), "version = '1.0.0'\nretry = { limit = 1 }\n").unwrap();
        fs::write(at("broken.wasm"), COMPONENT).unwrap();
        fs::write(at("broken.json"), "{").unwrap();
        fs::create_dir(at("made")).unwrap();
        fs::write(at("made/Cargo.toml"), "[package]\n[dependencies]\nphasm-sdk = '0.1'\n").unwrap();
        let mut installed = PluginInventory::new(1 << 20);
        installed.add_dir(dir.path()).unwrap();
        let digest = format!("sha256:{}", "0".repeat(64));
        let rows = [
            ("echo", Some(true)),
            ("echo@1.0.0", Some(true)),
            ("echo@2.0.0", None),
            ("broken", None),
            ("made", Some(false)),
            ("made@7", Some(false)),
            ("ehco", None),
            (&digest, Some(false)),
        ];
        for (executor_type, has_defaults) in rows {
            let found = match installed.find(executor_type) {
                ExecutorResolution::Executor(known) => Some(!known.defaults.is_empty()),
                ExecutorResolution::Unknown
                | ExecutorResolution::Broken(_)
                | ExecutorResolution::Refused(_) => None,
            };
            assert_eq!(found, has_defaults, "{executor_type}");
        }
    }

    /// Has built one folder before.
    struct Built(PathBuf);

    impl Builder for Built {
        fn artefact(&self, _: &Path) -> Result<PathBuf, String> {
            Err("nothing is built to look at a document".to_owned())
        }
        fn fresh(&self, folder: &Path) -> Option<PathBuf> {
            folder.ends_with("made").then(|| self.0.clone())
        }
    }

    #[test]
    fn what_was_built_before_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["made", "stale"] {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("Cargo.toml"), "[package.metadata.phasm]\n").unwrap();
        }
        let artefact = dir.path().join("target/made.wasm");
        fs::create_dir(dir.path().join("target")).unwrap();
        fs::write(&artefact, COMPONENT).unwrap();
        fs::write(artefact.with_extension("json"), r#"{"retry": {"limit": 1}}"#).unwrap();
        let mut installed = PluginInventory::new(1 << 20).with_builder(Arc::new(Built(artefact)));
        installed.add_dir(dir.path()).unwrap();
        let has_defaults = |name: &str| {
            let ExecutorResolution::Executor(pinned) = installed.find(name) else { panic!("{name}") };
            !pinned.defaults.is_empty()
        };
        assert_eq!([has_defaults("made"), has_defaults("stale")], [true, false]);
    }
}
