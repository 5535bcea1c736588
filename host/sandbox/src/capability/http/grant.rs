//! The grant of requests by HTTP.

use super::{network::Network, pattern::HttpPattern};

/// Where one plugin may send requests; the default is nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpGrant {
    /// Requests that may be made.
    pub allow: Vec<HttpPattern>,
    /// Addresses inside of networks (private, loopback and so on) that names may stand for. An address that a pattern names,
    /// and `localhost` where one names that, need no mention.
    pub networks: Vec<Network>,
}

impl HttpGrant {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty()
    }
}
