//! Begin and end of a build: a folder to work in, and a component with its manifest in its place.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{
    component::{manifest, with_manifest},
    stamp::Ingredients,
};
use crate::{folder::ScriptProject, process::ProcessError};

/// Why there is no component.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A tool, or the project's own source, says so.
    Said(String),
    /// A tool could not be run to its end.
    Process(ProcessError),
    /// A file could not be written.
    File(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl From<ProcessError> for Failure {
    fn from(error: ProcessError) -> Self {
        Self::Process(error)
    }
}

/// One build of a project.
pub(crate) struct Build<'a> {
    project: &'a ScriptProject,
    ingredients: Ingredients,
    /// The files as they were before.
    files: Option<BTreeSet<String>>,
    work: tempfile::TempDir,
}

impl<'a> Build<'a> {
    /// Makes a folder for the files of the build, which goes with it.
    pub(crate) fn begin(project: &'a ScriptProject, ingredients: Ingredients) -> io::Result<Self> {
        fs::create_dir_all(project.build_dir())?;
        let files = ingredients.lines();
        let work = tempfile::Builder::new().prefix(".work-").tempdir_in(project.build_dir())?;
        Ok(Self { project, ingredients, files, work })
    }

    /// A path in the folder of the build.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    /// Puts the component in its place, with the manifest that follows from the source.
    pub(crate) fn finish(self, component: &[u8], of_source: Map<String, Value>) -> Result<(), Failure> {
        let made = with_manifest(component, &manifest(self.project, of_source));
        let made = made.ok_or_else(|| Failure::Said("the tools wrote no component".to_owned()))?;
        // Renamed, so that no reader sees half of it.
        let file = tempfile::NamedTempFile::new_in(self.project.build_dir())?;
        fs::write(file.path(), made)?;
        file.persist(self.project.artefact()).map_err(|error| error.error)?;
        if let Some(files) = &self.files {
            self.ingredients.put(self.project, files)?;
        }
        Ok(())
    }
}

/// Writes files into a folder, which need not be there yet.
pub(crate) fn write_all(dir: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    files.iter().try_for_each(|(name, text)| {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        fs::write(path, text)
    })
}
