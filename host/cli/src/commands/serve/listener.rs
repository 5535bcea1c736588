//! The server beside the host.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm::{Host, config::ServerSettings};
use phasm_server::{Server, ServerConfig, ServerError, ServerLimits, TlsFiles};
use tokio::{sync::oneshot, task::JoinHandle};

use super::reporter::ServeReporter;
use crate::{
    address::Address,
    command_line::Target,
    failure::{ContextError, Failure},
};

/// A server that answers.
pub(super) struct Listener {
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), ServerError>>,
    /// Where others on this machine see it.
    _address: Option<Address>,
}

impl Listener {
    /// Listens, and reports what is served and where.
    ///
    /// # Errors
    /// When the address is not to be had, or others could reach it and there is no key.
    pub(super) async fn begin(
        host: &Arc<Host>,
        store: &Path,
        address: SocketAddr,
        settings: ServerSettings,
        hidden_paths: Vec<PathBuf>,
        telling: &ServeReporter,
    ) -> Result<Self, Failure> {
        let server = Server::new(Arc::clone(host), ServerConfig { hidden_paths, ..config(settings) })
            .map_err(Failure::call)?;
        let key = Target::to(store).command(&["key", "add", "NAME"]);
        let refused = |error| match error {
            ServerError::Exposed { address } => Failure::call(ServerError::exposed(address, &key)),
            ServerError::Keys(_) | ServerError::Io(_) => Failure::call(error),
        };
        let listener = server.listen(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(Failure::host)?;
        let url = server.url(address);
        let unwritten = |error| {
            Failure::host(ContextError::new(
                "the server's address cannot be written next to its store",
                error,
            ))
        };
        let left = Address::leave(store, &url).map_err(unwritten)?;
        telling.begin(host, store);
        telling.listens(&url, server.has_keys().map_err(Failure::call)?, &key);
        let (stop, stopped) = oneshot::channel();
        let serving =
            tokio::spawn(async move { server.serve(listener, async { drop(stopped.await) }).await });
        Ok(Self { stop, serving, _address: left })
    }

    /// Lets requests end.
    pub(super) async fn end(self) {
        drop(self.stop);
        // Failures were logged when they occurred.
        drop(self.serving.await);
    }
}

fn config(settings: ServerSettings) -> ServerConfig {
    let ServerSettings { keys, hosts, tls, audit, body, connections, streams, upload } = settings;
    let usual = ServerLimits::default();
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let limits = ServerLimits {
        body: body.map_or(usual.body, bytes),
        upload: upload.map_or(usual.upload, bytes),
        connections: connections.map_or(usual.connections, |count| count as usize),
        streams: streams.map_or(usual.streams, |count| count as usize),
        ..usual
    };
    let tls = tls.map(|(certificate, key)| TlsFiles { certificate, key });
    ServerConfig { keys, hosts, tls, audit, limits, ..ServerConfig::default() }
}
