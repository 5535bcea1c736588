//! A store, or a server that has one: what looks at runs, or asks something of them, takes either.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use clap::Args;
use phasm::store::CatalogKind;
use phasm_server::client::Remote;

use super::{Backend, LocalBackend, RemoteBackend};
use crate::{
    address,
    command_line::{self, Target},
    exit::Exit,
    failure::Failure,
    input::names::QualifiedName,
    paths::{self, KEY, PathArguments, SERVER},
    store::{
        argument::StoreArgument, default_store::default_store, order::store_order, reader::StoreReader,
        run_id,
    },
    terminal::{screen::Screen, text},
};

/// Help of `--server`.
const SERVER_HELP: &str = concat!(
    "The server that has the runs, in place of a store; PHASM_KEY has its key [env: PHASM_SERVER]. The order is: ",
    store_order!()
);

/// Where runs are.
#[derive(Args, Clone, Debug)]
pub(crate) struct TargetArguments {
    #[command(flatten)]
    pub(crate) store: StoreArgument,

    /// Set by `--server`.
    #[arg(long, value_name = "URL", conflicts_with = "store", help = SERVER_HELP, long_help = SERVER_HELP)]
    server: Option<String>,

    #[arg(skip)]
    default_server: DefaultServer,
}

/// The server that serves the default store, if there is one. It is looked for once in a command.
#[derive(Clone, Debug, Default)]
struct DefaultServer(OnceLock<Option<String>>);

impl DefaultServer {
    fn url(&self, look: impl FnOnce() -> Option<String>) -> Option<String> {
        self.0.get_or_init(look).clone()
    }
}

impl TargetArguments {
    /// The server of `--server` or `PHASM_SERVER`, or the one that serves the default store if nothing is named; none where a store is
    /// meant.
    ///
    /// # Errors
    /// For what is no URL of a server.
    pub(crate) fn remote(&self) -> Result<Option<Remote>, Failure> {
        let Some(url) = self.named_server().or_else(|| self.default_server()) else { return Ok(None) };
        Remote::new(&url, paths::text(KEY)).map(Some).map_err(Failure::call)
    }

    /// Returns the URL of the server of `--server` or `PHASM_SERVER`, else that of the server that serves the store on this machine.
    ///
    /// # Errors
    /// When no server is named and none serves the store.
    pub(crate) fn server_url(&self) -> Result<String, Failure> {
        if let Some(url) = self.named_server() {
            return Ok(url);
        }
        let path = self.store.named()?;
        address::known(&path).ok_or_else(|| {
            let serve = ["serve", "--listen"];
            let start = if self.store.is_named() {
                Target::to(&path).command(&serve)
            } else {
                command_line::command(&serve)
            };
            let shown = command_line::shown(&path);
            Failure::call(format!(
                "no server of {} is known on this machine; start one with: {start}; or name one: --server URL",
                text::clean(&shown)
            ))
        })
    }

    /// URL of the server of `--server`, or of `PHASM_SERVER` if `--store` is not given.
    fn named_server(&self) -> Option<String> {
        let environment = || paths::text(SERVER).filter(|_| !self.store.is_given());
        self.server.clone().or_else(environment)
    }

    /// URL of the server that serves the default store, if no store is named.
    fn default_server(&self) -> Option<String> {
        if self.store.is_named() {
            return None;
        }
        self.default_server.url(|| address::known(&default_store().ok()?))
    }

    /// Returns what the command works on. `paths` are the plugins and the configuration of what a local store is given.
    ///
    /// # Errors
    /// When the server's URL is not valid.
    pub(crate) fn backend<'a>(
        &'a self,
        paths: &'a PathArguments,
        screen: &'a Screen,
        json: bool,
    ) -> Result<Box<dyn Backend + 'a>, Failure> {
        Ok(match self.remote()? {
            Some(remote) => {
                warn_of_ignored_paths(paths, remote.url(), screen);
                Box::new(RemoteBackend { target: self.target_of(&remote), remote, json, screen })
            }
            None => Box::new(LocalBackend { store: &self.store, paths, json, screen }),
        })
    }

    /// Removes a schedule or a saved workflow, and says so on stderr.
    ///
    /// # Errors
    /// When there is none of that name, or when it is refused.
    pub(crate) fn remove(
        &self,
        shelf: CatalogKind,
        name: &QualifiedName,
        screen: &Screen,
    ) -> Result<Exit, Failure> {
        self.backend(&PathArguments::of(None), screen, false)?.remove(shelf, name)?;
        screen.err(&format!("{shelf} {} is removed; its runs stay\n", name.word()));
        Ok(Exit::Done)
    }

    /// How its runs are reached.
    ///
    /// # Errors
    /// When there is no such store.
    pub(crate) fn target(&self) -> Result<Target, Failure> {
        match self.remote()? {
            Some(remote) => Ok(self.target_of(&remote)),
            None => self.store.target(),
        }
    }

    /// How the runs of that server are reached. The server of the default store needs no option.
    fn target_of(&self, remote: &Remote) -> Target {
        if self.named_server().is_some() { Target::to_server(remote.url()) } else { Target::unnamed() }
    }

    /// Opens the store for reading, also while another process has it.
    ///
    /// # Errors
    /// When there is no such store, or it cannot be read.
    pub(crate) fn read(&self) -> Result<StoreReader, Failure> {
        match self.remote()? {
            Some(remote) => Ok(StoreReader::Server(remote)),
            None => self.store.read(),
        }
    }

    /// Opens it to look at the run that `meant` names, of which this is the id.
    ///
    /// # Errors
    /// When there is no such store or no such run, or when several could be meant.
    pub(crate) async fn find(&self, meant: &str) -> Result<(StoreReader, Arc<str>), Failure> {
        let reader = self.read()?;
        let run_id = run_id::find(&*reader, meant, &self.target()?).await?;
        Ok((reader, run_id))
    }
}

/// Warns of options for a store of one's own: a server has plugins and a configuration of its own.
fn warn_of_ignored_paths(paths: &PathArguments, url: &str, screen: &Screen) {
    let given: BTreeSet<_> = paths.given().map(|(name, _)| format!("`{name}`")).collect();
    if given.is_empty() {
        return;
    }
    let (given, url) = (given.into_iter().collect::<Vec<_>>().join(" and "), text::clean(url));
    screen.err(&format!(
        "{} {given}: no effect here, as the server {url} has its own plugins and configuration (`phasm serve --config FILE`)\n",
        text::doubtful("warning:")
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-L30: all parts of a command ask the same server, although it may stop in between.
    #[test]
    fn the_default_server_is_looked_for_once() {
        let (server, mut looks) = (DefaultServer::default(), 0);
        for _ in 0..3 {
            let url = server.url(|| {
                looks += 1;
                Some(format!("http://127.0.0.1:{looks}"))
            });
            assert_eq!(url.as_deref(), Some("http://127.0.0.1:1"));
        }
        assert_eq!(looks, 1);
    }
}
