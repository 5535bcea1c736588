//! What a guest may touch. Nothing by default but its log, the time that passes, and randomness that is nobody's secret.
//!
//! Each capability is a unit of its own, a file or a folder, that holds in this order: its *grant*, which an operator configures
//! and [`Grants`] carries; its *state* for one call, part of [`Held`]; its limits, and what it says where it refuses; and `link`,
//! which says what of WASI it answers. A capability that is new has its file here, a line in [`Grants`], [`Held`] and [`link`], a key in
//! the configuration, and guests that abuse it in `tests/hostile`.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi_io::IoView;

use self::{
    clocks::{Clocks, WallClock},
    dirs::{DirGrant, Dirs},
    http::{Http, HttpGrant, Net},
    random::{Random, Randomness},
    sockets::Sockets,
};
use super::{
    Shared, executor::Invocation, guest::Guest, isolation::Isolation, limits::Limits, transcript::Transcript,
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
}

/// Whose call something is held for, and what it shares with others.
#[derive(Clone, Copy)]
pub(super) struct Caller<'c> {
    pub(super) limits: &'c Limits,
    pub(super) dirs: &'c dirs::Common,
    pub(super) net: &'c Arc<Net>,
    pub(super) invocation: &'c Arc<Invocation>,
}

impl<'c> Caller<'c> {
    /// In this process, with everybody else.
    pub(super) fn of(sandbox: &'c Shared, invocation: &'c Arc<Invocation>) -> Self {
        Self { limits: &sandbox.limits, dirs: &sandbox.dirs, net: &sandbox.net, invocation }
    }
}

/// What one call holds of its grants; gone with the call.
pub(super) struct Held {
    pub(super) grants: Arc<Grants>,
    clocks: Clocks,
    random: Random,
    dirs: Dirs,
    pub(super) http: Http,
    sockets: Sockets,
}

impl Held {
    /// What `grants` come to in one call.
    ///
    /// # Errors
    /// What to tell the user when a grant cannot be given.
    pub(super) async fn new(
        grants: Arc<Grants>,
        caller: Caller<'_>,
        transcript: &Arc<Transcript>,
    ) -> Result<Self, String> {
        let Caller { limits, net, invocation, .. } = caller;
        Ok(Self {
            clocks: Clocks::new(grants.wall_clock),
            random: Random::new(grants.random, limits.random),
            dirs: Dirs::open(&grants.dirs, caller).await?,
            http: Http::new(net, invocation, &grants, transcript),
            sockets: Sockets::default(),
            grants,
        })
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
    guest.transcript.activity();
    guest
}

impl IoView for Guest {
    fn table(&mut self) -> &mut ResourceTable {
        &mut active(self).table
    }
}
