//! Artifacts over HTTP: uploads, lists and downloads. Bytes go through a small buffer, whatever the size of a file.

use std::{
    io::{Seek as _, SeekFrom},
    ops::Range,
    sync::Arc,
};

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use http_body_util::BodyExt as _;
use phasm::{
    artifacts::{ArtifactView, ArtifactsView, Upload},
    engine::document::is_name,
    sandbox::{Digest, FileBody},
};
use tokio::{
    task::spawn_blocking,
    time::{Duration, timeout},
};

use crate::{
    problem_response::ProblemResponse,
    request::{RequestContext, json, too_slow},
    resources::Resource,
};

/// Bytes of an upload that are written at once.
const PART_BYTES: usize = 1 << 20;

/// Longest name of a file.
const MAX_NAME_CHARS: usize = 255;

/// Namespace of uploads that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// Stores the body as an artifact, for a parameter of a run to come.
pub(crate) async fn upload(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let query = &mut context.query;
    let name = query.parsed("name", "a name of at most 255 characters", name).unwrap_or_default();
    let namespace = query.parsed("namespace", "the name of a namespace, such as `default`", namespace);
    context.query.done()?;
    let namespace = namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.into());
    context.caller.may_submit_to(&namespace)?;
    context.enter(Resource::Uploads).await?;
    let media = context.content_type();
    let store = context.app.host.planner().artifacts().store().await?;
    let upload = received(&mut context, store.upload(&namespace)?).await?;
    let artifact = upload.finish(&name, media.as_deref()).await?;
    Ok(json(StatusCode::CREATED, &ArtifactView::of(&artifact)))
}

/// Reads the name of a file.
fn name(text: &str) -> Option<String> {
    (text.chars().count() <= MAX_NAME_CHARS).then(|| text.to_owned())
}

/// Reads a namespace, as workflow files have it.
fn namespace(text: &str) -> Option<Arc<str>> {
    is_name(text).then(|| text.into())
}

/// Reads the body into the upload.
async fn received(context: &mut RequestContext, mut upload: Upload) -> Result<Upload, ProblemResponse> {
    let time = context.app.config.limits.body_time;
    let mut body = context.take_body();
    loop {
        let part = part(&mut body, time).await?;
        if part.is_empty() {
            return Ok(upload);
        }
        let written = spawn_blocking(move || upload.write(&part).map(|()| upload)).await;
        upload = written.map_err(|error| ProblemResponse::failed(&error))??;
    }
}

/// Reads the next bytes of a body; none at its end.
async fn part(body: &mut Body, time: Duration) -> Result<Vec<u8>, ProblemResponse> {
    let mut part = Vec::new();
    while part.len() < PART_BYTES {
        let Some(frame) = timeout(time, body.frame()).await.map_err(|_late| too_slow(time))? else { break };
        let frame =
            frame.map_err(|_| ProblemResponse::new(StatusCode::BAD_REQUEST, "the body breaks off"))?;
        if let Ok(bytes) = frame.into_data() {
            part.extend_from_slice(&bytes);
        }
    }
    Ok(part)
}

/// Lists the artifacts that a run names.
pub(crate) async fn list(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let handle = context.handle().await?;
    let artifacts = handle.outline(|run, _| ArtifactView::all_of(run)).await?;
    Ok(json(StatusCode::OK, &ArtifactsView { artifacts }))
}

/// Sends the content of an artifact that a run names.
pub(crate) async fn get(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let row = context.run().await?;
    let digest = context.segment("artifact");
    let absent = |detail: String| ProblemResponse::new(StatusCode::NOT_FOUND, detail);
    let digest: Digest = digest.parse().map_err(|why| absent(format!("`{digest}`: {why}")))?;
    let store = context.app.host.planner().artifacts().store().await?;
    let (namespace, run_id) = (&row.head.namespace, &row.head.run_id);
    let mut file =
        store.read_part(namespace, run_id, digest).await.map_err(|error| absent(error.to_string()))?;
    let size = file.metadata().map_err(|error| ProblemResponse::failed(&error))?.len();
    let asked = context.header(&header::RANGE).map(|text| range(text, size));
    let (status, wanted) = match asked {
        None => (StatusCode::OK, 0..size),
        Some(Some(range)) => (StatusCode::PARTIAL_CONTENT, range),
        Some(None) => {
            let refused = ProblemResponse::new(
                StatusCode::RANGE_NOT_SATISFIABLE,
                format!("the artifact has {size} bytes"),
            );
            return Err(refused);
        }
    };
    if wanted.start == 0 {
        // The content is compared with its digest before its first byte is sent. A client that asks for parts compares the whole.
        file = store.read(namespace, run_id, digest).await?;
    }
    file.seek(SeekFrom::Start(wanted.start)).map_err(|error| ProblemResponse::failed(&error))?;
    let mut response = Response::new(Body::new(FileBody::new(file, wanted.clone())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    // Never a page of this server's: a guest chose the bytes.
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {}-{}/{size}", wanted.start, wanted.end.saturating_sub(1));
        headers.extend(HeaderValue::from_str(&range).ok().map(|range| (header::CONTENT_RANGE, range)));
    }
    Ok(response)
}

/// Reads `bytes=FIRST-LAST` or `bytes=FIRST-`; none for anything else, and for a range without a byte.
fn range(text: &str, size: u64) -> Option<Range<u64>> {
    let (first, last) = text.trim().strip_prefix("bytes=")?.split_once('-')?;
    let first: u64 = first.parse().ok()?;
    let end = if last.is_empty() { size } else { last.parse::<u64>().ok()?.saturating_add(1).min(size) };
    (first < end).then_some(first..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_those_of_workflow_files() {
        for text in ["default", "a", "a-1", &"x".repeat(63)] {
            assert!(namespace(text).is_some(), "{text}");
        }
        for text in ["", "-a", "a-", "A", "a/b", "..", "a_b", &"x".repeat(64)] {
            assert_eq!(namespace(text), None, "{text}");
        }
        assert!(name(&"x".repeat(255)).is_some() && name(&"x".repeat(256)).is_none());
    }

    #[test]
    fn ranges_are_those_of_http() {
        for (text, expected) in [
            ("bytes=0-9", Some(0..10)),
            ("bytes=5-", Some(5..100)),
            ("bytes=90-200", Some(90..100)),
            ("bytes=100-", None),
            ("bytes=9-5", None),
            ("bytes=-5", None),
            ("bytes=0-1,4-5", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(range(text, 100), expected, "{text}");
        }
    }
}
