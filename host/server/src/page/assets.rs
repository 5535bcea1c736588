//! The stylesheet, the scripts and the icon: parts of the program.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};

use crate::{problem_response::ProblemResponse, request::RequestContext};

const STYLE: &str = concat!(include_str!("assets/page.css"), include_str!("assets/views.css"));
const ICON: &str = include_str!("assets/icon.svg");
const SCRIPTS: [(&str, &str); 5] = [
    ("page.js", include_str!("assets/page.js")),
    ("live.js", include_str!("assets/live.js")),
    ("editor.js", include_str!("assets/editor.js")),
    ("lines.js", include_str!("assets/lines.js")),
    ("copy.js", include_str!("assets/copy.js")),
];

pub(super) async fn style(_: RequestContext) -> Result<Response, ProblemResponse> {
    std::future::ready(Ok(asset("text/css; charset=utf-8", format!("{}\n{STYLE}", phasm_graph::STYLE)))).await
}

pub(super) async fn icon(_: RequestContext) -> Result<Response, ProblemResponse> {
    std::future::ready(Ok(asset("image/svg+xml", ICON.to_owned()))).await
}

pub(super) async fn script(context: RequestContext) -> Result<Response, ProblemResponse> {
    let name = context.segment("script");
    let found = SCRIPTS.iter().find(|(known, _)| *known == name);
    let missing = || ProblemResponse::new(StatusCode::NOT_FOUND, format!("there is no script {name}"));
    let (_, text) = found.ok_or_else(missing)?;
    std::future::ready(Ok(asset("text/javascript; charset=utf-8", (*text).to_owned()))).await
}

fn asset(kind: &'static str, text: String) -> Response {
    let mut response = text.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // Asked for again with each page, as another version of the program has others.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
