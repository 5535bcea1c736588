//! The operator's settings for all requests.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc, time::Duration};

use super::HttpPattern;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// How guests reach the network by HTTP. Whether they may is what their grants say.
#[derive(Clone, Debug, Default)]
pub struct HttpConfig {
    /// Limits on one attempt, one plugin and all guests together.
    pub limits: HttpLimits,
    /// Certificates in PEM that are trusted beside those of the platform.
    pub roots: Vec<Arc<str>>,
    /// Addresses of names that DNS is not asked for.
    pub hosts: BTreeMap<String, Vec<IpAddr>>,
    /// Secrets that guests know by placeholders only.
    pub secrets: Vec<EgressSecret>,
}

/// Limits on requests; past one of them the request fails, and the guest is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Requests of an attempt.
    pub requests: u32,
    /// Bytes that an attempt sends, headers included.
    pub sent: u64,
    /// Bytes that an attempt is sent, headers included.
    pub received: u64,
    /// Bytes of the headers of one message.
    pub headers: u64,
    /// From the beginning of a request to the end of its answer.
    pub time: Duration,
    /// Connections of an attempt at once. One more is refused.
    pub connections: u32,
    /// Connections of all attempts of a plugin at once. One more waits.
    pub plugin_connections: u32,
    /// Connections of all guests at once. One more waits.
    pub all_connections: u32,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            requests: 100,
            sent: 16 * MIB,
            received: 64 * MIB,
            headers: 64 * KIB,
            time: Duration::from_secs(5 * 60),
            connections: 8,
            plugin_connections: 64,
            all_connections: 256,
        }
    }
}

/// A secret that a guest never holds: it has the placeholder, and the value takes its place in requests that are on their way to
/// where it belongs.
#[derive(Clone)]
pub struct EgressSecret {
    /// For people: which secret it is.
    pub name: Arc<str>,
    /// Placeholder that guests have instead.
    pub placeholder: Arc<str>,
    /// The secret itself.
    pub value: Arc<str>,
    /// Where it belongs.
    pub to: Arc<[HttpPattern]>,
    /// The tenant whose attempts alone may have it; without one anybody's.
    pub tenant: Option<Arc<str>>,
}

/// Without the value.
impl std::fmt::Debug for EgressSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EgressSecret").field("name", &self.name).field("to", &self.to).finish_non_exhaustive()
    }
}
