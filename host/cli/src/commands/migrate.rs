//! `phasm migrate`: brings a store to the format of this version.

use clap::Args;
use phasm::store::{Migration, StoreError};

use crate::{
    drive::{opened, runtime},
    exit::Exit,
    failure::Failure,
    store::argument::StoreArgument,
    terminal::screen::Screen,
};

/// Brings a store to the store format of this version.
///
/// Other commands leave a store of an earlier format as it is, and exit with status 2; `phasm serve` migrates it when it starts.
/// A file can be migrated while no process uses it. A database can be migrated at any time; hosts of an earlier version that cannot
/// use the new format end with an error at their next write. All of the store is migrated, or nothing. Make a backup first.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm migrate --store runs.db\n  phasm migrate --store postgres://phasm@db.internal/phasm"
)]
pub(crate) struct MigrateArguments {
    #[command(flatten)]
    store: StoreArgument,
}

/// Migrates a store.
pub(super) fn migrate(arguments: &MigrateArguments, screen: &Screen) -> Result<Exit, Failure> {
    let path = arguments.store.path()?;
    let told = runtime()?.block_on(async {
        match opened(&path, Migration::Refuse).await {
            Ok(_) => Ok("the store has the format of this version already\n".to_owned()),
            Err(StoreError::Older { found, known, .. }) => {
                opened(&path, Migration::Apply).await?;
                Ok(format!("migrated from store format {found} to {known}\n"))
            }
            Err(error) => Err(error),
        }
    });
    screen.err(&told.map_err(Failure::store)?);
    Ok(Exit::Done)
}
