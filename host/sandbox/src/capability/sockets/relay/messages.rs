//! Messages of relayed connections between a child and its parent.

use std::{
    borrow::Cow,
    net::{IpAddr, SocketAddr},
};

use serde::{Deserialize, Serialize};

use crate::capability::sockets::failure::Failure;

/// Number of a look-up or a connection within its process.
pub(super) type Id = u32;

/// Maximum size of a piece that is sent, and of one that is received, in bytes.
pub(super) const MAX_SENT_BYTES: usize = 64 << 10;
pub(super) const MAX_RECEIVED_BYTES: usize = 16 << 10;

/// Maximum size of a name, in bytes; longer ones are cut, as no name is longer.
pub(super) const MAX_NAME_BYTES: usize = 1 << 10;

/// Message of a child that wants to connect. Its parent does not trust it.
#[derive(Serialize, Deserialize)]
pub(crate) enum TcpRequest<'a> {
    /// Looks up a name.
    LookUp(Id, #[serde(borrow)] Cow<'a, str>),
    /// Connects to an address.
    Connect(Id, SocketAddr),
    /// Asks for the next piece.
    Read(Id),
    /// Sends a piece. The last one was written.
    Write(Id, #[serde(borrow)] Cow<'a, [u8]>),
    /// Says that no more will be sent.
    Shut(Id),
    /// Gives the look-up or the connection up.
    Close(Id),
}

/// Event of a look-up or a connection, sent by the parent.
#[derive(Serialize, Deserialize)]
pub(crate) enum TcpEvent<'a> {
    /// Carries the result of a look-up or of connecting.
    Started(Id, Result<StartResult, Failure>),
    /// Carries a piece that was asked for; at the end an empty one.
    Data(Id, #[serde(borrow)] Result<Cow<'a, [u8]>, Failure>),
    /// Says that the last piece was written.
    Written(Id, Result<(), Failure>),
}

/// Result of a look-up or of connecting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StartResult {
    /// Addresses of a name.
    Found(Vec<IpAddr>),
    /// Own address of a connection, if the system says it.
    Connected(Option<SocketAddr>),
}
