//! Where a plugin's component comes from.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::files::{is_artefact, read_component};

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

/// A component's bytes and the file they came from, or what to tell the user.
pub(super) type BytesRead = Result<(Arc<[u8]>, Option<PathBuf>), String>;

/// Builds plugins from source.
pub trait Builder: Send + Sync {
    /// Returns the component that is built from `folder`, after a build if its source is newer. May take minutes; never called on
    /// an async thread.
    ///
    /// # Errors
    /// A message for the user; it becomes the message of every attempt that needed the plugin.
    fn artefact(&self, folder: &Path) -> Result<PathBuf, String>;

    /// The component that was built from `folder` before, if its source is no newer; builds nothing.
    fn fresh(&self, _folder: &Path) -> Option<PathBuf> {
        None
    }
}

impl Source {
    pub(super) fn is_compiled(&self) -> bool {
        matches!(self, Self::File(path) if is_artefact(path))
    }

    /// [`Self::read`] of what need not be built; nothing of what has to be.
    pub(super) fn read_as_it_lies(&self, builder: Option<&dyn Builder>) -> Option<BytesRead> {
        match self {
            Self::Bytes(_) | Self::File(_) => Some(self.read(None)),
            Self::Folder(folder) => Some(file(builder?.fresh(folder)?)),
        }
    }

    /// The component's bytes and the file they came from.
    pub(super) fn read(&self, builder: Option<&dyn Builder>) -> BytesRead {
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

fn file(path: PathBuf) -> BytesRead {
    Ok((read_component(&path)?.into(), Some(path)))
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
