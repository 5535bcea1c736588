//! Directories of the host, and everything below them.

use std::path::PathBuf;

use wasmtime::component::Linker;
use wasmtime_wasi::{
    FsPerms, WasiCtx,
    filesystem::{WasiFilesystem, WasiFilesystemCtx, WasiFilesystemCtxView},
    p2::bindings::filesystem::{preopens, types},
};

use super::active;
use crate::guest::Guest;

/// One directory a guest may reach.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DirGrant {
    /// Where it is on the host. It must exist when the guest is called.
    pub host: PathBuf,
    /// The path under which the guest sees it.
    pub guest: String,
    /// Whether the guest can only read there.
    pub read_only: bool,
}

/// The directories of one call.
pub(super) struct Dirs(WasiFilesystemCtx);

impl Dirs {
    /// Opens what is granted.
    ///
    /// # Errors
    /// What to tell the user when a directory cannot be opened.
    pub(super) fn open(grants: &[DirGrant]) -> Result<Self, String> {
        if grants.is_empty() {
            return Ok(Self(WasiFilesystemCtx::default()));
        }
        let mut wasi = WasiCtx::builder();
        // Guests have threads of their own, and a file call handed to a third thread costs ten times its work.
        wasi.allow_blocking_current_thread(true);
        for DirGrant { host, guest, read_only } in grants {
            let permissions = if *read_only { FsPerms::ReadOnly } else { FsPerms::ReadWrite };
            wasi.preopened_dir(host, guest, permissions)
                .map_err(|error| format!("granted directory {}: {}", host.display(), error.root_cause()))?;
        }
        Ok(Self(wasi.build().filesystem().clone()))
    }
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    types::add_to_linker::<_, WasiFilesystem>(linker, dirs)?;
    preopens::add_to_linker::<_, WasiFilesystem>(linker, |guest| {
        if guest.held.grants.dirs.is_empty() {
            guest.refused.not_granted("directories");
        }
        dirs(guest)
    })
}

fn dirs(guest: &mut Guest) -> WasiFilesystemCtxView<'_> {
    let Guest { held, table, .. } = active(guest);
    WasiFilesystemCtxView { ctx: &mut held.dirs.0, table }
}
