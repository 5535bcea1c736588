//! Adding, approving and removing versions.

use std::{sync::Arc, time::Duration};

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use phasm::{
    plugins::trust::LARGEST_SIGNATURE,
    plugins::{AddView, NewPlugin},
};
use serde_json::json;
use tokio::{sync::SemaphorePermit, time::timeout};

use super::whose;
use crate::{
    app::App,
    call::{Call, json},
    client::segment,
    refusal::Refusal,
};

/// The signature of a component, as base64 of what minisign writes.
pub(crate) const SIGNATURE: HeaderName = HeaderName::from_static("phasm-signature");

pub(crate) async fn put(mut call: Call) -> Result<Response, Refusal> {
    let tenant = call.query.text("tenant");
    call.query.done()?;
    let tenant = whose(&call.app.host, &call.caller, tenant)?;
    if call.content_type().as_deref() != Some("application/wasm")
        || call.headers().contains_key(header::CONTENT_ENCODING)
    {
        let detail = "expected a component, as `Content-Type: application/wasm` and not packed";
        let refused = Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail);
        return Err(refused.with(header::ACCEPT, "application/wasm"));
    }
    let (name, version) = (call.segment("name").to_owned(), call.segment("version").to_owned());
    let signature = signature(&call)?;
    let is_first = call.header(&header::IF_NONE_MATCH).map(str::trim) == Some("*");
    let exactly = format!("{name}@{version}");
    if is_first && is_there(&call.app, tenant.as_deref(), exactly.clone()).await? {
        return Err(there_already(&exactly));
    }
    let app = Arc::clone(&call.app);
    let _turn = turn(&app).await?;
    let bytes = call.upload().await?;
    let origin = Some(format!("uploaded by {}", call.caller.name()));
    let new = NewPlugin { name, version: Some(version), bytes: Arc::from(&*bytes), signature, origin };
    drop(bytes);
    let added = app.host.add_plugin(tenant.as_deref(), new).await?;
    if is_first && !added.is_new {
        return Err(there_already(&exactly));
    }
    Ok(told(&added))
}

fn told(added: &AddView) -> Response {
    let status = if added.is_new { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = json(status, added);
    if let Ok(address) = HeaderValue::from_str(&format!("/v1{}", address(&added.name, &added.version))) {
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}

/// Where the page of a version is.
pub(crate) fn address(name: &str, version: &str) -> String {
    format!("/plugins/{}/{}", segment(name), segment(version))
}

fn there_already(exactly: &str) -> Refusal {
    Refusal::new(StatusCode::PRECONDITION_FAILED, format!("there is a {exactly} already"))
}

async fn is_there(app: &App, tenant: Option<&str>, exactly: String) -> Result<bool, Refusal> {
    let Some(library_admin) = app.host.library_admin(tenant) else { return Ok(false) };
    let library = library_admin.library.clone();
    let look = tokio::task::spawn_blocking(move || library.exactly(&exactly).is_ok());
    look.await.map_err(|error| Refusal::failed(&error))
}

fn signature(call: &Call) -> Result<Option<String>, Refusal> {
    let Some(given) = call.header(&SIGNATURE) else { return Ok(None) };
    let text = BASE64.decode(given).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.filter(|text| text.len() as u64 <= LARGEST_SIGNATURE);
    let detail = "Phasm-Signature: expected the base64 of what minisign writes";
    text.map(Some).ok_or_else(|| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, detail))
}

/// Few are read at once, as each is held in memory.
pub(crate) async fn turn(app: &App) -> Result<SemaphorePermit<'_>, Refusal> {
    let patience: Duration = app.config.limits.body_time;
    let turn = timeout(patience, app.uploads.acquire()).await.ok().and_then(Result::ok);
    let detail = "as many plugins as are taken at once are being uploaded";
    turn.ok_or_else(|| Refusal::new(StatusCode::TOO_MANY_REQUESTS, detail).again_after(1))
}

/// `NAME@VERSION` of the path, and whose it is.
fn meant(call: &mut Call) -> Result<(Option<Arc<str>>, String), Refusal> {
    let tenant = call.query.text("tenant");
    call.query.done()?;
    let tenant = whose(&call.app.host, &call.caller, tenant)?;
    Ok((tenant, format!("{}@{}", call.segment("name"), call.segment("version"))))
}

pub(crate) async fn approve(mut call: Call) -> Result<Response, Refusal> {
    let (tenant, version) = meant(&mut call)?;
    let by = call.caller.key.as_deref().map(str::to_owned);
    let approved = call.app.host.approve_plugin(tenant.as_deref(), &version, by).await?;
    Ok(json(StatusCode::OK, &approved))
}

pub(crate) async fn remove(mut call: Call) -> Result<Response, Refusal> {
    let (tenant, version) = meant(&mut call)?;
    call.app.host.remove_plugin(tenant.as_deref(), &version).await?;
    Ok(json(StatusCode::OK, &json!({ "removed": true })))
}
