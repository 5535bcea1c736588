//! Where keys are kept.

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::config::ServerSettings;

use crate::{
    drive::LoadedConfig,
    failure::Failure,
    paths::{self, PathArguments, STORE},
    store::default_store::{default_store, nowhere, own_dir},
    terminal::screen::Screen,
    user_dirs,
};

/// The keys of servers whose runs are in a database.
const DEFAULT_KEYS: &str = "server.keys";

/// Which file of keys is meant.
#[derive(Args, Debug)]
pub(crate) struct KeysArgument {
    /// The file of keys; else the one that the configuration names, else the one next to the store.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,

    /// The file that the server keeps runs in, or the URL of its database; else the one in the user's data directory [env: PHASM_STORE]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// The configuration of the server [env: PHASM_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl KeysArgument {
    /// The file, whose directory is there.
    ///
    /// # Errors
    /// When the configuration has problems, or there is no place for it.
    pub(super) fn file(&self, screen: &Screen) -> Result<PathBuf, Failure> {
        if let Some(keys) = &self.keys {
            return Ok(keys.clone());
        }
        let configured = LoadedConfig::read(&PathArguments::of(self.config.clone()), screen, false)?;
        let store = self.store.clone().or_else(|| paths::set(STORE).map(PathBuf::from));
        let store = store.map_or_else(default_store, Ok)?;
        let file = file_of(&configured.server(), &store);
        let file = file.ok_or_else(|| nowhere("--keys FILE"))?;
        if paths::database_url(&store).is_some() && configured.server().keys.is_none() {
            own_dir()?;
        }
        Ok(file)
    }
}

/// The file of keys of a server with these settings and that store. There is none for a database where the user has no data directory:
/// such a server has no keys unless the configuration or `--keys` names a file.
pub(crate) fn file_of(settings: &ServerSettings, store: &Path) -> Option<PathBuf> {
    if let Some(keys) = &settings.keys {
        return Some(keys.clone());
    }
    if paths::database_url(store).is_some() {
        return Some(user_dirs::data_dir()?.join(DEFAULT_KEYS));
    }
    let mut name = store.as_os_str().to_owned();
    name.push(".keys");
    Some(name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-H23, R-A10: where keys are, whatever the user has; a place for them is not made before there is one.
    #[test]
    fn a_database_needs_no_file_of_keys() {
        let settings = ServerSettings { keys: Some("own".into()), ..ServerSettings::default() };
        let database = Path::new("postgres://localhost/x");
        assert_eq!(file_of(&settings, database), Some("own".into()));
        assert_eq!(
            file_of(&ServerSettings::default(), Path::new("a/runs.db")),
            Some("a/runs.db.keys".into())
        );
        let expected = user_dirs::data_dir().map(|dir| dir.join(DEFAULT_KEYS));
        assert_eq!(file_of(&ServerSettings::default(), database), expected);
    }
}
