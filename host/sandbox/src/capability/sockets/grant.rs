//! Grants of TCP.

use serde::{Deserialize, Serialize};

use super::pattern::TcpPattern;
use crate::capability::hosts::network::Network;

/// TCP connections that one plugin may make; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpGrant {
    /// Patterns of hosts and ports that may be connected to.
    pub allow: Vec<TcpPattern>,
    /// Internal addresses (private, loopback and so on) that may be connected to and that names may resolve to. An address that
    /// a pattern names, and `localhost` where one names that, need no entry.
    pub networks: Vec<Network>,
}

impl TcpGrant {
    /// Returns whether it grants nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty()
    }
}
