//! What a plugin may touch. Nothing, until the operator says otherwise.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use wasmtime::component::Linker;
use wasmtime_wasi::{
    FsPerms, WasiCtx,
    filesystem::{WasiFilesystem, WasiFilesystemView as _},
    p2::bindings::{filesystem::preopens, sockets},
    sockets::{WasiSockets, WasiSocketsView as _},
};

use super::{
    guest::Guest,
    transcript::{Standard, Stream, Transcript},
};

/// Everything one plugin may touch; the default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Directories of the host, and everything below them.
    pub dirs: Vec<DirGrant>,
    /// The environment the guest sees, in full.
    pub env: BTreeMap<String, String>,
}

/// One directory a guest may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirGrant {
    /// Where it is on the host. It must exist when the guest is called.
    pub host: PathBuf,
    /// The path under which the guest sees it.
    pub guest: String,
    /// Whether the guest can only read there.
    pub read_only: bool,
}

impl Grants {
    /// Builds one call's WASI context, which gives at most `random` random bytes at a time. Without directories it
    /// cannot fail.
    ///
    /// # Errors
    /// What to tell the user when a granted directory cannot be opened.
    pub(super) fn wasi(&self, transcript: &Arc<Transcript>, random: u64) -> Result<WasiCtx, String> {
        let stream = |standard| Stream { transcript: Arc::clone(transcript), standard };
        let mut wasi = WasiCtx::builder();
        wasi.stdout(stream(Standard::Output)).stderr(stream(Standard::Error));
        wasi.max_random_size(random);
        // Guests have threads of their own, and a file call handed to a third thread costs ten times its work.
        wasi.allow_blocking_current_thread(true);
        for (name, value) in &self.env {
            wasi.env(name, value);
        }
        for DirGrant { host, guest, read_only } in &self.dirs {
            let permissions = if *read_only { FsPerms::ReadOnly } else { FsPerms::ReadWrite };
            wasi.preopened_dir(host, guest, permissions)
                .map_err(|error| format!("granted directory {}: {}", host.display(), error.root_cause()))?;
        }
        Ok(wasi.build())
    }
}

/// What a guest reached for without having it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refused {
    directories: bool,
    network: bool,
}

impl Refused {
    /// `message`, with what was refused to whoever has to mend it.
    pub(super) fn explain(self, message: Arc<str>) -> Arc<str> {
        let names = [(self.directories, "directories"), (self.network, "network")];
        let names: Vec<_> = names.iter().filter(|(refused, _)| *refused).map(|(_, name)| *name).collect();
        let separator = if message.is_empty() { "" } else { "; " };
        if names.is_empty() {
            message
        } else {
            format!("{message}{separator}not granted: {}", names.join(", ")).into()
        }
    }
}

/// Links WASI 0.2, and takes note where a guest asks for what only a grant can give.
///
/// # Errors
/// None in practice: every name is defined once, or redefined on purpose.
pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    preopens::add_to_linker::<_, WasiFilesystem>(linker, |guest| {
        guest.refused.directories |= guest.grants.dirs.is_empty();
        guest.filesystem()
    })?;
    sockets::tcp_create_socket::add_to_linker::<_, WasiSockets>(linker, network)?;
    sockets::udp_create_socket::add_to_linker::<_, WasiSockets>(linker, network)?;
    sockets::ip_name_lookup::add_to_linker::<_, WasiSockets>(linker, network)?;
    linker.allow_shadowing(false);
    Ok(())
}

fn network(guest: &mut Guest) -> wasmtime_wasi::sockets::WasiSocketsCtxView<'_> {
    guest.refused.network = true;
    guest.sockets()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I3.
    #[test]
    fn refusals_are_listed_for_people() {
        for (directories, network, message, text) in [
            (false, false, "gone", "gone"),
            (true, false, "gone", "gone; not granted: directories"),
            (false, true, "", "not granted: network"),
            (true, true, "gone", "gone; not granted: directories, network"),
        ] {
            assert_eq!(&*Refused { directories, network }.explain(message.into()), text);
        }
    }
}
