//! TLS from files, which are read again when they have changed.

use std::{
    fs, io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use phasm_files::read_trusted;
use rustls::{
    ServerConfig as RustlsConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio_rustls::TlsAcceptor;

use crate::config::TlsFiles;

/// Size of the largest file with certificates or a key, in bytes.
const MAX_PEM_BYTES: u64 = 1 << 20;

/// When the certificate and its key were written.
type ModificationTimes = (SystemTime, SystemTime);

/// TLS configuration of accepted connections.
pub(crate) struct Tls {
    files: TlsFiles,
    read: Mutex<(ModificationTimes, TlsAcceptor)>,
}

impl Tls {
    /// # Errors
    /// When there is no certificate with its key in the files.
    pub(crate) fn read(files: &TlsFiles) -> io::Result<Self> {
        let read = Mutex::new((modification_times(files)?, acceptor(files)?));
        Ok(Self { files: files.clone(), read })
    }

    /// For the next connection. Files that are of no use meanwhile leave it with what was read before.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        match modification_times(&self.files) {
            Ok(now) if now != read.0 => match acceptor(&self.files) {
                Ok(acceptor) => *read = (now, acceptor),
                // Said once for each state of the files.
                Err(error) => {
                    tracing::warn!(%error, "the new certificate cannot be read; the earlier one stays in use");
                    read.0 = now;
                }
            },
            Ok(_) | Err(_) => {}
        }
        read.1.clone()
    }
}

fn modification_times(files: &TlsFiles) -> io::Result<ModificationTimes> {
    let of = |path: &Path| {
        fs::metadata(path).and_then(|found| found.modified()).map_err(|error| with_path(path, error))
    };
    Ok((of(&files.certificate)?, of(&files.key)?))
}

fn acceptor(files: &TlsFiles) -> io::Result<TlsAcceptor> {
    let bytes = |path: &Path| read_trusted(path, MAX_PEM_BYTES).map_err(|error| with_path(path, error));
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes(&files.certificate)?).collect();
    let chain = chain.map_err(|error| with_path(&files.certificate, error))?;
    let key = PrivateKeyDer::from_pem_slice(&bytes(&files.key)?);
    let key = key.map_err(|error| with_path(&files.key, error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = RustlsConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| with_path(&files.certificate, error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn with_path(path: &Path, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}
