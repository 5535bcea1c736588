//! Notifications of runs: signed, retried, and delivered at least once.
//!
//! ```text
//!  driver ── record with its notifications ──▶ store          one write: both exist or neither
//!  DeliveryWorker of an endpoint ── due? ── claim ── post, signed ── settle: delivered, given up, or due again
//! ```
//!
//! A notification is claimed by postponing its due time: if the claiming host dies, another delivers a minute later. So one may
//! come twice, with the same id.

mod endpoint;
mod news;
#[cfg(feature = "http")]
pub(crate) mod post;
pub(crate) mod progress;
#[cfg(feature = "http")]
pub(crate) mod retry;
mod run_view;
mod signing;
mod summary;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use tokio::sync::watch;

pub(crate) use self::news::Subscribers;
pub use self::{
    endpoint::{DEFAULT_PHASES, Endpoint, TOLD_PHASES},
    progress::{NoticeProgress, NoticeTry, NoticeView},
    run_view::StoredRunView,
    signing::{NotASigningSecret, SigningSecret},
    summary::{NoticeSummary, notices_of},
};
#[cfg(feature = "http")]
use phasm_sandbox::HttpConfig;

/// Webhook endpoints, and the counts of their deliveries.
pub(crate) struct Webhooks {
    pub(crate) endpoints: BTreeMap<Arc<str>, Endpoint>,
    pub(crate) tallies: BTreeMap<Arc<str>, Arc<NoticeTally>>,
    /// Told when the time of day is another.
    pub(crate) news: watch::Sender<()>,
    #[cfg(feature = "http")]
    pub(crate) poster: post::Poster,
}

impl Webhooks {
    pub(crate) fn new(
        endpoints: BTreeMap<Arc<str>, Endpoint>,
        #[cfg(feature = "http")] http: HttpConfig,
    ) -> Self {
        let tallies = endpoints.keys().map(|name| (Arc::clone(name), Arc::default())).collect();
        Self {
            endpoints,
            tallies,
            news: watch::Sender::new(()),
            #[cfg(feature = "http")]
            poster: post::Poster::new(http),
        }
    }

    /// Names of the endpoints that workflows of a namespace may name.
    pub(crate) fn open_to(&self, namespace: &Arc<str>) -> Vec<Arc<str>> {
        let open = self.endpoints.iter().filter(|(_, endpoint)| endpoint.is_open_to(namespace));
        open.map(|(name, _)| Arc::clone(name)).collect()
    }
}

/// Counts of the notifications to an endpoint since the host was opened.
#[derive(Debug, Default)]
pub struct NoticeTally {
    pub(crate) delivered: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) given_up: AtomicU64,
    pub(crate) under_way: AtomicU64,
}

/// [`NoticeTally`] at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoticeCounts {
    /// Notices that were taken.
    pub delivered: u64,
    /// Tries that failed.
    pub failed: u64,
    /// Notifications that were given up.
    pub given_up: u64,
    /// Notices that are being posted.
    pub under_way: u64,
}

impl NoticeTally {
    pub(crate) fn counts(&self) -> NoticeCounts {
        NoticeCounts {
            delivered: self.delivered.load(Relaxed),
            failed: self.failed.load(Relaxed),
            given_up: self.given_up.load(Relaxed),
            under_way: self.under_way.load(Relaxed),
        }
    }
}

/// Posts a notice about nothing to an endpoint, to see whether it is taken; the answer's status is returned.
///
/// # Errors
/// Why it is not, for people.
#[cfg(feature = "http")]
pub async fn try_endpoint(name: &str, endpoint: &Endpoint, http: HttpConfig) -> Result<u16, String> {
    let clock = crate::clock::Clock::start();
    let now = clock.now();
    let id = format!("test_{}_{name}", uuid::Uuid::now_v7());
    let posted = post::Poster::new(http).post(endpoint, &id, &news::of_nothing(now), now).await;
    let status = posted.map_err(|failed| failed.why)?.status;
    if (200..300).contains(&status) { Ok(status) } else { Err(post::refusal(status)) }
}
