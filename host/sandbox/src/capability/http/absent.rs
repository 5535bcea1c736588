//! Substitute for HTTP where it was left out: components that import it are refused when they are loaded.

#[cfg(target_os = "linux")]
use std::{io, sync::Arc};

#[cfg(target_os = "linux")]
use phasm_engine::usage::ResourceUsage;
#[cfg(target_os = "linux")]
use tokio::sync::mpsc::Sender;
use wasmtime::component::Linker;

use super::HttpConfig;
#[cfg(target_os = "linux")]
use super::HttpGrant;
#[cfg(target_os = "linux")]
use super::relay::{RelayEvent, RelayRequest};
#[cfg(target_os = "linux")]
use crate::{attempt_context::AttemptContext, call_result::CallResult, transcript::Transcript};
use crate::{capability::refusals::Refusals, tenants::Tenants};

pub(crate) struct Net;

impl Net {
    pub(crate) fn new(_: HttpConfig, _: &Tenants) -> Self {
        Self
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn relayed(_: u64) -> Self {
        Self
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn headers(&self) -> u64 {
        0
    }
}

/// Stands in for the sender of requests.
#[cfg(target_os = "linux")]
pub(crate) struct RelayClient;

#[cfg(target_os = "linux")]
impl RelayClient {
    pub(crate) fn new(_: impl Fn(RelayRequest<'_>)) -> Arc<Self> {
        Arc::new(Self)
    }

    pub(crate) fn receive(&self, _: RelayEvent<'_>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Stands in for the way to the process.
#[cfg(target_os = "linux")]
pub(crate) struct Outbox;

#[cfg(target_os = "linux")]
impl Outbox {
    pub(crate) fn new(_: Sender<Vec<u8>>, _: fn(RelayEvent<'_>) -> io::Result<Vec<u8>>) -> Self {
        Self
    }
}

/// Stands in for the server of requests.
#[cfg(target_os = "linux")]
pub(crate) struct RelayServer;

#[cfg(target_os = "linux")]
impl RelayServer {
    pub(crate) fn new(
        _: &Arc<Net>,
        _: &HttpGrant,
        _: &Arc<AttemptContext>,
        _: &Arc<Transcript>,
        _: Outbox,
    ) -> Self {
        Self
    }

    pub(crate) fn receive(&mut self, _: RelayRequest<'_>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn finish(self, _: &mut CallResult) {}

    pub(crate) fn with(&self, metered: ResourceUsage) -> ResourceUsage {
        metered
    }
}

/// State of a store; there is no HTTP in it.
pub(crate) trait HasHttp: 'static {}

#[derive(Default)]
pub(crate) struct Http(());

impl Http {
    pub(crate) fn report_refusals(&self, _: &mut Refusals) {}

    pub(crate) fn byte_counts(&self) -> (u64, u64) {
        (0, 0)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "stands in for what may fail")]
pub(in crate::capability) fn link<T: HasHttp>(_: &mut Linker<T>) -> wasmtime::Result<()> {
    Ok(())
}
