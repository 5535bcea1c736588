//! Between `wasi:http` as wasmtime has it, and what is made of its requests here.

use std::sync::Arc;

use http::{Request, Response};
use wasmtime::{
    StoreContextMut,
    component::{Linker, Resource, ResourceTable},
};
use wasmtime_wasi::p2::IoError;
use wasmtime_wasi_http::{
    Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
    p2::bindings::http::types::ErrorCode,
};

use super::{caller::Caller, exchange, failure::Failure};
use crate::{
    capability::{active, refused::Refused},
    executor::Level,
    guest::Guest,
    transcript::Transcript,
    whose::Whose,
};

/// One call's part of the network; made when the guest first speaks of HTTP.
#[derive(Default)]
pub(crate) struct Http(Option<Open>);

struct Open {
    context: WasiHttpCtx,
    hooks: Hooks,
}

struct Hooks(Arc<Caller>);

impl Http {
    fn view<'a>(
        &'a mut self,
        table: &'a mut ResourceTable,
        whose: &Arc<Whose>,
        transcript: &Arc<Transcript>,
    ) -> WasiHttpCtxView<'a> {
        let Open { context, hooks } = self.0.get_or_insert_with(|| {
            let mut context = WasiHttpCtx::new();
            let headers = whose.premises.net.config.limits.headers;
            context.set_field_size_limit(usize::try_from(headers).unwrap_or(usize::MAX));
            Open { context, hooks: Hooks(Arc::new(Caller::new(whose, transcript))) }
        });
        WasiHttpCtxView { hooks, table, ctx: context }
    }

    /// Tells what was refused.
    pub(crate) fn tell(&self, refused: &mut Refused) {
        for why in self.0.iter().flat_map(|open| open.hooks.0.refusals()) {
            refused.because(|| why);
        }
    }

    /// Bytes that came in and went out.
    pub(crate) fn moved(&self) -> (u64, u64) {
        self.0.as_ref().map_or((0, 0), |open| open.hooks.0.budget.moved())
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        if let Some(open) = &self.0 {
            open.hooks.0.close();
        }
    }
}

type Sending = Box<dyn Future<Output = Result<exchange::Answered, Error>> + Send>;

impl WasiHttpHooks for Hooks {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Sending {
        let caller = Arc::clone(&self.0);
        match exchange::prepare(&caller, request, options) {
            Ok(prepared) => Box::new(exchange::exchange(caller, prepared)),
            Err(Failure { error, why, .. }) => {
                if caller.refuse(&why) {
                    caller.transcript.note(Level::Warn, &format!("request refused: {why}"));
                }
                Box::new(std::future::ready(Err::<(Response<WasiBody>, _), _>(error)))
            }
        }
    }
}

impl WasiHttpView for Guest {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let Self { held, table, whose, transcript, .. } = active(self);
        held.http.view(table, whose, transcript)
    }
}

pub(in crate::capability) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    linker.instance(TYPES)?.func_wrap("http-error-code", error_code)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// The interface as wasmtime 48 names it.
const TYPES: &str = "wasi:http/types@0.2.12";

/// Why a body's stream ended. wasmtime's own function knows nothing about the errors that it puts there itself.
fn error_code(
    mut store: StoreContextMut<'_, Guest>,
    (error,): (Resource<IoError>,),
) -> wasmtime::Result<(Option<ErrorCode>,)> {
    let error = active(store.data_mut()).table.get(&error)?;
    let known = error.downcast_ref::<Error>().and_then(of_body);
    Ok((known.or_else(|| error.downcast_ref::<ErrorCode>().cloned()),))
}

/// What [`super::answer`] puts there; nothing else comes amid a body.
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
