//! The stylesheet, the scripts, the icon and the schema of workflow files: parts of the program.

use std::sync::LazyLock;

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use phasm::{Phase, engine::document};
use sha2::{Digest as _, Sha256};

use crate::{problem_response::ProblemResponse, request::RequestContext};

const STYLE: [&str; 4] = [
    phasm_graph::STYLE,
    include_str!("assets/page.css"),
    include_str!("assets/views.css"),
    include_str!("assets/editor.css"),
];
const ICON: &str = include_str!("assets/icon.svg");
const SCRIPTS: [(&str, &str); 14] = [
    ("page.js", include_str!("assets/page.js")),
    ("live.js", include_str!("assets/live.js")),
    ("editor.js", include_str!("assets/editor.js")),
    ("text.js", include_str!("assets/text.js")),
    ("completion.js", include_str!("assets/completion.js")),
    ("place.js", include_str!("assets/place.js")),
    ("lines.js", include_str!("assets/lines.js")),
    ("copy.js", include_str!("assets/copy.js")),
    ("clock.js", include_str!("assets/clock.js")),
    ("inside.js", include_str!("assets/inside.js")),
    ("zoom.js", include_str!("assets/zoom.js")),
    ("run-logs.js", include_str!("assets/run-logs.js")),
    // Built by .ci/page-bundle.
    ("codemirror.js", include_str!("libraries/codemirror.js")),
    ("idiomorph.js", include_str!("libraries/idiomorph.js")),
];

/// A file that pages load.
struct Asset {
    name: String,
    media_type: &'static str,
    content: Bytes,
    /// Digest of the content, as an entity tag.
    tag: String,
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let scripts = SCRIPTS.map(|(name, text)| Asset::new(name, "text/javascript; charset=utf-8", text));
    let others = [
        Asset::new("page.css", "text/css; charset=utf-8", STYLE.join("\n")),
        Asset::new("icon.svg", "image/svg+xml", ICON),
        Asset::new("workflow.schema.json", "application/schema+json", document::schema().to_string()),
    ];
    let icons =
        Phase::ALL.map(|phase| Asset::new(format!("{phase}.svg"), "image/svg+xml", phase_icon(phase)));
    scripts.into_iter().chain(others).chain(icons).collect()
});

impl Asset {
    fn new(name: impl Into<String>, media_type: &'static str, content: impl Into<Bytes>) -> Self {
        let content = content.into();
        let digest = Sha256::digest(&content);
        let words: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Self { name: name.into(), media_type, content, tag: format!("\"{words}\"") }
    }

    /// The response with the asset: 304 if the client has it.
    fn response(&self, known: &str) -> Response {
        let is_known = known.split(',').any(|one| one.trim().trim_start_matches("W/") == self.tag);
        let content = if is_known { Body::empty() } else { Body::from(self.content.clone()) };
        let mut response = Response::new(content);
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        // Asked for again with each page, as another version of the program has others.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.extend(HeaderValue::from_str(&self.tag).map(|tag| (header::ETAG, tag)));
        response
    }
}

pub(super) async fn style(context: RequestContext) -> Result<Response, ProblemResponse> {
    std::future::ready(served(&context, "page.css")).await
}

pub(super) async fn icon(context: RequestContext) -> Result<Response, ProblemResponse> {
    std::future::ready(served(&context, "icon.svg")).await
}

pub(super) async fn named(context: RequestContext) -> Result<Response, ProblemResponse> {
    std::future::ready(served(&context, context.segment("name"))).await
}

fn served(context: &RequestContext, name: &str) -> Result<Response, ProblemResponse> {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    let missing = || ProblemResponse::new(StatusCode::NOT_FOUND, format!("there is no asset {name}"));
    let known = context.header(&header::IF_NONE_MATCH).unwrap_or_default();
    found.map(|asset| asset.response(known)).ok_or_else(missing)
}

/// The sign of a phase on its colour, for the tab of a page. Colours are attributes, as no style is allowed in it.
fn phase_icon(phase: Phase) -> String {
    let colour = phasm_graph::colour(phase);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 14 14\" fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"1.8\" \
         stroke-linecap=\"round\" stroke-linejoin=\"round\">{}</svg>",
        phasm_graph::mark(phase)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most bytes of all scripts and styles. They are sent as they are.
    const MAX_BYTES: usize = 600 << 10;

    #[test]
    fn assets_are_small() {
        let loaded = ASSETS.iter().filter(|asset| asset.media_type.starts_with("text/"));
        let sizes: Vec<_> = loaded.map(|asset| (&asset.name, asset.content.len())).collect();
        let whole: usize = sizes.iter().map(|(_, bytes)| bytes).sum();
        assert!(whole <= MAX_BYTES, "{whole}: {sizes:?}");
    }
}
