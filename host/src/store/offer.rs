//! Attempts that one host offers to the others of its store, and what becomes of them.

use std::sync::Arc;

use phasm_engine::time::Timestamp;

use super::HostId;

/// An attempt that its host has no slot for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Unique among all that this host ever offers.
    pub number: u64,
    /// The run.
    pub run_id: Arc<str>,
    /// Of the lease under which it is offered: nothing of an older one stands.
    pub epoch: u64,
    /// Whose it is, and how much that tenant has beside others.
    pub tenant: (Arc<str>, u32),
    /// The run's priority, higher first.
    pub priority: u16,
    /// Stands for what a host must have to execute it: those of one kind go to the same hosts.
    pub kind: Arc<str>,
    /// What is to be executed, opaque to the store.
    pub body: Arc<[u8]>,
}

/// Which offer, and which time that it was taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OfferId {
    /// Whose it is.
    pub by: HostId,
    /// Its number there.
    pub number: u64,
    /// How often it was taken: nothing is heard of those who took it before.
    pub taking: u64,
}

/// An offer that a host has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenOffer {
    /// Which one.
    pub id: OfferId,
    /// What a host must have for it.
    pub kind: Arc<str>,
    /// What is to be executed.
    pub body: Arc<[u8]>,
}

/// What a host that executes an offer has to tell whoever made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which one.
    pub id: OfferId,
    /// Whether that is all, and the offer is done with.
    pub is_last: bool,
    /// What it says, opaque to the store.
    pub body: Arc<[u8]>,
}

/// What was told of an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingReport {
    /// Number that acknowledges the report; it is sent again until then.
    pub report: u64,
    /// The offer.
    pub number: u64,
    /// What was told.
    pub body: Vec<u8>,
}

/// What one host has for the others, and wants of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeRequest {
    /// Who.
    pub host: HostId,
    /// The time.
    pub now: Timestamp,
    /// What it offers. One that is known already stays as it is.
    pub offers: Vec<Offer>,
    /// Which of its own nobody shall execute any more.
    pub withdrawn: Vec<u64>,
    /// How many of its own that nobody has taken it would have back, the oldest first.
    pub recalled: u32,
    /// What it acknowledges.
    pub heard: Vec<u64>,
    /// What it has to tell; what is told of an offer that is somebody else's by now is dropped.
    pub reports: Vec<Report>,
    /// What it has taken and does not execute: somebody else may.
    pub returned: Vec<OfferId>,
    /// How many more it could execute.
    pub room: u32,
    /// Of which kinds it can execute none.
    pub except: Vec<Arc<str>>,
    /// What it has taken, if it may have missed an answer: all others are returned.
    pub holds: Option<Vec<OfferId>>,
}

/// What comes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeResponse {
    /// What it has taken: of each tenant the highest priority first, then the oldest; of several first of the one of which least is executed
    /// elsewhere, for its weight.
    pub taken: Vec<TakenOffer>,
    /// What it shall not execute any more.
    pub stopped: Vec<OfferId>,
    /// Which of its own it has back.
    pub recalled: Vec<u64>,
    /// What was told of its own.
    pub reported: Vec<IncomingReport>,
    /// How many more the other hosts said that they could execute.
    pub room: u32,
    /// When one that executes an offer of this host may have gone.
    pub look_again: Option<Timestamp>,
}

impl ExchangeRequest {
    /// Of a host that has nothing and wants nothing.
    #[must_use]
    pub fn nothing(host: HostId, now: Timestamp) -> Self {
        Self {
            host,
            now,
            offers: Vec::new(),
            withdrawn: Vec::new(),
            recalled: 0,
            heard: Vec::new(),
            reports: Vec::new(),
            returned: Vec::new(),
            room: 0,
            except: Vec::new(),
            holds: None,
        }
    }
}
