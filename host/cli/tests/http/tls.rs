//! Certificates that connections trust.

use std::{net::Ipv4Addr, sync::Arc};

use phasm::sandbox::HttpConfig;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use serde_json::json;
use tokio_rustls::TlsAcceptor;

use super::TIER;
use crate::{
    guest::{Guests, grant, said},
    server::{Server, ok},
};

const AUTHORITY: &str = include_str!("tls/authority.pem");
const CERTIFICATE: &[u8] = include_bytes!("tls/certificate.pem");
/// A certificate that only this test's own authority signed.
const KEY: &[u8] = include_bytes!("tls/key.pem");

fn acceptor() -> TlsAcceptor {
    let chain = CertificateDer::pem_slice_iter(CERTIFICATE).map(Result::unwrap).collect();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    TlsAcceptor::from(Arc::new(
        config.with_single_cert(chain, PrivateKeyDer::from_pem_slice(KEY).unwrap()).unwrap(),
    ))
}

fn config(roots: &[&str]) -> HttpConfig {
    let here = vec![Ipv4Addr::LOCALHOST.into()];
    let hosts = [("api.example".to_owned(), here.clone()), ("other.example".to_owned(), here)];
    HttpConfig {
        roots: roots.iter().map(|root| (*root).into()).collect(),
        hosts: hosts.into(),
        ..HttpConfig::default()
    }
}

/// R-I25: certificates are for the name that was asked for, of the platform's authorities or the operator's.
#[tokio::test]
async fn only_who_is_vouched_for_is_believed() {
    let server = Server::behind([ok("\"there\"")], Some(acceptor())).await;
    let port = server.port;
    let rows = [
        ("https://api.example", vec![AUTHORITY], None),
        ("https://127.0.0.1", vec![AUTHORITY], None),
        ("https://localhost", vec![AUTHORITY], None),
        ("https://other.example", vec![AUTHORITY], Some("the certificate is not trusted")),
        ("https://api.example", vec![], Some("the certificate is not trusted")),
    ];
    for (origin, roots, refused) in rows {
        let guests = Guests::new(TIER, grant(&["https://*:*"], &["127.0.0.0/8"]), config(&roots));
        let outcome = guests.ask(json!({ "url": format!("{origin}:{port}/") })).await;
        match refused {
            None => {
                assert_eq!(
                    said(&outcome)["outputs"]["body"],
                    json!("there"),
                    "{origin}: {}",
                    outcome.message
                );
            }
            Some(why) => {
                assert!(outcome.message.contains(why), "{origin}: {}", outcome.message);
                assert_eq!(said(&outcome)["detail"]["error"], json!({ "kind": "tls", "retryable": false }));
            }
        }
    }
    assert_eq!(server.requests().len(), 3);
}

/// R-I25: what speaks no TLS is not spoken to in the clear.
#[tokio::test]
async fn who_speaks_no_tls_gets_nothing() {
    let server = Server::start([ok("1")]).await;
    let guests = Guests::new(TIER, grant(&["https://*:*"], &["127.0.0.0/8"]), config(&[AUTHORITY]));
    let outcome = guests
        .ask(json!({ "url": format!("https://localhost:{}/", server.port), "timeout": { "connect": 0.2 } }))
        .await;
    assert!(outcome.code == 3 || outcome.code == 4, "{}", outcome.message);
    assert_eq!(server.requests(), Vec::<String>::new());
}
