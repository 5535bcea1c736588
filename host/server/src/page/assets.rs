//! The stylesheet, the scripts and the icon: parts of the program.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use phasm::Phase;

use crate::{problem_response::ProblemResponse, request::RequestContext};

const STYLE: &str = concat!(include_str!("assets/page.css"), include_str!("assets/views.css"));
const ICON: &str = include_str!("assets/icon.svg");
const SCRIPTS: [(&str, &str); 10] = [
    ("page.js", include_str!("assets/page.js")),
    ("live.js", include_str!("assets/live.js")),
    ("editor.js", include_str!("assets/editor.js")),
    ("lines.js", include_str!("assets/lines.js")),
    ("copy.js", include_str!("assets/copy.js")),
    ("clock.js", include_str!("assets/clock.js")),
    ("inside.js", include_str!("assets/inside.js")),
    ("zoom.js", include_str!("assets/zoom.js")),
    ("run-logs.js", include_str!("assets/run-logs.js")),
    ("idiomorph.js", include_str!("assets/idiomorph.js")),
];

pub(super) async fn style(_: RequestContext) -> Result<Response, ProblemResponse> {
    std::future::ready(Ok(asset("text/css; charset=utf-8", format!("{}\n{STYLE}", phasm_graph::STYLE)))).await
}

pub(super) async fn icon(_: RequestContext) -> Result<Response, ProblemResponse> {
    std::future::ready(Ok(asset("image/svg+xml", ICON.to_owned()))).await
}

pub(super) async fn script(context: RequestContext) -> Result<Response, ProblemResponse> {
    let name = context.segment("script");
    let phase = name
        .strip_suffix(".svg")
        .and_then(|word| Phase::ALL.into_iter().find(|phase| phase.as_str() == word));
    if let Some(phase) = phase {
        return Ok(asset("image/svg+xml", phase_icon(phase)));
    }
    let found = SCRIPTS.iter().find(|(known, _)| *known == name);
    let missing = || ProblemResponse::new(StatusCode::NOT_FOUND, format!("there is no script {name}"));
    let (_, text) = found.ok_or_else(missing)?;
    std::future::ready(Ok(asset("text/javascript; charset=utf-8", (*text).to_owned()))).await
}

/// The sign of a phase on its colour, for the tab of a page. Colours are attributes, as no style is allowed in it.
fn phase_icon(phase: Phase) -> String {
    let name = format!("--phasm-{}: ", phase.as_str().to_ascii_lowercase());
    let colour = phasm_graph::STYLE.split_once(&name).and_then(|(_, rest)| rest.split_once(';'));
    let colour = colour.map_or("#6f7888", |(colour, _)| colour);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 14 14\" fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"1.8\" \
         stroke-linecap=\"round\" stroke-linejoin=\"round\">{}</svg>",
        phasm_graph::mark(phase)
    )
}

fn asset(kind: &'static str, text: String) -> Response {
    let mut response = text.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // Asked for again with each page, as another version of the program has others.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
