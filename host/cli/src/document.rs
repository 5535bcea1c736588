//! Reading documents, from files or stdin.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use phasm::{
    engine::{plan::Draft, problem::Problem},
    reader,
};

use super::{
    failure::{Failure, While},
    problems::Source,
};

/// The text of a document or of another file of ours.
#[derive(Debug)]
pub(super) struct Text {
    /// What messages call it.
    pub(super) name: String,
    pub(super) text: String,
    /// Where the file lies; nothing for stdin.
    path: Option<PathBuf>,
}

impl Text {
    /// Reads `file`, or stdin if it is `-`.
    ///
    /// # Errors
    /// When there is nothing to read, or it is not UTF-8.
    pub(super) fn read(file: &Path, what: &str) -> Result<Self, Failure> {
        if file == Path::new("-") {
            let mut text = String::new();
            let read = io::stdin().lock().read_to_string(&mut text);
            read.map_err(|error| {
                Failure::call(While::new(format!("{what} on stdin cannot be read"), error))
            })?;
            return Ok(Self { name: "<stdin>".to_owned(), text, path: None });
        }
        let name = file.display().to_string();
        let text = fs::read_to_string(file)
            .map_err(|error| Failure::call(While::new(format!("{what} {name} cannot be read"), error)))?;
        Ok(Self { name, text, path: Some(file.to_owned()) })
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.text }
    }

    /// The directory it lies in; nothing for stdin.
    pub(super) fn dir(&self) -> Option<&Path> {
        let parent = self.path.as_ref()?.parent()?;
        Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
    }

    /// Reads the document that this is.
    ///
    /// # Errors
    /// Every problem at once, where it is no JSON or YAML.
    pub(super) fn draft(&self) -> Result<Draft, Vec<Problem>> {
        Ok(Draft::read(&reader::read(&self.name, &self.text)?))
    }
}
