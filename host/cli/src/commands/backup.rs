//! `phasm backup`: copies a store.

use std::path::PathBuf;

use clap::Args;

use crate::{
    drive::runtime,
    exit::Exit,
    failure::{ContextError, Failure},
    store::{argument::StoreArgument, reader::StoreReader},
    terminal::screen::Screen,
};

/// Copies a store to a new file, also while it is written to.
///
/// All of the copy is from one moment. It is a store like the one it was made of, without the room that deleted runs left. A PostgreSQL database is copied by
/// PostgreSQL's own pg_dump.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm backup copy.db --store runs.db")]
pub(crate) struct BackupArguments {
    /// The file to make; there must be none of that name.
    #[arg(value_name = "COPY")]
    to: PathBuf,

    #[command(flatten)]
    store: StoreArgument,
}

/// Copies a store.
pub(super) fn backup(arguments: &BackupArguments, screen: &Screen) -> Result<Exit, Failure> {
    let BackupArguments { to, store } = arguments;
    let StoreReader::File(file) = store.read()? else {
        return Err(Failure::call(
            "a database is copied by PostgreSQL itself: use pg_dump, with the schema of the store (`phasm` unless its URL names another)",
        ));
    };
    if to.exists() {
        return Err(Failure::call(format!("{} exists already; name a new file", to.display())));
    }
    let copied = runtime()?.block_on(file.backup(to));
    copied.map_err(|error| Failure::host(ContextError::new("the store could not be copied", error)))?;
    screen.err(&format!("copied to {}\n", to.display()));
    Ok(Exit::Done)
}
