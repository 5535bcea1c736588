//! Configuration of a server.

use std::{path::PathBuf, time::Duration};

/// How a server is set up; the default is for loopback.
#[derive(Clone, Debug, Default)]
pub struct ServerConfig {
    /// The key file, which need not exist. Without keys every client may do everything, and the server only listens on
    /// loopback addresses.
    pub keys: Option<PathBuf>,
    /// Names under which the server is reached, in addition to `localhost` and addresses in numbers.
    pub hosts: Vec<String>,
    /// The certificate and its key.
    pub tls: Option<TlsFiles>,
    /// The audit log, one JSON object per line. Without a file, entries go to `tracing` under the target `audit`.
    pub audit: Option<PathBuf>,
    /// Directories whose names are hidden from clients that are bound to namespaces: of plugins, grants and the store.
    pub hidden_paths: Vec<PathBuf>,
    /// Limits for clients.
    pub limits: ServerLimits,
}

/// A certificate chain and its private key, in PEM. They are read again when they have changed.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate, then those that vouch for it.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Limits for the clients of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// Bytes of a body.
    pub body: usize,
    /// Bytes of a request's head.
    pub head: usize,
    /// For how long a head may be on its way, and a connection be without a request.
    pub head_time: Duration,
    /// For how long a body may be on its way.
    pub body_time: Duration,
    /// Bytes of a plugin that is uploaded.
    pub upload: usize,
    /// For how long it may be on its way.
    pub upload_time: Duration,
    /// Uploads of plugins at once, which keys share; more wait as long as a body may take, then they are refused.
    pub uploads: usize,
    /// For how long a client may read nothing of what is written to it.
    pub write_time: Duration,
    /// Connections at once. One key has a third of them at most, and so has one address without a key.
    pub connections: usize,
    /// Streams of events and logs at once of one key.
    pub streams: usize,
    /// For how long `wait` waits at most.
    pub wait: Duration,
    /// How long a server that stops gives requests to end.
    pub grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            head: 32 << 10,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(30),
            upload: 64 << 20,
            upload_time: Duration::from_mins(5),
            uploads: 4,
            write_time: Duration::from_secs(30),
            connections: 16_384,
            streams: 1024,
            wait: Duration::from_mins(5),
            grace: Duration::from_secs(5),
        }
    }
}
