//! Hooks of wasmtime's `wasi:http`, which pass its requests to this module.

use std::sync::Arc;

use http::Request;
use wasmtime::{
    StoreContextMut,
    component::{Linker, Resource, ResourceTable},
};
use wasmtime_wasi::p2::IoError;
use wasmtime_wasi_http::{
    Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
    p2::bindings::http::types::ErrorCode,
};
use wasmtime_wasi_io::IoView;

#[cfg(target_os = "linux")]
use super::relay::RelayClient;
use super::{
    HttpGrant,
    caller::AttemptRequests,
    exchange::{self, Sending},
    net::Net,
};
use crate::{attempt_context::AttemptContext, capability::refusals::Refusals, transcript::Transcript};

/// HTTP of one call; set up when the guest first uses it.
#[derive(Default)]
pub(crate) struct Http(Option<Open>);

struct Open {
    context: WasiHttpCtx,
    hooks: Hooks,
}

/// Sender of the requests.
enum Hooks {
    Local(AttemptRequests),
    /// The parent of this process.
    #[cfg(target_os = "linux")]
    Remote(Arc<RelayClient>),
}

impl Hooks {
    fn new(connection: &Connection<'_>) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(relay) = connection.relay {
            return Self::Remote(Arc::clone(relay));
        }
        let Connection { net, grant, attempt, transcript, .. } = connection;
        Self::Local(AttemptRequests::new(net, grant, attempt, transcript))
    }

    fn own(&self) -> Option<&AttemptRequests> {
        match self {
            Self::Local(own) => Some(own),
            #[cfg(target_os = "linux")]
            Self::Remote(_) => None,
        }
    }
}

/// Network of one call, from which its HTTP is set up at the first use.
pub(crate) struct Connection<'a> {
    pub(crate) net: &'a Arc<Net>,
    /// Set where the parent of this process makes the requests.
    #[cfg(target_os = "linux")]
    pub(crate) relay: Option<&'a Arc<RelayClient>>,
    pub(crate) grant: &'a HttpGrant,
    pub(crate) attempt: &'a Arc<AttemptContext>,
    pub(crate) transcript: &'a Arc<Transcript>,
}

impl Http {
    /// Returns wasmtime's view of it.
    pub(crate) fn view<'a>(
        &'a mut self,
        table: &'a mut ResourceTable,
        connection: &Connection<'_>,
    ) -> WasiHttpCtxView<'a> {
        let Open { context, hooks } = self.0.get_or_insert_with(|| {
            let mut context = WasiHttpCtx::new();
            let headers = connection.net.config.limits.headers;
            context.set_field_size_limit(usize::try_from(headers).unwrap_or(usize::MAX));
            Open { context, hooks: Hooks::new(connection) }
        });
        WasiHttpCtxView { hooks, table, ctx: context }
    }

    fn own(&self) -> Option<&AttemptRequests> {
        self.0.as_ref().and_then(|open| open.hooks.own())
    }

    /// Reports the refusals of this process.
    pub(crate) fn report_refusals(&self, refusals: &mut Refusals) {
        self.own().into_iter().for_each(|own| own.report_refusals(refusals));
    }

    /// Returns the bytes that came in and went out in this process.
    pub(crate) fn byte_counts(&self) -> (u64, u64) {
        self.own().map_or((0, 0), AttemptRequests::byte_counts)
    }
}

impl WasiHttpHooks for Hooks {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Sending {
        let options = options.unwrap_or_default();
        match self {
            Self::Local(own) => exchange::begin(own.caller(), request, options),
            #[cfg(target_os = "linux")]
            Self::Remote(relay) => relay.send(request, options),
        }
    }
}

/// State of a store that has HTTP, by [`Http::view`].
pub(crate) trait HasHttp: WasiHttpView + IoView + 'static {}

pub(in crate::capability) fn link<T: HasHttp>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    linker.instance(TYPES)?.func_wrap("http-error-code", error_code::<T>)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// The interface as wasmtime 48 names it.
const TYPES: &str = "wasi:http/types@0.2.12";

/// Returns why a body's stream ended. wasmtime's own function does not recognise its own errors.
fn error_code<T: HasHttp>(
    mut store: StoreContextMut<'_, T>,
    params: (Resource<IoError>,),
) -> wasmtime::Result<(Option<ErrorCode>,)> {
    let (error,) = params;
    let error = store.data_mut().table().get(&error)?;
    let known = error.downcast_ref::<Error>().and_then(of_body);
    Ok((known.or_else(|| error.downcast_ref::<ErrorCode>().cloned()),))
}

/// Converts an error that [`super::response_body`] puts there; no other comes amid a body.
fn of_body(error: &Error) -> Option<ErrorCode> {
    if let Error::HttpResponseBodySize(limit) = error {
        Some(ErrorCode::HttpResponseBodySize(*limit))
    } else if matches!(error, Error::HttpResponseIncomplete) {
        Some(ErrorCode::HttpResponseIncomplete)
    } else if matches!(error, Error::HttpResponseTimeout) {
        Some(ErrorCode::HttpResponseTimeout)
    } else if matches!(error, Error::ConnectionReadTimeout) {
        Some(ErrorCode::ConnectionReadTimeout)
    } else if matches!(error, Error::HttpProtocolError) {
        Some(ErrorCode::HttpProtocolError)
    } else {
        None
    }
}
