//! Why a command did not do what it was asked.

use std::error::Error;

use phasm::store::StoreError;
use phasm_server::client::RemoteError;

use crate::{
    address,
    exit::Exit,
    terminal::{screen::Screen, text},
};

/// An error for people, and the status to exit with.
#[derive(Debug)]
pub(super) struct Failure {
    exit: Exit,
    /// Nothing where everything has been said.
    error: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// The call is wrong: a file that is not there, a value that makes no sense.
    pub(super) fn call(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { exit: Exit::Problems, error: Some(error.into()) }
    }

    /// The machine failed us, or the server that was asked refused.
    pub(super) fn host(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let error = error.into();
        let exit = if is_refusal(&*error) { Exit::Problems } else { Exit::Error };
        Self { exit, error: Some(error) }
    }

    /// A store cannot be opened. Names the server that has it, if one does.
    pub(super) fn store(error: StoreError) -> Self {
        let server = if let StoreError::Locked { path, .. } = &error { address::known(path) } else { None };
        let what = match server {
            Some(url) => format!(
                "the store cannot be used: its server uses it, and resumes runs by itself; other commands ask the server with `--server {}`",
                text::clean(&url)
            ),
            None => "the store cannot be used".to_owned(),
        };
        if matches!(error, StoreError::Gone { .. }) {
            return Self::with(Exit::StoreGone, ContextError::new(what, error));
        }
        Self::call(ContextError::new(what, error))
    }

    /// A server has refused a request, or cannot be reached.
    pub(super) fn server(error: RemoteError) -> Self {
        match error.status() {
            Some(400..500) => Self::call(error),
            Some(_) | None => Self::host(error),
        }
    }

    /// Any other error, with the status it has.
    pub(super) fn with(exit: Exit, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { exit, error: Some(error.into()) }
    }

    /// Problems that have been shown.
    pub(super) fn shown(exit: Exit) -> Self {
        Self { exit, error: None }
    }

    /// Prints the error and its causes, one a line.
    pub(super) fn report(&self, screen: &Screen) -> Exit {
        if let Some(error) = &self.error {
            let mut lines = format!("{} {error}\n", text::bad("error:"));
            let mut cause = error.source();
            while let Some(error) = cause {
                lines += &format!("  caused by: {error}\n");
                cause = error.source();
            }
            screen.err(&lines);
        }
        self.exit
    }
}

/// Returns whether a server has refused a request, such as one without a key that it knows: nothing failed there.
fn is_refusal(error: &(dyn Error + 'static)) -> bool {
    let is_one = matches!(error.downcast_ref(), Some(StoreError::Refused { .. }));
    is_one || error.source().is_some_and(is_refusal)
}

/// An error with what was being done.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(super) struct ContextError {
    what: String,
    source: Box<dyn Error + Send + Sync>,
}

impl ContextError {
    /// Wraps an error with what was being done when it came.
    pub(super) fn new(what: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { what: what.into(), source: source.into() }
    }
}
