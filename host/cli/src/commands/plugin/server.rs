//! A server whose plugins are meant, in place of those that are found here.

use clap::Args;
use phasm_server::client::{Remote, RemoteError};

use crate::{
    failure::Failure,
    paths::{self, KEY, PathArguments, SERVER},
};

/// Which server is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServerArgument {
    /// The server that has the plugins, in place of a library here; PHASM_KEY has the key for it [env: PHASM_SERVER]
    #[arg(long, value_name = "URL", conflicts_with_all = ["library", "plugins"])]
    server: Option<String>,
}

impl ServerArgument {
    /// The server that is meant; none where plugins here are.
    ///
    /// # Errors
    /// For what is no URL of a server.
    pub(super) fn remote(&self, paths: &PathArguments) -> Result<Option<Remote>, Failure> {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        let are_here = paths.given().any(|(option, _)| option != "--config");
        let environment = || paths::set(SERVER).filter(|_| !are_here).map(text);
        let Some(url) = self.server.clone().or_else(environment) else { return Ok(None) };
        Remote::new(&url, paths::set(KEY).map(text)).map(Some).map_err(Failure::call)
    }
}

/// Why a server did not do it.
pub(super) fn failed(error: RemoteError) -> Failure {
    match error.status() {
        Some(400..500) => Failure::call(error),
        Some(_) | None => Failure::host(error),
    }
}

/// A name and a whole version.
///
/// # Errors
/// For what is none.
pub(super) fn name_and_version(asked: &str) -> Result<(&str, &str), Failure> {
    let expected = || Failure::call(format!("expected a name and a whole version, such as {asked}@1.2.0"));
    asked.split_once('@').ok_or_else(expected)
}
