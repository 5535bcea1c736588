//! What a guest may touch. Nothing by default but its log, the time that passes, and randomness that is nobody's secret.
//!
//! Each capability is a unit of its own, a file or a folder, that holds in this order: its *grant*, which an operator configures
//! and [`Grants`] carries; its *state* for one call, part of [`Held`]; its limits, and what it says where it refuses; and `link`,
//! which says what of WASI it answers. A capability that is new has its file here, a line in [`Grants`], [`Held`] and [`link`], a key in
//! the configuration, and guests that abuse it in `tests/hostile`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi_io::IoView;

use self::{
    clocks::{Clocks, WallClock},
    dirs::{DirGrant, Dirs},
    http::{Http, HttpGrant},
    random::{Random, Randomness},
    sockets::Sockets,
};
use super::{
    guest::Guest,
    isolation::Isolation,
    limits::{Allowance, Limit},
    whose::Whose,
};

pub(super) mod clocks;
pub(super) mod dirs;
mod env;
pub(super) mod http;
pub(super) mod random;
pub(super) mod refused;
mod sockets;
mod stdio;

/// Everything one plugin may touch; the default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// Directories of the host, and everything below them.
    pub dirs: Vec<DirGrant>,
    /// The environment the guest sees, in full.
    pub env: BTreeMap<String, String>,
    /// Where requests may be sent.
    #[serde(skip)]
    pub http: HttpGrant,
    /// What the wall clock shows.
    pub wall_clock: WallClock,
    /// Where random bytes come from.
    pub random: Randomness,
    /// Where its guests run, if that is not as [`SandboxConfig::isolation`](crate::SandboxConfig) says.
    pub isolation: Option<Isolation>,
    /// What its attempts may use, where that is less than others may.
    pub limits: Allowance,
}

impl Grants {
    /// Whether nothing outside changes or hears anything by what a guest with these does: it reaches no files, no network and no other
    /// machine. It may read its environment and clocks, and what it says is its host's to pass on.
    #[must_use]
    pub fn are_pure(&self) -> bool {
        self.dirs.is_empty() && self.http.is_empty()
    }
}

/// What one call holds of its grants; gone with the call.
pub(super) struct Held {
    clocks: Clocks,
    random: Random,
    pub(super) dirs: Dirs,
    pub(super) http: Http,
    sockets: Sockets,
}

impl Held {
    /// What the grants of a call come to, with their directories.
    pub(super) fn new(whose: &Whose, dirs: Dirs) -> Self {
        let grants = &whose.grants;
        Self {
            clocks: Clocks::new(grants.wall_clock),
            random: Random::new(grants.random, whose.ceilings.ceiling(Limit::Random)),
            dirs,
            http: Http::default(),
            sockets: Sockets::default(),
        }
    }

    /// Bytes that came in and went out: of files, and of requests.
    pub(super) fn moved(&self) -> (u64, u64) {
        let (files, requests) = (self.dirs.moved(), self.http.moved());
        (files.0.saturating_add(requests.0), files.1.saturating_add(requests.1))
    }
}

/// Defines everything of WASI 0.2 that there is.
///
/// # Errors
/// None in practice: every name is defined once.
pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi_io::add_to_linker_async(linker)?;
    clocks::link(linker)?;
    dirs::link(linker)?;
    env::link(linker)?;
    http::link(linker)?;
    random::link(linker)?;
    sockets::link(linker)?;
    stdio::link(linker)
}

/// Whoever calls the host is alive (R-T5): what host calls take for their guest.
fn active(guest: &mut Guest) -> &mut Guest {
    guest.calls = guest.calls.saturating_add(1);
    guest.transcript.activity();
    guest
}

impl IoView for Guest {
    fn table(&mut self) -> &mut ResourceTable {
        &mut active(self).table
    }
}
