//! Encrypted connections.

use std::{
    future::Future,
    io,
    net::{IpAddr, Ipv4Addr},
    path::Path,
    pin::Pin,
    sync::Arc,
    task,
};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

/// How certificates are looked at; what PostgreSQL's own clients do in the same mode.
#[derive(Clone, Debug)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// For a mode that is known; trusted are the `roots` in the file, or those that browsers trust.
    ///
    /// # Errors
    /// When the file cannot be read or holds no certificate.
    pub(super) fn new(mode: &str, roots: Option<&Path>) -> io::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let trust = match (mode, roots) {
            ("verify-full", _) => Trust::Full,
            ("verify-ca", _) | ("require", Some(_)) => Trust::Authority,
            _ => Trust::Anybody,
        };
        let known =
            WebPkiServerVerifier::builder_with_provider(Arc::new(trusted(roots)?), Arc::clone(&provider));
        let known = known.build().map_err(io::Error::other)?;
        let verifier = Verifier { trust, known, provider: Arc::clone(&provider) };
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(io::Error::other)?.dangerous();
        let config = config.with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

fn trusted(roots: Option<&Path>) -> io::Result<RootCertStore> {
    let mut store = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let Some(file) = roots else { return Ok(store) };
    let wrong = |what: &dyn std::fmt::Display| io::Error::other(format!("{}: {what}", file.display()));
    store.roots.clear();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))? {
        store.add(certificate.map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))?;
    }
    if store.is_empty() { Err(wrong(&"there is no certificate in it")) } else { Ok(store) }
}

/// Party that may answer, by its certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// Any server: the connection is encrypted, but the server is not verified.
    Anybody,
    /// Any server with a certificate of an authority.
    Authority,
    /// A server with a certificate for the requested name.
    Full,
}

#[derive(Debug)]
struct Verifier {
    trust: Trust,
    known: Arc<WebPkiServerVerifier>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.trust == Trust::Anybody {
            return Ok(ServerCertVerified::assertion());
        }
        match self.known.verify_server_cert(certificate, between, name, stapled, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.trust == Trust::Authority => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = TlsConnection<S>;
    type TlsConnect = ToServer;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<ToServer> {
        // A socket file has no name, and no encryption either.
        let name = ServerName::try_from(host.to_owned())
            .unwrap_or(ServerName::IpAddress(IpAddr::from(Ipv4Addr::UNSPECIFIED).into()));
        Ok(ToServer { name, config: Arc::clone(&self.0) })
    }
}

/// A connection to be made to a server of that name.
pub(super) struct ToServer {
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for ToServer {
    type Stream = TlsConnection<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TlsConnection<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let connecting = TlsConnector::from(self.config).connect(self.name, stream);
        Box::pin(async move { Ok(TlsConnection(Box::new(connecting.await?))) })
    }
}

/// A connection that is encrypted.
pub(super) struct TlsConnection<S>(Box<client::TlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for TlsConnection<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TlsConnection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> task::Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TlsConnection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        bytes: &[u8],
    ) -> task::Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> task::Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> task::Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}
