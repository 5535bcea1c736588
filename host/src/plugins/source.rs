//! Where a plugin's component comes from.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Where a plugin's component comes from.
#[derive(Clone)]
pub enum Source {
    /// The component itself.
    Bytes(Arc<[u8]>),
    /// A file with the component, read when it is first needed.
    File(PathBuf),
    /// A folder with the plugin's source, built when it is first needed.
    Folder(PathBuf),
}

/// Builds plugins from source.
pub trait Builder: Send + Sync {
    /// The component built from `folder`, built again if its source is newer. May take minutes; never called on an
    /// async thread.
    ///
    /// # Errors
    /// What to tell the user; it becomes the message of every attempt that needed the plugin.
    fn artefact(&self, folder: &Path) -> Result<PathBuf, String>;
}

impl Source {
    fn is_compiled(&self) -> bool {
        matches!(self, Self::File(path) if path.extension().is_some_and(|ending| ending == "cwasm"))
    }

    /// The component's bytes and the file they came from.
    pub(super) fn read(&self, builder: Option<&dyn Builder>) -> Result<(Arc<[u8]>, Option<PathBuf>), String> {
        match self {
            Self::Bytes(bytes) => Ok((Arc::clone(bytes), None)),
            Self::File(path) => file(path.clone()),
            Self::Folder(folder) => {
                let builder = builder.ok_or_else(|| {
                    format!("{} is a plugin's source, and nothing here can build it", folder.display())
                })?;
                file(builder.artefact(folder)?)
            }
        }
    }
}

fn file(path: PathBuf) -> Result<(Arc<[u8]>, Option<PathBuf>), String> {
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    // What does not begin like a component would be taken for one in text.
    if path.extension().is_some_and(|ending| ending == "wasm") && !bytes.starts_with(b"\0asm") {
        return Err(format!("{}: not a WebAssembly component, or a damaged one", path.display()));
    }
    Ok((bytes.into(), Some(path)))
}

impl From<&[u8]> for Source {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<Arc<[u8]>> for Source {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<Vec<u8>> for Source {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        if path.is_dir() { Self::Folder(path) } else { Self::File(path) }
    }
}

/// The plugins of a directory by name, sorted: `NAME.wasm`, folders with a `Cargo.toml`, and `NAME.cwasm`.
///
/// # Errors
/// When the directory cannot be read.
pub fn scan(dir: &Path) -> io::Result<Vec<(String, Source)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if let Some(plugin) = plugin(&path) {
            found.push(plugin);
        }
    }
    // Of equal names what runs on every machine comes first.
    found.sort_by_cached_key(|(name, source)| (name.clone(), source.is_compiled()));
    Ok(found)
}

fn plugin(path: &Path) -> Option<(String, Source)> {
    let name = |part: Option<&std::ffi::OsStr>| part?.to_str().map(str::to_owned);
    if path.is_dir() {
        let source = path.join("Cargo.toml").is_file().then(|| Source::Folder(path.to_owned()))?;
        Some((name(path.file_name())?, source))
    } else {
        let wasm = path.extension().is_some_and(|ending| ending == "wasm" || ending == "cwasm");
        Some((name(path.file_stem().filter(|_| wasm))?, Source::File(path.to_owned())))
    }
}
