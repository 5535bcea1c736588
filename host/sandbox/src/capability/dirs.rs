//! Directories of the host, and everything below them that is a file or a directory.
//!
//! ```text
//!  DirGrant ──▶ Root (one call's) ──▶ Dir, File ──▶ Listing, Reader, Writer     each holds a share of the host's descriptors
//!                 │
//!                 ▼
//!               Place (everybody's): may a call block? then it is made elsewhere; the ledger of its quotas
//! ```
//!
//! Paths are resolved by cap-std's primitives, which leave a directory on no way. What else opens, and what is counted, is decided
//! here: `open` says what opens at all, `host` answers `wasi:filesystem`.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Instant,
};

use wasmtime::component::{HasSelf, Linker, Resource};
use wasmtime_wasi::p2::bindings::filesystem::{preopens, types};

#[cfg(target_os = "linux")]
pub(crate) use self::books::{Answer, Beyond, Clerk, Entry};
pub use self::ledger::Quota;
use self::{
    books::Books,
    handle::{Dir, Handle, Moved, Open, Root},
    place::{Place, Places},
};
use super::{active, refused::Refused};
use crate::{
    budget::{Budget, Holder},
    guest::Guest,
    limits::{Limit, UNLIMITED},
    whose::Whose,
};

mod books;
mod handle;
mod host;
mod ledger;
mod listing;
mod mounts;
mod open;
mod place;
mod streams;
#[cfg(test)]
mod tests;

/// One directory a guest may reach.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DirGrant {
    /// Where it is on the host. It must exist when the guest is called.
    pub host: PathBuf,
    /// The path under which the guest sees it.
    pub guest: String,
    /// Whether the guest can only read there.
    pub read_only: bool,
    /// What may lie there.
    pub quota: Quota,
}

impl DirGrant {
    /// The directory `host`, to be read as `guest`.
    pub fn read_only(host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        Self { host: host.into(), guest: guest.into(), read_only: true, quota: Quota::default() }
    }

    /// The same, to be written as well.
    pub fn read_write(host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        Self { read_only: false, ..Self::read_only(host, guest) }
    }
}

/// What all calls of a sandbox share.
pub(crate) struct Common {
    places: Places,
    descriptors: Arc<Budget>,
    /// Who keeps the books, if this process does not.
    #[cfg(target_os = "linux")]
    beyond: Option<Arc<Beyond>>,
}

impl Default for Common {
    fn default() -> Self {
        Self {
            places: Places::default(),
            descriptors: Budget::of_descriptors(),
            #[cfg(target_os = "linux")]
            beyond: None,
        }
    }
}

impl Common {
    /// For a process that calls the guests of one plugin, and whose calls may wait as they like; somebody else keeps its books. It looks
    /// at what is granted now, as long as it can.
    #[cfg(target_os = "linux")]
    pub(crate) fn alone(grants: &[DirGrant], beyond: &Arc<Beyond>) -> Self {
        let places = Places::alone();
        // One that is not there is the affair of the call that wants it.
        grants.iter().for_each(|grant| drop(places.look(&grant.host)));
        Self { places, beyond: Some(Arc::clone(beyond)), ..Self::default() }
    }

    /// The books of a grant of what lies at `place`.
    fn books(&self, _grant: usize, place: &Arc<Place>) -> Books {
        #[cfg(target_os = "linux")]
        if let Some(beyond) = &self.beyond {
            return Books::Beyond(Arc::clone(beyond), u32::try_from(_grant).unwrap_or(u32::MAX));
        }
        Books::Here(Arc::clone(place))
    }
}

/// The directories of one call.
#[derive(Default)]
pub(crate) struct Dirs(Vec<Dir>);

impl Dirs {
    /// Opens what is granted.
    ///
    /// # Errors
    /// What to tell the user when a directory cannot be opened.
    pub(crate) async fn open(whose: &Whose) -> Result<Self, String> {
        let (grants, common) = (&whose.grants.dirs, &whose.premises.dirs);
        let mut dirs = Vec::with_capacity(grants.len());
        let plugin = &whose.invocation.executor_type;
        let holder = |limit| Holder::of_plugin(&common.descriptors, &whose.tenant, plugin, limit);
        // What is granted is not the guest's to spare.
        let (granted, holder) = (holder(UNLIMITED), holder(whose.ceilings.most(Limit::Descriptors)));
        let moved = Arc::new(Moved::default());
        let began = Instant::now();
        for (number, grant) in grants.iter().enumerate() {
            let failed = |cause: String| format!("granted directory {}: {cause}", grant.host.display());
            let share = granted.take().map_err(|spent| failed(spent.to_string()))?;
            let (place, file) =
                common.places.open(&grant.host).await.map_err(|error| failed(error.to_string()))?;
            let root = Root {
                books: common.books(number, &place),
                place,
                holder: Arc::clone(&holder),
                read_only: grant.read_only,
                quota: grant.quota,
                met: OnceLock::new(),
                began,
                moved: Arc::clone(&moved),
            };
            let name = grant.guest.trim_end_matches('/').into();
            dirs.push(Dir { handle: Handle::new(file, Arc::new(root), share, None), name });
        }
        Ok(Self(dirs))
    }

    /// Bytes that were read and written.
    pub(super) fn moved(&self) -> (u64, u64) {
        // Of all grants of a call it is the same.
        self.0.first().map_or((0, 0), |dir| dir.handle.root.moved.both())
    }
}

impl Dirs {
    /// Tells what had no room, also where streams were written: these have nobody to tell it.
    pub(crate) fn tell(&self, refused: &mut Refused) {
        let met = self.0.iter().filter_map(|dir| dir.handle.root.met.get());
        // Files are told with the directory that they were to be in.
        let bytes = met.filter(|full| matches!(full, ledger::Full::Bytes(_)));
        bytes.for_each(|full| refused.because(|| full.to_string()));
    }
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    types::add_to_linker::<_, HasSelf<Guest>>(linker, active)?;
    preopens::add_to_linker::<_, HasSelf<Guest>>(linker, active)
}

impl preopens::Host for Guest {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<types::Descriptor>, String)>> {
        if self.whose.grants.dirs.is_empty() {
            self.refused.not_granted("directories");
        }
        let granted = self.held.dirs.0.iter().zip(&self.whose.grants.dirs);
        let table = &mut self.table;
        let own = |(dir, grant): (&Dir, &DirGrant)| {
            Ok((handle::push(table, Open::Dir(dir.clone()))?, grant.guest.clone()))
        };
        granted.map(own).collect()
    }
}
