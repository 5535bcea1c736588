//! What is known of plugins where nothing is built or loaded.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, OnceLock},
};

use phasm_engine::plan::{Catalogue, ExecutorInfo};

use super::{folders::scan, manifest::Manifest, source::Source};

/// The plugins of some directories, to check documents against; none of them can be called.
#[derive(Default)]
pub struct Installed {
    named: BTreeMap<Arc<str>, Vec<(Source, Glance)>>,
    memory: Option<u64>,
}

impl Installed {
    /// No plugins yet, and calls that may use `memory` bytes.
    #[must_use]
    pub fn new(memory: u64) -> Self {
        Self { memory: Some(memory), ..Self::default() }
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

impl Catalogue for Installed {
    /// Files are read for their manifests; a folder's is not known before it is built.
    fn executor(&self, executor_type: &str) -> Option<ExecutorInfo> {
        if executor_type.starts_with("sha256:") {
            return Some(ExecutorInfo::default());
        }
        let (name, version) = split(executor_type);
        let candidates = self.named.get(name)?;
        info(version, candidates.iter().map(|(source, glance)| glance.at(source)))
    }

    fn names(&self) -> Vec<Arc<str>> {
        self.named.keys().cloned().collect()
    }

    fn memory(&self) -> Option<u64> {
        self.memory
    }
}

/// A manifest that is read at most once.
#[derive(Default)]
pub(super) struct Glance(OnceLock<Option<Manifest>>);

impl Glance {
    /// The manifest of what lies in `source`, where that takes no building.
    pub(super) fn at(&self, source: &Source) -> Option<&Manifest> {
        let read = || {
            let (bytes, path) = source.read(None).ok()?;
            Manifest::unchecked(&bytes, path.as_deref()).ok()
        };
        self.0.get_or_init(read).as_ref()
    }
}

/// `name` and, if there is one, the version of `name@version`.
pub(super) fn split(executor_type: &str) -> (&str, Option<&str>) {
    match executor_type.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (executor_type, None),
    }
}

/// What the plugins of one name say, those that cannot be asked yet being absent; the first fitting one counts.
///
/// Whatever cannot be asked may have any version.
pub(super) fn info<'m>(
    version: Option<&str>,
    candidates: impl Iterator<Item = Option<&'m Manifest>>,
) -> Option<ExecutorInfo> {
    let fits = |manifest: &Manifest| version.is_none() || manifest.version.as_deref() == version;
    let mut unknown = false;
    for candidate in candidates {
        match candidate {
            Some(manifest) if fits(manifest) => {
                return Some(ExecutorInfo { defaults: manifest.defaults.tree() });
            }
            Some(_) => {}
            None if version.is_none() => return Some(ExecutorInfo::default()),
            None => unknown = true,
        }
    }
    unknown.then(ExecutorInfo::default)
}

#[cfg(test)]
mod tests {
    use std::fs;

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
            let found = installed.executor(executor_type).map(|info| info.defaults.is_some());
            assert_eq!(found, has_defaults, "{executor_type}");
        }
        assert_eq!(installed.names(), ["broken", "echo", "made"].map(Arc::from));
        assert_eq!(installed.memory(), Some(1 << 20));
    }
}
