//! In the place of HTTP where it was left out: components that import it are refused when they are loaded.

use std::sync::Arc;

use wasmtime::component::Linker;

use super::HttpConfig;
use crate::{
    capability::{Grants, refused::Refused},
    executor::Invocation,
    guest::Guest,
    tenants::Tenants,
    transcript::Transcript,
};

pub(crate) struct Net;

impl Net {
    pub(crate) fn new(_: HttpConfig, _: Arc<Tenants>) -> Self {
        Self
    }
}

pub(crate) struct Http;

impl Http {
    pub(crate) fn new(_: &Arc<Net>, _: &Arc<Invocation>, _: &Arc<Grants>, _: &Arc<Transcript>) -> Self {
        Self
    }

    pub(crate) fn tell(&self, _: &mut Refused) {}
}

#[expect(clippy::unnecessary_wraps, reason = "stands in for what may fail")]
pub(in crate::capability) fn link(_: &mut Linker<Guest>) -> wasmtime::Result<()> {
    Ok(())
}
