//! In the place of HTTP where it was left out: components that import it are refused when they are loaded.

use wasmtime::component::Linker;

use super::HttpConfig;
use crate::{capability::refused::Refused, guest::Guest, tenants::Tenants};

pub(crate) struct Net;

impl Net {
    pub(crate) fn new(_: HttpConfig, _: &Tenants) -> Self {
        Self
    }
}

#[derive(Default)]
pub(crate) struct Http(());

impl Http {
    pub(crate) fn tell(&self, _: &mut Refused) {}

    pub(crate) fn moved(&self) -> (u64, u64) {
        (0, 0)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "stands in for what may fail")]
pub(in crate::capability) fn link(_: &mut Linker<Guest>) -> wasmtime::Result<()> {
    Ok(())
}
