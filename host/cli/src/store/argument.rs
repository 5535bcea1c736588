//! Runs that are kept in a file: finding them, and saying why one is not to be had.

use std::{path::PathBuf, sync::Arc};

use clap::Args;

use super::{default_store::default_store, order::ORDER, reader::StoreReader, run_id};
use crate::{
    command_line::Target,
    drive::{self, DriveArguments, LoadedConfig, PreparedHost, Purpose},
    failure::Failure,
    paths::{self, STORE},
    plugins::provenance,
    terminal::screen::Screen,
};

/// The file that runs are kept in.
#[derive(Args, Clone, Debug)]
pub(crate) struct StoreArgument {
    /// The file that runs are kept in, or the URL of a PostgreSQL database [env: PHASM_STORE] [default: runs.db in the user's data directory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

impl StoreArgument {
    /// Whether one is named.
    pub(crate) fn is_named(&self) -> bool {
        self.store.is_some() || paths::set(STORE).is_some()
    }

    /// Whether it was named as an option.
    pub(crate) const fn is_given(&self) -> bool {
        self.store.is_some()
    }

    /// The file, which is there.
    ///
    /// # Errors
    /// When none is named, or when there is no such file: a name mistyped must not become a new store.
    pub(crate) fn path(&self) -> Result<PathBuf, Failure> {
        let path = self.named()?;
        if paths::database_url(&path).is_some() || path.exists() {
            return Ok(path);
        }
        let shown = path.display();
        Err(Failure::call(if self.is_named() {
            format!("there is no store {shown}; expected the file that `run --store FILE` was given. {ORDER}")
        } else {
            format!(
                "there are no runs yet: no store is named, and the default store {shown} does not exist; `phasm submit` and `phasm serve \
                 --listen` create it, and `phasm run` keeps its run only with `--store FILE`. {ORDER}"
            )
        }))
    }

    /// The file, which may not be there yet: the one of the option, else of the environment, else the default store.
    ///
    /// # Errors
    /// For a store in memory, and for a user without a data directory who names none.
    pub(crate) fn named(&self) -> Result<PathBuf, Failure> {
        let named = self.store.clone().or_else(|| paths::set(STORE).map(PathBuf::from));
        let path = named.map_or_else(default_store, Ok)?;
        if *path == *"memory" {
            let message = "a store in memory ends with its process; expected the file that runs were kept in";
            return Err(Failure::call(message));
        }
        Ok(path)
    }

    /// How its runs are reached.
    ///
    /// # Errors
    /// Same as [`Self::path`].
    pub(crate) fn target(&self) -> Result<Target, Failure> {
        self.path().map(|path| Target::to(&path))
    }

    /// Opens the store for reading, also while another process has it.
    ///
    /// # Errors
    /// When there is no such store, or it cannot be read.
    pub(crate) fn read(&self) -> Result<StoreReader, Failure> {
        StoreReader::open(&self.path()?).map_err(Failure::store)
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

    /// Opens a host that resumes the run. Paths that are not named are those the run was submitted with.
    ///
    /// # Errors
    /// Same as [`Self::host`].
    pub(crate) async fn host_for(
        &self,
        reader: &StoreReader,
        run_id: &str,
        arguments: &DriveArguments,
        screen: &Screen,
    ) -> Result<PreparedHost, Failure> {
        let paths = provenance::remembered(&arguments.paths, &**reader, run_id, screen).await;
        self.host(&arguments.at(paths), screen).await
    }

    /// Opens a host that drives its runs.
    ///
    /// # Errors
    /// When the configuration or a directory is not as it should be, when there is no such store, or when another
    /// process holds it.
    pub(crate) async fn host(
        &self,
        arguments: &DriveArguments,
        screen: &Screen,
    ) -> Result<PreparedHost, Failure> {
        let path = self.path()?;
        let configured = LoadedConfig::read(&arguments.paths, screen, arguments.json)?;
        let prepared = drive::open(&arguments.paths, configured, screen, Purpose::default())?;
        let prepared = prepared.with_store(Some(&path)).await?;
        prepared.warn_of_tenants(screen).await;
        Ok(prepared)
    }
}
