//! Adding a plugin by a form, and what was wrong with it, where it is.

use std::sync::Arc;

use axum::{
    http::{StatusCode, header},
    response::Response,
};
use multer::{Constraints, Multipart, SizeLimit};
use phasm::{
    plugins::trust::MAX_SIGNATURE_BYTES,
    plugins::{Manifest, NewPlugin},
};
use tokio::time::timeout;

use super::{plugins, see_other, upload_form::FieldError};
use crate::{
    auth::caller::Caller,
    plugins::{change::address, whose},
    problem_response::ProblemResponse,
    request::{RequestContext, too_large, too_slow},
    resources::Resource,
};

/// Bytes of a field that is typed.
const MAX_TEXT_FIELD_BYTES: u64 = 1 << 10;
/// Bytes for the multipart syntax around fields.
const MULTIPART_OVERHEAD_BYTES: usize = 64 << 10;
/// How WebAssembly begins.
const MAGIC: &[u8] = b"\0asm";
const FIELDS: [&str; 4] = ["component", "signature", "called", "tenant"];

/// Fields of the form.
#[derive(Default)]
struct UploadFields {
    component: Vec<u8>,
    file: String,
    signature: Option<String>,
    called: String,
    tenant: Option<String>,
}

pub(super) async fn add(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let app = Arc::clone(&context.app);
    context.enter(Resource::Uploads).await?;
    let sent = read(&mut context).await?;
    let tenant = whose(&app.host, &context.caller, sent.tenant.clone())?;
    let called = sent.called.clone();
    let new = match new_plugin(sent, &context.caller) {
        Ok(new) => new,
        Err((field, why)) => return again(&context, FieldError { field, why, called }).await,
    };
    let added = app.host.add_plugin(tenant.as_deref(), new).await;
    match added {
        Ok(added) => Ok(see_other(&address(&added.name, &added.digest))),
        Err(error) => {
            let refusal = ProblemResponse::from(error);
            if refusal.status().is_server_error() {
                return Err(refusal);
            }
            let why = refusal.detail().to_owned();
            let field =
                if why.contains("signature") || why.contains("signed") { "signature" } else { "component" };
            again(&context, FieldError { field, why, called }).await
        }
    }
}

async fn again(context: &RequestContext, wrong: FieldError) -> Result<Response, ProblemResponse> {
    plugins::render(context, StatusCode::UNPROCESSABLE_ENTITY, None, Some(&wrong)).await
}

fn new_plugin(sent: UploadFields, caller: &Caller) -> Result<NewPlugin, (&'static str, String)> {
    let UploadFields { component, file, signature, called, .. } = sent;
    if component.is_empty() {
        return Err(("component", "expected a file with a component".to_owned()));
    }
    if !component.starts_with(MAGIC) {
        let why =
            format!("{file} is not a WebAssembly component; expected a component of `phasm plugin build`");
        return Err(("component", why));
    }
    let said = Manifest::of(&component, None).map_err(|why| ("component", why))?;
    let (name, version) =
        called.split_once('@').map_or((called.as_str(), None), |(name, version)| (name, Some(version)));
    let name = Some(name.to_owned()).filter(|name| !name.is_empty());
    let version = version.map(str::to_owned).or(said.version);
    if version.is_none() {
        return Err((
            "called",
            "the component does not say its version; expected a name and a version such as greet@1.0.0"
                .to_owned(),
        ));
    }
    let stem = file.strip_suffix(".wasm").unwrap_or(&file).to_owned();
    let name = name.or(said.name).unwrap_or(stem);
    Ok(NewPlugin {
        name,
        version,
        bytes: component.into(),
        signature,
        origin: Some(format!("uploaded by {}", caller.name())),
        by: caller.key.as_deref().map(str::to_owned),
    })
}

/// # Errors
/// 415 for what no form with files sends, 413 and 408 beyond the limits, 400 if it breaks off.
async fn read(context: &mut RequestContext) -> Result<UploadFields, ProblemResponse> {
    let boundary = context.header(&header::CONTENT_TYPE).and_then(|kind| multer::parse_boundary(kind).ok());
    let expected = || ProblemResponse::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected a form with files");
    let boundary = boundary.ok_or_else(expected)?;
    let limits = context.app.config.limits;
    let sizes = SizeLimit::new()
        .whole_stream((limits.upload + MULTIPART_OVERHEAD_BYTES) as u64)
        .per_field(MAX_TEXT_FIELD_BYTES)
        .for_field("component", limits.upload as u64)
        .for_field("signature", MAX_SIGNATURE_BYTES);
    let constraints = Constraints::new().allowed_fields(FIELDS.to_vec()).size_limit(sizes);
    let body = context.take_body().into_data_stream();
    let multipart = Multipart::with_constraints(body, boundary, constraints);
    let read =
        timeout(limits.upload_time, fields(multipart)).await.map_err(|_late| too_slow(limits.upload_time))?;
    read.map_err(|error| {
        let is_large = matches!(
            error,
            multer::Error::StreamSizeExceeded { .. } | multer::Error::FieldSizeExceeded { .. }
        );
        let broken = || {
            ProblemResponse::new(
                StatusCode::BAD_REQUEST,
                format!("the form breaks off, or is not a form: {error}"),
            )
        };
        if is_large { too_large(limits.upload) } else { broken() }
    })
}

async fn fields(mut multipart: Multipart<'_>) -> Result<UploadFields, multer::Error> {
    let mut sent = UploadFields::default();
    while let Some(field) = multipart.next_field().await? {
        let name = field.name().unwrap_or_default().to_owned();
        let file = field.file_name().unwrap_or_default().to_owned();
        match name.as_str() {
            "component" => {
                sent.file = file;
                sent.component = field.bytes().await?.to_vec();
            }
            "signature" => sent.signature = Some(field.text().await?).filter(|text| !text.trim().is_empty()),
            "called" => sent.called = field.text().await?.trim().to_owned(),
            _ => sent.tenant = Some(field.text().await?),
        }
    }
    Ok(sent)
}
