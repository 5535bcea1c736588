//! A server: a host, and how it is reached.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use axum::Router;
use phasm::Host;
use tokio::net::TcpListener;

use crate::{
    auth::keys::KeyFileError, config::ServerConfig, connection::Acceptor, resources::Resource, routes,
    state::AppState, tls::Tls,
};

/// Serves a host over HTTP.
#[derive(Clone)]
pub struct Server {
    app: Arc<AppState>,
    tls: Option<Arc<Tls>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("config", &self.app.config).finish_non_exhaustive()
    }
}

/// Why a server does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// There are no keys, and others could reach it.
    #[error("{}", Self::exposed(*address, "`phasm key add NAME`"))]
    Exposed {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// The keys cannot be read.
    #[error(transparent)]
    Keys(#[from] KeyFileError),
    /// The certificate, or the file of the audit log, is of no use, or the address is not to be had.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ServerError {
    /// Returns the text of [`Self::Exposed`] with the command that adds a key.
    #[must_use]
    pub fn exposed(address: SocketAddr, add_key: &str) -> String {
        format!(
            "{address} can be reached from other machines, and there is no key: without one only loopback is listened on; add a key \
             first ({add_key}), or listen on 127.0.0.1"
        )
    }
}

impl Server {
    /// A server of `host`. Nothing is listened on yet.
    ///
    /// # Errors
    /// When a file that the configuration names is of no use.
    pub fn new(host: Arc<Host>, config: ServerConfig) -> Result<Self, ServerError> {
        let tls = config.tls.as_ref().map(Tls::read).transpose()?.map(Arc::new);
        let app = Arc::new(AppState::new(host, config, routes::paths())?);
        app.auth.has_keys()?;
        Ok(Self { app, tls })
    }

    #[cfg(test)]
    pub(crate) fn app(&self) -> &Arc<AppState> {
        &self.app
    }

    /// Returns all routes, for an embedder with a server of their own. The embedder decides who can reach it: without keys,
    /// every client may do everything. Limits of connections, and timeouts for heads and writes, are up to the embedder too.
    pub fn router(&self) -> Router {
        routes::router(&self.app)
    }

    /// Returns the URL of the server at that address. The first configured host name is used unless the address is loopback.
    #[must_use]
    pub fn url(&self, mut address: SocketAddr) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        match self.app.config.hosts.first().filter(|_| !address.ip().is_loopback()) {
            Some(name) => format!("{scheme}://{name}:{}", address.port()),
            None => {
                if address.ip().is_unspecified() {
                    let here = match address {
                        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
                    };
                    address.set_ip(here);
                }
                format!("{scheme}://{address}")
            }
        }
    }

    /// Ends all streams, with a reason, and all waiting requests.
    pub fn stop(&self) {
        self.app.stop();
    }

    /// Listens at that address.
    ///
    /// # Errors
    /// [`ServerError::Exposed`] where others could reach it and there is no key; when the address is not to be had.
    pub async fn listen(&self, address: SocketAddr) -> Result<TcpListener, ServerError> {
        self.check_exposure(address)?;
        let named = |error: io::Error| {
            let is_taken = error.kind() == io::ErrorKind::AddrInUse;
            let advice = if is_taken {
                "; another program listens there already: name another port, or 0 for one that is free"
            } else {
                ""
            };
            io::Error::other(format!("the server cannot listen on {address}: {error}{advice}"))
        };
        Ok(TcpListener::bind(address).await.map_err(named)?)
    }

    /// Without keys only this machine may reach the server. If all keys are removed later, a key is still required.
    fn check_exposure(&self, address: SocketAddr) -> Result<(), ServerError> {
        if address.ip().is_loopback() {
            return Ok(());
        }
        if !self.has_keys()? {
            return Err(ServerError::Exposed { address });
        }
        self.app.auth.set_exposed();
        Ok(())
    }

    /// Whether there is a key, and so one is asked for.
    ///
    /// # Errors
    /// When the file of keys cannot be read.
    pub fn has_keys(&self) -> Result<bool, ServerError> {
        Ok(self.app.auth.has_keys()?)
    }

    /// Serves until `stop`, then lets requests end.
    ///
    /// # Errors
    /// [`ServerError::Exposed`] where others could reach it and there is no key.
    pub async fn serve(
        &self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        self.check_exposure(listener.local_addr()?)?;
        let accepting = Acceptor {
            router: self.router(),
            limits: self.app.config.limits,
            tls: self.tls.clone(),
            places: self.app.resources.queue(Resource::Connections).clone(),
            turns: self.app.resources.queue(Resource::Turns).clone(),
        };
        let stopped = async {
            stop.await;
            self.stop();
        };
        accepting.until(listener, stopped).await;
        Ok(())
    }
}
