//! Grants of HTTP.

use super::pattern::HttpPattern;
use crate::capability::hosts::network::Network;

/// Requests that one plugin may make; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpGrant {
    /// Patterns of requests that may be made.
    pub allow: Vec<HttpPattern>,
    /// Internal addresses (private, loopback and so on) that names may resolve to. An address that a pattern names, and
    /// `localhost` where one names that, need no entry.
    pub networks: Vec<Network>,
}

impl HttpGrant {
    /// Returns whether it grants nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty()
    }
}
