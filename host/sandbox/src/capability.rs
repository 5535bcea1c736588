//! The capabilities of guests. By default a guest has a log, the time that passes, and randomness that is no secret.
//!
//! Each capability is a unit of its own, a file or a folder, that holds in this order: its *grant*, which an operator configures
//! and [`Grants`](crate::Grants) carries; its *state* for one call, part of [`Capabilities`]; its limits, and the messages of its refusals; a
//! *view* of that state, with the trait that says where a store keeps it; and `link`, which defines its part of WASI for every such store.
//! No capability knows the [`Guest`](crate::guest::Guest) that holds all of them. A new one has its file here, a line in `Grants`,
//! [`Capabilities`], [`Views`] and [`link`], a view of `Guest`, a key in the configuration, and guests that abuse it in `tests/hostile`.

use wasmtime::component::Linker;
use wasmtime_wasi_io::IoView;

use self::{
    clocks::{Clocks, HasClocks},
    dirs::{Dirs, HasDirs},
    env::HasEnv,
    http::{HasHttp, Http},
    random::{HasRandom, Random},
    sockets::{HasSockets, Sockets},
    stdio::HasStdio,
};

pub(super) mod clocks;
pub(super) mod dirs;
pub(super) mod env;
pub(super) mod hosts;
pub(super) mod http;
pub(super) mod random;
pub(super) mod refusals;
pub(super) mod sockets;
pub(super) mod stdio;

/// State of the capabilities of one call; gone with the call.
pub(super) struct Capabilities {
    pub(super) clocks: Clocks,
    pub(super) random: Random,
    pub(super) dirs: Dirs,
    pub(super) http: Http,
    pub(super) sockets: Sockets,
}

impl Capabilities {
    /// Returns the bytes that came in and went out, of files, of requests and of connections.
    pub(super) fn byte_counts(&self) -> (u64, u64) {
        let all = [self.dirs.byte_counts(), self.http.byte_counts(), self.sockets.byte_counts()];
        all.into_iter().fold((0, 0), |(all_in, all_out): (u64, u64), (bytes_in, bytes_out)| {
            (all_in.saturating_add(bytes_in), all_out.saturating_add(bytes_out))
        })
    }
}

/// State of a store that holds every capability.
pub(super) trait Views:
    IoView + HasClocks + HasDirs + HasEnv + HasHttp + HasRandom + HasSockets + HasStdio
{
}

/// Defines everything of WASI 0.2 that there is.
///
/// # Errors
/// None in practice: every name is defined once.
pub(super) fn link<T: Views>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    wasmtime_wasi_io::add_to_linker_async(linker)?;
    clocks::link(linker)?;
    dirs::link(linker)?;
    env::link(linker)?;
    http::link(linker)?;
    random::link(linker)?;
    sockets::link(linker)?;
    stdio::link(linker)
}
