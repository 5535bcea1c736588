//! Attempts that one host offers to the others of its store, and what becomes of them.

use std::sync::Arc;

use phasm_engine::time::Timestamp;
use tokio::sync::watch;

use super::{HostId, Pending};

/// An attempt that its host has no slot for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Unique among all that this host ever offers.
    pub number: u64,
    /// The run.
    pub run_id: Arc<str>,
    /// Epoch of the lease under which it is offered. An offer of an older lease is void.
    pub epoch: u64,
    /// Tenant, and its weight.
    pub tenant: (Arc<str>, u32),
    /// The run's priority, higher first.
    pub priority: u16,
    /// Stands for what a host must have to execute it: those of one kind go to the same hosts.
    pub kind: Arc<str>,
    /// Work, opaque to the store.
    pub body: Arc<[u8]>,
}

/// Which offer, and which time that it was taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OfferId {
    /// Host that made the offer.
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
    /// Requirement: the kind that a host must be able to execute.
    pub kind: Arc<str>,
    /// Work, opaque to the store.
    pub body: Arc<[u8]>,
}

/// Report of the host that executes an offer to the host that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which one.
    pub id: OfferId,
    /// Whether that is all, and the offer is done with.
    pub is_last: bool,
    /// Content, opaque to the store.
    pub body: Arc<[u8]>,
}

/// Report about an own offer, as it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingReport {
    /// Number that acknowledges the report; it is sent again until then.
    pub report: u64,
    /// The offer.
    pub number: u64,
    /// Content of the report.
    pub body: Vec<u8>,
}

/// Exchange of one host with the others: its offers, and its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeRequest {
    /// Host that asks.
    pub host: HostId,
    /// The time.
    pub now: Timestamp,
    /// New offers. A known offer stays as it is.
    pub offers: Vec<Offer>,
    /// Own offers that no host shall execute any more.
    pub withdrawn: Vec<u64>,
    /// Number of own offers to take back that no host has taken, the oldest first.
    pub recalled: u32,
    /// Numbers of reports that are acknowledged.
    pub heard: Vec<u64>,
    /// Reports about offers that it executes. A report about an offer that belongs to another host by now is dropped.
    pub reports: Vec<Report>,
    /// Offers that it has taken and does not execute: another host may.
    pub returned: Vec<OfferId>,
    /// How many more it could execute.
    pub room: u32,
    /// Kinds that it cannot execute.
    pub except: Vec<Arc<str>>,
    /// Offers that it holds, if it may have missed an answer: all others are returned.
    pub holds: Option<Vec<OfferId>>,
}

/// Result of an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeResponse {
    /// Offers for this host: within a tenant the highest priority first, then the oldest; among tenants first the one with the
    /// least executed elsewhere for its weight.
    pub taken: Vec<TakenOffer>,
    /// Offers that it shall not execute any more.
    pub stopped: Vec<OfferId>,
    /// Which of its own it has back.
    pub recalled: Vec<u64>,
    /// Reports about its own offers.
    pub reported: Vec<IncomingReport>,
    /// How many more the other hosts said that they could execute.
    pub room: u32,
    /// When one that executes an offer of this host may have gone.
    pub look_again: Option<Timestamp>,
}

impl ExchangeRequest {
    /// Returns the request of a host that offers and asks for nothing.
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

/// Exchange of attempts between hosts. A store of one host offers none.
pub trait Exchange: Send + Sync {
    /// Whether its hosts may execute each other's attempts; `share` is asked for nothing otherwise.
    fn is_shared(&self) -> bool {
        false
    }

    /// Exchanges with the other hosts what is offered, taken, told and returned; all of it or nothing. It may be asked again, with
    /// [`ExchangeRequest::holds`], after an error that leaves open whether it was done.
    ///
    /// # Errors
    /// When the store fails.
    fn share(&self, _ask: ExchangeRequest) -> Pending<ExchangeResponse> {
        Pending::ready(Ok(ExchangeResponse::default()))
    }

    /// Returns a receiver that changes when `share` may have news for a host.
    fn shared(&self) -> watch::Receiver<()>;
}
