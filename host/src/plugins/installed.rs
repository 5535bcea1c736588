//! What is known of plugins where nothing is built or loaded.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, OnceLock},
};

use phasm_engine::plan::{Executors, Found};

use super::{
    folders::scan,
    library::{AskedVersion, Library, LibraryError, PluginVersion, higher, why_not},
    manifest::Manifest,
    source::{Builder, Source},
};

/// The plugins of some directories, to check documents against; none of them can be called.
#[derive(Default)]
pub struct Installed {
    named: BTreeMap<Arc<str>, Vec<Candidate>>,
    /// All that libraries hold, also what is not used.
    shelf: Vec<PluginVersion>,
    memory: Option<u64>,
    builder: Option<Arc<dyn Builder>>,
}

impl Installed {
    /// No plugins yet, and calls that may use `memory` bytes.
    #[must_use]
    pub fn new(memory: u64) -> Self {
        Self { memory: Some(memory), ..Self::default() }
    }

    /// The same, knowing the manifests of source folders that `builder` has built and nobody has changed since.
    #[must_use]
    pub fn with_builder(self, builder: Arc<dyn Builder>) -> Self {
        Self { builder: Some(builder), ..self }
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

    /// What each of `types` stands for: files are read for their manifests; a folder's is not known while it has to be built.
    /// What stands for nothing may be installed by the time of a run, and is only warned of.
    #[must_use]
    pub fn executors(&self, types: &[Arc<str>]) -> Executors {
        let names = self.named.keys().cloned().collect();
        let executors = Executors::any().installed(names).allow_missing(true);
        let executors = types.iter().fold(executors, |all, name| all.with(name.clone(), self.find(name)));
        match self.memory {
            Some(limit) => executors.memory(limit),
            None => executors,
        }
    }

    fn find(&self, executor_type: &str) -> Found {
        if executor_type.starts_with("sha256:") {
            return Found::Executor(Box::default());
        }
        let (name, version) = split(executor_type);
        let candidates = self.named.get(name).map(Vec::as_slice).unwrap_or_default();
        let offered = candidates.iter().filter(|candidate| version.is_some() || candidate.is_offered());
        let found = fitting(version, offered.map(|candidate| candidate.says(self.builder.as_deref())));
        match found {
            Found::Unknown => {
                let shelf: Vec<_> = self.shelf.iter().collect();
                why_not(name, version, &shelf).map_or(Found::Unknown, |why| Found::Broken(why.into()))
            }
            Found::Executor(_) | Found::Broken(_) => found,
        }
    }
}

struct Candidate {
    source: Source,
    glance: Glance,
    /// What a library says of it that it came from.
    stored: Option<PluginVersion>,
}

impl Candidate {
    /// Whether the bare name may mean it.
    fn is_offered(&self) -> bool {
        self.stored.as_ref().is_none_or(PluginVersion::is_offered)
    }

    /// Its version, and its manifest; nothing if it cannot be asked yet.
    fn says(&self, builder: Option<&dyn Builder>) -> Option<(Option<&str>, &Manifest)> {
        let manifest = self.glance.at(&self.source, builder)?;
        let version = self.stored.as_ref().map(|stored| stored.version.as_str());
        Some((version.or(manifest.version.as_deref()), manifest))
    }
}

/// A manifest that is read at most once.
#[derive(Default)]
struct Glance(OnceLock<Option<Manifest>>);

impl Glance {
    /// The manifest of what lies in `source`, where that takes no building.
    fn at(&self, source: &Source, builder: Option<&dyn Builder>) -> Option<&Manifest> {
        let read = || {
            let (bytes, path) = source.read_as_it_lies(builder)?;
            Manifest::unchecked(&bytes, path.as_deref()).ok()
        };
        self.0.get_or_init(read).as_ref()
    }
}

/// `name` and, if there is one, the version of `name@version`.
fn split(executor_type: &str) -> (&str, Option<&str>) {
    match executor_type.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (executor_type, None),
    }
}

/// What the plugins of one name say, those that cannot be asked yet being absent; the first fitting one counts, of those that begin
/// with the version the highest.
///
/// Whatever cannot be asked may have any version.
fn fitting<'m>(
    version: Option<&str>,
    candidates: impl Iterator<Item = Option<(Option<&'m str>, &'m Manifest)>>,
) -> Found {
    let asked = version.map(AskedVersion::read);
    let fits =
        |found: Option<&str>| asked.as_ref().is_none_or(|asked| found.is_some_and(|found| asked.fits(found)));
    let mut unknown = false;
    let mut best: Option<(&str, &Manifest)> = None;
    for candidate in candidates {
        match (candidate, &asked) {
            (Some((Some(found), manifest)), Some(AskedVersion::Beginning { .. })) if fits(Some(found)) => {
                if best.is_none_or(|(best, _)| higher(found, best).is_lt()) {
                    best = Some((found, manifest));
                }
            }
            (Some((found, manifest)), _) if fits(found) => return known(manifest),
            (Some(_), _) => {}
            (None, None) => return Found::Executor(Box::default()),
            (None, Some(_)) => unknown = true,
        }
    }
    match best {
        Some((_, manifest)) => known(manifest),
        None if unknown => Found::Executor(Box::default()),
        None => Found::Unknown,
    }
}

fn known(manifest: &Manifest) -> Found {
    Found::Executor(Box::new(manifest.pinned()))
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
        let mut installed = Installed::new(1 << 20);
        installed.add_dir(dir.path()).unwrap();
        let digest = format!("sha256:{}", "0".repeat(64));
        let rows = [
            ("echo", Some(true)),
            ("echo@1.0.0", Some(true)),
            ("echo@2.0.0", None),
            ("broken", Some(false)),
            ("made", Some(false)),
            ("made@7", Some(false)),
            ("ehco", None),
            (&digest, Some(false)),
        ];
        for (executor_type, has_defaults) in rows {
            let found = match installed.find(executor_type) {
                Found::Executor(known) => Some(!known.defaults.is_empty()),
                Found::Unknown | Found::Broken(_) => None,
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
        let mut installed = Installed::new(1 << 20).with_builder(Arc::new(Built(artefact)));
        installed.add_dir(dir.path()).unwrap();
        let has_defaults = |name: &str| {
            let Found::Executor(pinned) = installed.find(name) else { panic!("{name}") };
            !pinned.defaults.is_empty()
        };
        assert_eq!([has_defaults("made"), has_defaults("stale")], [true, false]);
    }
}
