//! Adding, approving and removing versions.

use std::sync::Arc;

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use phasm::{
    plugins::trust::MAX_SIGNATURE_BYTES,
    plugins::{AddView, NewPlugin},
};
use serde_json::json;

use super::whose;
use crate::{
    client::segment,
    problem_response::ProblemResponse,
    request::{RequestContext, json},
    resources::Resource,
    state::AppState,
};

/// The signature of a component, as base64 of what minisign writes.
pub(crate) const SIGNATURE: HeaderName = HeaderName::from_static("phasm-signature");

pub(crate) async fn put(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let tenant = context.query.text("tenant");
    context.query.done()?;
    let tenant = whose(&context.app.host, &context.caller, tenant)?;
    if context.content_type().as_deref() != Some("application/wasm")
        || context.headers().contains_key(header::CONTENT_ENCODING)
    {
        let detail = "expected a component, as `Content-Type: application/wasm` and not packed";
        let refused = ProblemResponse::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail);
        return Err(refused.with(header::ACCEPT, "application/wasm"));
    }
    let (name, version) = (context.segment("name").to_owned(), context.segment("version").to_owned());
    let signature = signature(&context)?;
    let is_first = context.header(&header::IF_NONE_MATCH).map(str::trim) == Some("*");
    let exactly = format!("{name}@{version}");
    if is_first && is_there(&context.app, tenant.as_deref(), exactly.clone()).await? {
        return Err(there_already(&exactly));
    }
    let app = Arc::clone(&context.app);
    context.enter(Resource::Uploads).await?;
    let bytes = context.upload().await?;
    let origin = Some(format!("uploaded by {}", context.caller.name()));
    let by = context.caller.key.as_deref().map(str::to_owned);
    let new = NewPlugin { name, version: Some(version), bytes: Arc::from(&*bytes), signature, origin, by };
    drop(bytes);
    let added = app.host.add_plugin(tenant.as_deref(), new).await?;
    if is_first && !added.is_new {
        return Err(there_already(&exactly));
    }
    Ok(response(&added))
}

fn response(added: &AddView) -> Response {
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

fn there_already(exactly: &str) -> ProblemResponse {
    ProblemResponse::new(StatusCode::PRECONDITION_FAILED, format!("there is a {exactly} already"))
}

async fn is_there(app: &AppState, tenant: Option<&str>, exactly: String) -> Result<bool, ProblemResponse> {
    let Some(library_admin) = app.host.library_admin(tenant) else { return Ok(false) };
    let library = library_admin.library.clone();
    let look = tokio::task::spawn_blocking(move || library.exactly(&exactly).is_ok());
    look.await.map_err(|error| ProblemResponse::failed(&error))
}

fn signature(context: &RequestContext) -> Result<Option<String>, ProblemResponse> {
    let Some(given) = context.header(&SIGNATURE) else { return Ok(None) };
    let text = BASE64.decode(given).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.filter(|text| text.len() as u64 <= MAX_SIGNATURE_BYTES);
    let detail = "Phasm-Signature: expected the base64 of a signature by minisign";
    text.map(Some).ok_or_else(|| ProblemResponse::new(StatusCode::UNPROCESSABLE_ENTITY, detail))
}

/// `NAME@VERSION` of the path, and whose it is.
fn meant(context: &mut RequestContext) -> Result<(Option<Arc<str>>, String), ProblemResponse> {
    let tenant = context.query.text("tenant");
    context.query.done()?;
    let tenant = whose(&context.app.host, &context.caller, tenant)?;
    Ok((tenant, format!("{}@{}", context.segment("name"), context.segment("version"))))
}

pub(crate) async fn approve(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let (tenant, version) = meant(&mut context)?;
    let by = context.caller.key.as_deref().map(str::to_owned);
    let approved = context.app.host.approve_plugin(tenant.as_deref(), &version, by).await?;
    Ok(json(StatusCode::OK, &approved))
}

pub(crate) async fn remove(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let (tenant, version) = meant(&mut context)?;
    context.app.host.remove_plugin(tenant.as_deref(), &version).await?;
    Ok(json(StatusCode::OK, &json!({ "removed": true })))
}
