//! TLS connections.

use std::sync::Arc;

use rustls::{
    CertificateError, ClientConfig, Error, RootCertStore,
    client::Resumption,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::failure::Failure;
use crate::capability::hosts::name::Host;

/// Returns a configuration that trusts the platform's authorities and `roots`. No state of one connection is kept for another.
pub(super) fn config(roots: &[Arc<str>]) -> Result<Arc<ClientConfig>, String> {
    let mut trusted = RootCertStore::empty();
    let platform = rustls_native_certs::load_native_certs();
    trusted.add_parsable_certificates(platform.certs);
    for text in roots {
        for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
            let certificate =
                certificate.map_err(|error| format!("a root certificate cannot be read: {error}"))?;
            trusted
                .add(certificate)
                .map_err(|error| format!("a root certificate cannot be used: {error}"))?;
        }
    }
    if trusted.is_empty() {
        return Err("no certificate is trusted: this machine has none (the package ca-certificates), and `roots` under `[http]` names none".to_owned());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let mut config = config.with_root_certificates(trusted).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

pub(super) async fn secure(
    config: Arc<ClientConfig>,
    host: &Host,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, Failure> {
    let name = match host {
        Host::Name(name) => {
            ServerName::try_from(name.clone()).map_err(|error| Failure::tls(error.to_string(), false))?
        }
        Host::Address(address) => ServerName::from(*address),
    };
    TlsConnector::from(config).connect(name, stream).await.map_err(|error| {
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
        match cause {
            Some(Error::InvalidCertificate(why)) => Failure::tls(untrusted(why), true),
            Some(cause) => Failure::tls(cause.to_string(), false),
            None => Failure::connection(&error),
        }
    })
}

fn untrusted(why: &CertificateError) -> String {
    let what = format!("{why:?}");
    format!("its certificate is not trusted: {}", what.split(['{', '(']).next().unwrap_or_default().trim())
}
