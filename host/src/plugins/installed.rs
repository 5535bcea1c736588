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
    manifest::Manifest,
    source::{Builder, Source},
};

/// The plugins of some directories, to check documents against; none of them can be called.
#[derive(Default)]
pub struct Installed {
    named: BTreeMap<Arc<str>, Vec<(Source, Glance)>>,
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
            self.named.entry(name.into()).or_default().push((source, Glance::default()));
        }
        Ok(())
    }
}

impl Installed {
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
        fitting(version, candidates.iter().map(|(source, glance)| glance.at(source, self.builder.as_deref())))
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

/// What the plugins of one name say, those that cannot be asked yet being absent; the first fitting one counts.
///
/// Whatever cannot be asked may have any version.
fn fitting<'m>(version: Option<&str>, candidates: impl Iterator<Item = Option<&'m Manifest>>) -> Found {
    let fits = |manifest: &Manifest| version.is_none() || manifest.version.as_deref() == version;
    let mut unknown = false;
    for candidate in candidates {
        match candidate {
            Some(manifest) if fits(manifest) => return Found::Executor(Box::new(manifest.pinned())),
            Some(_) => {}
            None if version.is_none() => return Found::Executor(Box::default()),
            None => unknown = true,
        }
    }
    if unknown { Found::Executor(Box::default()) } else { Found::Unknown }
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
