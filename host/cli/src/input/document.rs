//! Reading documents, from files or stdin.

use std::{
    io,
    path::{Path, PathBuf},
};

use phasm::{
    Value,
    catalog::SaveError,
    engine::{
        plan::{Draft, Executors},
        problem::Problem,
        schedule::Cron,
    },
    reader,
};

use super::nearby;
use crate::{
    failure::Failure,
    paths::folder_of,
    problems::{self, Source},
    terminal::screen::Screen,
};

/// The text of a document or of another file of ours.
#[derive(Debug)]
pub(crate) struct Text {
    /// Name in messages.
    pub(crate) name: String,
    pub(crate) text: String,
    /// Where the file lies; nothing for stdin.
    path: Option<PathBuf>,
}

/// A file that cannot be read as text, and the reason.
#[derive(Debug)]
pub(crate) struct UnreadableFile {
    /// Name in messages.
    pub(crate) name: String,
    pub(crate) problem: Box<Problem>,
}

impl UnreadableFile {
    /// There is no text to show a place in.
    pub(crate) fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: "" }
    }

    /// Shows why nothing is done: on stderr, or as JSON on stdout.
    pub(crate) fn refuse(&self, screen: &Screen, as_json: bool) -> Failure {
        problems::refuse(screen, self.source(), std::slice::from_ref(&*self.problem), as_json)
    }
}

impl Text {
    /// Reads `file`, or stdin if it is `-`.
    ///
    /// # Errors
    /// When there is nothing to read, too much, or what is no text.
    pub(crate) fn read(file: &Path) -> Result<Self, UnreadableFile> {
        let is_stdin = file == Path::new("-");
        let name = if is_stdin { "<stdin>".to_owned() } else { file.display().to_string() };
        let text = if is_stdin { reader::text_from(io::stdin().lock()) } else { reader::text_of(file) };
        match text {
            Ok(text) => Ok(Self { name, text, path: (!is_stdin).then(|| file.to_owned()) }),
            Err(problem) => {
                let hint = if is_stdin { None } else { nearby::hint(file) };
                Err(UnreadableFile { name, problem: Box::new(problem.with_hint_if(hint)) })
            }
        }
    }

    pub(crate) fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.text }
    }

    /// The directory it lies in; nothing for stdin.
    pub(crate) fn dir(&self) -> Option<&Path> {
        self.path.as_deref().map(folder_of)
    }

    /// When the document that this is starts by itself.
    ///
    /// # Errors
    /// Where it does not; when it has problems, which have been shown.
    pub(crate) fn cron(&self, draft: Draft, screen: &Screen, as_json: bool) -> Result<Cron, Failure> {
        if let Some(cron) = draft.cron() {
            return Ok(cron.clone());
        }
        Err(match draft.plan(&Executors::any(), &Value::Null) {
            Err(found) => problems::refuse(screen, self.source(), &found, as_json),
            Ok(_) => Failure::call(SaveError::NoSchedule),
        })
    }

    /// Reads the document that this is.
    ///
    /// # Errors
    /// Every problem at once, where it is no JSON or YAML.
    pub(crate) fn draft(&self) -> Result<Draft, Vec<Problem>> {
        Ok(Draft::read(&reader::read(&self.name, &self.text)?))
    }
}
