//! The process that connects for a guest: this one, or its parent.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

#[cfg(target_os = "linux")]
use super::relay::TcpRelayClient;
use super::{
    background::Background, caller::AttemptConnections, connection::Connection, dial, failure::Failure,
};

/// Process that opens the connections of a guest.
pub(super) enum Dialer {
    Local(AttemptConnections),
    /// The parent of this process.
    #[cfg(target_os = "linux")]
    Remote(Arc<TcpRelayClient>),
}

impl Dialer {
    /// Starts to look up a name.
    pub(super) fn look_up(&self, name: String) -> Background<Result<Vec<IpAddr>, Failure>> {
        match self {
            Self::Local(own) => {
                let caller = Arc::clone(own.caller());
                Background::spawn(async move { dial::look_up(&caller, &name).await })
            }
            #[cfg(target_os = "linux")]
            Self::Remote(relay) => Background::spawn(Arc::clone(relay).look_up(name)),
        }
    }

    /// Starts to connect.
    pub(super) fn connect(&self, address: SocketAddr) -> Background<Option<Result<Connection, Failure>>> {
        match self {
            Self::Local(own) => {
                let caller = Arc::clone(own.caller());
                Background::spawn(async move { Some(dial::connect(&caller, address).await) })
            }
            #[cfg(target_os = "linux")]
            Self::Remote(relay) => {
                let relay = Arc::clone(relay);
                Background::spawn(async move { Some(relay.connect(address).await) })
            }
        }
    }

    /// Returns the connections that this process opens.
    pub(super) fn own(&self) -> Option<&AttemptConnections> {
        match self {
            Self::Local(own) => Some(own),
            #[cfg(target_os = "linux")]
            Self::Remote(_) => None,
        }
    }
}
