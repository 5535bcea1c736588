//! TLS from files that change.

use std::{fs, path::Path, sync::Arc};

use phasm::Host;
use phasm_server::{Server, ServerConfig, TlsFiles};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsConnector;

const FIRST: (&str, &str) = (include_str!("tls/first.pem"), include_str!("tls/first.key"));
const SECOND: (&str, &str) = (include_str!("tls/second.pem"), include_str!("tls/second.key"));

fn certificate(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

fn connector() -> TlsConnector {
    let mut roots = RootCertStore::empty();
    [FIRST, SECOND].iter().for_each(|(pem, _)| roots.add(certificate(pem)).unwrap());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

/// The certificate that a connection shows, once a request was answered over it.
async fn shown(address: std::net::SocketAddr) -> CertificateDer<'static> {
    let stream = TcpStream::connect(address).await.unwrap();
    let mut stream = connector().connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
    let head =
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\norigin: https://localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut said = String::new();
    let _unannounced = stream.read_to_string(&mut said).await;
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}

/// Writes a file that is told from the one before, however soon it comes.
fn write(path: &Path, text: &str, second: u64) {
    fs::write(path, text).unwrap();
    let written = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000 + second);
    fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
}

/// R-A17.
#[tokio::test]
async fn a_certificate_is_read_again_when_it_has_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (pem, key) = (dir.path().join("server.pem"), dir.path().join("server.key"));
    let files = TlsFiles { certificate: pem.clone(), key: key.clone() };
    let config = ServerConfig { tls: Some(files), ..ServerConfig::default() };
    let host = Arc::new(Host::builder().executor(Arc::new(crate::world::Doer)).open().unwrap());
    assert!(Server::new(Arc::clone(&host), config.clone()).is_err(), "there is no certificate");
    write(&pem, FIRST.0, 0);
    write(&key, SECOND.1, 0);
    assert!(Server::new(Arc::clone(&host), config.clone()).is_err(), "the key is another's");
    write(&key, FIRST.1, 0);
    let server = Server::new(host, config).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    assert!(server.url(address).starts_with("https://127.0.0.1:"));
    let serving = tokio::spawn(async move { server.serve(listener, std::future::pending()).await });
    assert_eq!(shown(address).await, certificate(FIRST.0));
    // Half of a change is of no use: what was read before goes on.
    write(&pem, SECOND.0, 1);
    assert_eq!(shown(address).await, certificate(FIRST.0));
    write(&key, SECOND.1, 1);
    assert_eq!(shown(address).await, certificate(SECOND.0));
    // A client that does not speak TLS gets no response, and delays no other.
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut said = Vec::new();
    let _reset = plain.read_to_end(&mut said).await;
    assert!(!said.starts_with(b"HTTP"), "{said:?}");
    shown(address).await;
    serving.abort();
}
