//! In the place of HTTP where it was left out: components that import it are refused when they are loaded.

#[cfg(target_os = "linux")]
use std::{io, sync::Arc};

#[cfg(target_os = "linux")]
use phasm_engine::metered::Metered;
#[cfg(target_os = "linux")]
use tokio::sync::mpsc::Sender;
use wasmtime::component::Linker;

use super::HttpConfig;
#[cfg(target_os = "linux")]
use super::HttpGrant;
#[cfg(target_os = "linux")]
use super::relay::{Asked, OfRequest};
#[cfg(target_os = "linux")]
use crate::{attempt_context::AttemptContext, call_result::CallResult, transcript::Transcript};
use crate::{capability::refused::Refused, tenants::Tenants};

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

/// Nobody asks for requests.
#[cfg(target_os = "linux")]
pub(crate) struct Relay;

#[cfg(target_os = "linux")]
impl Relay {
    pub(crate) fn new(_: impl Fn(Asked<'_>)) -> Arc<Self> {
        Arc::new(Self)
    }

    pub(crate) fn hear(&self, _: OfRequest<'_>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Nobody makes them.
#[cfg(target_os = "linux")]
pub(crate) struct Requests;

#[cfg(target_os = "linux")]
impl Requests {
    pub(crate) fn new(
        _: &Arc<Net>,
        _: &HttpGrant,
        _: &Arc<AttemptContext>,
        _: &Arc<Transcript>,
        _: Sender<Vec<u8>>,
    ) -> Self {
        Self
    }

    pub(crate) fn hear(&mut self, _: Asked<'_>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn settle(self, _: &mut CallResult) {}

    pub(crate) fn with(&self, metered: Metered) -> Metered {
        metered
    }
}

/// State of a store; there is no HTTP in it.
pub(crate) trait HasHttp: 'static {}

#[derive(Default)]
pub(crate) struct Http(());

impl Http {
    pub(crate) fn tell(&self, _: &mut Refused) {}

    pub(crate) fn moved(&self) -> (u64, u64) {
        (0, 0)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "stands in for what may fail")]
pub(in crate::capability) fn link<T: HasHttp>(_: &mut Linker<T>) -> wasmtime::Result<()> {
    Ok(())
}
