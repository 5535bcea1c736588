//! A connection, as its guest's streams use it.

use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// An open connection.
pub(super) struct Connection {
    pub(super) input: Input,
    pub(super) output: Output,
    /// Own address of the connection, if the system says it.
    pub(super) local: Option<SocketAddr>,
}
